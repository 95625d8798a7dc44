//! Errors on their way to the page: a code it has words for, what happened, and what to do next.

use crate::compose::ComposeError;
use starling_contract::{ErrorCode, IpcError};
use starling_core::port::{CheckError, ModelError, WorkspaceError};
use starling_swarm::SwarmError;

pub fn error(error: &ComposeError) -> IpcError {
    let (code, hint) = kind(error);
    IpcError::new(code, error.to_string()).hint(hint)
}

/// A command whose work panicked.
pub fn broken() -> IpcError {
    IpcError::new(ErrorCode::Internal, "the command broke off by a fault of Starling").hint("the log says more")
}

fn kind(error: &ComposeError) -> (ErrorCode, &'static str) {
    match error {
        ComposeError::Folder(_) | ComposeError::Settings(_) | ComposeError::Store(_) => (ErrorCode::Io, ""),
        ComposeError::Map(_) | ComposeError::Index(_) => (ErrorCode::Io, ""),
        ComposeError::Workspace(error) => workspace(error),
        ComposeError::Swarm(error) => swarm(error),
        ComposeError::Model(error) => model(error),
        ComposeError::Project { .. } => (ErrorCode::NotFound, "choose the folder again"),
        ComposeError::NoProject => (ErrorCode::NoProject, "open a project first"),
        ComposeError::TaskFile(_) => (ErrorCode::TooLarge, "split the task"),
        ComposeError::NoTask(_) | ComposeError::NoModel(_) => (ErrorCode::NotFound, ""),
        ComposeError::Ambiguous { .. } => (ErrorCode::Invalid, ""),
        ComposeError::File { .. } => (ErrorCode::NotFound, ""),
        ComposeError::Busy(_) => (ErrorCode::Stale, "wait until it rests there, or end that program"),
        ComposeError::Download(_) => (ErrorCode::Network, "try again: it goes on where it stopped"),
    }
}

fn swarm(error: &SwarmError) -> (ErrorCode, &'static str) {
    match error {
        SwarmError::Journal(_) | SwarmError::Map(_) => (ErrorCode::Io, ""),
        SwarmError::Model(error) => model(error),
        SwarmError::Workspace(error) => workspace(error),
        SwarmError::Check(CheckError::NotRun { .. }) => (ErrorCode::NotAllowed, "trust the project in the settings"),
        SwarmError::Check(CheckError::Io { .. }) => (ErrorCode::Io, ""),
        SwarmError::Check(CheckError::Cancelled) | SwarmError::Cancelled => (ErrorCode::Cancelled, ""),
        SwarmError::Redact(_) => (ErrorCode::NotAllowed, "nothing was sent"),
        SwarmError::NoTask(_) | SwarmError::NotFound { .. } => (ErrorCode::NotFound, ""),
        SwarmError::WrongStage { .. } => (ErrorCode::Stale, "look at the task again: it went on meanwhile"),
    }
}

fn workspace(error: &WorkspaceError) -> (ErrorCode, &'static str) {
    match error {
        WorkspaceError::Refused { .. } => (ErrorCode::NotAllowed, ""),
        WorkspaceError::Apply(_) | WorkspaceError::NotClean { .. } => {
            (ErrorCode::Stale, "nothing was written; run the task again on the files as they are now")
        }
        WorkspaceError::Git { .. } | WorkspaceError::Io { .. } => (ErrorCode::Io, ""),
    }
}

fn model(error: &ModelError) -> (ErrorCode, &'static str) {
    match error {
        ModelError::Load { .. } => (ErrorCode::NoModel, "get a model, or bind the role to another"),
        ModelError::Memory { .. } => (ErrorCode::NoMemory, "bind the role to a smaller model"),
        ModelError::ContextTooLarge { .. } | ModelError::Shape { .. } => (ErrorCode::Invalid, ""),
        ModelError::Cancelled => (ErrorCode::Cancelled, ""),
        ModelError::Unreachable { .. } | ModelError::Refused { .. } | ModelError::Unknown { .. } => {
            (ErrorCode::Network, "")
        }
        ModelError::NotAllowed { .. } => (ErrorCode::NotAllowed, ""),
        ModelError::Engine { .. } => (ErrorCode::Internal, "the log says more"),
    }
}
