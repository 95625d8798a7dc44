//! The task state machine. A task is the fold of its events; a stage turns a state into the events that carry it on. A
//! stage cannot be skipped, because each needs the artefact of the one before.

use crate::brief::Brief;
use crate::change::{ByteProof, ChangeSet};
use crate::evidence::{Evidence, GateResult, StepFailure};
use crate::ids::StepId;
use crate::packet::ReviewPacket;
use crate::plan::Plan;
use crate::receipt::{EgressEntry, ModelCall};
use crate::review::Verdict;
use crate::task_file::TaskFile;
use crate::test_set::TestSet;
use serde::{Deserialize, Serialize};

/// A fact about a task. Kinds and fields are only ever added: old journals must stay readable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TaskEvent {
    Submitted {
        file: TaskFile,
        project: String,
        at: u64,
    },
    Briefed {
        brief: Brief,
    },
    Planned {
        plan: Plan,
    },
    /// By the user, or by `--yes`. Carries the plan, which the user may have edited.
    PlanApproved {
        plan: Plan,
        by_user: bool,
    },
    StepStarted {
        step: StepId,
    },
    /// Candidate `candidate` of a step passed or fell at a gate.
    Gated {
        step: StepId,
        candidate: u32,
        result: GateResult,
    },
    /// The change of a step is in the stage, with its evidence.
    StepSolved {
        step: StepId,
        candidate: u32,
        source: CandidateSource,
        change: ChangeSet,
        evidence: Evidence,
    },
    TestsKept {
        step: StepId,
        tests: TestSet,
        change: ChangeSet,
        evidence: Evidence,
    },
    StepFailed {
        step: StepId,
        failure: StepFailure,
    },
    /// What would leave the machine, as it would leave.
    PacketBuilt {
        packet: ReviewPacket,
    },
    /// The user (or `--send`) let it leave, or kept it here.
    PacketDecided {
        send: bool,
        why: String,
    },
    Reviewed {
        verdict: Verdict,
    },
    Landed {
        hunks: Vec<u32>,
        proof: ByteProof,
    },
    Discarded,
    Cancelled,
    /// The task cannot go on; nothing was changed.
    Failed {
        stage: String,
        message: String,
    },
    Called {
        call: ModelCall,
    },
    Egress {
        entry: EgressEntry,
    },
    /// The work ended (ready, needs work, or failed) after this many milliseconds of work.
    Finished {
        millis: u64,
    },
}

/// Where a candidate came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CandidateSource {
    Model,
    /// A single edit over the syntax tree, no model.
    Operator,
    /// Outputs recorded by running the code, no model.
    Recorder,
}

/// What comes next for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The Parser is next.
    Brief,
    /// The Planner is next.
    Plan,
    /// The user (or `--yes`) decides on the plan.
    ApprovePlan,
    /// Steps are worked on.
    Swarm,
    /// The packet is built.
    Packet,
    /// The user (or a flag) decides whether it leaves.
    DecidePacket,
    /// The Reviewer is next.
    Review,
    /// The user accepts hunks.
    Decide,
    Landed,
    Discarded,
    Cancelled,
    Failed,
}

impl Stage {
    /// Nothing more will happen by itself or by the user.
    pub fn is_final(self) -> bool {
        matches!(self, Stage::Landed | Stage::Discarded | Stage::Cancelled | Stage::Failed)
    }
    /// A person is needed.
    pub fn needs_user(self) -> bool {
        matches!(self, Stage::ApprovePlan | Stage::DecidePacket | Stage::Decide)
    }
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Brief => "brief",
            Stage::Plan => "plan",
            Stage::ApprovePlan => "approve_plan",
            Stage::Swarm => "swarm",
            Stage::Packet => "packet",
            Stage::DecidePacket => "decide_packet",
            Stage::Review => "review",
            Stage::Decide => "decide",
            Stage::Landed => "landed",
            Stage::Discarded => "discarded",
            Stage::Cancelled => "cancelled",
            Stage::Failed => "failed",
        }
    }
}

