//! Candidates without a model: single edits over the syntax tree. The fix of a small fault is often the inverse of a
//! mutant, and a run of the tests costs less than a token. Only where a test of the person's own fails: an edit that no
//! test asks for proves nothing.

use super::{Court, Survivor, choice, judge};
use crate::desk::Desk;
use crate::error::SwarmError;
use crate::judge::last_part;
use crate::probes::{Origin, Probe};
use starling_core::change::{ChangeSet, FileChange, FileEdit, Splice, fingerprint};
use starling_core::plan::Step;
use starling_core::port::{Progress, TestRun};
use starling_core::state::{CandidateSource, TaskEvent};
use starling_core::test_set::{Mutant, Runner};

/// How many edits are tried; a run costs about 0.2 s in Python and 1 s in Rust.
fn budget(runner: Runner) -> usize {
    match runner {
        Runner::Pytest | Runner::Unittest => 80,
        Runner::CargoTest => 24,
    }
}

/// Candidates of operators are numbered from here, so that they never share a number with a sample.
const FIRST: u32 = 1_000;

pub(crate) fn run(
    desk: &mut Desk<'_>,
    step: &Step,
    court: &Court,
    survivors: &mut Vec<Survivor>,
) -> Result<(), SwarmError> {
    let failing: Vec<Probe> = court
        .probes
        .iter()
        .zip(&court.before)
        .filter(|(probe, before)| probe.origin == Origin::Example && !before.passed())
        .map(|(probe, _)| probe.clone())
        .collect();
    if failing.is_empty() || !step.new_symbols.is_empty() {
        return Ok(());
    }
    let edits = edits(desk, step, court)?;
    if edits.is_empty() {
        return Ok(());
    }
    desk.progress(&Progress::Running { what: format!("{} single edits, no model", edits.len()) });
    let probes = court.bench.file_change(&failing);
    desk.ports.workspace.apply(&desk.task, &probes)?;
    let run = TestRun {
        runner: court.bench.runner,
        files: vec![court.bench.probe_path.clone()],
        names: Vec::new(),
        timeout_seconds: 10,
    };
    let results = desk.ports.checks.mutate(&desk.task, &edits, &run, desk.cancel);
    desk.ports.workspace.revert(&desk.task, &probes)?;
    let fits = edits.iter().zip(results?).filter(|(_, result)| !result.invalid && !fails(&result.killed_by, &failing));
    for (at, (edit, _)) in fits.take(4).enumerate() {
        let Some(change) = change_of(desk, court, edit)? else { continue };
        let candidate = FIRST + at as u32;
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

fn edits(desk: &Desk<'_>, step: &Step, court: &Court) -> Result<Vec<Mutant>, SwarmError> {
    let bytes = desk.ports.workspace.read(&desk.task, &court.path)?.unwrap_or_default();
    let Ok(source) = String::from_utf8(bytes) else { return Ok(Vec::new()) };
    let outline = starling_syntax::outline(court.language, &source);
    let spans = step.symbols.iter().filter_map(|name| outline.unique(name)).map(|symbol| symbol.span);
    let all = spans.flat_map(|span| starling_syntax::edits(court.language, &court.path, &source, span));
    Ok(all.take(budget(court.bench.runner)).collect())
}

fn change_of(desk: &Desk<'_>, court: &Court, edit: &Mutant) -> Result<Option<ChangeSet>, SwarmError> {
    let Some(old) = desk.ports.workspace.read(&desk.task, &court.path)? else { return Ok(None) };
    let splices = vec![Splice { span: edit.span, bytes: edit.replacement.clone().into_bytes() }];
    let edit = FileEdit::Splice { before: fingerprint(&old), splices };
    Ok(Some(ChangeSet { files: vec![FileChange { path: court.path.clone(), edit }] }))
}
