//! The commands the page may call: unpack, call, convert. Every one runs off the main thread, because all of them touch the
//! disk. The same list stands in permissions/app.toml; a test compares them.

use super::desktop::{Ask, Desktop};
use super::{face::Signal, wire};
use crate::compose::keys::Provider;
use crate::compose::{ComposeError, doctor as examination};
use starling_contract::{
    DoctorView, EgressView, ErrorCode, IpcError, MetricsView, ModelsView, PlanEdit, ProjectView, ProofView, Role,
    SettingsEdit, SettingsView, Snapshot, TaskView,
};
use starling_core::TaskId;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tauri::State;

type Desk<'a> = State<'a, Arc<Desktop>>;

/// Commands and the event, once for the app and for the export of their types.
pub fn builder<R: tauri::Runtime>() -> tauri_specta::Builder<R> {
    tauri_specta::Builder::<R>::new()
        .commands(tauri_specta::collect_commands![
            get_snapshot,
            open_project,
            submit_task,
            submit_paths,
            get_task,
            decide_plan,
            decide_packet,
            land_hunks,
            discard_task,
            cancel_task,
            stop_all,
            resume_task,
            list_models,
            get_model,
            bind_role,
            get_metrics,
            get_egress,
            get_settings,
            set_settings,
            set_key,
            doctor,
            seen,
        ])
        .events(tauri_specta::collect_events![wire::Happened])
        // One TypeScript type for each type here: nothing reads otherwise than it writes.
        .disable_serde_phases()
}

/// Runs blocking work on the pool for it.
async fn run<T: Send + 'static>(
    desktop: Desk<'_>,
    work: impl FnOnce(&Desktop) -> Result<T, ComposeError> + Send + 'static,
) -> Result<T, IpcError> {
    let desktop = Arc::clone(&desktop);
    match tauri::async_runtime::spawn_blocking(move || work(&desktop)).await {
        Ok(result) => result.map_err(|error| wire::error(&error)),
        Err(_) => Err(wire::broken()),
    }
}

#[tauri::command]
#[specta::specta]
pub async fn get_snapshot(desktop: Desk<'_>) -> Result<Snapshot, IpcError> {
    run(desktop, wire::snapshot).await
}

