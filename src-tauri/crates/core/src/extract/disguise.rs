//! Text that hides what it says: invisible characters, look-alike letters, encoded words.
//!
//! Deliberately absent: judging what is found, see `injection`.

use super::cues;
use super::injection::{Findings, HIDDEN};
use super::text::{collapsed, slice};
use crate::code::Span;
use regex::Regex;
use std::sync::LazyLock;

static ENCODED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_-]{32,4000}={0,2}").expect("valid"));

pub(super) fn clipped(passage: &str) -> String {
    let visible: String = passage.chars().map(|c| shown(c).unwrap_or(' ')).collect();
    let whole = collapsed(&visible);
    match whole.char_indices().nth(400) {
        Some((at, _)) => format!("{}…", whole.get(..at).unwrap_or("")),
        None => whole,
    }
}

/// Tag characters spell ASCII that no editor shows.
fn shown(c: char) -> Option<char> {
    match u32::from(c) {
        code @ 0xe0020..=0xe007e => char::from_u32(code - 0xe0000),
        0xe0000..=0xe007f | 0x202a..=0x202e | 0x2066..=0x2069 | 0x200b..=0x200f | 0x2060..=0x2064 | 0xfeff => None,
        _ => Some(c),
    }
}

/// Runs of tag characters (save in flags) and of other invisible characters, and forced text directions.
pub(super) fn invisible(text: &str, findings: &mut Findings) {
    let mut run: Option<(Span, usize)> = None;
    let mut flag = false;
    let close = |run: Option<(Span, usize)>, findings: &mut Findings| {
        if let Some((span, count)) = run.filter(|(_, count)| *count >= 4) {
            findings.warnings.push(format!("{count} invisible characters: {}", clipped(slice(text, span))));
            findings.hostile.push(span);
        }
    };
    for (at, c) in text.char_indices() {
        let tag = matches!(u32::from(c), 0xe0000..=0xe007f | 0xe0100..=0xe01ef);
        let other = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}');
        if (tag && !flag) || other {
            let forced = if matches!(c, '\u{202d}' | '\u{202e}') { 4 } else { 1 };
            run = match run {
                Some((span, count)) => Some((Span::new(span.start, at + c.len_utf8()), count + forced)),
                None => Some((Span::new(at, at + c.len_utf8()), forced)),
            };
        } else {
            close(run.take(), findings);
            // The subdivision flags (a black flag and tags) are the honest use.
            flag = c == '\u{1f3f4}' || (flag && tag);
        }
    }
    close(run, findings);
}

/// Long base64 or hexadecimal words whose plain text gives orders.
pub(super) fn encoded(text: &str, findings: &mut Findings) {
    for word in ENCODED.find_iter(text) {
        let plain = from_hex(word.as_str()).or_else(|| from_base64(word.as_str()));
        let Some(plain) = plain.and_then(|bytes| String::from_utf8(bytes).ok()) else { continue };
        let readable = plain.chars().filter(|c| c.is_alphanumeric() || c.is_whitespace()).count() * 10
            >= plain.chars().count() * 8;
        let score: i32 = cues::all().iter().filter(|cue| cue.pattern.is_match(&plain)).map(|cue| cue.weight).sum();
        if readable && score >= HIDDEN {
            findings.warnings.push(format!("encoded: {}", clipped(&plain)));
            findings.hostile.push(Span::new(word.start(), word.end()));
        }
    }
}

fn from_hex(word: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        word.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

fn from_base64(word: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(word.len() * 3 / 4);
    let (mut held, mut bits) = (0_u32, 0);
    for byte in word.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = (held << 6 | u32::from(value)) & 0x3fff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    Some(out)
}

/// The text with look-alike letters folded and invisible characters dropped, and the way back.
pub(super) struct Folded {
    pub text: String,
    origins: Option<Vec<usize>>,
}

impl Folded {
    pub(super) fn of(text: &str) -> Folded {
        if !text.chars().any(|c| folded(c) != Some(c)) {
            return Folded { text: text.to_owned(), origins: None };
        }
        let mut out = String::with_capacity(text.len());
        let mut origins = Vec::with_capacity(text.len() + 1);
        for (at, c) in text.char_indices() {
            if let Some(c) = folded(c) {
                out.push(c);
                origins.extend(std::iter::repeat_n(at, c.len_utf8()));
            }
        }
        origins.push(text.len());
        Folded { text: out, origins: Some(origins) }
    }

    pub(super) fn origin(&self, at: usize) -> usize {
        self.origins.as_ref().map_or(at, |origins| origins.get(at).copied().unwrap_or(at))
    }
}

/// `None` for what nobody sees.
pub(super) fn folded(c: char) -> Option<char> {
    Some(match c {
        '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2064}'
        | '\u{feff}'
        | '\u{00ad}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => return None,
        '\u{e0020}'..='\u{e007e}' => char::from_u32(u32::from(c) - 0xe0000)?,
        '\u{ff01}'..='\u{ff5e}' if c.is_alphanumeric() => char::from_u32(u32::from(c) - 0xfee0)?,
        'а' => 'a',
        'е' => 'e',
        'о' => 'o',
        'р' => 'p',
        'с' => 'c',
        'у' => 'y',
        'х' => 'x',
        'і' => 'i',
        'ѕ' => 's',
        'ј' => 'j',
        'ԁ' => 'd',
        'ο' => 'o',
        'α' => 'a',
        'ι' => 'i',
        '\u{a0}' => ' ',
        _ => c,
    })
}
