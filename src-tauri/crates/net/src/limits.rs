//! Limits of everything that is read: time, line, event and body. A server cannot make the reader hold more than this.
//!
//! Deliberately absent: a lowest speed for streams of answers. A model that thinks sends nothing but pings for minutes; the
//! limit on the whole call bounds a slow server instead.

use futures_util::{Stream, StreamExt, stream};
use std::pin::Pin;
use std::time::Duration;

pub(crate) const MAX_LINE: usize = 256 * 1024;
pub(crate) const MAX_EVENT: usize = 1024 * 1024;
pub(crate) const MAX_BODY: usize = 16 * 1024 * 1024;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub connect: Duration,
    /// Until the head of a provider's answer.
    pub head: Duration,
    /// Between two pieces of a provider's answer.
    pub idle: Duration,
    pub call: Duration,
    /// The first pause before another try; it doubles.
    pub pause: Duration,
    /// The longest pause that a server may ask for.
    pub longest_pause: Duration,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            connect: Duration::from_secs(10),
            head: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            call: Duration::from_secs(600),
            pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(900),
        }
    }
}

impl Times {
    /// A server on this machine reads a prompt for minutes before its first byte.
    pub fn of_gateway(self) -> Times {
        Times { head: self.head * 10, idle: self.idle * 5, ..self }
    }
}

/// Watches the bytes of a stream of server-sent events go by.
#[derive(Default)]
pub(crate) struct Meter {
    line: usize,
    event: usize,
    body: usize,
    after_return: bool,
}

impl Meter {
    /// # Errors
    /// Which limit the stream is over.
    pub fn pass(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.body += bytes.len();
        if self.body > MAX_BODY {
            return Err(format!("the answer is over {} MB", MAX_BODY / 1024 / 1024));
        }
        for byte in bytes {
            self.event += 1;
            // The second half of a line end, not an empty line.
            let half = *byte == b'\n' && self.after_return;
            self.after_return = *byte == b'\r';
            if half {
                continue;
            }
            if matches!(byte, b'\n' | b'\r') {
                if self.line == 0 {
                    self.event = 0;
                }
                self.line = 0;
            } else {
                self.line += 1;
            }
            if self.line > MAX_LINE || self.event > MAX_EVENT {
                return Err("a line or event of the answer is too long".to_owned());
            }
        }
        Ok(())
    }
}

type Bytes = Result<Vec<u8>, String>;

/// The pieces of a body, within time and size.
pub(crate) fn metered(response: reqwest::Response, idle: Duration) -> Pin<Box<dyn Stream<Item = Bytes> + Send>> {
    let start = Some((response, Meter::default()));
    stream::unfold(start, move |state| async move {
        let (mut response, mut meter) = state?;
        let piece = match tokio::time::timeout(idle, response.chunk()).await {
            Ok(Ok(Some(piece))) => piece.to_vec(),
            Ok(Ok(None)) => return None,
            Ok(Err(error)) => return Some((Err(reason(&error)), None)),
            Err(_) => return Some((Err(format!("nothing came for {} s", idle.as_secs())), None)),
        };
        match meter.pass(&piece) {
            Ok(()) => Some((Ok(piece), Some((response, meter)))),
            Err(message) => Some((Err(message), None)),
        }
    })
    .boxed()
}

/// At most `limit` bytes of a body that is only shown or parsed whole.
pub(crate) async fn whole(mut response: reqwest::Response, limit: usize, idle: Duration) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        match tokio::time::timeout(idle, response.chunk()).await {
            Ok(Ok(Some(piece))) if body.len() + piece.len() > limit => return Err("the answer is too long".to_owned()),
            Ok(Ok(Some(piece))) => body.extend_from_slice(&piece),
            Ok(Ok(None)) => return Ok(body),
            Ok(Err(error)) => return Err(reason(&error)),
            Err(_) => return Err("nothing came for too long".to_owned()),
        }
    }
}

/// The innermost cause, which says most; never an address.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_events_and_bodies_are_cut() {
        let check = |piece: &[u8], times: usize, expected: bool| {
            let mut meter = Meter::default();
            let fits = (0..times).all(|_| meter.pass(piece).is_ok());
            assert_eq!(fits, expected, "{} x {times}", piece.len());
        };
        check(b"data: x\n\n", 1_000, true);
        check(&[b'x'; 1024], 256, true);
        check(&[b'x'; 1024], 257, false);
        check(b"data:\n", 100_000, true);
        check(b"data:\r\n", 200_000, false);
        check(&[&[b'x'; 1022], &b"\n\n"[..]].concat(), 16 * 1024, true);
        check(&[&[b'x'; 1022], &b"\n\n"[..]].concat(), 16 * 1024 + 1, false);
    }
}
