//! The Tester: unit tests, each judged alone, each with its proof.
//!
//! Tests come from the person's examples, from a model that reads the specification, and from recorded runs. A test is kept
//! when it passes, passes again, and either failed before the change or kills a mutant that no kept test kills yet.

mod cases;
mod funnel;
mod propose;
mod record_javascript;
mod record_python;
mod record_rust;

pub(crate) use funnel::ABSENT;
pub(crate) use propose::{all as propose_all, spec_probes};

use crate::desk::Desk;
use crate::error::SwarmError;
use crate::executor;
use crate::gates;
use crate::judge::{Bench, ProbeResult};
use crate::placing::runner_for;
use crate::probes::{Origin, Probe, fits, renamed};
use funnel::Judged;
use starling_core::code::{Language, Outline};
use starling_core::evidence::{Evidence, Gate, Grade, StepFailure};
use starling_core::plan::Step;
use starling_core::port::CheckError;
use starling_core::state::TaskEvent;
use starling_core::test_set::{Funnel, TestSet};
use starling_core::{RelPath, Role};

/// What the tests of a step are about.
pub(crate) struct Subject {
    pub path: RelPath,
    pub language: Language,
    /// As it stands in the stage.
    pub source: String,
    pub outline: Outline,
    /// Qualified names.
    pub symbols: Vec<String>,
    /// Lines of the task that say what to cover.
    pub notes: Vec<String>,
}

/// Candidate tests of one step at most; more cost time and add little.
const MAX_CANDIDATES: usize = 40;

pub(crate) fn solve(desk: &mut Desk<'_>, step: &Step) -> Result<(), SwarmError> {
    let Some((subject, bench)) = subject_of(desk, step)? else {
        let why = "there is nothing to test: no symbol of the step has a test runner".to_owned();
        return desk.fact(TaskEvent::StepFailed { step: step.id.clone(), failure: StepFailure::NotRun { why } });
    };
    let mut candidates = carried(desk, &subject);
    if candidates.is_empty() {
        candidates = recalled(desk, step, &subject, &bench)?;
    }
    // A test that tells the old code from the new is proof; more would only cost time.
    let tells = |before: &ProbeResult| !before.passed() && !funnel::is_absent(&before.message, &subject.symbols);
    let telling = candidates.iter().filter(|(_, before)| before.as_ref().is_some_and(tells)).count();
    if telling == 0 {
        let proposed = propose::all(desk, &subject, &bench)?;
        candidates.extend(proposed.into_iter().map(|probe| (probe, None)));
    }
    let outcome = judge(desk, &subject, &bench, candidates)?;
    if outcome.tests.kept.is_empty() {
        let funnel = outcome.tests.funnel;
        let (gate, example) = stopped_at(&funnel);
        let failure = StepFailure::NoCandidate { tried: funnel.generated, gate, example };
        return desk.fact(TaskEvent::StepFailed { step: step.id.clone(), failure });
    }
    let change = bench.file_change(&outcome.probes);
    let evidence = Evidence {
        step: step.id.clone(),
        grade: Grade::TestsProve,
        gates: Gate::ALL.iter().map(|gate| gates::passed(*gate, 0)).collect(),
        sandbox: desk.ports.checks.toolchain(&desk.task)?.sandbox,
        output: String::new(),
    };
    desk.fact(TaskEvent::TestsKept { step: step.id.clone(), tests: outcome.tests, change: change.clone(), evidence })?;
    desk.ports.workspace.apply(&desk.task, &change)?;
    Ok(desk.ports.workspace.keep(&desk.task, &format!("starling: tests of step {}", step.id))?)
}

pub(crate) struct Outcome {
    pub tests: TestSet,
    /// The kept tests in the order of the file.
    pub probes: Vec<Probe>,
}

/// The funnel: from candidates to kept tests.
pub(crate) fn judge(
    desk: &mut Desk<'_>,
    subject: &Subject,
    bench: &Bench,
    candidates: Vec<(Probe, Option<ProbeResult>)>,
) -> Result<Outcome, SwarmError> {
    let mut funnel = Funnel { generated: candidates.len() as u32, ..Funnel::default() };
    let mut probes: Vec<(Probe, Option<ProbeResult>)> = Vec::new();
    let mut taken: Vec<Probe> = Vec::new();
    for (probe, before) in candidates {
        if !fits(bench.runner, &probe) || !starling_syntax::parses(subject.language, &probe.source) {
            continue;
        }
        let probe = renamed(probe, &taken);
        taken.push(probe.clone());
        probes.push((probe, before));
    }
    probes.truncate(MAX_CANDIDATES);
    funnel.parsed = probes.len() as u32;
    probes.retain(|(probe, _)| propose::names_exist(subject, bench, probe));
    funnel.symbols_ok = probes.len() as u32;
    let judged = funnel::run(desk, subject, bench, probes, &mut funnel)?;
    let kept: Vec<Judged> = funnel::minimise(judged);
    funnel.useful = kept.len() as u32;
    let probes: Vec<Probe> = kept.iter().map(|judged| judged.probe.clone()).collect();
    let source = if probes.is_empty() { String::new() } else { bench.file_text(&probes) };
    let kept = kept.into_iter().map(Judged::into_kept).collect();
    Ok(Outcome { tests: TestSet { path: bench.probe_path.clone(), source, kept, funnel }, probes })
}

