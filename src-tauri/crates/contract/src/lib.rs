//! Everything that crosses the IPC: requests, responses, one tagged event, one error. Wire types in camelCase, made from
//! core's nouns by destructuring, so that a new field of core is a decision here and not an accident.
//!
//! Deliberately absent: Tauri, files, clocks. Numbers are u32 or f64: JavaScript has no other. An f64 is told to the
//! exporter as u32, because it would write `number | null` for it; no value here is ever NaN or infinite.
#![forbid(unsafe_code)]

mod error;
mod event;
mod ledger;
mod mirror;
mod models;
mod place;
mod plan_edit;
mod settings;
mod view;

pub use error::{ErrorCode, IpcError};
pub use event::{AppEvent, DownloadState, DownloadView, NoticeKind, NoticeView, ProgressView};
pub use ledger::{EgressRow, EgressView, InventedName, MetricsView, OverviewView, ScorecardView};
pub use mirror::{Claim, Gate, Grade, LineMark, Origin, Outcome, Place, Role, Severity, Stage, TaskKind, Verdict};
pub use models::{ModelView, ModelsView, RoleBinding};
pub use place::{DoctorPart, DoctorView, EgressToday, ProjectView, ResidentModel, Snapshot, StatusView};
pub use plan_edit::{PlanEdit, StepEdit};
pub use settings::{CloudSettings, KeySource, SendChoice, SettingsEdit, SettingsView, Theme};
pub use view::brief::{BriefView, FieldSource, FrameView};
pub use view::change::{HunkView, LandedView, LineView, ProofView};
pub use view::packet::{PacketView, RedactionView, RequestView};
pub use view::plan::{CandidateView, FailureKind, FellView, GateMark, GateState, PlanView, StepState, StepView};
pub use view::receipt::{ReceiptRow, ReceiptView};
pub use view::review::{FindingView, VerdictView};
pub use view::row::{Activity, RowGroup, RowState, TaskRow};
pub use view::task::{EndView, TaskView};
pub use view::tests::{FunnelView, KeptTestView, ProofOfTest, TestsView};

/// Milliseconds, bytes, microdollars, tokens: exact up to 2^53, which none of them reaches.
pub(crate) fn real(number: u64) -> f64 {
    number as f64
}
