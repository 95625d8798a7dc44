//! The Plan: a tree of steps, each owning its decisions.

use crate::ids::{RelPath, Role, StepId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// One or two sentences: why it is cut this way.
    pub rationale: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub id: StepId,
    /// Executor changes code, Tester writes tests. No other role owns a step.
    pub role: Role,
    /// One sentence, imperative.
    pub goal: String,
    /// Paths this step may write. An existing file, or one listed in `new_files` too.
    pub files: Vec<RelPath>,
    pub new_files: Vec<RelPath>,
    /// Qualified names of existing symbols to change (or to test).
    pub symbols: Vec<String>,
    /// Names this step introduces.
    pub new_symbols: Vec<String>,
    pub acceptance: Vec<String>,
    pub depends_on: Vec<StepId>,
    /// Ids of the decisions made in this step and nowhere else ("rounding-mode").
    pub decides: Vec<String>,
}

impl Plan {
    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|step| &step.id == id)
    }
}

/// What is wrong with a plan, found by the validator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum PlanFault {
    #[error("the plan has no step")]
    Empty,
    #[error("the plan has {count} steps, more than {limit}")]
    TooMany { count: usize, limit: usize },
    #[error("step {step} has an id that another step has too")]
    DuplicateId { step: StepId },
    #[error("step {step} belongs to the {role}, which owns no steps")]
    WrongRole { step: StepId, role: Role },
    #[error("step {step} has no goal")]
    NoGoal { step: StepId },
    #[error("step {step} names no file")]
    NoFile { step: StepId },
    #[error("step {step} names {path}, which does not exist and is not declared new")]
    UnknownFile { step: StepId, path: String },
    #[error("step {step} declares {path} new, but it exists")]
    NotNew { step: StepId, path: String },
    #[error("step {step} names the symbol {symbol}, which none of its files defines")]
    UnknownSymbol { step: StepId, symbol: String },
    #[error("step {step} depends on {on}, which is no step")]
    DanglingDependency { step: StepId, on: StepId },
    #[error("the dependencies of step {step} lead back to itself")]
    Cycle { step: StepId },
    #[error("step {step} decides {decision}, which step {owner} already decides")]
    DecisionOwnedTwice { step: StepId, decision: String, owner: StepId },
    #[error("step {step} has no acceptance")]
    NoAcceptance { step: StepId },
    #[error("step {step} may not write {path}: {reason}")]
    Protected { step: StepId, path: String, reason: String },
}
