//! What the Executor is shown: the file or the part of it that matters, signatures of what it imports from the project,
//! the task, and how it fails now. Small models ignore what stands far away, so it is kept short.

use super::{Court, first_line, said};
use crate::desk::Desk;
use crate::error::SwarmError;
use crate::javascript;
use crate::placing::python_module;
use starling_core::RelPath;
use starling_core::brief::TaskKind;
use starling_core::code::{Language, Outline, SymbolKind};
use starling_core::plan::Step;
use starling_core::prompt::{ExecuteInput, Snippet};
use std::collections::BTreeSet;

/// Files up to this many characters are shown whole.
const WHOLE: usize = 6_000;

pub(crate) fn input(desk: &Desk<'_>, step: &Step, court: &Court) -> Result<ExecuteInput, SwarmError> {
    let bytes = desk.ports.workspace.read(&desk.task, &court.path)?.unwrap_or_default();
    let source = String::from_utf8_lossy(&bytes).into_owned();
    let outline = starling_syntax::outline(court.language, &source);
    let brief = desk.state.brief.as_ref();
    Ok(ExecuteInput {
        language: court.language.as_str(),
        goal: step.goal.clone(),
        task: task_text(desk),
        acceptance: step.acceptance.clone(),
        constraints: brief.map(|b| b.constraints.clone()).unwrap_or_default(),
        context: imported(desk, court.language, &court.path, &outline)?,
        target: Snippet { path: court.path.to_string(), text: excerpt(&source, &outline, step) },
        symbols: step.symbols.clone(),
        new_symbols: step.new_symbols.clone(),
        failure: failing(court),
        opening: opening(court.language, &outline, step, brief.is_some_and(|b| b.kind == TaskKind::Bug)),
    })
}

/// The beginning of the one definition that a step changes or adds, up to its parameters; "" when there are several, or when
/// it is no function.
///
/// The signature of what a bug report is about stays: a small model renames parameters for no reason.
fn opening(language: Language, outline: &Outline, step: &Step, keep_signature: bool) -> String {
    match (step.symbols.as_slice(), step.new_symbols.as_slice()) {
        ([name], []) => {
            let symbol = outline.unique(name).filter(|s| matches!(s.kind, SymbolKind::Function | SymbolKind::Method));
            let end = match language {
                Language::Python => ":\n",
                _ => " {\n",
            };
            let head = symbol.and_then(|s| match s.signature.split_once('(') {
                // What is no declaration (`f = (a) =>`) does not parse as it stands.
                Some(_) if javascript::is(language) && !is_declared(&s.signature) => None,
                Some(_) if keep_signature => Some(format!("{}{end}", s.signature)),
                Some((head, _)) => Some(format!("{head}(")),
                None => None,
            });
            match (head, name.rsplit_once('.')) {
                (Some(head), None) => head,
                (Some(head), Some((owner, _))) => inside(language, owner, &head),
                (None, _) => String::new(),
            }
        }
        ([], [name]) => match (language, name.rsplit_once('.')) {
            (Language::Python, None) => format!("def {name}("),
            (Language::Python, Some((owner, last))) => inside(language, owner, &format!("def {last}(self")),
            (Language::Rust, Some((owner, last))) => inside(language, owner, &format!("pub fn {last}(")),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn is_declared(signature: &str) -> bool {
    signature.trim_start_matches("async ").starts_with("function ")
}

fn inside(language: Language, owner: &str, head: &str) -> String {
    match language {
        Language::Rust => format!("impl {owner} {{\n    {head}"),
        Language::Python => head.to_owned(),
        _ => String::new(),
    }
}

/// Where an answer with an opening ends: at the next definition on its level.
pub(crate) fn ends(language: Language, opening: &str) -> Vec<String> {
    let marks: &[&str] = match language {
        _ if opening.is_empty() => &[],
        Language::Python => &["\ndef ", "\nclass ", "\n@", "\nif __name__", "\nprint(", "\n# "],
        Language::Rust | Language::JavaScript | Language::TypeScript | Language::Tsx => &["\n}\n"],
        _ => &[],
    };
    std::iter::once("\n```").chain(marks.iter().copied()).map(str::to_owned).collect()
}

/// The task in its own words, without passages that address the assistant and without front matter.
pub(crate) fn task_text(desk: &Desk<'_>) -> String {
    desk.state.file.as_ref().map(starling_core::extract::readable_body).unwrap_or_default()
}

/// The whole file when it is short; else its imports, the containers' heads, and the symbols in question.
pub(crate) fn excerpt(source: &str, outline: &Outline, step: &Step) -> String {
    if source.chars().count() <= WHOLE {
        return source.to_owned();
    }
    let mut spans = Vec::new();
    for name in step.symbols.iter().chain(&step.new_symbols) {
        if let Some(symbol) = outline.unique(name) {
            spans.push(symbol.span);
        }
        if let Some(owner) = name.rsplit_once('.').and_then(|(container, _)| outline.unique(container)) {
            let end = owner.body.map_or(owner.span.end, |body| body.start + 400).min(owner.span.end);
            spans.push(starling_core::code::Span::new(owner.span.start, end));
        }
    }
    spans.sort();
    let imports: Vec<&str> = outline.imports.iter().map(|import| import.text.as_str()).collect();
    let mut parts = vec![imports.join("\n")];
    let mut at = 0;
    for span in spans {
        if span.start >= at {
            let (start, end) = (source.floor_char_boundary(span.start), source.floor_char_boundary(span.end));
            parts.push(source.get(start..end).unwrap_or("").to_owned());
            at = span.end;
        }
    }
    parts.join("\n\n...\n\n")
}

/// Signatures with documentation of what the file imports from the project.
fn imported(
    desk: &Desk<'_>,
    language: Language,
    path: &RelPath,
    outline: &Outline,
) -> Result<Vec<Snippet>, SwarmError> {
    let python = language == Language::Python;
    if !python && !javascript::is(language) {
        return Ok(Vec::new());
    }
    let names = |file: &RelPath, module: &str| {
        if python { python_module(file) == module } else { javascript::is_module(path, module, file) }
    };
    let comment = if python { "#" } else { "//" };
    let files = desk.ports.map.files()?;
    let mut snippets = Vec::new();
    let mut seen = BTreeSet::new();
    for import in &outline.imports {
        let Some(file) = files.iter().find(|entry| names(&entry.path, &import.module)) else { continue };
        if !seen.insert(file.path.clone()) {
            continue;
        }
        let other = desk.ports.map.outline(&file.path)?;
        let wanted = other
            .symbols
            .iter()
            .filter(|s| import.names.iter().any(|n| n == &s.name || s.qualified.starts_with(&format!("{n}."))));
        let lines: Vec<String> = wanted.map(|s| format!("{}  {comment} {}", s.signature, first_line(&s.doc))).collect();
        if !lines.is_empty() {
            snippets.push(Snippet { path: file.path.to_string(), text: lines.join("\n") });
        }
    }
    snippets.truncate(4);
    Ok(snippets)
}

fn failing(court: &Court) -> String {
    let rows = court.probes.iter().zip(&court.before).filter(|(_, before)| !before.passed());
    let lines: Vec<String> = rows
        .filter(|(probe, _)| probe.origin == crate::probes::Origin::Example)
        .take(3)
        .map(|(probe, before)| format!("{}: {}", probe.name, said(&before.message)))
        .collect();
    let project = court.baseline.failures().take(2).map(|case| format!("{}: {}", case.name, said(&case.message)));
    lines.into_iter().chain(project).collect::<Vec<_>>().join("\n")
}
