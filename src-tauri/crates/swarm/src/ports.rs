//! What the swarm is given: the ports of one project, and the policy of one run.

use starling_core::port::{Checks, Clock, CloudReviewer, CodeMap, Events, Journal, Ledger, Models, Workspace};
use std::sync::Arc;

/// The ports of one project. Cloning shares them.
#[derive(Clone)]
pub struct Ports {
    pub models: Arc<dyn Models>,
    pub map: Arc<dyn CodeMap>,
    pub workspace: Arc<dyn Workspace>,
    pub checks: Arc<dyn Checks>,
    /// `None` when no cloud reviewer is configured.
    pub cloud: Option<Arc<dyn CloudReviewer>>,
    pub journal: Arc<dyn Journal>,
    pub ledger: Arc<dyn Ledger>,
    pub clock: Arc<dyn Clock>,
    pub events: Arc<dyn Events>,
}

/// Whether the packet may leave without a person looking at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendPolicy {
    /// Stop and ask.
    Ask,
    /// Review locally.
    Never,
    /// The person allowed it beforehand (`--send`, "this project always").
    Always,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Candidates of one step, over all rounds.
    pub candidates: u32,
    /// No network at all; the Reviewer is local.
    pub offline: bool,
    /// Accept the plan without asking (`--yes`).
    pub auto_approve: bool,
    pub send: SendPolicy,
    /// The most that the review of one task may cost, in microdollars; 0 means no limit.
    pub task_micro_usd: u64,
    /// Runs with the same seed and model sample the same.
    pub seed: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            candidates: 16,
            offline: false,
            auto_approve: false,
            send: SendPolicy::Ask,
            task_micro_usd: 0,
            seed: 7,
        }
    }
}
