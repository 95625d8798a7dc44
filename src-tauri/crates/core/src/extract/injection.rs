//! Passages of a task file that speak to the assistant instead of describing the work.
//!
//! Weighted cues are found once over the whole text and summed per segment (comment, fence, quote, paragraph, line); a
//! segment over its threshold is cut before any field is filled. A single cue never suffices: a task may well be *about*
//! prompts, agents or tokens. Deliberately absent: any claim that the rest is safe; what is done with a task is
//! bounded elsewhere, this only keeps such text out of the Brief.

use super::cues::{self, Cue, Family};
use super::text::{collapsed, inline_code, is_emoji, lines, sentences, slice, tail, trimmed};
use crate::code::Span;
use regex::Regex;
use std::sync::LazyLock;

/// Shown to a person: more than these nobody reads.
const MOST_WARNINGS: usize = 50;

/// What to cut and what to show. `comments` are cut as well, but are not suspicious.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    pub hostile: Vec<Span>,
    pub comments: Vec<Span>,
    pub warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentKind {
    Comment,
    Fence,
    Quote,
    Paragraph,
    Heading,
    Line,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    kind: SegmentKind,
    span: Span,
}

struct Hit {
    cue: &'static Cue,
    span: Span,
    /// In quotes or inline code: mentioned, not said.
    quoted: bool,
    /// At the start of a sentence or clause: an order, not a description.
    leading: bool,
}

static COMMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)<!--.*?-->|(?m)^\s*\[(?://|comment|_)\]:\s*#?[^\n]*$").expect("valid"));
static ENCODED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_-]{32,4000}={0,2}").expect("valid"));
static FENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[\s>]*(`{3,}|~{3,})").expect("valid"));
static LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*(?:[-*+•]\s|\d{1,3}[.)]\s|\||[\w-]+:\s)").expect("valid"));
static SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:prompt[- ]?injections?|jailbreaks?|guard ?rails?|(?:system|user) prompts?|prompts?|chat templates?|llms?|chat ?bots?|(?:ai|chat|code|coding|voice) assistants?|language models?|sanitis|sanitiz|moderation|red[- ]team)|프롬프트|챗봇|언어 ?모델|プロンプト|チャットボット|提示词|聊天机器人|大模型",
    )
    .expect("valid")
});

/// A hidden segment needs less: nobody hides an honest order to a machine.
const VISIBLE: i32 = 4;
const HIDDEN: i32 = 3;
/// Sample prompts stand in fences of tasks about prompts.
const SAMPLE: i32 = 7;

pub(super) fn find(text: &str) -> Findings {
    let mut findings = Findings::default();
    invisible(text, &mut findings);
    let comments = comment_spans(text);
    let segments = segments(text, &comments);
    let hits = hits(text, &segments);
    let about_prompts = SUBJECT.is_match(&head_of(text));
    encoded(text, &mut findings);
    let mut carried = 0;
    let mut after_hostile = false;
    for segment in &segments {
        let first = hits.partition_point(|hit| hit.span.start < segment.span.start);
        let own: Vec<&Hit> = hits.iter().skip(first).take_while(|hit| hit.span.start < segment.span.end).collect();
        let score = score(&own, segment.kind);
        let threshold = match segment.kind {
            SegmentKind::Comment => HIDDEN,
            SegmentKind::Fence | SegmentKind::Quote if about_prompts => SAMPLE,
            _ if after_hostile => VISIBLE / 2,
            SegmentKind::Heading
            | SegmentKind::Fence
            | SegmentKind::Quote
            | SegmentKind::Paragraph
            | SegmentKind::Line => VISIBLE,
        };
        // A forged role heading ("### system") is harmless alone and tells of what follows it.
        let total = if score > 0 { score + carried } else { 0 };
        let hostile = total >= threshold;
        if hostile {
            let cut = cut_of(text, *segment, &own);
            if findings.warnings.len() < MOST_WARNINGS {
                findings.warnings.push(clipped(slice(text, cut)));
            }
            findings.hostile.push(cut);
        }
        match segment.kind {
            SegmentKind::Heading => carried = score.min(2),
            SegmentKind::Comment => findings.comments.push(segment.span),
            SegmentKind::Fence | SegmentKind::Quote | SegmentKind::Paragraph | SegmentKind::Line => {}
        }
        if segment.kind != SegmentKind::Comment {
            after_hostile = hostile;
        }
    }
    findings
}

/// Whether a short text of its own (a title, one value of a list) is hostile.
pub(super) fn is_hostile(text: &str) -> bool {
    !find(text).hostile.is_empty()
}

/// A subject counts once, and a little more when it comes back: two words about secrets are still one subject. Orders
/// about who the reader is and what it may do add up.
fn score(hits: &[&Hit], kind: SegmentKind) -> i32 {
    let of = |family: Family| {
        let weights = hits
            .iter()
            .filter(move |hit| hit.cue.family == family)
            .map(|hit| weight(hit, kind))
            .filter(|weight| *weight > 0);
        match family {
            Family::Persona | Family::Approval | Family::Override => weights.sum(),
            Family::Address | Family::Role | Family::Secrecy | Family::Leak | Family::Run => {
                weights.clone().max().unwrap_or(0) + i32::from(weights.count() > 1)
            }
        }
    };
    Family::ALL.into_iter().map(of).sum::<i32>()
}

fn weight(hit: &Hit, kind: SegmentKind) -> i32 {
    let quoted = hit.quoted && kind != SegmentKind::Comment && hit.cue.mentionable;
    if quoted {
        0
    } else if hit.cue.order && !hit.leading && kind != SegmentKind::Comment {
        1
    } else {
        hit.cue.weight
    }
}

/// Of a paragraph the part before the first suspicious sentence may stay.
fn cut_of(text: &str, segment: Segment, own: &[&Hit]) -> Span {
    let first = own.iter().map(|hit| hit.span.start).min().unwrap_or(segment.span.start);
    match segment.kind {
        SegmentKind::Paragraph => {
            let start = sentences(text, segment.span)
                .into_iter()
                .rfind(|s| s.start <= first)
                .map_or(segment.span.start, |s| s.start);
            Span::new(start, segment.span.end)
        }
        SegmentKind::Fence if slice(text, segment.span).lines().count() > 16 => {
            let last = own.iter().map(|hit| hit.span.end).max().unwrap_or(segment.span.end);
            let start = text.get(..first).and_then(|before| before.rfind('\n')).map_or(segment.span.start, |at| at + 1);
            let end = text.get(last..).and_then(|after| after.find('\n')).map_or(segment.span.end, |at| last + at);
            Span::new(start.max(segment.span.start), end.min(segment.span.end))
        }
        SegmentKind::Fence | SegmentKind::Comment | SegmentKind::Quote | SegmentKind::Heading | SegmentKind::Line => {
            segment.span
        }
    }
}

fn clipped(passage: &str) -> String {
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
fn invisible(text: &str, findings: &mut Findings) {
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
fn encoded(text: &str, findings: &mut Findings) {
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

fn comment_spans(text: &str) -> Vec<Span> {
    let fenced = fence_spans(text);
    let inside =
        |at: usize| fenced.get(fenced.partition_point(|span| span.end <= at)).is_some_and(|span| span.start <= at);
    let mut out: Vec<Span> =
        COMMENT.find_iter(text).map(|m| Span::new(m.start(), m.end())).filter(|span| !inside(span.start)).collect();
    // A comment that is never closed hides its paragraph at least.
    let closed = out.last().map_or(0, |span| span.end);
    if let Some(at) =
        text.get(closed..).and_then(|rest| rest.find("<!--")).map(|at| closed + at).filter(|at| !inside(*at))
    {
        let end = text.get(at..).and_then(|rest| rest.find("\n\n")).map_or(text.len(), |len| at + len);
        out.push(Span::new(at, end));
    }
    out
}

fn fence_spans(text: &str) -> Vec<Span> {
    let mut out = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for line in lines(text) {
        let marks = FENCE.captures(slice(text, line)).and_then(|found| found.get(1)).map(|m| m.as_str().to_owned());
        match (&open, marks) {
            (None, Some(marks)) => open = Some((line.start, marks)),
            (Some((start, opened)), Some(marks)) if marks.starts_with(opened.as_str()) => {
                out.push(Span::new(*start, line.end));
                open = None;
            }
            _ => {}
        }
    }
    out.extend(open.map(|(start, _)| Span::new(start, text.len())));
    out
}

fn segments(text: &str, comments: &[Span]) -> Vec<Segment> {
    let mut out: Vec<Segment> =
        comments.iter().map(|span| Segment { kind: SegmentKind::Comment, span: *span }).collect();
    let fences = fence_spans(text);
    out.extend(fences.iter().map(|span| Segment { kind: SegmentKind::Fence, span: *span }));
    let visible = super::text::masked(text, &[comments, &fences].concat());
    let mut open: Option<Segment> = None;
    for line in lines(&visible) {
        let body = slice(&visible, line);
        let bare = body.trim_start();
        let kind = if bare.is_empty() {
            None
        } else if bare.starts_with('#') || is_wiki_heading(bare) {
            Some(SegmentKind::Heading)
        } else if bare.starts_with('>') {
            Some(SegmentKind::Quote)
        } else if LINE.is_match(body) {
            Some(SegmentKind::Line)
        } else {
            Some(SegmentKind::Paragraph)
        };
        let joins = matches!(
            (open.map(|s| s.kind), kind),
            (Some(SegmentKind::Quote), Some(SegmentKind::Quote | SegmentKind::Paragraph))
                | (Some(SegmentKind::Paragraph | SegmentKind::Line), Some(SegmentKind::Paragraph))
        );
        match (&mut open, kind) {
            (Some(segment), Some(_)) if joins => segment.span.end = line.end,
            (_, kind) => {
                out.extend(open.take());
                open = kind.map(|kind| Segment { kind, span: trimmed(&visible, line) });
            }
        }
    }
    out.extend(open);
    out.sort_by_key(|segment| segment.span.start);
    out
}

fn is_wiki_heading(line: &str) -> bool {
    line.starts_with('h') && line.get(1..4).is_some_and(|rest| rest.ends_with(". "))
}

/// The title and the first heading: where a task says what it is about.
fn head_of(text: &str) -> String {
    let mut head = String::new();
    for line in text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric)).take(40) {
        let titled = line.starts_with('#')
            || line.to_lowercase().starts_with("title")
            || line.starts_with("Subject:")
            || line.starts_with("Summary:");
        if titled || head.is_empty() {
            head.push_str(line);
            head.push('\n');
        }
    }
    head
}

fn hits(text: &str, segments: &[Segment]) -> Vec<Hit> {
    let folded = Folded::of(text);
    let mut out = Vec::new();
    for cue in cues::all() {
        for found in cue.pattern.find_iter(&folded.text) {
            let span = Span::new(folded.origin(found.start()), folded.origin(found.end()));
            let place = segments.partition_point(|segment| segment.span.end <= span.start);
            let segment = segments.get(place).filter(|segment| segment.span.start <= span.start);
            let from = segment.map_or(0, |segment| segment.span.start);
            let before = tail(text.get(from..span.start).unwrap_or(""), 400);
            out.push(Hit { cue, span, quoted: is_quoted(text, from, span), leading: is_leading(before) });
        }
    }
    // One phrase counts once for each kind of cue.
    out.sort_by_key(|hit| (hit.span.start, -hit.cue.weight));
    let mut kept: Vec<Hit> = Vec::new();
    for hit in out {
        let same = |old: &Hit| old.cue.family == hit.cue.family && old.span.overlaps(hit.span);
        if !kept.iter().rev().take(8).any(same) {
            kept.push(hit);
        }
    }
    kept
}

fn is_quoted(text: &str, from: usize, span: Span) -> bool {
    let from = from.max(span.start.saturating_sub(tail(text.get(from..span.start).unwrap_or(""), 1_000).len()));
    let line_start = text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1).max(from);
    let line_end = text.get(span.start..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| span.start + at);
    let line_end = (span.end + 200..line_end).find(|at| text.is_char_boundary(*at)).unwrap_or(line_end);
    let before = text.get(line_start..span.start).unwrap_or("");
    let odd = |c: char| before.matches(c).count() % 2 == 1;
    let opened = |open: char, close: char| before.matches(open).count() > before.matches(close).count();
    let in_code = inline_code(text, Span::new(line_start, line_end)).iter().any(|code| code.outer.overlaps(span));
    in_code
        || odd('"')
        || opened('“', '”')
        || opened('„', '“')
        || opened('«', '»')
        || opened('「', '」')
        || opened('『', '』')
        || opened('‘', '’')
}

/// Nothing before it in its sentence but an address, a marker or a word that makes an order.
fn is_leading(before: &str) -> bool {
    let clause =
        before.rsplit(['.', '!', '?', ':', ';', ',', '\n', '。', '：', '—', '–', '(', '>', '*']).next().unwrap_or("");
    let words: Vec<String> = clause
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty() && !word.chars().all(|c| c.is_ascii_digit() || is_emoji(c)))
        .map(str::to_lowercase)
        .collect();
    let orders = [
        "please",
        "and",
        "then",
        "now",
        "you",
        "must",
        "should",
        "first",
        "just",
        "also",
        "so",
        "instead",
        "immediately",
        "kindly",
        "important",
        "have",
        "need",
        "to",
        "are",
        "ai",
        "llm",
        "assistant",
        "agent",
        "will",
        "bitte",
        "por",
        "favor",
        "veuillez",
    ];
    words.iter().all(|word| orders.contains(&word.as_str()))
}

/// The text with look-alike letters folded and invisible characters dropped, and the way back.
struct Folded {
    text: String,
    origins: Option<Vec<usize>>,
}

impl Folded {
    fn of(text: &str) -> Folded {
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

    fn origin(&self, at: usize) -> usize {
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
