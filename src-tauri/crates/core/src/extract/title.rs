//! The title and the goal sentence.
//!
//! The goal by code is a passage or a composition of passages; a model may put it better later. Deliberately absent:
//! translation, invention.

use super::blocks::{Block, Shape};
use super::criteria::{self, Criteria};
use super::front_matter::Meta;
use super::sections::{self, Section};
use super::text::{Found, collapsed, sentences, slice, trimmed, without_emoji, without_full_stop, word_count};
use crate::brief::TaskKind;
use crate::code::Span;
use regex::Regex;
use std::sync::LazyLock;

static GREETING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?i:hi|hello|hey|dear|hallo|moin|servus|guten (?:tag|morgen)|good (?:morning|afternoon)|bonjour|salut|hola|buen[oa]s \w+|ciao|안녕|お世話|こんにちは|您好|你好|大家好|привет|здравствуйте)[^.\n]{0,40}[,!.。，！]?$").expect("valid")
});

/// What the task states outright, else its first real heading, its summary, or its first words.
pub(super) fn title(text: &str, blocks: &[Block], meta: &Meta) -> Found {
    if let Some(stated) = &meta.title {
        return Found { value: collapsed(stated), span: None };
    }
    let headings = || blocks.iter().filter(|block| matches!(block.shape, Shape::Heading(..=7)));
    let main = headings()
        .find(|block| block.shape == Shape::Heading(1) && !sections::is_section_name(slice(text, block.span)))
        .or_else(|| {
            headings().find(|block| {
                matches!(block.shape, Shape::Heading(..=6))
                    && !sections::is_section_name(slice(text, block.span))
                    && block.section == Section::None
            })
        });
    let first_prose = blocks
        .iter()
        .filter(|block| !GREETING.is_match(slice(text, block.span)))
        .find(|block| !matches!(block.shape, Shape::Code { .. } | Shape::Log | Shape::Row));
    // Prose before any heading is a title line of its own ("sift hangs and ...").
    let leads = first_prose.filter(|block| match block.shape {
        Shape::Paragraph => block.label.is_none(),
        Shape::Heading(9) => block.section == Section::None,
        _ => false,
    });
    let span = match (main, leads) {
        (Some(main), Some(lead)) if lead.span.start < main.span.start && main.shape != Shape::Heading(1) => {
            first_words(text, lead.span)
        }
        (Some(main), _) => main.span,
        (None, Some(lead)) => first_words(text, lead.span),
        (None, None) => {
            let beside = |section| matches!(section, Section::Environment | Section::Steps | Section::Check);
            let told = |block: &&Block| !GREETING.is_match(slice(text, block.span)) && !beside(block.section);
            let body = blocks
                .iter()
                .filter(told)
                .find(|block| matches!(block.shape, Shape::Paragraph | Shape::Item { .. } | Shape::Quote));
            let any = body
                .or_else(|| blocks.iter().find(|block| matches!(block.shape, Shape::Heading(_))))
                .or(blocks.first());
            any.map_or(Span::new(0, 0), |block| first_words(text, block.span))
        }
    };
    let span = unmarked(text, span);
    let bare = slice(text, span).trim_end_matches([':', '：', ' ']);
    Found::at(text, Span::new(span.start, span.start + bare.len()))
}

/// The first line if it stands alone, else the first sentence, never more than 160 characters.
fn first_words(text: &str, span: Span) -> Span {
    let first = sentences(text, span).first().copied().unwrap_or(span);
    let line_end = slice(text, span).find('\n').map_or(span.end, |at| span.start + at);
    let first = if line_end < first.end && slice(text, first).chars().count() > 120 {
        Span::new(first.start, line_end)
    } else {
        first
    };
    let cut = slice(text, first).char_indices().nth(160).map_or(first.end, |(at, _)| {
        let head = text.get(first.start..first.start + at).unwrap_or("");
        first.start + head.rfind(char::is_whitespace).unwrap_or(at)
    });
    without_full_stop(text, Span::new(first.start, cut))
}

