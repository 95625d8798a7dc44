//! `starling open`: leaves a note for the running window, or starts one that will find it.

use super::output::{CliError, CliResult, Output};
use crate::compose::folders::Folders;
use crate::compose::instance::{self, Lock, Note};
use crate::compose::new_task_id;
use serde_json::json;
use std::path::PathBuf;

pub fn run(files: Vec<PathBuf>, out: Output) -> CliResult {
    let folders = Folders::of_user().map_err(CliError::refused)?;
    let full = |path: &PathBuf| {
        std::fs::canonicalize(path).map_err(|e| CliError::refused(format!("{} cannot be read: {e}", path.display())))
    };
    let paths: Vec<PathBuf> = files.iter().map(full).collect::<Result<_, _>>()?;
    let count = paths.len();
    let note = if paths.is_empty() { Note::Show } else { Note::Open { paths } };
    instance::leave(&folders.spool, new_task_id().as_str(), &note).map_err(CliError::refused)?;
    let running = Lock::take(&folders.window_lock()).map_err(CliError::refused)?.is_none();
    if !running {
        let program = std::env::current_exe().map_err(CliError::refused)?;
        std::process::Command::new(program).spawn().map_err(CliError::refused)?;
    }
    out.result(&json!({ "files": count, "window_was_running": running }), || {
        format!("handed {count} file(s) to the window")
    })
}
