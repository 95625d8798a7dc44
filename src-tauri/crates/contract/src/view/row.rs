//! One task as a line of the list: which group it stands in, its shape, and what its second line says. The words
//! themselves belong to the page, which speaks two languages; here are the facts they are made of.

use crate::mirror::{Stage, Verdict};
use crate::real;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::TaskId;
use starling_core::evidence::GateOutcome;
use starling_core::plan::Plan;
use starling_core::state::{self, Ended, Outcome, StepState, TaskState};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TaskRow {
    pub id: String,
    pub title: String,
    pub group: RowGroup,
    pub state: RowState,
    /// Milliseconds since 1970.
    #[specta(type = u32)]
    pub submitted_at: f64,
    /// Something about it was told and not seen yet.
    pub unseen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum RowGroup {
    NeedsYou,
    Working,
    Waiting,
    Earlier,
}

/// What a line says; the shape follows from the kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum RowState {
    ApprovePlan {
        steps: u32,
        files: u32,
    },
    /// The packet waits to be read.
    ReadPacket {
        bytes: u32,
        /// `null` when the price is unknown.
        #[specta(type = Option<u32>)]
        worst_case_usd: Option<f64>,
    },
    /// Approved and proven: to be landed.
    Ready {
        findings: u32,
    },
    /// There is a change, but not approved, not proven, or not whole.
    NeedsWork {
        verdict: Option<Verdict>,
        findings: u32,
        unsolved: u32,
    },
    Working {
        stage: Stage,
        /// Steps that are over, and all.
        done: u32,
        steps: u32,
        /// Candidates of the step at work: still standing, and begun.
        alive: u32,
        begun: u32,
    },
    Queued,
    /// Stopped by the user, or by quitting; it can go on.
    Parked {
        done: u32,
        steps: u32,
    },
    /// It cannot go on for now; why.
    Stuck {
        why: String,
    },
    Landed {
        hunks: u32,
    },
    Discarded,
    Cancelled,
    NotSolved {
        why: String,
    },
}

/// What the app knows about a task beside its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Nobody works on it and it does not wait for its turn.
    Resting,
    Queued,
    Working,
    /// The last turn ended with this trouble.
    Stuck(String),
}

impl TaskRow {
    pub fn of(id: &TaskId, state: &TaskState, activity: &Activity, unseen: bool) -> TaskRow {
        let named = state.file.as_ref().map(|file| file.name.clone()).unwrap_or_default();
        let title = state.brief.as_ref().map(|brief| brief.title.clone()).filter(|title| !title.trim().is_empty());
        let row = RowState::of(state, activity);
        TaskRow {
            id: id.to_string(),
            title: title.unwrap_or(named),
            group: row.group(),
            state: row,
            submitted_at: real(state.submitted_at),
            unseen,
        }
    }
}

impl RowState {
    fn of(state: &TaskState, activity: &Activity) -> RowState {
        use state::Stage as S;
        match state.stage() {
            S::ApprovePlan => approve(state.plan.as_ref()),
            S::DecidePacket => packet(state),
            S::Decide => decide(state),
            S::Landed => RowState::Landed { hunks: state.landed.as_ref().map_or(0, |(hunks, _)| count(hunks.len())) },
            S::Discarded => RowState::Discarded,
            S::Cancelled => RowState::Cancelled,
            S::Failed => RowState::NotSolved { why: failure(state) },
            stage @ (S::Brief | S::Plan | S::Swarm | S::Packet | S::Review) => going_on(state, stage, activity),
        }
    }

    pub fn group(&self) -> RowGroup {
        match self {
            RowState::ApprovePlan { .. }
            | RowState::ReadPacket { .. }
            | RowState::Ready { .. }
            | RowState::NeedsWork { .. } => RowGroup::NeedsYou,
            RowState::Working { .. } => RowGroup::Working,
            RowState::Queued | RowState::Parked { .. } | RowState::Stuck { .. } => RowGroup::Waiting,
            RowState::Landed { .. } | RowState::Discarded | RowState::Cancelled | RowState::NotSolved { .. } => {
                RowGroup::Earlier
            }
        }
    }
}

fn approve(plan: Option<&Plan>) -> RowState {
    let steps = plan.map(|plan| plan.steps.as_slice()).unwrap_or_default();
    let files: BTreeSet<_> = steps.iter().flat_map(|step| step.files.iter().chain(&step.new_files)).collect();
    RowState::ApprovePlan { steps: count(steps.len()), files: count(files.len()) }
}

fn packet(state: &TaskState) -> RowState {
    let packet = state.packet.as_ref();
    let body = packet.and_then(|packet| packet.body());
    let text = packet.map_or(0, |packet| packet.text().len());
    RowState::ReadPacket {
        bytes: count(body.map_or(text, |body| body.json.len())),
        worst_case_usd: body.and_then(|body| body.worst_case_micro_usd).map(crate::ledger::dollars),
    }
}

fn decide(state: &TaskState) -> RowState {
    let findings = state.verdict.as_ref().map_or(0, |verdict| count(verdict.findings.len()));
    if state.outcome() == Some(Outcome::Ready) {
        return RowState::Ready { findings };
    }
    let unsolved = state.steps.iter().filter(|step| matches!(step, StepState::Failed { .. })).count();
    let verdict = state.verdict.as_ref().map(|verdict| verdict.kind.into());
    RowState::NeedsWork { verdict, findings, unsolved: count(unsolved) }
}

fn going_on(state: &TaskState, stage: state::Stage, activity: &Activity) -> RowState {
    let over = |step: &&StepState| !matches!(step, StepState::Waiting | StepState::Working);
    let (done, steps) = (count(state.steps.iter().filter(over).count()), count(state.steps.len()));
    match activity {
        Activity::Working => {
            let (alive, begun) = candidates(state);
            RowState::Working { stage: stage.into(), done, steps, alive, begun }
        }
        Activity::Queued => RowState::Queued,
        Activity::Stuck(why) => RowState::Stuck { why: why.clone() },
        Activity::Resting => RowState::Parked { done, steps },
    }
}

/// Candidates of the step at work: still standing, and begun.
fn candidates(state: &TaskState) -> (u32, u32) {
    let at = state.steps.iter().position(|step| matches!(step, StepState::Working));
    let step = at.and_then(|at| state.plan.as_ref()?.steps.get(at));
    let Some(step) = step else { return (0, 0) };
    let mut standing: BTreeMap<u32, bool> = BTreeMap::new();
    for (_, candidate, result) in state.gates.iter().filter(|(id, ..)| *id == step.id) {
        *standing.entry(*candidate).or_insert(true) &= !matches!(result.outcome, GateOutcome::Failed { .. });
    }
    (count(standing.values().filter(|stands| **stands).count()), count(standing.len()))
}

fn failure(state: &TaskState) -> String {
    match &state.ended {
        Some(Ended::Failed { message, .. }) => message.clone(),
        Some(Ended::Discarded | Ended::Cancelled) | None => String::new(),
    }
}

/// Counts on the wire; nothing here comes near the limit.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
