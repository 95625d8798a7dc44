//! Passages of a task file that speak to the assistant instead of describing the work.
//!
//! Weighted cues are found once over the whole text and summed per segment (comment, fence, quote, paragraph, line); a
//! segment over its threshold is cut before any field is filled. A single cue never suffices: a task may well be *about*
//! prompts, agents or tokens. Deliberately absent: any claim that the rest is safe; what is done with a task is
//! bounded elsewhere, this only keeps such text out of the Brief.

use super::cues::{self, Cue, Family};
use super::disguise::{Folded, clipped, encoded, invisible};
use super::text::{inline_code, is_emoji, lines, sentences, slice, tail, trimmed};
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
pub(super) const HIDDEN: i32 = 3;
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
            SegmentKind::Heading => carried = spoken_to(&own, segment.kind).min(2),
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
    let total = Family::ALL.into_iter().map(of).sum::<i32>();
    // What one could do with secrets, tests or a shell is the subject of honest tasks; it takes words to the reader, or
    // one phrase that no task has, to make it an order to the assistant.
    let certain = hits.iter().any(|hit| weight(hit, kind) >= VISIBLE);
    let spoken = certain || hits.iter().any(|hit| hit.cue.family.speaks() && weight(hit, kind) >= 2);
    if spoken { total } else { total.min(VISIBLE - 1) }
}

/// How far a heading speaks in a forged role or to the assistant.
fn spoken_to(hits: &[&Hit], kind: SegmentKind) -> i32 {
    let speaks = |hit: &&&Hit| matches!(hit.cue.family, Family::Role | Family::Address);
    hits.iter().filter(speaks).map(|hit| weight(hit, kind)).max().unwrap_or(0)
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
