//! The working text to typed blocks: headings, paragraphs, list items, table rows, code, quotes, each with its section.
//!
//! One line scanner for Markdown, wiki markup and plain mail, because task files mix them: a Jira export has Markdown
//! bullets, a mail has fences. A Markdown parser would read `h2.` headings and `Label:` lines as prose and give no
//! offsets for what it drops. Over 400 lines because the kinds of line are told apart in one place: each rule is only
//! right in view of those before it. Deliberately absent: inline markup.

use super::sections::{self, Section};
use super::text::{collapsed, lines, sentences, slice, trimmed, without_emoji};
use super::{criteria, trace::Frame};
use crate::code::Span;
use regex::Regex;
use std::sync::LazyLock;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// 1 to 6 as written, 7 for a line in bold, 9 for a plain label.
    Heading(u8),
    Paragraph,
    /// `done` is `None` without a check box.
    Item {
        done: Option<bool>,
        ordered: bool,
    },
    Row,
    /// `language` as the fence names it, "" for none; indented code has no fence.
    Code {
        language: String,
        fenced: bool,
    },
    Quote,
    /// Log lines and traces outside a fence.
    Log,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub shape: Shape,
    /// The content without its marker.
    pub span: Span,
    pub section: Section,
    /// Counts the headings and labels: blocks of one part stand under the same one.
    pub part: usize,
    /// The label or heading of the part.
    pub label: Option<Span>,
}

