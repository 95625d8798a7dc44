//! Candidates without a model: single edits over the syntax tree. The fix of a small fault is often the inverse of a
//! mutant, and a run of the tests costs less than a token. Only where a test of the person's own fails: an edit that no
//! test asks for proves nothing.

use super::{Court, Survivor, choice, judge};
use crate::desk::Desk;
use crate::error::SwarmError;
use crate::judge::last_part;
use crate::probes::{Origin, Probe};
use starling_core::RelPath;
use starling_core::change::{ChangeSet, FileChange, FileEdit, Splice, fingerprint};
use starling_core::code::Span;
use starling_core::plan::Step;
use starling_core::port::{Progress, TestRun};
use starling_core::state::{CandidateSource, TaskEvent};
use starling_core::test_set::{Mutant, Runner};

/// How many edits are tried; a run costs about 0.2 s in Python, 0.3 s with node and 1 s in Rust.
fn budget(runner: Runner) -> usize {
    match runner {
        Runner::Pytest | Runner::Unittest => 80,
        Runner::NodeTest => 60,
        Runner::CargoTest | Runner::Vitest | Runner::Jest => 24,
    }
}

/// A model's candidate that builds and falls at the person's own tests: often one edit away from right.
#[derive(Clone, Debug)]
pub(crate) struct NearMiss {
    pub change: ChangeSet,
    pub tried: bool,
}

/// Near misses of one round that are edited.
const NEAR: usize = 3;

/// Candidates of operators are numbered from here, so that they never share a number with a sample.
const FIRST: u32 = 1_000;

/// Edits of the code as it is.
pub(crate) fn run(
    desk: &mut Desk<'_>,
    step: &Step,
    court: &Court,
    survivors: &mut Vec<Survivor>,
) -> Result<(), SwarmError> {
    if !step.new_symbols.is_empty() {
        return Ok(());
    }
    let none = ChangeSet { files: Vec::new() };
    let found = search(desk, step, court, &none, budget(court.bench.runner))?;
    meet(desk, step, court, found, survivors)
}

/// Edits of near misses, the newest first.
pub(crate) fn around(
    desk: &mut Desk<'_>,
    step: &Step,
    court: &Court,
    near: &mut [NearMiss],
    survivors: &mut Vec<Survivor>,
) -> Result<(), SwarmError> {
    for miss in near.iter_mut().rev().filter(|miss| !miss.tried).take(NEAR) {
        miss.tried = true;
        let found = search(desk, step, court, &miss.change, budget(court.bench.runner) / 2)?;
        meet(desk, step, court, found, survivors)?;
        if survivors.iter().any(|s| choice::is_proven(court, s)) {
            break;
        }
    }
    Ok(())
}

/// Changes of one edit on top of `under` with which all failing examples pass; at most four.
fn search(
    desk: &mut Desk<'_>,
    step: &Step,
    court: &Court,
    under: &ChangeSet,
    limit: usize,
) -> Result<Vec<ChangeSet>, SwarmError> {
    let rows = court.probes.iter().zip(&court.before);
    let failing: Vec<Probe> = rows
        .filter(|(probe, before)| probe.origin == Origin::Example && !before.passed())
        .map(|(p, _)| p.clone())
        .collect();
    if failing.is_empty() {
        return Ok(Vec::new());
    }
    let base = desk.ports.workspace.read(&desk.task, &court.path)?.unwrap_or_default();
    desk.ports.workspace.apply(&desk.task, under)?;
    let tried = try_edits(desk, step, court, &failing, limit);
    desk.ports.workspace.revert(&desk.task, under)?;
    let mut found = Vec::new();
    for new in tried? {
        found.extend(whole_change(&court.path, &base, &new));
    }
    Ok(found)
}

/// The file with each edit that makes the failing examples pass, on the stage as it is.
fn try_edits(
    desk: &Desk<'_>,
    step: &Step,
    court: &Court,
    failing: &[Probe],
    limit: usize,
) -> Result<Vec<Vec<u8>>, SwarmError> {
    let (source, edits) = edits(desk, step, court, limit)?;
    if edits.is_empty() {
        return Ok(Vec::new());
    }
    desk.progress(&Progress::Running { what: format!("{} single edits, no model", edits.len()) });
    let probes = court.bench.file_change(failing);
    desk.ports.workspace.apply(&desk.task, &probes)?;
    let files = vec![court.bench.probe_path.clone()];
    let run = TestRun { runner: court.bench.runner, files, names: Vec::new(), timeout_seconds: 10 };
    let results = desk.ports.checks.mutate(&desk.task, &edits, &run, desk.cancel);
    desk.ports.workspace.revert(&desk.task, &probes)?;
    let fits = edits.iter().zip(results?).filter(|(_, result)| !result.invalid && !fails(&result.killed_by, failing));
    let edited = fits.take(4).map(|(edit, _)| {
        let mut bytes = source.clone().into_bytes();
        bytes.splice(edit.span.start..edit.span.end, edit.replacement.bytes());
        bytes
    });
    Ok(edited.collect())
}

/// One splice from the old to the new bytes of the file, without what both begin and end with.
pub(crate) fn whole_change(path: &RelPath, old: &[u8], new: &[u8]) -> Option<ChangeSet> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let bytes = new.get(start..new.len() - end)?.to_vec();
    let splices = vec![Splice { span: Span::new(start, old.len() - end), bytes }];
    let edit = FileEdit::Splice { before: fingerprint(old), splices };
    (old != new).then(|| ChangeSet { files: vec![FileChange { path: path.clone(), edit }] })
}

/// The found changes meet every gate like any other candidate.
fn meet(
    desk: &mut Desk<'_>,
    step: &Step,
    court: &Court,
    found: Vec<ChangeSet>,
    survivors: &mut Vec<Survivor>,
) -> Result<(), SwarmError> {
    for change in found {
        let numbers = desk.state.gates.iter().filter(|(of, n, _)| of == &step.id && *n >= FIRST).map(|(_, n, _)| n + 1);
        let candidate = numbers.max().unwrap_or(FIRST);
        let (gates, survivor) = judge(desk, court, candidate, CandidateSource::Operator, &change)?;
        let gated = |result| TaskEvent::Gated { step: step.id.clone(), candidate, result };
        desk.facts(gates.into_iter().map(gated).collect())?;
        if let Some(survivor) = survivor {
            let proven = choice::is_proven(court, &survivor);
            survivors.push(survivor);
            if proven {
                break;
            }
        }
    }
    Ok(())
}

fn fails(killed_by: &[String], probes: &[Probe]) -> bool {
    killed_by.iter().any(|name| probes.iter().any(|probe| probe.name == last_part(name)))
}

fn edits(desk: &Desk<'_>, step: &Step, court: &Court, limit: usize) -> Result<(String, Vec<Mutant>), SwarmError> {
    let bytes = desk.ports.workspace.read(&desk.task, &court.path)?.unwrap_or_default();
    let Ok(source) = String::from_utf8(bytes) else { return Ok((String::new(), Vec::new())) };
    let outline = starling_syntax::outline(court.language, &source);
    let names = step.symbols.iter().chain(&step.new_symbols);
    let spans = names.filter_map(|name| outline.unique(name)).map(|symbol| symbol.span);
    let all = spans.flat_map(|span| starling_syntax::edits(court.language, &court.path, &source, span));
    let edits = all.take(limit).collect();
    Ok((source, edits))
}
