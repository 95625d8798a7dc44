//! The Parser's code half: everything that code can take from a task file is taken here, each value with its place.
//!
//! A pipeline over one working text of the file's byte length: hostile passages and comments are blanked first, then
//! front matter and headers are read and blanked, the rest becomes blocks, and each field has a stage of its own.
//! Nothing a stage sees was cut for being hostile, so nothing hostile reaches a field. Deliberately absent: the
//! project (grounding), models, and any effect.

mod blocks;
mod commands;
mod criteria;
mod cues;
mod disguise;
mod files;
mod formats;
mod front_matter;
mod injection;
mod kind;
mod language;
mod phrases;
mod sections;
mod symbols;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod title;
mod trace;

use crate::brief::{Brief, FieldEvidence, Source, TaskKind};
use crate::code::Span;
use crate::task_file::TaskFile;
use front_matter::Meta;
use text::{Found, add, collapsed, masked, slice};

/// Reads a task file. Never fails: what is not there gives an empty field.
pub fn extract(file: &TaskFile) -> Brief {
    let intake = Intake::of(&file.text);
    let text = &intake.text;
    let frames = trace::frames(text);
    let blocks = blocks::blocks(text, &frames);
    let title = title::title(text, &blocks, &intake.meta);
    let mut criteria = criteria::criteria(text, &blocks);
    if !intake.meta.acceptance.is_empty() {
        criteria.acceptance = stated(&intake.meta.acceptance, Vec::new());
    }
    let constraints = stated(&intake.meta.constraints, std::mem::take(&mut criteria.constraints));
    let kind = kind::kind(text, &blocks, &frames, &intake.meta, &title.value);
    let language = language::language(text, &blocks, &title.value);
    let files = stated(&intake.meta.files, files::files(text, &frames));
    let commands = stated(&intake.meta.commands, commands::commands(text, &blocks));
    let symbols = stated(&intake.meta.symbols, symbols::symbols(text, &blocks, &frames, &commands));
    let goal = title::goal(text, &blocks, &intake.meta, kind, &title, &criteria, &symbols);
    let mut evidence = Evidence { text: &file.text, moved: intake.moved, out: Vec::new() };
    let is_empty = title.value.is_empty() && blocks.is_empty();
    Brief {
        title: evidence.one("title", title),
        kind: if is_empty { TaskKind::Question } else { kind },
        goal: evidence.one("goal", goal),
        acceptance: evidence.many("acceptance", criteria.acceptance),
        files: evidence.many("files", files),
        symbols: evidence.many("symbols", symbols),
        commands: evidence.many("commands", commands),
        constraints: evidence.many("constraints", constraints),
        language,
        injected_instructions: !intake.warnings.is_empty(),
        warnings: intake.warnings,
        evidence: evidence.out,
        grounded_files: Vec::new(),
        grounded_symbols: Vec::new(),
        trace: trace::project_frames(&frames),
    }
}

/// The task as a model may see it: comments and hostile passages are cut, everything else stands as written.
pub fn readable_text(file: &TaskFile) -> String {
    let (clean, _) = without_hostile(&markdown(file));
    spaced(&clean)
}

/// The title and the text below the front matter, cut as in [`readable_text`]: what a model needs that is told the fields
/// of the front matter elsewhere.
pub fn readable_body(file: &TaskFile) -> String {
    let (clean, _) = without_hostile(&markdown(file));
    let Some((mut meta, span)) = front_matter::read(&clean) else { return spaced(&clean).trim().to_owned() };
    drop_hostile(&mut meta, &mut Vec::new());
    let body = spaced(&masked(&clean, &[span]));
    format!("{}\n{}", meta.title.unwrap_or_default(), body.trim()).trim().to_owned()
}

fn markdown(file: &TaskFile) -> String {
    let plain = text::with_plain_line_ends(&file.text);
    formats::from_json(&plain).map_or(plain, |(markdown, _)| markdown)
}

