//! From what the app knows to what the page gets: views, events, errors. Conversions only.

mod error;
mod models;
mod numbers;
mod settings;

pub use error::{broken, error};
pub use models::view as models;
pub use numbers::{doctor, egress, metrics};
pub use settings::{apply as apply_settings, set_key, view as settings_view};

use super::board::Notice;
use super::desktop::Desktop;
use super::face::Signal;
use crate::compose::ComposeError;
use serde::{Deserialize, Serialize};
use starling_contract::{AppEvent, NoticeView, ProjectView, ResidentModel, SettingsView, Snapshot, StatusView};
use starling_contract::{TaskRow, TaskView};
use starling_core::TaskId;
use starling_core::state::{Stage, TaskState};
use std::path::Path;
use tauri::AppHandle;
use tauri_specta::Event;

/// The one event of the page. The trait lives beside Tauri, so the type of the contract is wrapped.
#[derive(Clone, Debug, Serialize, Deserialize, specta::Type, Event)]
#[serde(transparent)]
pub struct Happened(pub AppEvent);

pub fn emit(app: &AppHandle, event: AppEvent) {
    if let Err(error) = Happened(event).emit(app) {
        tracing::warn!(%error, "the page was not told");
    }
}

/// Tells the page to show a task.
pub fn show_task(app: &AppHandle, task: &str) {
    emit(app, AppEvent::Open { task: task.to_owned() });
}

/// What the page is told of a signal.
pub fn events(desktop: &Desktop, signal: &Signal<'_>) -> Vec<AppEvent> {
    match signal {
        Signal::Task(task, state) => {
            let view = TaskView::of(task, state, &desktop.activity(task), None);
            vec![AppEvent::TaskChanged { row: row(desktop, task, state), view: Box::new(view) }]
        }
        Signal::Row(task) => {
            let state = desktop.face.board.get(task);
            state.map(|state| AppEvent::RowChanged { row: row(desktop, task, &state) }).into_iter().collect()
        }
        Signal::Progress(task, progress) => {
            vec![AppEvent::Progress { task: task.to_string(), progress: (*progress).clone().into() }]
        }
        Signal::Notice(told) => vec![AppEvent::Notice { notice: notice(told) }],
        Signal::Download(download) => vec![AppEvent::Download { download: (*download).clone() }],
        Signal::Changed => {
            logged(snapshot(desktop).map(|snapshot| AppEvent::Snapshot { snapshot: Box::new(snapshot) }))
        }
        Signal::Look(_) => logged(status(desktop).map(|status| AppEvent::Status { status })),
    }
}

fn logged(event: Result<AppEvent, ComposeError>) -> Vec<AppEvent> {
    event.inspect_err(|error| tracing::warn!(%error, "the page was not told of a change")).into_iter().collect()
}

pub fn snapshot(desktop: &Desktop) -> Result<Snapshot, ComposeError> {
    let project = desktop.project().ok();
    Ok(Snapshot {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        project: project.map(|path| project_view(desktop, &path)),
        status: status(desktop)?,
        tasks: desktop.face.board.all().iter().map(|(task, state)| row(desktop, task, state)).collect(),
        models: models(&desktop.starling),
        settings: settings(desktop),
        notices: desktop.face.board.unseen().iter().map(notice).collect(),
    })
}

pub fn settings(desktop: &Desktop) -> SettingsView {
    settings_view(&desktop.starling, desktop.face.words.language)
}

pub fn project_view(desktop: &Desktop, path: &Path) -> ProjectView {
    ProjectView {
        name: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        path: path.to_string_lossy().into_owned(),
        branch: desktop.starling.branch(path),
        trusted: desktop.starling.settings.get().trusts(path),
    }
}

/// One task with its hunks, which need a look at its stage.
pub fn task(desktop: &Desktop, task: &TaskId) -> Result<TaskView, ComposeError> {
    let state = desktop.state(task)?;
    let hunks = match state.stage() {
        Stage::Decide => Some(desktop.workspace(task)?.hunks(task)?),
        _ => None,
    };
    Ok(TaskView::of(task, &state, &desktop.activity(task), hunks.as_deref()))
}

fn row(desktop: &Desktop, task: &TaskId, state: &TaskState) -> TaskRow {
    TaskRow::of(task, state, &desktop.activity(task), desktop.face.board.is_unseen(task))
}

fn status(desktop: &Desktop) -> Result<StatusView, ComposeError> {
    let resident = desktop.starling.residency.resident().into_iter();
    Ok(StatusView {
        egress: numbers::today(&desktop.starling)?,
        resident: resident.map(|(name, mb)| ResidentModel { name: name.to_string(), memory_mb: mb as f64 }).collect(),
        busy: desktop.busy().iter().map(ToString::to_string).collect(),
        paused: desktop.is_paused(),
        offline: desktop.starling.settings.get().offline,
    })
}

fn notice(notice: &Notice) -> NoticeView {
    NoticeView { kind: notice.kind, task: notice.task.as_ref().map(ToString::to_string), text: notice.text.clone() }
}
