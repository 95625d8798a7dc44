//! One computation at a time in the whole process. Every model's threads fill all cores and wait for each other by
//! spinning, so two models that compute at once are slower than one after the other.
//!
//! First come, first served: a model that decodes for minutes must not keep another one from its turn.
#![forbid(unsafe_code)]

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

struct Turns {
    next_ticket: u64,
    now_serving: u64,
}

static TURNS: Mutex<Turns> = Mutex::new(Turns { next_ticket: 0, now_serving: 0 });
static CHANGED: Condvar = Condvar::new();

/// Holds the right to compute until dropped.
pub struct Lease(());

/// Blocks until it is this caller's turn.
pub fn take() -> Lease {
    let mut turns = lock();
    let ticket = turns.next_ticket;
    turns.next_ticket += 1;
    while turns.now_serving != ticket {
        turns = CHANGED.wait(turns).unwrap_or_else(PoisonError::into_inner);
    }
    Lease(())
}

impl Drop for Lease {
    fn drop(&mut self) {
        lock().now_serving += 1;
        CHANGED.notify_all();
    }
}

fn lock() -> MutexGuard<'static, Turns> {
    // The numbers are valid after any panic, so a poisoned lock is as good as another.
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn never_two_at_once_and_nobody_is_lost() {
        let (inside, turns) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _lease = take();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        turns.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(turns.load(Ordering::SeqCst), 800);
    }
}
