//! The nouns of Starling, the task state machine, what is said to models and how their answers are read, redaction, and
//! the ports through which everything else is reached.
//!
//! Deliberately absent: file system, network, clock, environment, threads. Every decision here is a pure function over
//! plain values, so it can be tested without a desktop, a model or a repository.
#![forbid(unsafe_code)]

pub mod answer;
pub mod brief;
pub mod catalog;
pub mod change;
pub mod code;
pub mod evidence;
pub mod examples;
pub mod extract;
pub mod ids;
pub mod packet;
pub mod plan;
pub mod port;
pub mod prompt;
pub mod receipt;
pub mod redact;
pub mod review;
pub mod shown;
pub mod state;
pub mod task_file;
pub mod test_set;

pub use ids::{Fingerprint, ModelName, RelPath, RelPathError, Role, StepId, TaskId};
