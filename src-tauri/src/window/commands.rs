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
