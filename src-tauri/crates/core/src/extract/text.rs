//! Spans, masking, sentences and inline code: what every later stage needs from plain text.
//!
//! The working text always has the byte length of its source: what must not be read is overwritten with spaces, so an
//! offset found in any stage is an offset in the task file. Deliberately absent: any knowledge of fields.

use crate::code::Span;

/// A value and where it stands in the working text; `None` when it stands nowhere word by word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub value: String,
    pub span: Option<Span>,
}

impl Found {
    pub(super) fn at(text: &str, span: Span) -> Found {
        Found { value: collapsed(slice(text, span)), span: Some(span) }
    }
}

/// No task names more; a file that does is a dump, and every stage after this one compares values in pairs.
const MOST_VALUES: usize = 400;

/// Adds a value unless it is empty or already there.
pub(super) fn add(list: &mut Vec<Found>, found: Found) {
    if !found.value.is_empty() && list.len() < MOST_VALUES && !list.iter().any(|old| old.value == found.value) {
        list.push(found);
    }
}

/// The text of a span, or "" when the span does not lie on character boundaries.
pub(super) fn slice(text: &str, span: Span) -> &str {
    text.get(span.start..span.end).unwrap_or("")
}

/// Windows and old Mac line ends become `\n` without moving any byte.
pub(super) fn with_plain_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => out.push(' '),
            '\r' => out.push('\n'),
            _ => out.push(c),
        }
    }
    out
}

/// Overwrites the spans with spaces; line ends stay, so that the block structure around them stays too.
pub(super) fn masked(text: &str, spans: &[Span]) -> String {
    let mut spans: Vec<Span> = spans.to_vec();
    spans.sort_by_key(|span| span.start);
    let mut out = String::with_capacity(text.len());
    let mut next = 0;
    for (at, c) in text.char_indices() {
        while spans.get(next).is_some_and(|span| span.end <= at) {
            next += 1;
        }
        let hidden = spans.get(next).is_some_and(|span| span.start <= at);
        if hidden && c != '\n' {
            out.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            out.push(c);
        }
    }
    out
}

/// The lines of the text without their line ends.
pub(super) fn lines(text: &str) -> Vec<Span> {
    let mut start = 0;
    let mut out = Vec::new();
    for line in text.split('\n') {
        out.push(Span::new(start, start + line.len()));
        start += line.len() + 1;
    }
    out
}

/// White space collapsed to single spaces and trimmed.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The span without white space at its ends.
pub(super) fn trimmed(text: &str, span: Span) -> Span {
    narrowed(text, span, char::is_whitespace, char::is_whitespace)
}

fn narrowed(text: &str, span: Span, front: impl Fn(char) -> bool, back: impl Fn(char) -> bool) -> Span {
    let inner = slice(text, span);
    let start = span.start + (inner.len() - inner.trim_start_matches(&front).len());
    let rest = slice(text, Span::new(start, span.end));
    Span::new(start, start + rest.trim_end_matches(&back).len())
}

/// The span without emoji and white space at its ends.
pub(super) fn without_emoji(text: &str, span: Span) -> Span {
    let decor = |c: char| c.is_whitespace() || is_emoji(c);
    narrowed(text, span, decor, decor)
}

/// The span without the full stop of a sentence.
pub(super) fn without_full_stop(text: &str, span: Span) -> Span {
    let end = |c: char| c.is_whitespace() || matches!(c, '.' | '。' | '．' | ';');
    narrowed(text, span, |c| c.is_whitespace() || is_emoji(c) || matches!(c, ',' | ';' | '—' | '–'), end)
}

pub(super) fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{200d}' | '\u{20e3}')
}

pub(super) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}')
}

pub(super) fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}')
}

pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// Words of scripts with spaces; text without spaces counts as one word for every two characters.
pub(super) fn word_count(text: &str) -> usize {
    let dense = text.chars().filter(|c| is_kana(*c) || is_han(*c)).count();
    let spaced = text.split_whitespace().filter(|word| word.chars().any(|c| c.is_alphanumeric())).count();
    spaced.max(dense / 2)
}

