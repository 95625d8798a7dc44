//! The Executor: candidates for one step, and the choice among them.
//!
//! First what costs no model: single edits over the syntax tree, judged by tests. Then rounds of samples from one prefill.
//! Candidates meet the gates as they end, cheapest gate first; the first that clears all with a test of the person's own
//! words ends the round. Where only model-written tests tell candidates apart, the largest group that agrees wins.

mod choice;
mod context;
mod operators;
mod samples;

pub(crate) use context::task_text;
pub(crate) use operators::whole_change;

use crate::desk::Desk;
use crate::error::SwarmError;
use crate::gates;
use crate::javascript;
use crate::judge::{Bench, ProbeResult, regressions, repaired};
use crate::placing::{runner_for, test_path};
use crate::probes::{Origin, Probe, from_examples};
use crate::tester;
use starling_core::RelPath;
use starling_core::change::ChangeSet;
use starling_core::code::{Language, SymbolKind};
use starling_core::evidence::{Evidence, Gate, GateResult, Grade, StepFailure};
use starling_core::plan::Step;
use starling_core::port::{CaseOutcome, CheckError, TestReport};
use starling_core::state::{CandidateSource, TaskEvent};
use std::collections::BTreeSet;

/// What a step's candidates are judged with.
pub(crate) struct Court {
    pub path: RelPath,
    pub language: Language,
    pub bench: Bench,
    pub baseline: TestReport,
    pub probes: Vec<Probe>,
    /// Outcome of each probe on the stage before the change.
    pub before: Vec<ProbeResult>,
}

/// A candidate that passed the tests gate.
#[derive(Clone, Debug)]
pub(crate) struct Survivor {
    pub candidate: u32,
    pub source: CandidateSource,
    pub change: ChangeSet,
    pub gates: Vec<GateResult>,
    /// Which probes pass with it.
    pub passes: Vec<bool>,
    /// Tests of the project that failed before and pass with it.
    pub repaired: Vec<String>,
    pub output: String,
}

pub(crate) fn solve(desk: &mut Desk<'_>, step: &Step) -> Result<(), SwarmError> {
    let Some((path, language)) = step.files.iter().find_map(|path| Some((path.clone(), Language::of(path)?))) else {
        let why = "its files are in no language whose symbols can be changed".to_owned();
        return desk.fact(TaskEvent::StepFailed { step: step.id.clone(), failure: StepFailure::NotRun { why } });
    };
    let court = open_court(desk, step, path, language)?;
    let mut survivors: Vec<Survivor> = Vec::new();
    let mut fallen: Vec<GateResult> = Vec::new();
    operators::run(desk, step, &court, &mut survivors)?;
    if !survivors.iter().any(|s| choice::is_proven(&court, s)) {
        samples::run(desk, step, &court, &mut survivors, &mut fallen)?;
    }
    match choice::choose(&court, survivors) {
        Some(winner) => settle(desk, step, &court, winner),
        None => {
            let failure = failure_of(&fallen);
            desk.fact(TaskEvent::StepFailed { step: step.id.clone(), failure })
        }
    }
}

fn open_court(desk: &mut Desk<'_>, step: &Step, path: RelPath, language: Language) -> Result<Court, SwarmError> {
    let tools = desk.ports.checks.toolchain(&desk.task)?;
    let runner = runner_for(&tools, &path).ok_or_else(|| {
        let why = format!("no test runner for {} was found in the project", language.as_str());
        SwarmError::Check(CheckError::NotRun { why })
    })?;
    let files = desk.ports.map.files()?;
    let names: Vec<String> = step.new_symbols.iter().chain(&step.symbols).cloned().collect();
    let probe_path = test_path(runner, &tools.test_dir, &path, "starling_probe", &files)
        .ok_or_else(|| SwarmError::NotFound { what: "a free name for a test file".to_owned() })?;
    let import = Bench::import_for(desk, runner, &probe_path, &path, &names)?;
    let title = names.first().cloned().unwrap_or_default();
    let bench = Bench { runner, language, probe_path, import, title };
    let baseline = bench.suite(desk)?;
    let mut probes = example_probes(desk, step, &path, language)?;
    probes.extend(tester::spec_probes(desk, step, &path, &bench, &probes)?);
    let bound = language == Language::Rust || javascript::is(language);
    let before = if step.symbols.is_empty() && bound {
        // What does not exist yet cannot be compiled against, nor imported: running each test alone would only say so many times.
        let absent = || ProbeResult {
            outcome: CaseOutcome::Errored,
            message: format!("{} {}", names.join(", "), tester::ABSENT),
        };
        probes.iter().map(|_| absent()).collect()
    } else {
        bench.probes(desk, &probes)?
    };
    Ok(Court { path, language, bench, baseline, probes, before })
}