static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:[-*+•◦‣▪●○–]\s+|・\s*|(?P<number>\d{1,3}[.)]|\(\d{1,3}\)|[a-z]\)|[①-⑳])\s+|(?P<wide>\d{1,2}[、．]|[①-⑳])\s*|[☐☑☒□■]\s+)").expect("valid")
});
static WIKI_ITEM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*(?:[*-]{1,4}|(?P<number>#{1,4}))\s+").expect("valid"));
static BOX: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\[(?P<mark>[ xX✓✔v*-]?)\]\s+").expect("valid"));
static ATX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^ {0,3}(?P<marks>#{1,6})\s+(?P<text>.*?)(?:\s+#+)?\s*$").expect("valid"));
static WIKI_HEADING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*h(?P<level>[1-6])\.\s+(?P<text>.*?)\s*$").expect("valid"));
static BOLD_LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:\*\*|__|\*)(?P<text>[^*_\s][^*]{0,78}?)(?:\*\*|__|\*)\s*[:：]?\s*$").expect("valid")
});
static WIDE_HEADING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:[【\[](?P<text>[^】\]\n]{1,40})[】\]]|[■●◆▼▶□]\s*(?P<mark>[^\n]{1,40}))\s*$").expect("valid")
});
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:\*\*|__|\*|_)?(?P<label>[^:：*\n`]{1,60}?)(?:\*\*|__|\*|_)?\s*(?:[:：]|\s[–—-]\s)(?:\*\*|__|\*|_)?(?:\s+|$|(?P<wide>))(?P<rest>.*)$").expect("valid")
});
static LOG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\w{3} +\d+ \d\d:\d\d:\d\d|goroutine \d+|Traceback \(most|Caused by:|(?:fatal|panic): |==\d+==|npm ERR!|FAILED |={5,}|--- FAIL|FAIL:?\s|not ok \d|E  +\w|exit status \d|(?:TRACE|DEBUG|INFO|WARN|ERROR)\b[ :\]])").expect("valid")
});
static FENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\s>]*(?P<marks>`{3,}|~{3,})\s*(?P<info>[^`\n]*)$").expect("valid"));
static WIKI_FENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*\{(?P<tag>code|noformat)(?::(?P<info>[^}\n]*))?\}\s*$").expect("valid"));
static WIKI_TEXT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*h[1-6]\.\s|^\s*\{(?:code|noformat)|\{\{").expect("valid"));
static TABLE_RULE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[\s|:+=-]+$").expect("valid"));

pub(super) fn blocks(text: &str, frames: &[Frame]) -> Vec<Block> {
    let mut scan = Scan {
        text,
        frames,
        wiki: WIKI_TEXT.is_match(text),
        out: Vec::new(),
        open: None,
        heads: Vec::new(),
        part: 0,
        parts: 0,
        section: Section::None,
        label: None,
        temporary: None,
        blank_before: true,
        headed: false,
    };
    let all = lines(text);
    let mut index = 0;
    while let Some(line) = all.get(index) {
        index = match scan.code_end(&all, index) {
            Some(next) => next,
            None => {
                scan.line(*line);
                index + 1
            }
        };
    }
    scan.flush();
    scan.out
}

/// Whether a line ends the code block.
type Closes = Box<dyn Fn(&str) -> bool>;

/// A label's reach: the one paragraph or list after it.
#[derive(Clone, Copy)]
struct Temporary {
    section: Section,
    part: usize,
    label: Span,
    state: Reach,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Fresh,
    InList,
    /// A paragraph was taken; a list may follow when the paragraph ends with a colon.
    Taken,
}

struct Scan<'a> {
    text: &'a str,
    frames: &'a [Frame],
    wiki: bool,
    out: Vec<Block>,
    open: Option<(Shape, Span)>,
    heads: Vec<(u8, Section)>,
    part: usize,
    parts: usize,
    section: Section,
    label: Option<Span>,
    temporary: Option<Temporary>,
    blank_before: bool,
    /// A heading of the document, not a label, was seen.
    headed: bool,
}

impl Scan<'_> {
    /// Takes a code block that starts at this line; gives the index after it.
    fn code_end(&mut self, all: &[Span], index: usize) -> Option<usize> {
        let first = slice(self.text, *all.get(index)?);
        let (info, closes): (String, Closes) = if let Some(fence) = FENCE.captures(first) {
            let marks = fence.name("marks").map_or("```", |m| m.as_str()).to_owned();
            let info = fence.name("info").map_or("", |m| m.as_str()).trim().to_owned();
            let closes = move |line: &str| {
                let bare = line.trim_matches([' ', '\t', '>']);
                bare.starts_with(&marks) && bare.chars().all(|c| marks.starts_with(c))
            };
            (info, Box::new(closes))
        } else if let Some(fence) = WIKI_FENCE.captures(first) {
            let tag = format!("{{{}}}", fence.name("tag").map_or("code", |m| m.as_str()));
            let info = fence.name("info").map_or("", |m| m.as_str()).split('|').next().unwrap_or("").to_owned();
            (info, Box::new(move |line: &str| line.trim() == tag))
        } else {
            return self.indented_end(all, index);
        };
        self.flush();
        let start = all.get(index + 1).map_or(self.text.len(), |line| line.start);
        let mut at = index + 1;
        while all.get(at).is_some_and(|line| !closes(slice(self.text, *line))) {
            at += 1;
        }
        let end = all.get(at).map_or(self.text.len(), |line| line.start.saturating_sub(1)).max(start);
        let language =
            info.split(|c: char| c.is_whitespace() || c == '{' || c == ',').next().unwrap_or("").to_lowercase();
        self.push(Shape::Code { language, fenced: true }, Span::new(start.min(end), end));
        self.blank_before = true;
        Some(at + 1)
    }

    /// Four spaces or a tab after a blank line or a heading, outside a list.
    fn indented_end(&mut self, all: &[Span], index: usize) -> Option<usize> {
        let indented = |line: &str| (line.starts_with("    ") || line.starts_with('\t')) && !line.trim().is_empty();
        let first = *all.get(index)?;
        let in_list = matches!(self.out.last().map(|b| &b.shape), Some(Shape::Item { .. }));
        let is_item = ITEM.is_match(slice(self.text, first));
        if !indented(slice(self.text, first)) || !self.blank_before || self.open.is_some() || in_list || is_item {
            return None;
        }
        let mut at = index;
        while all.get(at).is_some_and(|line| indented(slice(self.text, *line))) {
            at += 1;
        }
        let end = all.get(at - 1).map_or(first.end, |line| line.end);
        self.push(Shape::Code { language: String::new(), fenced: false }, Span::new(first.start, end));
        self.blank_before = false;
        Some(at)
    }

    fn line(&mut self, line: Span) {
        let body = slice(self.text, line);
        if body.trim().is_empty() {
            self.flush();
            self.blank_before = true;
            return;
        }
        if !self.structure(line, body) && !self.item(line, body) {
            self.prose(line, body);
        }
        self.blank_before = matches!(self.out.last().map(|b| &b.shape), Some(Shape::Heading(_))) && self.open.is_none();
    }

    /// Headings, rules, tables and quotes.
    fn structure(&mut self, line: Span, body: &str) -> bool {
        let inside = |m: regex::Match<'_>| Span::new(line.start + m.start(), line.start + m.end());
        let wiki_number = self.wiki && WIKI_ITEM.is_match(body) && body.trim_start().starts_with('#');
        if let (Some(found), false) = (ATX.captures(body), wiki_number) {
            let level = found.name("marks").map_or(1, |m| m.len() as u8);
            self.heading(level, found.name("text").map_or(line, inside));
        } else if let Some(found) = WIKI_HEADING.captures(body) {
            let level = found.name("level").and_then(|m| m.as_str().parse().ok()).unwrap_or(1);
            self.heading(level, found.name("text").map_or(line, inside));
        } else if let Some(level) = self.underline(body) {
            if let Some((_, span)) = self.open.take() {
                self.heading(level, span);
            }
        } else if body.trim().len() >= 3
            && body.trim().chars().all(|c| matches!(c, '-' | '=' | '_' | '*' | '~' | '─' | '━'))
        {
            self.flush();
        } else if body.trim_start().starts_with('|') {
            self.flush();
            if !TABLE_RULE.is_match(body) {
                self.push(Shape::Row, trimmed(self.text, line));
            }
        } else if body.trim_start().starts_with('>') {
            if !matches!(self.open, Some((Shape::Quote, _))) {
                self.flush();
                self.open = Some((Shape::Quote, line));
            } else if let Some((_, span)) = &mut self.open {
                span.end = line.end;
            }
        } else if let Some(text) = self.bold_heading(body) {
            self.heading(7, Span::new(line.start + text.start, line.start + text.end));
        } else {
            return false;
        }
        true
    }

    fn underline(&self, body: &str) -> Option<u8> {
        let bare = body.trim();
        let (Some((Shape::Paragraph, span)), true) = (&self.open, bare.len() >= 2) else { return None };
        if slice(self.text, *span).contains('\n') {
            return None;
        }
        match bare.as_bytes() {
            [b'=', rest @ ..] if rest.iter().all(|b| *b == b'=') => Some(1),
            [b'-', rest @ ..] if rest.iter().all(|b| *b == b'-') => Some(2),
            _ => None,
        }
    }

    /// A whole line in bold, or in the brackets that Japanese and Korean texts use; only where a paragraph could start.
    fn bold_heading(&self, body: &str) -> Option<Span> {
        let free = !matches!(self.open, Some((Shape::Paragraph, _)));
        let found = BOLD_LINE.captures(body).or_else(|| WIDE_HEADING.captures(body)).filter(|_| free)?;
        let text = found.name("text").or_else(|| found.name("mark"))?;
        Some(Span::new(text.start(), text.end()))
    }

    fn heading(&mut self, level: u8, span: Span) {
        self.flush();
        let span = trimmed(self.text, span);
        let heading = slice(self.text, span);
        while self.heads.last().is_some_and(|(above, _)| *above >= level) {
            self.heads.pop();
        }
        let first = !self.headed;
        self.headed |= level <= 6;
        let named = if first && level <= 2 && !sections::is_section_name(heading) {
            Section::None
        } else {
            sections::of_heading(heading)
        };
        let inherited = self.heads.last().map_or(Section::None, |(_, section)| *section);
        self.section = if named == Section::None { inherited } else { named };
        self.heads.push((level, self.section));
        self.temporary = None;
        self.part = self.next_part();
        self.label = Some(span);
        self.push(Shape::Heading(level), span);
    }

    fn next_part(&mut self) -> usize {
        self.parts += 1;
        self.parts
    }

    fn item(&mut self, line: Span, body: &str) -> bool {
        let found =
            if self.wiki { WIKI_ITEM.captures(body).or_else(|| ITEM.captures(body)) } else { ITEM.captures(body) };
        let Some(found) = found else { return false };
        let marker = found.get(0).map_or(0, |m| m.end());
        let ordered = found.name("number").is_some() || found.name("wide").is_some();
        // "2024. It was a good year" inside a paragraph is prose.
        if ordered && matches!(self.open, Some((Shape::Paragraph, _))) && !is_list_start(body) {
            return false;
        }
        self.flush();
        let rest = body.get(marker..).unwrap_or("");
        let mark = found.get(0).map_or("", |m| m.as_str()).trim();
        let boxed = BOX.captures(rest);
        let done = match (&boxed, mark) {
            (Some(found), _) => Some(!matches!(found.name("mark").map_or("", |m| m.as_str()), " " | "")),
            (None, "☐" | "□") => Some(false),
            (None, "☑" | "☒" | "■") => Some(true),
            (None, _) => None,
        };
        let skip = marker + boxed.and_then(|found| found.get(0)).map_or(0, |m| m.end());
        self.open = Some((Shape::Item { done, ordered }, Span::new(line.start + skip, line.end)));
        true
    }

    fn prose(&mut self, line: Span, body: &str) {
        if let Some((label, rest)) = self.inline_label(line, body) {
            self.flush();
            let section = sections::of_label(slice(self.text, label));
            self.temporary = Some(Temporary { section, part: self.next_part(), label, state: Reach::Fresh });
            if rest.is_empty() {
                self.push_label(label);
            } else {
                self.open = Some((Shape::Paragraph, rest));
            }
            return;
        }
        match &mut self.open {
            Some((Shape::Paragraph | Shape::Item { .. }, span)) => span.end = line.end,
            Some(_) | None => {
                self.flush();
                self.open = Some((Shape::Paragraph, line));
            }
        }
    }

    /// `Expected: 4` and `**Version:** 3.2`: the label and what follows on the line.
    fn inline_label(&self, line: Span, body: &str) -> Option<(Span, Span)> {
        let found = LABEL.captures(body)?;
        let (label, rest) = (found.name("label")?, found.name("rest")?);
        let dash = !found.get(0)?.as_str().contains([':', '：']);
        let section = sections::of_label(label.as_str());
        let bold = body.trim_start().starts_with(['*', '_']);
        if section == Section::None || (dash && !bold) || label.as_str().contains(". ") {
            return None;
        }
        // "A test: ..." opens nothing in the middle of a paragraph unless it starts in upper case or is a bare name.
        let span = Span::new(line.start + label.start(), line.start + label.end());
        Some((trimmed(self.text, span), trimmed(self.text, Span::new(line.start + rest.start(), line.end))))
    }

    fn flush(&mut self) {
        let Some((shape, span)) = self.open.take() else { return };
        let span = trimmed(self.text, span);
        match shape {
            Shape::Paragraph => self.paragraph(span),
            Shape::Item { .. } => self.flush_item(shape, span),
            Shape::Heading(_) | Shape::Row | Shape::Code { .. } | Shape::Quote | Shape::Log => self.push(shape, span),
        }
    }

    fn paragraph(&mut self, span: Span) {
        self.paragraph_with(span, 8);
    }

    /// At most `labels` labels inside the paragraph open parts of their own.
    fn paragraph_with(&mut self, span: Span, labels: usize) {
        let body = slice(self.text, span);
        let log = LOG.is_match(body) || self.holds_frame(span);
        if log {
            return self.push(Shape::Log, span);
        }
        if let Some((before, label, rest)) = self.label_inside(span).filter(|_| labels > 0) {
            self.paragraph_with(before, 0);
            let section = sections::of_label(slice(self.text, label));
            self.temporary = Some(Temporary { section, part: self.next_part(), label, state: Reach::Fresh });
            return self.paragraph_with(rest, labels - 1);
        }
        let short = !body.contains('\n') && !self.out.is_empty() && sections::is_section_name(body);
        if short {
            self.temporary = Some(self.temporary_for(sections::of_label(body), span));
            return self.push_label(span);
        }
        let lead = sentences(self.text, span).last().copied().filter(|s| slice(self.text, *s).ends_with([':', '：']));
        let Some(lead) = lead else { return self.push(Shape::Paragraph, span) };
        let words = slice(self.text, lead);
        let section = match sections::of_label(words) {
            Section::None if criteria::is_constraint(words) => Section::Constraint,
            Section::None if criteria::is_wish(words) => Section::Acceptance,
            section => section,
        };
        if lead == span && collapsed(words).chars().count() <= 60 {
            self.temporary = Some(self.temporary_for(section, lead));
            self.push_label(lead);
        } else {
            self.push(Shape::Paragraph, span);
            self.temporary = Some(self.temporary_for(section, lead));
        }
    }

    fn holds_frame(&self, span: Span) -> bool {
        let next = self.frames.partition_point(|frame| frame.span.end <= span.start);
        self.frames.get(next).is_some_and(|frame| frame.span.overlaps(span))
    }

    /// "... under ASan. Expected behaviour: closing ..." holds a paragraph and a labelled one.
    fn label_inside(&self, span: Span) -> Option<(Span, Span, Span)> {
        sentences(self.text, span).into_iter().skip(1).find_map(|sentence| {
            let first_line = slice(self.text, sentence).lines().next().unwrap_or("");
            let (label, rest) =
                self.inline_label(Span::new(sentence.start, sentence.start + first_line.len()), first_line)?;
            let telling = matches!(
                sections::of_label(slice(self.text, label)),
                Section::Acceptance
                    | Section::Expected
                    | Section::Constraint
                    | Section::Excluded
                    | Section::Actual
                    | Section::Steps
            );
            let before = trimmed(self.text, Span::new(span.start, sentence.start));
            (telling && !rest.is_empty()).then(|| (before, label, trimmed(self.text, Span::new(rest.start, span.end))))
        })
    }

    fn temporary_for(&mut self, section: Section, label: Span) -> Temporary {
        // A lead without a meaning of its own ("The component:") stays in the section around it.
        let section = if section == Section::None { self.section } else { section };
        Temporary { section, part: self.next_part(), label, state: Reach::Fresh }
    }

    fn flush_item(&mut self, shape: Shape, span: Span) {
        let span = without_emoji(self.text, span);
        let body = slice(self.text, span);
        let first_line = body.lines().next().unwrap_or("");
        let labelled = self.inline_label(Span::new(span.start, span.start + first_line.len()), first_line);
        match labelled {
            Some((label, rest)) if !rest.is_empty() && self.section == Section::None && self.temporary.is_none() => {
                let section = sections::of_label(slice(self.text, label));
                let part = self.next_part();
                let span = Span::new(rest.start, span.end);
                self.out.push(Block { shape, span, section, part, label: Some(label) });
            }
            _ => self.push(shape, span),
        }
    }

    fn push_label(&mut self, span: Span) {
        let (section, part) = self.temporary.map_or((self.section, self.part), |label| (label.section, label.part));
        self.out.push(Block { shape: Shape::Heading(9), span, section, part, label: Some(span) });
    }

    /// Adds a block under the label that reaches it, or else under the heading.
    fn push(&mut self, shape: Shape, span: Span) {
        let list = matches!(shape, Shape::Item { .. });
        let colon = self.out.last().is_some_and(|last| slice(self.text, last.span).ends_with([':', '：']));
        let reached = self.temporary.filter(|label| match label.state {
            Reach::Fresh => true,
            Reach::InList => list,
            Reach::Taken => list && colon,
        });
        self.temporary =
            reached.map(|label| Temporary { state: if list { Reach::InList } else { Reach::Taken }, ..label });
        let (section, part, label) = match reached {
            Some(label) => (label.section, label.part, Some(label.label)),
            None => (self.section, self.part, self.label),
        };
        if !slice(self.text, span).trim().is_empty() || matches!(shape, Shape::Heading(_)) {
            self.out.push(Block { shape, span, section, part, label });
        }
    }
}

fn is_list_start(body: &str) -> bool {
    let bare = body.trim_start();
    bare.starts_with("1.")
        || bare.starts_with("1)")
        || bare.starts_with("(1)")
        || bare.starts_with('①')
        || bare.starts_with("1、")
}
