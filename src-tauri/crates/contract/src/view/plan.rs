//! The plan, and below each step its candidates as wings: which gates each passed, where it fell and why.

use super::row::count;
use super::tests::TestsView;
use crate::mirror::{Gate, Grade, Origin, Role};
use crate::real;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::StepId;
use starling_core::evidence::{self, Evidence, GateOutcome, GateResult, StepFailure};
use starling_core::plan::{Plan, Step};
use starling_core::state;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    pub steps: Vec<StepView>,
    pub rationale: String,
    pub approved: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    pub id: String,
    pub role: Role,
    pub goal: String,
    pub files: Vec<String>,
    pub new_files: Vec<String>,
    pub symbols: Vec<String>,
    pub new_symbols: Vec<String>,
    pub acceptance: Vec<String>,
    pub depends_on: Vec<String>,
    pub decides: Vec<String>,
    pub state: StepState,
    /// By number.
    pub candidates: Vec<CandidateView>,
    /// Those that fell, the furthest first.
    pub fell: Vec<FellView>,
    /// Candidates that passed each gate, in the order of the gates, after the number that was begun.
    pub passed: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum StepState {
    Waiting,
    Working,
    Solved { candidate: u32, origin: Origin, grade: Grade, sandbox: String, output: String },
    Tested { tests: TestsView, grade: Grade, sandbox: String, output: String },
    Failed { failure: FailureKind },
}

/// Why a step ended without a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum FailureKind {
    NoCandidate { tried: u32, gate: Gate, example: String },
    ContextTooLarge { need: u32, have: u32 },
    NotRun { why: String },
    Model { message: String },
}

