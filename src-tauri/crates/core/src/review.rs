//! The Verdict of the last reasoning step, and who gave it. The packet itself is made in `packet`.

use crate::ids::{Fingerprint, ModelName, RelPath};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    Approve,
    Change,
    Reject,
}

impl VerdictKind {
    pub fn as_str(self) -> &'static str {
        match self {
            VerdictKind::Approve => "approve",
            VerdictKind::Change => "change",
            VerdictKind::Reject => "reject",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `None` when it is about the change as a whole.
    pub path: Option<RelPath>,
    pub line: Option<u32>,
    pub severity: Severity,
    pub message: String,
    /// The words of the packet it rests on, or "".
    pub evidence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Local,
    Cloud,
}

impl Place {
    pub fn as_str(self) -> &'static str {
        match self {
            Place::Local => "local",
            Place::Cloud => "cloud",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub kind: VerdictKind,
    pub summary: String,
    pub findings: Vec<Finding>,
    pub reviewer: Reviewer,
    /// sha256 of the body that was judged.
    pub packet: Fingerprint,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewer {
    pub model: ModelName,
    pub place: Place,
    /// Why a local model judged although a cloud one is bound ("offline", "no key", "server unreachable: ..."), or "".
    pub fallback: String,
}
