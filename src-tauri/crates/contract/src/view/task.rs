//! One task, whole.

use super::brief::BriefView;
use super::change::{HunkView, LandedView};
use super::packet::PacketView;
use super::plan::PlanView;
use super::receipt::ReceiptView;
use super::review::VerdictView;
use super::row::{Activity, RowState, TaskRow};
use crate::mirror::{Outcome, Stage};
use crate::real;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::TaskId;
use starling_core::change::Hunk;
use starling_core::receipt::Receipt;
use starling_core::state::{Ended, TaskState};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    pub id: String,
    /// Of the brief, else the name of the file.
    pub title: String,
    pub file_name: String,
    /// The text of the task file as decoded.
    pub file_text: String,
    /// The file was not text.
    pub binary: bool,
    pub project: String,
    /// Milliseconds since 1970.
    #[specta(type = u32)]
    pub submitted_at: f64,
    pub stage: Stage,
    pub state: RowState,
    pub outcome: Option<Outcome>,
    pub needs_you: bool,
    /// What the task gives as an example and no kept test shows; not ready because of it.
    pub not_shown: Vec<String>,
    pub brief: Option<BriefView>,
    pub plan: Option<PlanView>,
    pub packet: Option<PacketView>,
    /// Whether the packet was let out; `null` before the decision.
    pub sent: Option<bool>,
    pub verdict: Option<VerdictView>,
    /// `null` when nobody looked at the stage for this view.
    pub hunks: Option<Vec<HunkView>>,
    pub landed: Option<LandedView>,
    pub end: Option<EndView>,
    pub receipt: ReceiptView,
    /// Facts that did not fit; for a report of a fault.
    pub oddities: Vec<String>,
}

/// How a task ended without landing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum EndView {
    Discarded,
    Cancelled,
    Failed { stage: String, message: String },
}

impl TaskView {
    /// `hunks` from `Workspace::hunks`, or `None` without a look at the stage.
    pub fn of(id: &TaskId, state: &TaskState, activity: &Activity, hunks: Option<&[Hunk]>) -> TaskView {
        let row = TaskRow::of(id, state, activity, false);
        let TaskState {
            file,
            project,
            submitted_at,
            brief,
            plan,
            approved,
            steps,
            gates,
            packet,
            send,
            verdict,
            landed,
            ended,
            calls: _,
            egress: _,
            millis: _,
            oddities,
        } = state;
        let hunks = hunks.map(|hunks| hunks.iter().map(HunkView::from).collect::<Vec<_>>());
        TaskView {
            id: row.id,
            title: row.title,
            file_name: file.as_ref().map(|file| file.name.clone()).unwrap_or_default(),
            file_text: file.as_ref().map(|file| file.text.clone()).unwrap_or_default(),
            binary: file.as_ref().is_some_and(|file| file.binary),
            project: project.clone(),
            submitted_at: real(*submitted_at),
            stage: state.stage().into(),
            state: row.state,
            outcome: state.outcome().map(Outcome::from),
            needs_you: state.stage().needs_user(),
            not_shown: sentences(state),
            brief: brief.as_ref().map(BriefView::from),
            plan: plan.as_ref().map(|plan| PlanView::of(plan, *approved, steps, gates)),
            packet: packet.as_ref().map(PacketView::from),
            sent: *send,
            verdict: verdict.as_ref().map(|verdict| VerdictView::of(verdict, hunks.as_deref())),
            hunks,
            landed: landed.as_ref().map(|(hunks, proof)| LandedView::of(hunks, proof)),
            end: ended.as_ref().map(EndView::from),
            receipt: ReceiptView::of(&Receipt::of(state), state),
            oddities: oddities.clone(),
        }
    }
}

/// Only once there are tests: before, nothing can be shown yet.
fn sentences(state: &TaskState) -> Vec<String> {
    match state.outcome() {
        Some(_) => starling_core::shown::not_shown(state).into_iter().map(|example| example.line).collect(),
        None => Vec::new(),
    }
}

impl From<&Ended> for EndView {
    fn from(ended: &Ended) -> EndView {
        match ended {
            Ended::Discarded => EndView::Discarded,
            Ended::Cancelled => EndView::Cancelled,
            Ended::Failed { stage, message } => EndView::Failed { stage: stage.clone(), message: message.clone() },
        }
    }
}
