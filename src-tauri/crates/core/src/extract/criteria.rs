//! Acceptance and constraints: what must hold at the end, and what must not be done or must stay.
//!
//! Where a section says what it is, its items are taken; elsewhere sentences are taken by cue words. Deliberately
//! absent: rewriting. A criterion is always a passage of the task.

use super::blocks::{Block, Shape};
use super::phrases;
use super::sections::Section;
use super::text::{Found, add, collapsed, prose_of, sentences, slice, without_emoji, without_full_stop, word_count};
use crate::code::Span;
use std::collections::HashMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Criteria {
    pub acceptance: Vec<Found>,
    pub constraints: Vec<Found>,
}

/// Whether the words forbid something or ask for something to stay; `text` may hold inline code.
pub(super) fn is_constraint(text: &str) -> bool {
    let prose = prose_of(text, Span::new(0, text.len())).to_lowercase();
    phrases::FORBIDS.is_match(&prose) || phrases::STAYS.is_match(&prose)
}

/// Whether the words ask for something to be so.
pub(super) fn is_wish(text: &str) -> bool {
    phrases::WISH.is_match(&prose_of(text, Span::new(0, text.len())).to_lowercase())
}

/// Whether a sentence asks for a test.
pub(super) fn is_test_wish(text: &str) -> bool {
    let words = prose_of(text, Span::new(0, text.len())).to_lowercase();
    phrases::TEST.is_match(&words) && phrases::TEST_WISH.is_match(&words) && !phrases::FORBIDS.is_match(&words)
}

/// Whether the words begin with an order ("Split ...").
pub(super) fn is_order(text: &str) -> bool {
    phrases::ORDER.is_match(&prose_of(text, Span::new(0, text.len())).to_lowercase())
}

pub(super) fn criteria(text: &str, blocks: &[Block]) -> Criteria {
    let mut out = Criteria::default();
    let lists = lists(blocks);
    for block in blocks {
        constraints_of(text, &lists, block, &mut out.constraints);
    }
    out.acceptance = acceptance(text, blocks, &lists, &out.constraints);
    out
}

fn acceptance(text: &str, blocks: &[Block], lists: &Lists, constraints: &[Found]) -> Vec<Found> {
    let mut out = Vec::new();
    let mut bases: [Vec<Found>; 4] = Default::default();
    let [stated, expected, listed, wished] = &mut bases;
    for block in blocks {
        let section = block.section;
        match (&block.shape, section) {
            (Shape::Item { done: Some(true), .. }, _) => {}
            (Shape::Item { .. }, Section::Acceptance) => add_item(stated, text, block),
            (
                Shape::Item { done: Some(false), .. },
                Section::Steps | Section::Excluded | Section::Environment | Section::Alternative,
            ) => {}
            (Shape::Item { done: Some(false), .. }, _) => add_item(stated, text, block),
            (Shape::Paragraph, Section::Acceptance) if !lists.contains_key(&block.part) => {
                add_sentences(stated, text, block.span)
            }
            (Shape::Item { .. }, Section::Expected) => add_item(expected, text, block),
            (Shape::Paragraph, Section::Expected) if !lists.contains_key(&block.part) => {
                add_sentences(expected, text, block.span)
            }
            (Shape::Item { done: None, .. }, Section::None | Section::Plan | Section::Context)
                if !is_constraint(slice(text, block.span)) =>
            {
                // Numbered lists outside a section are as often steps as tasks; they count when they ask for something.
                let asks = is_wish(slice(text, block.span)) || is_order(slice(text, block.span));
                if section == Section::None || asks {
                    add_item(listed, text, block);
                }
            }
            (Shape::Paragraph, Section::None | Section::Plan | Section::Context | Section::Check) => {
                add_wishes(wished, text, block.span)
            }
            _ => {}
        }
    }
    // A list of work does not say what is expected; a list of criteria does.
    let only_work = blocks
        .iter()
        .filter(|block| block.section == Section::Acceptance)
        .all(|block| block.label.is_some_and(|label| phrases::WORK_LIST.is_match(slice(text, label))));
    if only_work && !stated.is_empty() && !expected.is_empty() && has_work_list(blocks) {
        stated.append(expected);
        stated.sort_by_key(|found| found.span.map(|span| span.start));
    }
    for base in bases {
        out = base;
        if !out.is_empty() {
            break;
        }
    }
    for block in blocks.iter().filter(|block| matches!(block.shape, Shape::Paragraph | Shape::Item { done: None, .. }))
    {
        // Also under a heading whose list was taken: the paragraph after it may still ask for a test.
        if !matches!(block.section, Section::Steps | Section::Excluded | Section::Environment | Section::Alternative) {
            add_test_wishes(&mut out, text, block);
        }
    }
    out.retain(|found| {
        !constraints
            .iter()
            .any(|other| other.span == found.span && found.span.is_some() && is_order_to_leave(&other.value))
    });
    out
}

