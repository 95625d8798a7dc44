//! Single roles for scripts: parse, plan, tests for one symbol, review of a diff. The same code as in a task.

use crate::desk::Desk;
use crate::error::SwarmError;
use crate::placing::{runner_for, test_path};
use crate::planner::make;
use crate::ports::Ports;
use crate::{parser, reviewer, tester};
use starling_core::brief::Brief;
use starling_core::packet::{ReviewPacket, Section};
use starling_core::plan::Plan;
use starling_core::port::{Cancel, CodeMap, ModelError, Models};
use starling_core::receipt::ModelCall;
use starling_core::review::Verdict;
use starling_core::state::TaskState;
use starling_core::task_file::TaskFile;
use starling_core::test_set::TestSet;
use starling_core::{RelPath, Role, TaskId};

/// The Brief of a file, and the calls it took.
pub fn parse(
    models: Option<&dyn Models>,
    map: Option<&dyn CodeMap>,
    file: &TaskFile,
    cancel: &Cancel,
) -> Result<(Brief, Vec<ModelCall>), SwarmError> {
    let model = models.map(|models| models.bound(Role::Parser)).transpose()?;
    let (brief, call) = parser::read(model.as_ref(), map, file, cancel, &mut |_| {})?;
    Ok((brief, call.into_iter().collect()))
}

/// A validated plan for a brief; `None` when nothing in the project fits.
pub fn plan(
    ports: &Ports,
    task: &TaskId,
    brief: &Brief,
    seed: u64,
    cancel: &Cancel,
) -> Result<(Option<Plan>, Vec<ModelCall>), SwarmError> {
    ports.workspace.stage(task)?;
    let tools = ports.checks.toolchain(task)?;
    let model = ports.models.bound(Role::Planner)?;
    let made = make(&*ports.map, &tools, &model, brief, seed, cancel, &mut |_| {})?;
    Ok((made.plan, made.calls))
}

#[derive(Clone, Debug, PartialEq)]
pub struct TestOutcome {
    pub tests: TestSet,
    pub calls: Vec<ModelCall>,
    pub millis: u64,
}

/// Verified unit tests for one symbol of one file. The stage of `task` is used and left to the caller to close.
pub fn tests_for(
    ports: &Ports,
    task: &TaskId,
    path: &RelPath,
    symbol: &str,
    seed: u64,
    cancel: &Cancel,
) -> Result<TestOutcome, SwarmError> {
    let start = ports.clock.monotonic();
    ports.workspace.stage(task)?;
    let tools = ports.checks.toolchain(task)?;
    let not_found = |what: String| SwarmError::NotFound { what };
    let outline = ports.map.outline(path)?;
    let known = outline.unique(symbol).ok_or_else(|| not_found(format!("{path}::{symbol}")))?;
    let runner = runner_for(&tools, path).ok_or_else(|| {
        let why = format!("no test runner for {path} was found");
        SwarmError::Check(starling_core::port::CheckError::NotRun { why })
    })?;
    let file = test_path(runner, &tools.test_dir, path, &known.qualified, &ports.map.files()?)
        .ok_or_else(|| not_found("a free name for a test file".to_owned()))?;
    let state = TaskState::default();
    let mut desk = Desk { ports, task: task.clone(), state, cancel, seed, candidates: 1, carried: Vec::new() };
    let opened = tester::open(&desk, path.clone(), vec![known.qualified.clone()], file, Vec::new())?;
    let (subject, bench) = opened.ok_or_else(|| not_found(format!("a test runner for {path}")))?;
    let probes = tester::propose_all(&mut desk, &subject, &bench)?;
    let outcome = tester::judge(&mut desk, &subject, &bench, probes.into_iter().map(|probe| (probe, None)).collect())?;
    let millis = ports.clock.monotonic().saturating_sub(start);
    Ok(TestOutcome { tests: outcome.tests, calls: desk.state.calls, millis })
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReviewOutcome {
    pub verdict: Verdict,
    pub packet: ReviewPacket,
    pub calls: Vec<ModelCall>,
}

/// The packet that a review of `diff` would send. Nothing leaves.
pub fn packet_for_diff(ports: &Ports, diff: &str, offline: bool) -> Result<ReviewPacket, SwarmError> {
    let section = Section { title: "Diff".to_owned(), text: reviewer::fenced(diff) };
    let packet = ReviewPacket::new(&[section])?;
    reviewer::with_body(ports, offline, packet)
}

/// Reviews a diff: in the cloud when `send` and one is set up, else locally, saying why.
pub fn review_diff(
    ports: &Ports,
    diff: &str,
    send: bool,
    seed: u64,
    cancel: &Cancel,
) -> Result<ReviewOutcome, SwarmError> {
    let packet = packet_for_diff(ports, diff, !send)?;
    let mut fallback = if send { "no cloud model is set up".to_owned() } else { String::new() };
    if let Some(cloud) = ports.cloud.as_ref().filter(|_| send) {
        match reviewer::send_once(&**cloud, &packet, cancel, &*ports.ledger, &mut |_| {}) {
            Ok((verdict, call)) => return Ok(ReviewOutcome { verdict, packet, calls: vec![call] }),
            Err(ModelError::Cancelled) => return Err(SwarmError::Cancelled),
            Err(error) => fallback = error.to_string(),
        }
    }
    let model = ports.models.bound(Role::Reviewer)?;
    let (verdict, call) = reviewer::local(&model, &packet, &fallback, seed, cancel, &mut |_| {})?;
    Ok(ReviewOutcome { verdict, packet, calls: vec![call] })
}
