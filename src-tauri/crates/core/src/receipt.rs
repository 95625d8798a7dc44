//! What a task cost: tokens and time per role and model, money, and what left the machine.

use crate::ids::{Fingerprint, ModelName, Role};
use crate::review::Place;
use serde::{Deserialize, Serialize};

/// Tokens in four disjoint buckets, whatever the provider's own words are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that were computed.
    pub input: u64,
    /// Input tokens that came from a cache.
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input + self.cache_read + self.cache_write + self.output
    }
    pub fn add(&mut self, other: Usage) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.output += other.output;
    }
}

/// One call across a bridge between roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    pub role: Role,
    pub model: ModelName,
    pub place: Place,
    /// Name and version of the prompt template ("plan/1").
    pub template: String,
    pub usage: Usage,
    pub candidates: u32,
    /// Candidates whose answer had the agreed form.
    pub valid: u32,
    pub millis: u64,
    /// Names the answers used that do not exist.
    pub invented: Vec<String>,
}

/// One body that left the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EgressEntry {
    pub host: String,
    pub model: ModelName,
    pub bytes: u64,
    pub body: Fingerprint,
    pub cost_micro_usd: Option<u64>,
    /// Milliseconds since 1970.
    pub at: u64,
    /// "sent", "refused", "unknown".
    pub outcome: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub calls: Vec<ReceiptLine>,
    pub millis: u64,
    pub egress_bytes: u64,
    pub cloud_calls: u32,
    pub cost_micro_usd: u64,
    /// Share of all tokens that local models handled, in thousandths.
    pub local_share_permille: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptLine {
    pub role: Role,
    pub model: ModelName,
    pub place: Place,
    pub calls: u32,
    pub usage: Usage,
    pub millis: u64,
}
