//! Why the swarm could not go on. A step that found no solution is not an error but an outcome.

use starling_core::TaskId;
use starling_core::port::{CheckError, JournalError, MapError, ModelError, WorkspaceError};
use starling_core::redact::RedactError;
use starling_core::state::Stage;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SwarmError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Model(ModelError),
    #[error(transparent)]
    Map(#[from] MapError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Check(CheckError),
    #[error(transparent)]
    Redact(#[from] RedactError),
    #[error("there is no task {0}")]
    NoTask(TaskId),
    #[error("the task is at the stage {have:?}; that needs {want:?}")]
    WrongStage { have: Stage, want: Stage },
    #[error("{what} was not found in the project")]
    NotFound { what: String },
    /// Stopped by the user or by quitting. What was journalled stays; the task can go on.
    #[error("cancelled")]
    Cancelled,
}

impl From<ModelError> for SwarmError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Cancelled => SwarmError::Cancelled,
            other => SwarmError::Model(other),
        }
    }
}

impl From<CheckError> for SwarmError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Cancelled => SwarmError::Cancelled,
            other => SwarmError::Check(other),
        }
    }
}
