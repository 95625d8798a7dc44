//! The cheap gates of a candidate, in order: does it parse, do its names exist, does it build. Each result says in one
//! plain sentence why a candidate fell. The gates that run tests stand in `judge`.

use crate::desk::Desk;
use crate::error::SwarmError;
use crate::names::invented;
use starling_core::change::ChangeSet;
use starling_core::code::Language;
use starling_core::evidence::{Gate, GateOutcome, GateResult};
use starling_core::test_set::Runner;

/// The text of one changed file before and after.
pub(crate) struct FileText {
    pub language: Language,
    pub before: String,
    pub after: String,
}

pub(crate) fn passed(gate: Gate, millis: u64) -> GateResult {
    GateResult { gate, outcome: GateOutcome::Passed, invented: Vec::new(), millis }
}

pub(crate) fn failed(gate: Gate, why: impl Into<String>, millis: u64) -> GateResult {
    GateResult { gate, outcome: GateOutcome::Failed { why: why.into() }, invented: Vec::new(), millis }
}

/// The texts of a change's files that have a language. The change must fit the stage as it is.
pub(crate) fn texts(desk: &Desk<'_>, change: &ChangeSet) -> Result<Vec<FileText>, SwarmError> {
    let mut texts = Vec::new();
    for file in &change.files {
        let Some(language) = Language::of(&file.path) else { continue };
        let before = desk.ports.workspace.read(&desk.task, &file.path)?;
        let after = file.apply(before.as_deref()).map_err(starling_core::port::WorkspaceError::from)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        texts.push(FileText { language, before: before.as_deref().map(text).unwrap_or_default(), after: text(&after) });
    }
    Ok(texts)
}

/// No syntax error that was not there before.
pub(crate) fn parses(desk: &Desk<'_>, files: &[FileText]) -> GateResult {
    let start = desk.ports.clock.monotonic();
    let errors = files.iter().flat_map(|f| starling_syntax::new_errors(f.language, &f.before, &f.after));
    let error = errors.into_iter().next();
    let millis = desk.ports.clock.monotonic().saturating_sub(start);
    match error {
        None => passed(Gate::Parses, millis),
        Some(error) => failed(Gate::Parses, format!("line {}: {}", error.line, error.message), millis),
    }
}

/// Every name the new code uses exists.
pub(crate) fn symbols(desk: &Desk<'_>, files: &[FileText]) -> Result<GateResult, SwarmError> {
    let start = desk.ports.clock.monotonic();
    let mut missing = Vec::new();
    for file in files {
        missing.extend(invented(file.language, &file.before, &file.after, &*desk.ports.map)?);
    }
    let millis = desk.ports.clock.monotonic().saturating_sub(start);
    if missing.is_empty() {
        return Ok(passed(Gate::Symbols, millis));
    }
    Ok(GateResult { invented: missing.clone(), ..failed(Gate::Symbols, uses_missing(&missing), millis) })
}

/// The stage with the candidate in it builds.
pub(crate) fn builds(desk: &Desk<'_>, runner: Runner) -> Result<GateResult, SwarmError> {
    desk.progress(&starling_core::port::Progress::Running { what: format!("build ({})", runner.as_str()) });
    let report = desk.ports.checks.build(&desk.task, runner, desk.cancel)?;
    if report.ok {
        return Ok(passed(Gate::Builds, report.millis));
    }
    if report.unknown_names.is_empty() {
        let first = report.output.lines().find(|line| !line.trim().is_empty()).unwrap_or("it does not build");
        return Ok(failed(Gate::Builds, first.trim(), report.millis));
    }
    let missing = report.unknown_names;
    Ok(GateResult { invented: missing.clone(), ..failed(Gate::Builds, uses_missing(&missing), report.millis) })
}

fn uses_missing(names: &[String]) -> String {
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    match names.as_slice() {
        [one] => format!("uses {one}, which does not exist"),
        many => format!("uses {}, which do not exist", many.join(", ")),
    }
}