const ABBREVIATIONS: [&str; 24] = [
    "e.g", "i.e", "etc", "vs", "cf", "z.b", "d.h", "bzw", "u.a", "ca", "nr", "p.s", "ps", "mr", "mrs", "dr", "approx",
    "resp", "incl", "no", "st", "p.ex", "ej", "evtl",
];

/// The sentences of a span. A full stop inside inline code, after an abbreviation or without a space ends nothing.
pub(super) fn sentences(text: &str, span: Span) -> Vec<Span> {
    let inner = slice(text, span);
    let codes = inline_code(text, span);
    let mut out = Vec::new();
    let mut start = span.start;
    let mut chars = inner.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let at = span.start + offset;
        let end = at + c.len_utf8();
        let wide = matches!(c, '。' | '！' | '？');
        let narrow = matches!(c, '.' | '!' | '?');
        if !(wide || narrow) {
            continue;
        }
        let next = codes.partition_point(|code| code.outer.end <= at);
        if codes.get(next).is_some_and(|code| code.outer.start < at) {
            continue;
        }
        let spaced = chars.peek().is_none_or(|(_, next)| next.is_whitespace() || *next == ')');
        if wide || (spaced && !(c == '.' && is_no_end(slice(text, Span::new(start, at))))) {
            out.push(Span::new(start, end));
            start = end;
        }
    }
    out.push(Span::new(start, span.end));
    out.into_iter().map(|s| trimmed(text, s)).filter(|s| slice(text, *s).chars().any(char::is_alphanumeric)).collect()
}

fn is_no_end(before: &str) -> bool {
    let before = tail(before, 24);
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("").to_lowercase();
    let numbered = before.trim().len() == word.len() && word.chars().all(|c| c.is_ascii_digit());
    ABBREVIATIONS.contains(&word.as_str()) || numbered
}

/// The last bytes of a text, cut at a character: a look back must not cost the whole text each time.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    let mut at = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    text.get(at..).unwrap_or("")
}

/// Longer stretches between two marks are not inline code but a mark that was never closed.
const LONGEST_CODE: usize = 2_000;

/// Inline code: what stands between the marks, and the whole with its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InlineCode {
    pub inner: Span,
    pub outer: Span,
}

/// Backtick runs, `{{mono}}` of wikis and `<code>`.
pub(super) fn inline_code(text: &str, span: Span) -> Vec<InlineCode> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = span.start;
    while at < span.end {
        let rest = text.get(at..span.end).unwrap_or("");
        let found = if rest.starts_with('`') {
            let run = bytes.get(at..span.end).unwrap_or(&[]).iter().take_while(|b| **b == b'`').count();
            closed(text, at, span.end, run, &"`".repeat(run)).ok_or(run)
        } else if rest.starts_with("{{") {
            closed(text, at, span.end, 2, "}}").ok_or(2)
        } else if rest.starts_with("<code>") {
            closed(text, at, span.end, 6, "</code>").ok_or(6)
        } else {
            Err(1)
        };
        match found {
            Ok(code) => {
                at = code.outer.end;
                out.push(code);
            }
            Err(step) => at += step,
        }
    }
    out
}

fn closed(text: &str, at: usize, end: usize, open: usize, close: &str) -> Option<InlineCode> {
    let mut end = end.min(at + open + LONGEST_CODE);
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let body = text.get(at + open..end)?;
    let mut from = 0;
    while let Some(found) = body.get(from..)?.find(close) {
        let stop = from + found;
        let longer = close.starts_with('`') && body.get(stop + close.len()..).is_some_and(|rest| rest.starts_with('`'));
        if !longer {
            let inner = Span::new(at + open, at + open + stop);
            return (stop > 0).then(|| InlineCode { inner, outer: Span::new(at, inner.end + close.len()) });
        }
        let run = body.get(stop..).map_or(1, |rest| rest.bytes().take_while(|b| *b == b'`').count());
        from = stop + run;
    }
    None
}

/// The span's text with inline code blanked, so that cue words are looked for in prose only.
pub(super) fn prose_of(text: &str, span: Span) -> String {
    let codes: Vec<Span> = inline_code(text, span)
        .into_iter()
        .map(|code| Span::new(code.outer.start - span.start, code.outer.end - span.start))
        .collect();
    masked(slice(text, span), &codes)
}
