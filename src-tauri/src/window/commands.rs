//! The commands the page may call: unpack, call, convert. Every one runs off the main thread, because all of them touch the
//! disk. The same list stands in permissions/app.toml; a test compares them.

use super::desktop::Desktop;
use super::wire;
use crate::compose::ComposeError;
use starling_contract::IpcError;
use std::sync::Arc;
use tauri::State;

type Desk<'a> = State<'a, Arc<Desktop>>;

/// Runs blocking work on the pool for it.
async fn run<T: Send + 'static>(
    desktop: Desk<'_>,
    work: impl FnOnce(&Desktop) -> Result<T, ComposeError> + Send + 'static,
) -> Result<T, IpcError> {
    let desktop = Arc::clone(&desktop);
    let done = tauri::async_runtime::spawn_blocking(move || work(&desktop)).await;
    match done {
        Ok(result) => result.map_err(|error| wire::error(&error)),
        Err(_) => Err(wire::broken()),
    }
}

#[tauri::command]
#[specta::specta]
pub async fn get_snapshot(desktop: Desk<'_>) -> Result<Snapshot, IpcError> {
    run(desktop, wire::snapshot).await
}

/// Without a path a native dialog asks for one; `None` when the person closed it.
#[tauri::command]
#[specta::specta]
pub async fn open_project(desktop: Desk<'_>, path: Option<String>) -> Result<Option<ProjectView>, IpcError> {
    run(desktop, move |desktop| {
        let Some(path) = path.map(PathBuf::from).or_else(|| desktop.pick_folder()) else { return Ok(None) };
        desktop.open_project(&path).map(|project| Some(wire::project(desktop, &project)))
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub async fn submit_task(desktop: Desk<'_>, text: String, name: String) -> Result<String, IpcError> {
    run(desktop, move |desktop| desktop.submit_text(&name, &text).map(|task| task.to_string())).await
}

#[tauri::command]
#[specta::specta]
pub async fn submit_paths(desktop: Desk<'_>, paths: Vec<String>) -> Result<Vec<String>, IpcError> {
    run(desktop, move |desktop| {
        paths.iter().map(|path| desktop.submit_path(Path::new(path)).map(|task| task.to_string())).collect()
    })
    .await
}
