//! Facts and progress, handed to everyone who listens: the window, the tray, the command line. Facts come after they were
//! journalled. Listeners must be quick: they run on the thread that works.

use starling_core::TaskId;
use starling_core::port::{Events, Progress};
use starling_core::state::TaskEvent;
use std::sync::{Arc, PoisonError, RwLock};

/// Something that just happened to a task.
#[derive(Clone, Copy, Debug)]
pub enum Happening<'a> {
    Fact(&'a TaskEvent),
    Progress(&'a Progress),
}

type Listener = Arc<dyn Fn(&TaskId, Happening<'_>) + Send + Sync>;

#[derive(Default)]
pub struct Fanout(RwLock<Vec<Listener>>);

impl Fanout {
    pub fn listen(&self, listener: impl Fn(&TaskId, Happening<'_>) + Send + Sync + 'static) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(listener));
    }

    fn tell(&self, task: &TaskId, happening: Happening<'_>) {
        // The lock is not held while listeners run, so that one of them may add another.
        let listeners = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        for listener in listeners {
            listener(task, happening);
        }
    }
}

impl Events for Fanout {
    fn fact(&self, task: &TaskId, event: &TaskEvent) {
        self.tell(task, Happening::Fact(event));
    }

    fn progress(&self, task: &TaskId, progress: &Progress) {
        self.tell(task, Happening::Progress(progress));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn everyone_hears_everything_in_order() {
        let fanout = Fanout::default();
        let heard = Arc::new(Mutex::new(Vec::new()));
        for listener in ["a", "b"] {
            let heard = Arc::clone(&heard);
            fanout.listen(move |task, happening| {
                let what = match happening {
                    Happening::Fact(event) => format!("{event:?}"),
                    Happening::Progress(_) => "progress".to_owned(),
                };
                heard.lock().unwrap().push(format!("{listener} {task} {what}"));
            });
        }
        fanout.fact(&TaskId::new("t"), &TaskEvent::Discarded);
        fanout.progress(&TaskId::new("t"), &Progress::Running { what: "pytest".into() });
        assert_eq!(*heard.lock().unwrap(), ["a t Discarded", "b t Discarded", "a t progress", "b t progress"]);
    }
}