fn has_work_list(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| block.section == Section::Acceptance)
}

/// The parts that hold a list, and where their first item stands.
type Lists = HashMap<usize, usize>;

fn lists(blocks: &[Block]) -> Lists {
    let mut out = Lists::new();
    for block in blocks.iter().filter(|block| matches!(block.shape, Shape::Item { .. })) {
        out.entry(block.part).or_insert(block.span.start);
    }
    out
}

fn follows_items(lists: &Lists, block: &Block) -> bool {
    lists.get(&block.part).is_some_and(|first| *first < block.span.start)
}

fn add_item(list: &mut Vec<Found>, text: &str, block: &Block) {
    let found = Found::at(text, without_emoji(text, block.span));
    if is_content(&found.value) && !phrases::BOILERPLATE.is_match(&found.value.to_lowercase()) {
        add(list, found);
    }
}

/// One sentence is one criterion; ", and a ..." begins another.
fn add_sentences(list: &mut Vec<Found>, text: &str, span: Span) {
    for sentence in sentences(text, span) {
        let words = slice(text, sentence);
        if !is_content(words) || is_order_to_leave(words) || words.ends_with([':', '：', '?']) {
            continue;
        }
        for part in parts(text, sentence) {
            add(list, Found::at(text, without_full_stop(text, part)));
        }
    }
}

fn parts(text: &str, sentence: Span) -> Vec<Span> {
    let words = slice(text, sentence);
    let prose = prose_of(text, sentence);
    let cut = phrases::NEXT_CLAIM.captures(&prose).and_then(|found| {
        let next = found.name("next").map(|m| m.start()).or_else(|| found.name("then").map(|m| m.end()))?;
        Some((found.get(0)?.start(), next))
    });
    match cut {
        Some((end, next)) if words_in(words, 0, end) >= 4 && words_in(words, next, words.len()) >= 5 => {
            vec![Span::new(sentence.start, sentence.start + end), Span::new(sentence.start + next, sentence.end)]
        }
        _ => vec![sentence],
    }
}

fn words_in(text: &str, from: usize, to: usize) -> usize {
    word_count(text.get(from..to).unwrap_or(""))
}

fn add_wishes(list: &mut Vec<Found>, text: &str, span: Span) {
    for sentence in sentences(text, span) {
        let words = slice(text, sentence);
        if is_content(words) && (is_wish(words) || is_order(words)) && !is_order_to_leave(words) {
            add(list, Found::at(text, without_full_stop(text, sentence)));
        }
    }
}

fn add_test_wishes(list: &mut Vec<Found>, text: &str, block: &Block) {
    for sentence in sentences(text, block.span) {
        if is_test_wish(slice(text, sentence))
            && !list.iter().any(|old| old.span.is_some_and(|at| at.overlaps(sentence)))
        {
            add(list, Found::at(text, without_full_stop(text, sentence)));
        }
    }
}

/// "Do not touch X" said as an order is a constraint, wherever it stands; "it must not fail" can be a criterion.
fn is_order_to_leave(text: &str) -> bool {
    let prose = prose_of(text, Span::new(0, text.len())).to_lowercase();
    phrases::LEAVE.is_match(&prose)
}

fn is_content(text: &str) -> bool {
    word_count(text) >= 2 || text.chars().filter(|c| c.is_alphanumeric()).count() >= 8
}