/// Examples of the task that call what this step changes or adds.
pub(crate) fn example_probes(
    desk: &Desk<'_>,
    step: &Step,
    path: &RelPath,
    language: Language,
) -> Result<Vec<Probe>, SwarmError> {
    let outline = desk.ports.map.outline(path)?;
    let callable = |name: &&String| {
        let known = outline.symbols.iter().find(|s| &s.qualified == *name);
        !name.contains('.') && known.is_none_or(|s| s.kind == SymbolKind::Function)
    };
    let functions: Vec<String> = step.symbols.iter().chain(&step.new_symbols).filter(callable).cloned().collect();
    // What is new is taken to give its result at once.
    let known = outline.symbols.iter().filter(|s| s.signature.split_whitespace().any(|word| word == "async"));
    let waits: Vec<String> = known.map(|s| s.qualified.clone()).collect();
    Ok(from_examples(language, &starling_core::shown::stated(&desk.state), &functions, &waits))
}

/// Runs one candidate through the gates, from parsing to tests. A survivor has passed them all.
pub(crate) fn judge(
    desk: &Desk<'_>,
    court: &Court,
    candidate: u32,
    source: CandidateSource,
    change: &ChangeSet,
) -> Result<(Vec<GateResult>, Option<Survivor>), SwarmError> {
    let files = gates::texts(desk, change)?;
    let mut results = vec![gates::passed(Gate::Form, 0), gates::parses(desk, &files)];
    if results.last().is_some_and(GateResult::passed) {
        results.push(gates::symbols(desk, &files)?);
    }
    if !results.last().is_some_and(GateResult::passed) {
        return Ok((results, None));
    }
    desk.ports.workspace.apply(&desk.task, change)?;
    let judged = run_tests(desk, court, &mut results);
    desk.ports.workspace.revert(&desk.task, change)?;
    let Some((passes, report)) = judged? else { return Ok((results, None)) };
    let survivor = Survivor {
        candidate,
        source,
        change: change.clone(),
        gates: results.clone(),
        passes,
        repaired: repaired(&court.baseline, &report),
        output: report.output,
    };
    Ok((results, Some(survivor)))
}

/// The build gate and the tests gate, on a stage that holds the candidate.
fn run_tests(
    desk: &Desk<'_>,
    court: &Court,
    results: &mut Vec<GateResult>,
) -> Result<Option<(Vec<bool>, TestReport)>, SwarmError> {
    results.push(gates::builds(desk, court.bench.runner)?);
    if !results.last().is_some_and(GateResult::passed) {
        return Ok(None);
    }
    let after = court.bench.probes(desk, &court.probes)?;
    let passes: Vec<bool> = after.iter().map(ProbeResult::passed).collect();
    let broken_example =
        court.probes.iter().zip(&after).find(|(probe, now)| probe.origin == Origin::Example && !now.passed());
    if let Some((probe, now)) = broken_example {
        let why = format!("{}: {}", probe.name, said(&now.message));
        results.push(gates::failed(Gate::Tests, why, 0));
        return Ok(None);
    }
    let report = court.bench.suite(desk)?;
    let lost = regressions(&court.baseline, &report);
    match lost.first() {
        Some(name) => {
            let message = report.cases.iter().find(|case| &case.name == name).map(|case| said(&case.message));
            let why = format!(
                "{name} passed before and fails now: {}",
                message.unwrap_or_else(|| "it did not run".to_owned())
            );
            results.push(gates::failed(Gate::Tests, why, report.millis));
            Ok(None)
        }
        None => {
            results.push(gates::passed(Gate::Tests, report.millis));
            Ok(Some((passes, report)))
        }
    }
}