fn stopped_at(funnel: &Funnel) -> (Gate, String) {
    let rows = [
        (funnel.generated, Gate::Form, "no test was proposed"),
        (funnel.parsed, Gate::Parses, "no proposed test parses"),
        (funnel.symbols_ok, Gate::Symbols, "the proposed tests use names that do not exist"),
        (funnel.built, Gate::Builds, "no proposed test builds"),
        (funnel.passed, Gate::Tests, "no proposed test passes on the code"),
        (funnel.stable, Gate::Stable, "no proposed test passes twice"),
    ];
    let first_zero = rows.into_iter().find(|(count, _, _)| *count == 0);
    first_zero.map_or(
        (Gate::Useful, "no proposed test fails before the change or kills a mutant".to_owned()),
        |(_, gate, why)| (gate, why.to_owned()),
    )
}

/// Tests of the person and of the specification that already told the candidates of the earlier step apart.
fn carried(desk: &Desk<'_>, subject: &Subject) -> Vec<(Probe, Option<ProbeResult>)> {
    let of_file = desk.carried.iter().filter(|(path, _, _)| path == &subject.path);
    // A test that passed before the change pins what must stay; it earns its place by a mutant like any other.
    of_file.map(|(_, probe, before)| (probe.clone(), Some(before.clone()))).collect()
}

/// After a restart: the person's examples again, with what they say about the code as the task found it. The base is put
/// into the stage for one run and taken out again.
fn recalled(
    desk: &Desk<'_>,
    step: &Step,
    subject: &Subject,
    bench: &Bench,
) -> Result<Vec<(Probe, Option<ProbeResult>)>, SwarmError> {
    let plan = desk.state.plan.clone();
    let changed = plan
        .iter()
        .flat_map(|plan| &plan.steps)
        .find(|s| step.depends_on.contains(&s.id) && s.role == Role::Executor && s.files.contains(&subject.path));
    let Some(changed) = changed else { return Ok(Vec::new()) };
    let probes = executor::example_probes(desk, changed, &subject.path, subject.language)?;
    let workspace = &desk.ports.workspace;
    let base = workspace.base(&desk.task, &subject.path)?.unwrap_or_default();
    let Some(back) = executor::whole_change(&subject.path, subject.source.as_bytes(), &base) else {
        return Ok(Vec::new());
    };
    if probes.is_empty() {
        return Ok(Vec::new());
    }
    workspace.apply(&desk.task, &back)?;
    let before = bench.probes(desk, &probes);
    workspace.revert(&desk.task, &back)?;
    Ok(probes.into_iter().zip(before?).map(|(probe, before)| (probe, Some(before))).collect())
}

/// The file and symbols that a step tests: its own for a plan of tests, else those of the steps it follows.
fn subject_of(desk: &mut Desk<'_>, step: &Step) -> Result<Option<(Subject, Bench)>, SwarmError> {
    let tools = desk.ports.checks.toolchain(&desk.task)?;
    if tools.runners.is_empty() {
        return Err(CheckError::NotRun { why: "no test runner was found in the project".to_owned() }.into());
    }
    let plan = desk.state.plan.clone();
    let before = plan
        .iter()
        .flat_map(|plan| &plan.steps)
        .filter(|s| step.depends_on.contains(&s.id) && s.role == Role::Executor);
    let mut places: Vec<(RelPath, Vec<String>)> = before
        .filter_map(|s| Some((s.files.first()?.clone(), s.new_symbols.iter().chain(&s.symbols).cloned().collect())))
        .collect();
    if places.is_empty() {
        places.extend(step.files.iter().map(|path| (path.clone(), step.symbols.clone())));
    }
    let Some((path, symbols)) = places.into_iter().next() else { return Ok(None) };
    let (Some(test_file), Some(_)) = (step.new_files.first(), runner_for(&tools, &path)) else { return Ok(None) };
    let notes = desk.state.brief.as_ref().map(|b| b.acceptance.clone()).unwrap_or_default();
    open(desk, path, symbols, test_file.clone(), notes)
}

/// Reads the subject from the stage and sets the bench up.
pub(crate) fn open(
    desk: &Desk<'_>,
    path: RelPath,
    symbols: Vec<String>,
    test_file: RelPath,
    notes: Vec<String>,
) -> Result<Option<(Subject, Bench)>, SwarmError> {
    let Some(language) = Language::of(&path) else { return Ok(None) };
    let tools = desk.ports.checks.toolchain(&desk.task)?;
    let Some(runner) = runner_for(&tools, &path) else { return Ok(None) };
    let bytes = desk.ports.workspace.read(&desk.task, &path)?.unwrap_or_default();
    let source = String::from_utf8_lossy(&bytes).into_owned();
    let outline = starling_syntax::outline(language, &source);
    let import = Bench::import_for(desk, runner, &test_file, &path, &symbols)?;
    let title = path.file_name().split('.').next().unwrap_or("module").to_owned();
    let bench = Bench { runner, language, probe_path: test_file, import, title };
    Ok(Some((Subject { path, language, source, outline, symbols, notes }, bench)))
}

pub(crate) fn is_recorded(probe: &Probe) -> bool {
    probe.origin == Origin::Recorder
}