/// One wing: a mark per gate, cheapest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CandidateView {
    pub number: u32,
    /// One for each of the seven gates.
    pub gates: Vec<GateMark>,
    /// Its change is the one that was kept.
    pub won: bool,
    /// It failed a gate.
    pub fell: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct GateMark {
    pub gate: Gate,
    pub state: GateState,
    #[specta(type = u32)]
    pub millis: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum GateState {
    /// Not reached.
    Open,
    Passed,
    Failed,
    /// It could not run; never counts as passed.
    NotRun,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct FellView {
    pub candidate: u32,
    pub gate: Gate,
    /// One plain sentence.
    pub why: String,
    /// Names it used that do not exist.
    pub invented: Vec<String>,
}

type Gates = [(StepId, u32, GateResult)];

impl PlanView {
    pub fn of(plan: &Plan, approved: bool, states: &[state::StepState], gates: &Gates) -> PlanView {
        let Plan { steps, rationale } = plan;
        let waiting = state::StepState::Waiting;
        let steps = steps.iter().enumerate().map(|(at, step)| {
            let state = states.get(at).unwrap_or(&waiting);
            StepView::of(step, state, gates)
        });
        PlanView { steps: steps.collect(), rationale: rationale.clone(), approved }
    }
}

impl StepView {
    fn of(step: &Step, state: &state::StepState, gates: &Gates) -> StepView {
        let Step { id, role, goal, files, new_files, symbols, new_symbols, acceptance, depends_on, decides } = step;
        let mut by_number: BTreeMap<u32, Vec<&GateResult>> = BTreeMap::new();
        for (_, candidate, result) in gates.iter().filter(|(of, ..)| of == id) {
            by_number.entry(*candidate).or_default().push(result);
        }
        let winner = match state {
            state::StepState::Solved { candidate, .. } => Some(*candidate),
            state::StepState::Waiting
            | state::StepState::Working
            | state::StepState::Tested { .. }
            | state::StepState::Failed { .. } => None,
        };
        let candidates: Vec<CandidateView> =
            by_number.iter().map(|(number, results)| CandidateView::of(*number, results, winner)).collect();
        let mut fell: Vec<(evidence::Gate, FellView)> =
            by_number.iter().filter_map(|(number, results)| fall(*number, results)).collect();
        fell.sort_by_key(|(gate, view)| (std::cmp::Reverse(*gate), view.candidate));
        let text = |paths: &[starling_core::RelPath]| paths.iter().map(|path| path.to_string()).collect();
        StepView {
            id: id.to_string(),
            role: (*role).into(),
            goal: goal.clone(),
            files: text(files),
            new_files: text(new_files),
            symbols: symbols.clone(),
            new_symbols: new_symbols.clone(),
            acceptance: acceptance.clone(),
            depends_on: depends_on.iter().map(StepId::to_string).collect(),
            decides: decides.clone(),
            state: state.into(),
            passed: passed(&candidates),
            candidates,
            fell: fell.into_iter().map(|(_, view)| view).collect(),
        }
    }
}

fn passed(candidates: &[CandidateView]) -> Vec<u32> {
    let at = |gate: Gate| {
        let stands = |candidate: &&CandidateView| {
            candidate.gates.iter().any(|mark| mark.gate == gate && mark.state == GateState::Passed)
        };
        count(candidates.iter().filter(stands).count())
    };
    let begun = (!candidates.is_empty()).then(|| count(candidates.len()));
    begun.into_iter().chain(evidence::Gate::ALL.into_iter().map(|gate| at(gate.into()))).collect()
}

impl CandidateView {
    fn of(number: u32, results: &[&GateResult], winner: Option<u32>) -> CandidateView {
        let mark = |gate: evidence::Gate| {
            let result = results.iter().rev().find(|result| result.gate == gate);
            let state = result.map_or(GateState::Open, |result| match &result.outcome {
                GateOutcome::Passed => GateState::Passed,
                GateOutcome::Failed { .. } => GateState::Failed,
                GateOutcome::NotRun { .. } => GateState::NotRun,
            });
            GateMark { gate: gate.into(), state, millis: result.map_or(0.0, |result| real(result.millis)) }
        };
        let gates: Vec<GateMark> = evidence::Gate::ALL.into_iter().map(mark).collect();
        let fell = gates.iter().any(|mark| mark.state == GateState::Failed);
        CandidateView { number, gates, won: winner == Some(number), fell }
    }
}

fn fall(candidate: u32, results: &[&GateResult]) -> Option<(evidence::Gate, FellView)> {
    results.iter().rev().find_map(|result| {
        let GateResult { gate, outcome, invented, millis: _ } = result;
        let why = match outcome {
            GateOutcome::Failed { why } => why.clone(),
            GateOutcome::Passed | GateOutcome::NotRun { .. } => return None,
        };
        Some((*gate, FellView { candidate, gate: (*gate).into(), why, invented: invented.clone() }))
    })
}

impl From<&state::StepState> for StepState {
    fn from(state: &state::StepState) -> StepState {
        // The change itself is shown as hunks of the whole task.
        match state {
            state::StepState::Waiting => StepState::Waiting,
            state::StepState::Working => StepState::Working,
            state::StepState::Solved { candidate, source, change: _, evidence } => {
                let Evidence { step: _, grade, gates: _, sandbox, output } = evidence.clone();
                StepState::Solved {
                    candidate: *candidate,
                    origin: (*source).into(),
                    grade: grade.into(),
                    sandbox,
                    output,
                }
            }
            state::StepState::Tested { tests, change: _, evidence } => {
                let Evidence { step: _, grade, gates: _, sandbox, output } = evidence.clone();
                StepState::Tested { tests: tests.into(), grade: grade.into(), sandbox, output }
            }
            state::StepState::Failed { failure } => StepState::Failed { failure: failure.into() },
        }
    }
}

impl From<&StepFailure> for FailureKind {
    fn from(failure: &StepFailure) -> FailureKind {
        match failure.clone() {
            StepFailure::NoCandidate { tried, gate, example } => {
                FailureKind::NoCandidate { tried, gate: gate.into(), example }
            }
            StepFailure::ContextTooLarge { need, have } => FailureKind::ContextTooLarge { need, have },
            StepFailure::NotRun { why } => FailureKind::NotRun { why },
            StepFailure::Model { message } => FailureKind::Model { message },
        }
    }
}