/// Without the space that is left where something was cut.
fn spaced(clean: &str) -> String {
    let mut out = String::with_capacity(clean.len());
    let mut blank = 0;
    for line in clean.lines().map(str::trim_end) {
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The working text and what was read off before any prose.
struct Intake {
    text: String,
    meta: Meta,
    warnings: Vec<String>,
    /// The working text is not the file's: JSON was turned into Markdown.
    moved: bool,
}

impl Intake {
    fn of(original: &str) -> Intake {
        let plain = text::with_plain_line_ends(original);
        let (source, mut meta, moved) = match formats::from_json(&plain) {
            Some((markdown, meta)) => (markdown, meta, true),
            None => (plain, Meta::default(), false),
        };
        let (mut working, mut warnings) = without_hostile(&source);
        if let Some((front, span)) = front_matter::read(&working) {
            meta = front;
            working = masked(&working, &[span]);
        }
        if let Some((header, span)) = formats::header(&working) {
            meta.title = meta.title.or(header.title);
            meta.kinds.extend(header.kinds);
            working = masked(&working, &[span]);
        }
        working = template::without_boilerplate(&working);
        drop_hostile(&mut meta, &mut warnings);
        Intake { text: working, meta, warnings, moved }
    }
}

fn without_hostile(source: &str) -> (String, Vec<String>) {
    let found = injection::find(source);
    let clean = masked(source, &[found.hostile, found.comments].concat());
    (clean, found.warnings)
}

/// Values of JSON and front matter do not pass through the blocks; each is judged on its own.
fn drop_hostile(meta: &mut Meta, warnings: &mut Vec<String>) {
    let mut judge = |value: &str| {
        let hostile = injection::is_hostile(value);
        if hostile {
            warnings.push(collapsed(value));
        }
        !hostile
    };
    meta.title = meta.title.take().filter(|title| judge(title));
    meta.goal = meta.goal.take().filter(|goal| judge(goal));
    for list in [
        &mut meta.acceptance,
        &mut meta.files,
        &mut meta.symbols,
        &mut meta.commands,
        &mut meta.constraints,
        &mut meta.kinds,
    ] {
        list.retain(|value| judge(value));
    }
}

/// What the task states outright comes before what is read from its prose.
fn stated(values: &[String], read: Vec<Found>) -> Vec<Found> {
    let mut out = Vec::new();
    for value in values {
        add(&mut out, Found { value: collapsed(value), span: None });
    }
    for found in read {
        add(&mut out, found);
    }
    out
}

struct Evidence<'a> {
    text: &'a str,
    moved: bool,
    out: Vec<FieldEvidence>,
}

impl Evidence<'_> {
    fn one(&mut self, field: &str, found: Found) -> String {
        if !found.value.is_empty() {
            let span = self.place(&found);
            self.out.push(FieldEvidence {
                field: field.to_owned(),
                value: found.value.clone(),
                span,
                source: Source::Code,
            });
        }
        found.value
    }

    fn many(&mut self, field: &str, all: Vec<Found>) -> Vec<String> {
        all.into_iter().map(|found| self.one(field, found)).collect()
    }

    /// A span is given only when the file's text at that place holds the value, white space aside.
    fn place(&self, found: &Found) -> Option<Span> {
        let holds = |span: &Span| collapsed(slice(self.text, *span)).contains(&collapsed(&found.value));
        let own = found.span.filter(|_| !self.moved).filter(holds);
        own.or_else(|| {
            let escaped = serde_json::to_string(&found.value).ok().filter(|_| self.moved);
            let escaped = escaped.as_deref().and_then(|value| value.get(1..value.len().saturating_sub(1)));
            let at = self.text.find(&found.value).map(|at| Span::new(at, at + found.value.len()));
            at.or_else(|| escaped.and_then(|value| self.text.find(value).map(|at| Span::new(at, at + value.len()))))
                .filter(holds)
        })
    }
}
