//! Pauses between tries, and how long a server asks to wait.

use backon::{BackoffBuilder, ExponentialBuilder};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tries after the first.
pub(crate) const RETRIES: usize = 3;

pub(crate) fn pauses(first: Duration) -> impl Iterator<Item = Duration> {
    let longest = Duration::from_secs(30).max(first);
    ExponentialBuilder::new()
        .with_min_delay(first)
        .with_max_delay(longest)
        .with_max_times(RETRIES)
        .with_jitter()
        .build()
}

/// Seconds or a date.
pub(crate) fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = UNIX_EPOCH + Duration::from_secs(http_date(text)?);
    Some(until.duration_since(SystemTime::now()).unwrap_or_default())
}

/// "Wed, 21 Oct 2015 07:28:00 GMT" as seconds since 1970.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, rest) = text.strip_suffix(" GMT")?.split_once(", ")?;
    let mut words = rest.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok().filter(|part| *part <= 60));
    let (hours, minutes, seconds) = (clock.next()??, clock.next()??, clock.next()??);
    Some(days(year, month, day) * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}

/// Days from 1970 to a date; months from 0.
fn days(year: u64, month: u64, day: u64) -> u64 {
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let is_leap = leaps(year) > leaps(year - 1);
    let in_year = BEFORE.get(month as usize).copied().unwrap_or(0) + u64::from(is_leap && month > 1);
    (year - 1970) * 365 + leaps(year - 1) - leaps(1969) + in_year + day.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read() {
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Wed, 21 Oct 2015 07:28:00 GMT"), Some(1_445_412_480));
        assert_eq!(http_date("Thu, 29 Feb 2024 12:00:00 GMT"), Some(1_709_208_000));
        assert_eq!(http_date("Fri, 01 Mar 2024 00:00:00 GMT"), Some(1_709_251_200));
        assert_eq!(http_date("tomorrow"), None);
        assert_eq!(http_date("Wed, 21 Foo 2015 07:28:00 GMT"), None);
    }

    #[test]
    fn there_are_three_growing_pauses() {
        let pauses: Vec<Duration> = pauses(Duration::from_millis(500)).collect();
        assert_eq!(pauses.len(), RETRIES);
        assert!(pauses.windows(2).all(|pair| pair[1] > pair[0]), "{pauses:?}");
    }
}
