//! A journal in memory, a clock that steps, and events that are kept.

use starling_core::TaskId;
use starling_core::port::{Clock, Events, Journal, JournalError, Ledger, Progress};
use starling_core::receipt::EgressEntry;
use starling_core::state::TaskEvent;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Keeps everything; can be told to fail after a number of appends, as a full disk would.
#[derive(Default)]
pub struct MemoryJournal {
    events: Mutex<Vec<(TaskId, TaskEvent)>>,
    ledger: Mutex<Vec<EgressEntry>>,
    fail_after: Mutex<Option<usize>>,
}

impl MemoryJournal {
    pub fn fail_after(&self, appends: usize) {
        *self.fail_after.lock().expect("no test panics with the lock") = Some(appends);
    }
    /// Every entry the ledger was told, in order.
    pub fn ledger(&self) -> Vec<EgressEntry> {
        self.ledger.lock().expect("no test panics with the lock").clone()
    }
}

impl Journal for MemoryJournal {
    fn append(&self, task: &TaskId, events: &[TaskEvent]) -> Result<(), JournalError> {
        if let Some(left) = self.fail_after.lock().expect("no test panics with the lock").as_mut() {
            if *left == 0 {
                return Err(JournalError::Write { message: "disk full".to_owned() });
            }
            *left -= 1;
        }
        let mut kept = self.events.lock().expect("no test panics with the lock");
        kept.extend(events.iter().map(|event| (task.clone(), event.clone())));
        Ok(())
    }
    fn events(&self, task: &TaskId) -> Result<Vec<TaskEvent>, JournalError> {
        let kept = self.events.lock().expect("no test panics with the lock");
        Ok(kept.iter().filter(|(id, _)| id == task).map(|(_, event)| event.clone()).collect())
    }
    fn tasks(&self) -> Result<Vec<TaskId>, JournalError> {
        let kept = self.events.lock().expect("no test panics with the lock");
        let mut ids: Vec<TaskId> = kept.iter().map(|(id, _)| id.clone()).collect();
        ids.sort();
        ids.dedup();
        ids.reverse();
        Ok(ids)
    }
}

impl Ledger for MemoryJournal {
    fn sending(&self, entry: &EgressEntry) -> Result<(), JournalError> {
        self.ledger.lock().expect("no test panics with the lock").push(entry.clone());
        Ok(())
    }
    fn settled(&self, entry: &EgressEntry) -> Result<(), JournalError> {
        self.ledger.lock().expect("no test panics with the lock").push(entry.clone());
        Ok(())
    }
}

/// Goes on by one millisecond at every look.
#[derive(Default)]
pub struct StepClock(AtomicU64);

impl Clock for StepClock {
    fn now(&self) -> u64 {
        1_700_000_000_000 + self.0.fetch_add(1, Ordering::Relaxed)
    }
    fn monotonic(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Keeps what was shown.
#[derive(Default)]
pub struct RecordedEvents {
    facts: Mutex<Vec<TaskEvent>>,
    progress: Mutex<Vec<Progress>>,
}

impl RecordedEvents {
    pub fn facts(&self) -> Vec<TaskEvent> {
        self.facts.lock().expect("no test panics with the lock").clone()
    }
    pub fn progress(&self) -> Vec<Progress> {
        self.progress.lock().expect("no test panics with the lock").clone()
    }
}

impl Events for RecordedEvents {
    fn fact(&self, _task: &TaskId, event: &TaskEvent) {
        self.facts.lock().expect("no test panics with the lock").push(event.clone());
    }
    fn progress(&self, _task: &TaskId, progress: &Progress) {
        self.progress.lock().expect("no test panics with the lock").push(progress.clone());
    }
}
