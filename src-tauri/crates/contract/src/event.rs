//! What the app tells the page unasked: one tagged event. The app wraps it for tauri-specta in
//! `struct Happened(AppEvent)` (`#[serde(transparent)]`), because the trait lives beside Tauri; the page listens to
//! `events.happened`.

use crate::mirror::Role;
use crate::place::{Snapshot, StatusView};
use crate::view::row::TaskRow;
use crate::view::task::TaskView;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::port::Progress;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum AppEvent {
    /// A fact was journalled. `view` is the whole task without its hunks (`null`), which need a look at the stage: the
    /// page asks `get_task` for them when it shows the change.
    TaskChanged {
        row: TaskRow,
        view: Box<TaskView>,
    },
    /// Only the line in the list changed: queued, begun, parked, stuck.
    RowChanged {
        row: TaskRow,
    },
    Progress {
        task: String,
        progress: ProgressView,
    },
    Download {
        download: DownloadView,
    },
    Notice {
        notice: NoticeView,
    },
    /// Running tasks, memory or the egress of today changed.
    Status {
        status: StatusView,
    },
    /// Project, settings or models changed outside the page.
    Snapshot {
        snapshot: Box<Snapshot>,
    },
    /// Show this task (tray, notification).
    Open {
        task: String,
    },
}

/// What is shown while it happens and need not survive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum ProgressView {
    RoleStarted {
        role: Role,
        model: String,
        candidates: u32,
    },
    /// Text of a candidate grew.
    Text {
        role: Role,
        candidate: u32,
        text: String,
    },
    Speed {
        role: Role,
        #[specta(type = u32)]
        tokens_per_second: f64,
        live: u32,
    },
    /// A command runs in the sandbox.
    Running {
        what: String,
    },
}

impl From<Progress> for ProgressView {
    fn from(progress: Progress) -> ProgressView {
        match progress {
            Progress::RoleStarted { role, model, candidates } => {
                ProgressView::RoleStarted { role: role.into(), model: model.to_string(), candidates }
            }
            Progress::Text { role, candidate, text } => ProgressView::Text { role: role.into(), candidate, text },
            Progress::Speed { role, tokens_per_second, live } => {
                let speed = f64::from(tokens_per_second);
                let tokens_per_second = if speed.is_finite() { speed } else { 0.0 };
                ProgressView::Speed { role: role.into(), tokens_per_second, live }
            }
            Progress::Running { what } => ProgressView::Running { what },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DownloadView {
    pub model: String,
    #[specta(type = u32)]
    pub done_bytes: f64,
    /// 0 while it is unknown.
    #[specta(type = u32)]
    pub total_bytes: f64,
    pub state: DownloadState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum DownloadState {
    Running,
    /// All bytes are there; the sha256 is computed.
    Verifying,
    Done,
    /// What came so far is kept: the next try goes on from there.
    Failed {
        message: String,
    },
}

/// A sentence that stands in the window until it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct NoticeView {
    pub kind: NoticeKind,
    /// The task it is about; `null` for trouble with something else (a dropped file).
    pub task: Option<String>,
    /// Plain text.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum NoticeKind {
    /// A person must decide.
    NeedsYou,
    /// A verdict is there, or the work ended.
    Done,
    /// A task failed, or cannot go on for now.
    Stuck,
    /// Something a person asked for did not work.
    Trouble,
}
