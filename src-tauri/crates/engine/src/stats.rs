//! Where a model's time goes: computing, choosing tokens, and everything else of its thread.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

#[derive(Debug, Default)]
pub struct Stats {
    steps: AtomicU64,
    rows: AtomicU64,
    computing: AtomicU64,
    choosing: AtomicU64,
    working: AtomicU64,
}

/// Sums since the model was loaded; times in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Calls of llama.cpp.
    pub steps: u64,
    /// Tokens computed in them.
    pub rows: u64,
    pub computing: u64,
    /// Sampling, with what the schema allows.
    pub choosing: u64,
    /// All work of the thread, the above included.
    pub working: u64,
}

impl Stats {
    pub fn computing<T>(&self, rows: usize, job: impl FnOnce() -> T) -> T {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        timed(&self.computing, job)
    }

    pub fn choosing<T>(&self, job: impl FnOnce() -> T) -> T {
        timed(&self.choosing, job)
    }

    pub fn working<T>(&self, job: impl FnOnce() -> T) -> T {
        timed(&self.working, job)
    }

    pub fn times(&self) -> Times {
        let read = |value: &AtomicU64| value.load(Ordering::Relaxed);
        Times {
            steps: read(&self.steps),
            rows: read(&self.rows),
            computing: read(&self.computing),
            choosing: read(&self.choosing),
            working: read(&self.working),
        }
    }
}

fn timed<T>(sum: &AtomicU64, job: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let result = job();
    sum.fetch_add(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    result
}
