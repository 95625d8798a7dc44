//! Joins the token streams of candidates, so that the page gets at most about twenty messages a second whatever the speed
//! of the models. One named thread, ended by dropping the stream.

use starling_core::port::Progress;
use starling_core::{Role, TaskId};
use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(50);

pub struct Stream {
    sender: Mutex<Option<Sender<(TaskId, Progress)>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Stream {
    pub fn open(emit: impl Fn(&TaskId, Progress) + Send + 'static) -> std::io::Result<Stream> {
        let (sender, receiver) = channel::<(TaskId, Progress)>();
        let work = move || {
            let mut joined = Joined::default();
            loop {
                match receiver.recv_timeout(PAUSE) {
                    Ok((task, progress)) => joined.add(task, progress, &emit),
                    Err(RecvTimeoutError::Timeout) => joined.flush(&emit),
                    Err(RecvTimeoutError::Disconnected) => return joined.flush(&emit),
                }
                if joined.last.elapsed() >= PAUSE {
                    joined.flush(&emit);
                }
            }
        };
        let thread = std::thread::Builder::new().name("stream".into()).spawn(work)?;
        Ok(Stream { sender: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    pub fn push(&self, task: &TaskId, progress: &Progress) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sender.as_ref()
            && sender.send((task.clone(), progress.clone())).is_err()
        {
            tracing::warn!("the progress stream has ended");
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the progress stream panicked");
        }
    }
}

struct Joined {
    /// Roles are compared by name: they have no order of their own.
    text: BTreeMap<(TaskId, &'static str, u32), (Role, String)>,
    last: std::time::Instant,
}

impl Default for Joined {
    fn default() -> Joined {
        Joined { text: BTreeMap::new(), last: std::time::Instant::now() }
    }
}

impl Joined {
    fn add(&mut self, task: TaskId, progress: Progress, emit: &impl Fn(&TaskId, Progress)) {
        match progress {
            Progress::Text { role, candidate, text } => {
                self.text.entry((task, role.as_str(), candidate)).or_insert((role, String::new())).1.push_str(&text);
            }
            // What is not text keeps its place after the text before it.
            other @ (Progress::RoleStarted { .. } | Progress::Speed { .. } | Progress::Running { .. }) => {
                self.flush(emit);
                emit(&task, other);
            }
        }
    }

    fn flush(&mut self, emit: &impl Fn(&TaskId, Progress)) {
        for ((task, _, candidate), (role, text)) in std::mem::take(&mut self.text) {
            emit(&task, Progress::Text { role, candidate, text });
        }
        self.last = std::time::Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn joins_text_and_loses_none() {
        let got = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&got);
        let stream = Stream::open(move |_, progress| heard.lock().unwrap().push(progress)).expect("a thread starts");
        let task = TaskId::new("t");
        for word in ["a", "b", "c"] {
            stream.push(&task, &Progress::Text { role: Role::Tester, candidate: 1, text: word.into() });
        }
        stream.push(&task, &Progress::Running { what: "pytest".into() });
        drop(stream);
        let got = got.lock().unwrap();
        let text: String = got
            .iter()
            .filter_map(|p| if let Progress::Text { text, .. } = p { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(text, "abc");
        assert_eq!(got.last(), Some(&Progress::Running { what: "pytest".into() }));
    }
}