/// How the work on a task ended, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A change (or tests) with proof, approved.
    Ready,
    /// There is a change, but a step is unsolved or the Reviewer asks for more.
    NeedsWork,
    Failed,
    Cancelled,
}

impl Outcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Ready => "ready",
            Outcome::NeedsWork => "needs_work",
            Outcome::Failed => "failed",
            Outcome::Cancelled => "cancelled",
        }
    }
}

/// How one step stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum StepState {
    Waiting,
    Working,
    Solved { candidate: u32, source: CandidateSource, change: ChangeSet, evidence: Evidence },
    Tested { tests: TestSet, change: ChangeSet, evidence: Evidence },
    Failed { failure: StepFailure },
}

/// The whole task: a fold over its events. Equal events give equal states, so a restart shows the same screen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskState {
    pub file: Option<TaskFile>,
    /// The project's folder as the user gave it, canonical.
    pub project: String,
    pub submitted_at: u64,
    pub brief: Option<Brief>,
    pub plan: Option<Plan>,
    pub approved: bool,
    /// Parallel to the plan's steps.
    pub steps: Vec<StepState>,
    /// Gate results by (step, candidate), in the order they came.
    pub gates: Vec<(StepId, u32, GateResult)>,
    pub packet: Option<ReviewPacket>,
    pub send: Option<bool>,
    pub verdict: Option<Verdict>,
    pub landed: Option<(Vec<u32>, ByteProof)>,
    pub ended: Option<Ended>,
    pub calls: Vec<ModelCall>,
    pub egress: Vec<EgressEntry>,
    pub millis: u64,
    /// Facts that did not fit the state they met; shown by doctor, never dropped silently.
    pub oddities: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Ended {
    Discarded,
    Cancelled,
    Failed { stage: String, message: String },
}

