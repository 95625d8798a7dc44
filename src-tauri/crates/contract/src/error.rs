//! The one error of the IPC. The page chooses words and a next step by the code; `message` says what happened.

use serde::{Deserialize, Serialize};
use specta::Type;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct IpcError {
    pub code: ErrorCode,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do next, or "".
    pub hint: String,
}

/// Closed: the page has words for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum ErrorCode {
    /// There is no such task, model or file.
    NotFound,
    /// The request makes no sense (a wrong role, an empty plan).
    Invalid,
    NoProject,
    /// No model is there for a role, or it cannot be loaded.
    NoModel,
    NoMemory,
    /// A gate refused: path, trust, budget, send policy.
    NotAllowed,
    Offline,
    NoKey,
    /// The task or a file is no longer as the page believed; nothing was written.
    Stale,
    TooLarge,
    /// Disk, database, git.
    Io,
    Network,
    Cancelled,
    /// A fault of Starling; the log says more.
    Internal,
}

impl IpcError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> IpcError {
        IpcError { code, message: message.into(), hint: String::new() }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> IpcError {
        IpcError { hint: hint.into(), ..self }
    }
}