/// The winner passes again, gets its grade, and goes into the stage. The fact is written before the effect; `restore`
/// brings the effect about after a kill in between.
fn settle(desk: &mut Desk<'_>, step: &Step, court: &Court, winner: Survivor) -> Result<(), SwarmError> {
    desk.ports.workspace.apply(&desk.task, &winner.change)?;
    let again = court.bench.probes(desk, &court.probes);
    let suite = court.bench.suite(desk);
    desk.ports.workspace.revert(&desk.task, &winner.change)?;
    let again: Vec<bool> = again?.iter().map(ProbeResult::passed).collect();
    let suite = suite?;
    let mut gate_results = winner.gates.clone();
    let same = again == winner.passes && regressions(&court.baseline, &suite).is_empty();
    if !same {
        let why = "a second run of the tests ended differently".to_owned();
        let event = gates::failed(Gate::Stable, why.clone(), suite.millis);
        desk.fact(TaskEvent::Gated { step: step.id.clone(), candidate: winner.candidate, result: event })?;
        let numbers: BTreeSet<u32> =
            desk.state.gates.iter().filter(|(of, _, _)| of == &step.id).map(|(_, n, _)| *n).collect();
        let failure = StepFailure::NoCandidate { tried: numbers.len() as u32, gate: Gate::Stable, example: why };
        return desk.fact(TaskEvent::StepFailed { step: step.id.clone(), failure });
    }
    gate_results.push(gates::passed(Gate::Stable, suite.millis));
    let proven = choice::is_proven(court, &winner) || choice::shows_difference(court, &winner);
    gate_results.push(if proven {
        gates::passed(Gate::Useful, 0)
    } else {
        gates::failed(Gate::Useful, "no test failed before the change and passes now", 0)
    });
    let news: Vec<TaskEvent> = gate_results
        .iter()
        .filter(|result| matches!(result.gate, Gate::Stable | Gate::Useful))
        .map(|result| TaskEvent::Gated { step: step.id.clone(), candidate: winner.candidate, result: result.clone() })
        .collect();
    desk.facts(news)?;
    let evidence = Evidence {
        step: step.id.clone(),
        grade: if proven { Grade::TestsProve } else { Grade::TestsPass },
        gates: gate_results,
        sandbox: desk.ports.checks.toolchain(&desk.task)?.sandbox,
        output: tail(&winner.output, 2_000),
    };
    let (candidate, source, change) = (winner.candidate, winner.source, winner.change.clone());
    desk.fact(TaskEvent::StepSolved { step: step.id.clone(), candidate, source, change, evidence })?;
    desk.ports.workspace.apply(&desk.task, &winner.change)?;
    desk.ports.workspace.keep(&desk.task, &format!("starling: step {}", step.id))?;
    carry(desk, court, &winner);
    Ok(())
}

/// Probes that tell the old code from the new go on to the Tester, with what they said before.
fn carry(desk: &mut Desk<'_>, court: &Court, winner: &Survivor) {
    let rows = court.probes.iter().zip(&court.before).zip(&winner.passes);
    for ((probe, before), passes) in rows {
        if *passes {
            desk.carried.push((court.path.clone(), probe.clone(), before.clone()));
        }
    }
}

fn failure_of(fallen: &[GateResult]) -> StepFailure {
    let mut counts: std::collections::BTreeMap<Gate, (u32, String)> = std::collections::BTreeMap::new();
    for result in fallen {
        if let starling_core::evidence::GateOutcome::Failed { why } = &result.outcome {
            let entry = counts.entry(result.gate).or_insert_with(|| (0, why.clone()));
            entry.0 += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, (count, _))| *count);
    let tried = fallen.len() as u32;
    match most {
        Some((gate, (_, example))) => StepFailure::NoCandidate { tried, gate, example },
        None => StepFailure::NoCandidate { tried, gate: Gate::Form, example: "the model gave no answer".to_owned() },
    }
}

/// What a failure says in one line: the last line of a Python traceback, both sides of a Rust assertion.
pub(crate) fn said(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let side = |mark: &str| message.lines().find_map(|line| line.trim().strip_prefix(mark).map(str::trim));
    let text = match (side("left:"), side("right:")) {
        (Some(left), Some(right)) => format!("got {left}, expected {right}"),
        _ if message.contains("Traceback") => lines.next_back().unwrap_or("").to_owned(),
        _ => lines.find(|line| !line.starts_with("thread '")).unwrap_or("").to_owned(),
    };
    text.chars().take(160).collect()
}

pub(crate) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("")
}

pub(crate) fn tail(text: &str, max: usize) -> String {
    let skip = text.chars().count().saturating_sub(max);
    text.chars().skip(skip).collect()
}
