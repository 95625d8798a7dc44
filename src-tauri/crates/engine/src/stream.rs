//! Turns the bytes of one candidate's tokens into text: whole characters only, and nothing that may yet turn out to be
//! the beginning of a stop text.
#![forbid(unsafe_code)]

use std::str;

#[derive(Clone, Debug)]
pub struct TextStream {
    text: String,
    /// Bytes of a character that is not complete yet; at most three.
    tail: Vec<u8>,
    /// Where the model's own text begins, after the answer's start that was put into its mouth.
    begin: usize,
    /// Up to here the text was told to the caller.
    told: usize,
    stops: Vec<String>,
}

impl TextStream {
    /// `start` is part of the text, but stop texts are not looked for in it.
    pub fn new(start: &str, stops: &[String]) -> TextStream {
        let stops = stops.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        TextStream { text: start.to_owned(), tail: Vec::new(), begin: start.len(), told: 0, stops }
    }

    /// True when a stop text was reached: the text then ends before it.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let from = self.text.len();
        self.tail.extend_from_slice(bytes);
        self.decode();
        let longest = self.stops.iter().map(String::len).max().unwrap_or(0);
        let mut from = from.saturating_sub(longest).max(self.begin);
        while !self.text.is_char_boundary(from) {
            from -= 1;
        }
        let fresh = self.text.get(from..).unwrap_or("");
        let stop = self.stops.iter().filter_map(|stop| fresh.find(stop.as_str())).min();
        if let Some(at) = stop {
            self.text.truncate(from + at);
            self.tail.clear();
        }
        stop.is_some()
    }

    /// Text that is new and certain; tells each part once.
    pub fn news(&mut self) -> &str {
        let certain = self.text.len() - self.held_back();
        let from = self.told.min(certain);
        self.told = certain.max(self.told);
        self.text.get(from..certain).unwrap_or("")
    }

    /// The end: what was held back for a stop text is told too. An incomplete last character is dropped.
    pub fn last_news(&mut self) -> &str {
        let from = self.told.min(self.text.len());
        self.told = self.text.len();
        self.text.get(from..).unwrap_or("")
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Moves whole characters from the tail to the text; bytes that can never become one turn into U+FFFD.
    fn decode(&mut self) {
        loop {
            match str::from_utf8(&self.tail) {
                Ok(whole) => {
                    self.text.push_str(whole);
                    self.tail.clear();
                    return;
                }
                Err(error) => {
                    let (whole, rest) = self.tail.split_at(error.valid_up_to());
                    self.text.push_str(&String::from_utf8_lossy(whole));
                    match error.error_len() {
                        Some(bad) => {
                            self.text.push(char::REPLACEMENT_CHARACTER);
                            self.tail = rest.get(bad..).unwrap_or(&[]).to_vec();
                        }
                        None => {
                            self.tail = rest.to_vec();
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Length of the longest end of the text that is a beginning of a stop text.
    fn held_back(&self) -> usize {
        let own = self.text.get(self.begin..).unwrap_or("");
        let held = |stop: &String| {
            stop.char_indices()
                .map(|(at, _)| at)
                .skip(1)
                .filter(|at| own.ends_with(stop.get(..*at).unwrap_or("")))
                .max()
        };
        self.stops.iter().filter_map(held).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes the pieces; returns what was told piece by piece, the end's news, the final text, and whether it stopped.
    fn run(start: &str, stops: &[&str], pieces: &[&[u8]]) -> (Vec<String>, String, String, bool) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let mut stream = TextStream::new(start, &stops);
        let (mut told, mut stopped) = (Vec::new(), false);
        for piece in pieces {
            stopped = stream.push(piece);
            if stopped {
                break;
            }
            told.push(stream.news().to_owned());
        }
        let last = stream.last_news().to_owned();
        assert_eq!(told.concat() + &last, stream.text());
        (told, last, stream.text().to_owned(), stopped)
    }

    #[track_caller]
    fn check(start: &str, stops: &[&str], pieces: &[&[u8]], told: &[&str], last: &str, stopped: bool) {
        let got = run(start, stops, pieces);
        assert_eq!((got.0, got.1.as_str(), got.3), (told.iter().map(|t| (*t).to_owned()).collect(), last, stopped));
    }

    #[test]
    fn tells_whole_characters() {
        check("", &[], &[b"a\xed", b"\x95\x9c", b"!"], &["a", "한", "!"], "", false);
        check("", &[], &[b"\xf0\x9f", b"\x98", b"\x80"], &["", "", "😀"], "", false);
        check("", &[], &[b"\xff\xfe", b"a"], &["\u{fffd}\u{fffd}", "a"], "", false);
        check("", &[], &[b"a\xed\x95"], &["a"], "", false);
        check("", &[], &[b"\xed", b"a"], &["", "\u{fffd}a"], "", false);
    }

    #[test]
    fn stops_before_the_stop_text_and_never_tells_a_part_of_it() {
        check("", &["```"], &[b"x = 1\n", b"``", b"`\nmore"], &["x = 1\n", ""], "", true);
        check("", &["```"], &[b"``", b"a"], &["", "``a"], "", false);
        check("", &["END", "ND"], &[b"xEND"], &[], "x", true);
        check("", &["한글"], &["a한".as_bytes(), "국".as_bytes()], &["a", "한국"], "", false);
        check("", &["```"], &[b"a``"], &["a"], "``", false);
        check("", &[""], &[b"a"], &["a"], "", false);
    }

    #[test]
    fn the_start_of_the_answer_is_text_but_no_stop() {
        check("```py\n", &["```"], &[b"x\n", b"```"], &["```py\nx\n"], "", true);
        check("``", &["```"], &[b"`x"], &["```x"], "", false);
    }
}