fn constraints_of(text: &str, lists: &Lists, block: &Block, out: &mut Vec<Found>) {
    let prose = matches!(block.shape, Shape::Paragraph | Shape::Item { .. } | Shape::Row);
    if !prose {
        return;
    }
    match block.section {
        Section::Constraint if matches!(block.shape, Shape::Item { .. }) => {
            add(out, Found::at(text, without_full_stop(text, block.span)))
        }
        // After the list of the section a paragraph is prose like any other.
        Section::Constraint if follows_items(lists, block) => add_by_cue(out, text, block),
        Section::Constraint => {
            let listed = lists.contains_key(&block.part);
            for sentence in sentences(text, block.span) {
                if !(listed && slice(text, sentence).ends_with([':', '：'])) {
                    rules(text, sentence)
                        .into_iter()
                        .for_each(|rule| add(out, Found::at(text, without_full_stop(text, rule))));
                }
            }
        }
        Section::Excluded if matches!(block.shape, Shape::Paragraph) && follows_items(lists, block) => {
            add_by_cue(out, text, block)
        }
        Section::Excluded => add_excluded(out, text, block),
        Section::Steps | Section::Environment | Section::Alternative => {}
        Section::Acceptance | Section::Expected if matches!(block.shape, Shape::Item { .. }) => {
            if is_order_to_leave(slice(text, block.span)) {
                add(out, Found::at(text, without_full_stop(text, block.span)));
            }
        }
        Section::Acceptance
        | Section::Expected
        | Section::Actual
        | Section::Plan
        | Section::Check
        | Section::Context
        | Section::None => {
            add_by_cue(out, text, block);
        }
    }
}

/// What is out of scope is a constraint only together with the label that says so.
fn add_excluded(out: &mut Vec<Found>, text: &str, block: &Block) {
    let label = block.label.map_or(String::new(), |label| collapsed(slice(text, without_emoji(text, label))));
    let label = label.trim_matches(['*', '_', ':', '：', ' ']).to_owned();
    let body = without_full_stop(text, block.span);
    if label.is_empty() || is_constraint(slice(text, body)) {
        return add(out, Found::at(text, body));
    }
    // On one line with its label ("Out of scope: x") the passage is quoted whole.
    let joined =
        block.label.map(|label| Span::new(label.start, body.end)).filter(|span| !slice(text, *span).contains('\n'));
    match joined {
        Some(span) => add(out, Found::at(text, span)),
        None => add(out, Found { value: format!("{label}: {}", collapsed(slice(text, body))), span: None }),
    }
}

fn add_by_cue(out: &mut Vec<Found>, text: &str, block: &Block) {
    for sentence in sentences(text, block.span) {
        if !is_constraint(slice(text, sentence)) {
            continue;
        }
        for clause in clauses(text, sentence) {
            let prefixless = after_lead(text, clause);
            add(out, Found::at(text, without_full_stop(text, prefixless)));
        }
    }
}

/// The rules that one sentence of a list of rules holds.
fn rules(text: &str, sentence: Span) -> Vec<Span> {
    let prose = prose_of(text, sentence);
    let mut out = Vec::new();
    let mut start = 0;
    for hit in phrases::NEXT_RULE.find_iter(&prose) {
        if words_in(&prose, start, hit.start()) >= 3 && words_in(&prose, hit.end(), prose.len()) >= 3 {
            out.push(Span::new(sentence.start + start, sentence.start + hit.start()));
            start = hit.end();
        }
    }
    out.push(Span::new(sentence.start + start, sentence.end));
    out
}

/// The clauses of a sentence that carry a cue; the whole sentence when none does alone.
fn clauses(text: &str, sentence: Span) -> Vec<Span> {
    let prose = prose_of(text, sentence);
    let mut spans = Vec::new();
    let mut start = 0;
    for hit in phrases::CLAUSE.find_iter(&prose) {
        spans.push((start, hit.start()));
        start = hit.end();
    }
    spans.push((start, prose.len()));
    let long = spans.iter().all(|(from, to)| word_count(prose.get(*from..*to).unwrap_or("")) >= 3);
    let cued: Vec<Span> = spans
        .into_iter()
        .map(|(from, to)| Span::new(sentence.start + from, sentence.start + to))
        .filter(|span| is_constraint(slice(text, *span)))
        .collect();
    if cued.is_empty() || !long { vec![sentence] } else { cued }
}

/// "While you are there: please don't ..." and "Comment (June, lead): keep ..." without their lead.
fn after_lead(text: &str, clause: Span) -> Span {
    let words = slice(text, clause);
    let Some(at) = words.find(": ") else { return clause };
    let rest = Span::new(clause.start + at + 2, clause.end);
    let lead = words.get(..at).unwrap_or("");
    if word_count(lead) <= 7 && !is_constraint(lead) && is_constraint(slice(text, rest)) { rest } else { clause }
}
