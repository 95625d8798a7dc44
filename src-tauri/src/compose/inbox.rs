//! The watched inbox folder: whatever is put there becomes a task.

use super::Starling;
use starling_host::inbox::{InboxError, InboxFile, InboxGuard};
use std::path::PathBuf;
use std::time::Duration;

/// A file must stay unchanged this long: whoever writes it may still be writing.
const STABLE: Duration = Duration::from_millis(700);

pub fn folder(starling: &Starling) -> PathBuf {
    match starling.settings.get().inbox.as_str() {
        "" => starling.folders.inbox.clone(),
        set => PathBuf::from(set),
    }
}

/// Ends when the guard is dropped.
pub fn watch(starling: &Starling, on_file: impl Fn(InboxFile) + Send + 'static) -> Result<InboxGuard, InboxError> {
    starling_host::inbox::watch(&folder(starling), STABLE, on_file)
}
