//! Evidence: what a gate ran, what it printed, what it proves. All verdicts come from exit codes and parsed reports.

use crate::ids::StepId;
use serde::{Deserialize, Serialize};

/// The gates a candidate passes, cheapest first. The order of the variants is the order of the gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The answer has the agreed form and applies to the bytes.
    Form,
    /// The changed files parse as before.
    Parses,
    /// Every name it uses exists.
    Symbols,
    /// It builds.
    Builds,
    /// The project's tests, and the tests of this step, pass.
    Tests,
    /// They pass again.
    Stable,
    /// A mutant of the change is noticed, or a test that failed before passes now.
    Useful,
}

impl Gate {
    pub const ALL: [Gate; 7] =
        [Gate::Form, Gate::Parses, Gate::Symbols, Gate::Builds, Gate::Tests, Gate::Stable, Gate::Useful];
    pub fn as_str(self) -> &'static str {
        match self {
            Gate::Form => "form",
            Gate::Parses => "parses",
            Gate::Symbols => "symbols",
            Gate::Builds => "builds",
            Gate::Tests => "tests",
            Gate::Stable => "stable",
            Gate::Useful => "useful",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum GateOutcome {
    Passed,
    Failed {
        /// One plain sentence for people.
        why: String,
    },
    /// It could not run; `why` says what is missing. Never counts as passed.
    NotRun {
        why: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    pub gate: Gate,
    pub outcome: GateOutcome,
    /// Names the model used that do not exist (symbols gate), else empty.
    pub invented: Vec<String>,
    pub millis: u64,
}

impl GateResult {
    pub fn passed(&self) -> bool {
        self.outcome == GateOutcome::Passed
    }
}

/// How strong the evidence for a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    NotVerified,
    ParsesOnly,
    BuildOnly,
    /// The tests pass, but nothing shows that they would notice the fault.
    TestsPass,
    /// A test failed before and passes now, or kills a mutant of the change.
    TestsProve,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub step: StepId,
    pub grade: Grade,
    pub gates: Vec<GateResult>,
    /// The sandbox the commands ran in ("bubblewrap", "none: nothing was run").
    pub sandbox: String,
    /// The tail of the decisive output, cleaned of control characters.
    pub output: String,
}

/// Why a step ended without a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum StepFailure {
    /// No candidate passed; the gate that stopped most of them, with an example.
    NoCandidate {
        tried: u32,
        gate: Gate,
        example: String,
    },
    ContextTooLarge {
        need: u32,
        have: u32,
    },
    NotRun {
        why: String,
    },
    Model {
        message: String,
    },
}
