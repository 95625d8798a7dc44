//! The one thread that works on tasks for the window: a queue, one task at a time, each cancellable within a second. A task
//! that another process works on (the command line) is left to it. What a task waits for or how it ended stands in the
//! journal; this thread only carries tasks on.

use crate::compose::Starling;
use starling_core::TaskId;
use starling_core::port::Cancel;
use starling_core::state::TaskState;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What became of a turn at the bench.
#[derive(Debug)]
pub enum Turn {
    Begun,
    /// The task ended, or a person must decide.
    Rests(Box<TaskState>),
    /// Stopped by the user or by quitting; it can go on.
    Parked,
    /// It cannot go on now (no model, no memory, the project is gone); it can go on later.
    Stuck(String),
}

/// Dropping it parks the work and waits for the thread.
pub struct Workshop {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    desk: Mutex<Desk>,
    changed: Condvar,
}

#[derive(Default)]
struct Desk {
    waiting: VecDeque<TaskId>,
    current: Option<(TaskId, Cancel)>,
    paused: bool,
    closing: bool,
}

impl Workshop {
    /// Both functions are called on the working thread.
    pub fn open(
        work: impl Fn(&TaskId, &Cancel) -> Turn + Send + 'static,
        on_turn: impl Fn(&TaskId, Turn) + Send + 'static,
    ) -> std::io::Result<Workshop> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let work = move || {
            while let Some((task, cancel)) = theirs.next() {
                on_turn(&task, Turn::Begun);
                let turn = work(&task, &cancel);
                theirs.done();
                on_turn(&task, turn);
            }
        };
        let thread = std::thread::Builder::new().name("workshop".into()).spawn(work)?;
        Ok(Workshop { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Puts a task at the end of the queue, unless it is there or under way.
    pub fn queue(&self, task: &TaskId) {
        let mut desk = self.shared.lock();
        let busy = desk.current.as_ref().is_some_and(|(current, _)| current == task);
        if !busy && !desk.waiting.contains(task) {
            desk.waiting.push_back(task.clone());
            self.shared.changed.notify_all();
        }
    }

    /// Takes a task out of the queue, or stops the work on it and waits until it has stopped, so that whoever ends the
    /// task next has it alone.
    pub fn stop(&self, task: &TaskId) {
        let mut desk = self.shared.lock();
        desk.waiting.retain(|waiting| waiting != task);
        while let Some((current, cancel)) = &desk.current
            && current == task
        {
            cancel.cancel();
            desk = self.shared.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Parks everything.
    pub fn stop_all(&self) {
        let mut desk = self.shared.lock();
        desk.waiting.clear();
        if let Some((_, cancel)) = &desk.current {
            cancel.cancel();
        }
    }

    /// While paused no task is begun; the one under way is parked and comes first afterwards.
    pub fn pause(&self, paused: bool) {
        let mut desk = self.shared.lock();
        desk.paused = paused;
        if let (true, Some((task, cancel))) = (paused, desk.current.clone()) {
            cancel.cancel();
            desk.waiting.push_front(task);
        }
        self.shared.changed.notify_all();
    }

    pub fn is_paused(&self) -> bool {
        self.shared.lock().paused
    }

    /// The task under way, then those that wait.
    pub fn tasks(&self) -> Vec<TaskId> {
        let desk = self.shared.lock();
        desk.current.iter().map(|(task, _)| task).chain(&desk.waiting).cloned().collect()
    }

    /// Parks the work and waits until the thread has ended. Safe to call twice.
    pub fn close(&self) {
        {
            let mut desk = self.shared.lock();
            desk.closing = true;
            if let Some((_, cancel)) = &desk.current {
                cancel.cancel();
            }
            self.shared.changed.notify_all();
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the working thread panicked");
        }
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a task; `None` when closing.
    fn next(&self) -> Option<(TaskId, Cancel)> {
        let mut desk = self.lock();
        loop {
            if desk.closing {
                return None;
            }
            if !desk.paused
                && let Some(task) = desk.waiting.pop_front()
            {
                let current = (task, Cancel::new());
                desk.current = Some(current.clone());
                return Some(current);
            }
            desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self) {
        self.lock().current = None;
        self.changed.notify_all();
    }
}

/// One turn at a task: until it ends, waits for a person, or cannot go on.
pub fn work_on(starling: &Starling, task: &TaskId, cancel: &Cancel) -> Turn {
    let lease = match starling.lease(task) {
        Ok(lease) => lease,
        Err(error) => return Turn::Stuck(error.to_string()),
    };
    // A panic in one task must not end the thread that all tasks need.
    let drive = std::panic::AssertUnwindSafe(|| starling.drive(task, cancel));
    let turn = match std::panic::catch_unwind(drive) {
        Ok(Ok(state)) => Turn::Rests(Box::new(state)),
        Ok(Err(_)) if cancel.is_cancelled() => Turn::Parked,
        Ok(Err(error)) => Turn::Stuck(error.to_string()),
        Err(_) => Turn::Stuck("the work on this task broke off by a fault of Starling; see the log".to_owned()),
    };
    drop(lease);
    turn
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    /// A workshop whose tasks work until they are cancelled; tells each turn.
    fn shop() -> (Workshop, Receiver<String>) {
        let (sender, receiver) = channel();
        let work = |_: &TaskId, cancel: &Cancel| {
            while !cancel.is_cancelled() {
                std::thread::yield_now();
            }
            Turn::Parked
        };
        let told = move |task: &TaskId, turn: Turn| {
            let word = match turn {
                Turn::Begun => "begun",
                Turn::Rests(_) => "rests",
                Turn::Parked => "parked",
                Turn::Stuck(_) => "stuck",
            };
            sender.send(format!("{task} {word}")).expect("the test listens");
        };
        (Workshop::open(work, told).expect("a thread starts"), receiver)
    }

    #[track_caller]
    fn check(receiver: &Receiver<String>, expected: &[&str]) {
        for expected in expected {
            assert_eq!(receiver.recv().expect("the shop is open"), *expected);
        }
    }

    #[test]
    fn one_at_a_time_in_order_and_stoppable() {
        let (shop, told) = shop();
        let task = |name: &str| TaskId::new(name);
        for name in ["a", "b", "c", "b"] {
            shop.queue(&task(name));
        }
        check(&told, &["a begun"]);
        assert_eq!(shop.tasks(), [task("a"), task("b"), task("c")]);
        shop.stop(&task("b"));
        shop.stop(&task("a"));
        check(&told, &["a parked", "c begun"]);
        shop.pause(true);
        check(&told, &["c parked"]);
        assert!(shop.is_paused());
        shop.pause(false);
        check(&told, &["c begun"]);
        shop.stop_all();
        check(&told, &["c parked"]);
        assert_eq!(shop.tasks(), []);
        shop.queue(&task("d"));
        check(&told, &["d begun"]);
        drop(shop);
        check(&told, &["d parked"]);
    }
}