/// Without a path a native dialog asks for one; `null` when the person closed it.
#[tauri::command]
#[specta::specta]
pub async fn open_project(desktop: Desk<'_>, path: Option<String>) -> Result<Option<ProjectView>, IpcError> {
    run(desktop, move |desktop| {
        let path = path.map(PathBuf::from).or_else(|| desktop.pick(Ask::Folder).into_iter().next());
        let opened = path.map(|path| desktop.open_project(&path)).transpose()?;
        Ok(opened.map(|project| wire::project_view(desktop, &project)))
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub async fn submit_task(desktop: Desk<'_>, text: String, name: String) -> Result<String, IpcError> {
    run(desktop, move |desktop| desktop.submit_text(&name, &text).map(|task| task.to_string())).await
}

/// Without paths a native dialog asks for files.
#[tauri::command]
#[specta::specta]
pub async fn submit_paths(desktop: Desk<'_>, paths: Vec<String>) -> Result<Vec<String>, IpcError> {
    run(desktop, move |desktop| {
        let typed: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let paths = if typed.is_empty() { desktop.pick(Ask::Files) } else { typed };
        paths.iter().map(|path: &PathBuf| desktop.submit_path(Path::new(path)).map(|task| task.to_string())).collect()
    })
    .await
}

/// One task, whole, with its hunks.
#[tauri::command]
#[specta::specta]
pub async fn get_task(desktop: Desk<'_>, id: String) -> Result<TaskView, IpcError> {
    run(desktop, move |desktop| wire::task(desktop, &TaskId::new(id))).await
}

/// The plan as edited; `null` gives the task up.
#[tauri::command]
#[specta::specta]
pub async fn decide_plan(desktop: Desk<'_>, id: String, plan: Option<PlanEdit>) -> Result<(), IpcError> {
    let task = TaskId::new(id);
    let Some(edit) = plan else { return run(desktop, move |desktop| desktop.decide_plan(&task, None)).await };
    let state = desktop.state(&task).map_err(|error| wire::error(&error))?;
    let known = state.plan.ok_or_else(|| IpcError::new(ErrorCode::Stale, "the task has no plan"))?;
    let plan = edit.apply(&known)?;
    run(desktop, move |desktop| desktop.decide_plan(&task, Some(plan))).await
}

#[tauri::command]
#[specta::specta]
pub async fn decide_packet(desktop: Desk<'_>, id: String, send: bool) -> Result<(), IpcError> {
    run(desktop, move |desktop| desktop.decide_packet(&TaskId::new(id), send)).await
}

#[tauri::command]
#[specta::specta]
pub async fn land_hunks(desktop: Desk<'_>, id: String, hunks: Vec<u32>) -> Result<ProofView, IpcError> {
    run(desktop, move |desktop| desktop.land(&TaskId::new(id), &hunks).map(|proof| (&proof).into())).await
}

#[tauri::command]
#[specta::specta]
pub async fn discard_task(desktop: Desk<'_>, id: String) -> Result<(), IpcError> {
    run(desktop, move |desktop| desktop.discard(&TaskId::new(id))).await
}

/// Stops a task for good.
#[tauri::command]
#[specta::specta]
pub async fn cancel_task(desktop: Desk<'_>, id: String) -> Result<(), IpcError> {
    run(desktop, move |desktop| desktop.cancel(&TaskId::new(id))).await
}

/// Parks everything; `resume_task` goes on.
#[tauri::command]
#[specta::specta]
pub async fn stop_all(desktop: Desk<'_>) -> Result<(), IpcError> {
    run(desktop, |desktop| {
        desktop.stop_all();
        Ok(())
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub async fn resume_task(desktop: Desk<'_>, id: String) -> Result<(), IpcError> {
    run(desktop, move |desktop| desktop.resume(&TaskId::new(id))).await
}

#[tauri::command]
#[specta::specta]
pub async fn list_models(desktop: Desk<'_>) -> Result<ModelsView, IpcError> {
    run(desktop, |desktop| Ok(wire::models(&desktop.starling))).await
}

/// Downloads; returns when it is done. How it goes is told by events.
#[tauri::command]
#[specta::specta]
pub async fn get_model(desktop: Desk<'_>, name: String) -> Result<(), IpcError> {
    run(desktop, move |desktop| desktop.download(&name)).await
}

/// Holds from the next step on; `null` leaves the choice to Starling.
#[tauri::command]
#[specta::specta]
pub async fn bind_role(desktop: Desk<'_>, role: Role, model: Option<String>) -> Result<ModelsView, IpcError> {
    run(desktop, move |desktop| desktop.bind(role.into(), model.as_deref()).map(|()| wire::models(&desktop.starling)))
        .await
}

#[tauri::command]
#[specta::specta]
pub async fn get_metrics(desktop: Desk<'_>) -> Result<MetricsView, IpcError> {
    run(desktop, |desktop| Ok(wire::metrics(&desktop.face.board.all()))).await
}

#[tauri::command]
#[specta::specta]
pub async fn get_egress(desktop: Desk<'_>) -> Result<EgressView, IpcError> {
    run(desktop, |desktop| wire::egress(&desktop.starling)).await
}

#[tauri::command]
#[specta::specta]
pub async fn get_settings(desktop: Desk<'_>) -> Result<SettingsView, IpcError> {
    run(desktop, |desktop| Ok(wire::settings(desktop))).await
}

#[tauri::command]
#[specta::specta]
pub async fn set_settings(desktop: Desk<'_>, edit: SettingsEdit) -> Result<SettingsView, IpcError> {
    run(desktop, move |desktop| {
        desktop.starling.settings.change(|file| wire::apply_settings(file, edit))?;
        desktop.starling.forget_projects();
        desktop.face.show(Signal::Changed);
        Ok(wire::settings(desktop))
    })
    .await
}

/// Into the keychain, else for this session; empty text forgets the key. It never comes out again.
#[tauri::command]
#[specta::specta]
pub async fn set_key(desktop: Desk<'_>, provider: String, key: String) -> Result<SettingsView, IpcError> {
    let unknown = || IpcError::new(ErrorCode::Invalid, "there is no such provider");
    let provider = Provider::parse(&provider).ok_or_else(unknown)?;
    run(desktop, move |desktop| wire::set_key(&desktop.starling, provider, &key).map(|()| wire::settings(desktop)))
        .await
}

#[tauri::command]
#[specta::specta]
pub async fn doctor(desktop: Desk<'_>) -> Result<DoctorView, IpcError> {
    run(desktop, |desktop| Ok(wire::doctor(examination::examine(&desktop.starling)))).await
}

/// What was told about a task was read; an empty id means what was told about everything else.
#[tauri::command]
#[specta::specta]
pub async fn seen(desktop: Desk<'_>, id: String) -> Result<(), IpcError> {
    run(desktop, move |desktop| {
        desktop.seen(Some(TaskId::new(id)).filter(|id| !id.as_str().is_empty()).as_ref());
        Ok(())
    })
    .await
}