impl TaskState {
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a TaskEvent>) -> TaskState {
        events.into_iter().fold(TaskState::default(), TaskState::apply)
    }

    /// The state after one more fact. Total: a fact that does not fit is kept in `oddities`.
    #[must_use]
    pub fn apply(mut self, event: &TaskEvent) -> TaskState {
        match event {
            TaskEvent::Submitted { file, project, at } => {
                self.file = Some(file.clone());
                self.project = project.clone();
                self.submitted_at = *at;
            }
            TaskEvent::Briefed { brief } => self.brief = Some(brief.clone()),
            TaskEvent::Planned { plan } => self.set_plan(plan, false),
            TaskEvent::PlanApproved { plan, by_user: _ } => self.set_plan(plan, true),
            TaskEvent::StepStarted { step } => self.set_step(step, StepState::Working),
            TaskEvent::Gated { step, candidate, result } => {
                self.gates.push((step.clone(), *candidate, result.clone()));
            }
            TaskEvent::StepSolved { step, candidate, source, change, evidence } => self.set_step(
                step,
                StepState::Solved {
                    candidate: *candidate,
                    source: *source,
                    change: change.clone(),
                    evidence: evidence.clone(),
                },
            ),
            TaskEvent::TestsKept { step, tests, change, evidence } => self.set_step(
                step,
                StepState::Tested { tests: tests.clone(), change: change.clone(), evidence: evidence.clone() },
            ),
            TaskEvent::StepFailed { step, failure } => {
                self.set_step(step, StepState::Failed { failure: failure.clone() });
            }
            TaskEvent::PacketBuilt { packet } => self.packet = Some(packet.clone()),
            TaskEvent::PacketDecided { send, why: _ } => self.send = Some(*send),
            TaskEvent::Reviewed { verdict } => self.verdict = Some(verdict.clone()),
            TaskEvent::Landed { hunks, proof } => self.landed = Some((hunks.clone(), proof.clone())),
            TaskEvent::Discarded => self.ended = Some(Ended::Discarded),
            TaskEvent::Cancelled => self.ended = Some(Ended::Cancelled),
            TaskEvent::Failed { stage, message } => {
                self.ended = Some(Ended::Failed { stage: stage.clone(), message: message.clone() });
            }
            TaskEvent::Called { call } => self.calls.push(call.clone()),
            TaskEvent::Egress { entry } => self.set_egress(entry),
            TaskEvent::Finished { millis } => self.millis += millis,
        }
        self
    }

    pub fn stage(&self) -> Stage {
        match &self.ended {
            Some(Ended::Discarded) => return Stage::Discarded,
            Some(Ended::Cancelled) => return Stage::Cancelled,
            Some(Ended::Failed { .. }) => return Stage::Failed,
            None => {}
        }
        if self.landed.is_some() {
            Stage::Landed
        } else if self.brief.is_none() {
            Stage::Brief
        } else if self.plan.is_none() {
            Stage::Plan
        } else if !self.approved {
            Stage::ApprovePlan
        } else if self.steps.iter().any(|step| matches!(step, StepState::Waiting | StepState::Working)) {
            Stage::Swarm
        } else if self.packet.is_none() {
            Stage::Packet
        } else if self.send.is_none() {
            Stage::DecidePacket
        } else if self.verdict.is_none() {
            Stage::Review
        } else {
            Stage::Decide
        }
    }

    /// How the work ended; `None` while it goes on or waits for a person before the verdict.
    pub fn outcome(&self) -> Option<Outcome> {
        use crate::review::VerdictKind;
        match self.stage() {
            Stage::Cancelled => Some(Outcome::Cancelled),
            Stage::Failed => Some(Outcome::Failed),
            Stage::Decide | Stage::Landed | Stage::Discarded => {
                let all_solved =
                    self.steps.iter().all(|s| matches!(s, StepState::Solved { .. } | StepState::Tested { .. }));
                let approved = self.verdict.as_ref().is_some_and(|v| v.kind == VerdictKind::Approve);
                Some(if all_solved && approved && self.proven() { Outcome::Ready } else { Outcome::NeedsWork })
            }
            Stage::Brief
            | Stage::Plan
            | Stage::ApprovePlan
            | Stage::Swarm
            | Stage::Packet
            | Stage::DecidePacket
            | Stage::Review => None,
        }
    }

    /// A red gate is never overruled: every step that changed something has tests that pass, one proves something, and what
    /// the task gives as an example is shown by one.
    pub fn proven(&self) -> bool {
        use crate::evidence::Grade;
        let grades = self.steps.iter().filter_map(|step| match step {
            StepState::Solved { evidence, .. } | StepState::Tested { evidence, .. } => Some(evidence.grade),
            StepState::Waiting | StepState::Working | StepState::Failed { .. } => None,
        });
        let grades: Vec<Grade> = grades.collect();
        let proven = grades.iter().all(|grade| *grade >= Grade::TestsPass) && grades.contains(&Grade::TestsProve);
        proven && crate::shown::not_shown(self).is_empty()
    }

    fn set_plan(&mut self, plan: &Plan, approved: bool) {
        self.steps = vec![StepState::Waiting; plan.steps.len()];
        self.plan = Some(plan.clone());
        self.approved = approved;
    }

    fn set_step(&mut self, id: &StepId, state: StepState) {
        let at = self.plan.as_ref().and_then(|plan| plan.steps.iter().position(|step| &step.id == id));
        match at.and_then(|at| self.steps.get_mut(at)) {
            Some(slot) => *slot = state,
            None => self.oddities.push(format!("an event names step {id}, which the plan does not have")),
        }
    }

    fn set_egress(&mut self, entry: &EgressEntry) {
        match self.egress.iter_mut().find(|known| known.body == entry.body && known.at == entry.at) {
            Some(known) => *known = entry.clone(),
            None => self.egress.push(entry.clone()),
        }
    }
}