fn unmarked(text: &str, span: Span) -> Span {
    let span = without_emoji(text, span);
    let inner = slice(text, span);
    let marks = |c: char| matches!(c, '*' | '_' | '#' | ' ');
    let bare = inner.trim_matches(marks);
    match inner.find(bare) {
        Some(at)
            if !bare.is_empty() && (inner.starts_with("**") || inner.starts_with("__") || inner.starts_with('#')) =>
        {
            Span::new(span.start + at, span.start + at + bare.len())
        }
        _ => trimmed(text, span),
    }
}

/// What must be true at the end: a stated goal, the sentence that asks for it, or the title with the first criterion.
pub(super) fn goal(
    text: &str,
    blocks: &[Block],
    meta: &Meta,
    kind: TaskKind,
    title: &Found,
    criteria: &Criteria,
    symbols: &[Found],
) -> Found {
    if let Some(stated) = &meta.goal {
        return Found { value: collapsed(stated), span: None };
    }
    let asks = kind != TaskKind::Bug && kind != TaskKind::Question;
    if let Some(sentence) = asks.then(|| asking_sentence(text, blocks, title)).flatten() {
        return Found::at(text, without_full_stop(text, sentence));
    }
    // "Write tests for x" is a goal as it stands; "x is broken" needs what should be instead.
    let first = criteria.acceptance.first().filter(|first| first.value != title.value);
    let Some(first) = first.filter(|_| !(asks && criteria::is_order(&title.value))) else { return title.clone() };
    let before =
        |symbol: &&Found| symbol.span.zip(first.span).is_some_and(|(symbol, first)| symbol.start < first.start);
    let named = symbols
        .first()
        .filter(before)
        .filter(|symbol| !title.value.contains(&symbol.value) && !first.value.contains(&symbol.value));
    let value = match named {
        Some(symbol) => format!("{} ({}): {}", title.value, symbol.value, first.value),
        None if first.value.starts_with(&title.value) => first.value.clone(),
        None => format!("{}: {}", title.value, first.value),
    };
    Found { value, span: None }
}

fn shares_a_word(title: &str, sentence: &str) -> bool {
    let long = |word: &&str| word.chars().count() >= 4;
    title
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(long)
        .any(|word| sentence.split(|c: char| !c.is_alphanumeric()).any(|other| other == word))
}

/// The first sentence of plain prose that asks for something and is no rule and no wish for a test.
fn asking_sentence(text: &str, blocks: &[Block], title: &Found) -> Option<Span> {
    let in_prose = |block: &&Block| {
        block.shape == Shape::Paragraph && matches!(block.section, Section::None | Section::Context | Section::Expected)
    };
    blocks
        .iter()
        .filter(in_prose)
        .flat_map(|block| sentences(text, block.span).into_iter().map(|s| (block.section, s)))
        .find_map(|(section, sentence)| {
            let words = slice(text, sentence);
            // "must" tells as often how things are as how they should be.
            let softer = ["must", "has to", "have to", "needs to", "them"]
                .iter()
                .fold(words.to_lowercase(), |text, word| text.replace(word, "…"));
            let asks = section == Section::Expected
                || (criteria::is_wish(&softer) && !words.to_lowercase().contains(" them "));
            let enough = (24..=260).contains(&words.chars().count()) || word_count(words) >= 6;
            let lower = words.to_lowercase();
            let related = section == Section::Expected
                || !title.value.is_ascii()
                || !criteria::is_order(&title.value)
                || shares_a_word(&title.value, &lower);
            let own = related && title.span.is_none_or(|span| !span.overlaps(sentence));
            let asks = asks && !(words.ends_with('?') && section == Section::Context);
            (asks
                && enough
                && own
                && !words.ends_with([':', '：'])
                && !criteria::is_constraint(words)
                && !criteria::is_test_wish(words))
            .then_some(sentence)
        })
}
