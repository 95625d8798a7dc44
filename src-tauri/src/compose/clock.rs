//! The real clock; everything else of Starling is given one.

use starling_core::port::Clock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[derive(Debug)]
pub struct SystemClock(Instant);

impl SystemClock {
    pub fn start() -> SystemClock {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        // A clock set before 1970 counts as 1970.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
    }

    fn monotonic(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
