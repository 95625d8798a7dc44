//! What a task cost: tokens and time per role and model, money, and what left the machine.

use crate::ids::{Fingerprint, ModelName, Role};
use crate::review::Place;
use crate::state::TaskState;
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

impl Receipt {
    /// Lines by role and model, in the order of their first call; everything else is a sum over the task.
    pub fn of(state: &TaskState) -> Receipt {
        let mut receipt = Receipt { millis: state.millis, ..Receipt::default() };
        for call in &state.calls {
            receipt.add(call);
        }
        for entry in &state.egress {
            receipt.egress_bytes += entry.bytes;
            receipt.cost_micro_usd += entry.cost_micro_usd.unwrap_or(0);
        }
        let local = state.calls.iter().filter(|call| call.place == Place::Local).map(|call| call.usage.total());
        let (local, all): (u64, u64) = (local.sum(), state.calls.iter().map(|call| call.usage.total()).sum());
        let permille = local.saturating_mul(1_000).checked_div(all).unwrap_or(1_000);
        receipt.local_share_permille = u32::try_from(permille).unwrap_or(1_000);
        receipt
    }

    fn add(&mut self, call: &ModelCall) {
        self.cloud_calls += u32::from(call.place == Place::Cloud);
        let same =
            |line: &&mut ReceiptLine| line.role == call.role && line.model == call.model && line.place == call.place;
        match self.calls.iter_mut().find(same) {
            Some(line) => {
                line.calls += 1;
                line.usage.add(call.usage);
                line.millis += call.millis;
            }
            None => self.calls.push(ReceiptLine {
                role: call.role,
                model: call.model.clone(),
                place: call.place,
                calls: 1,
                usage: call.usage,
                millis: call.millis,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(role: Role, place: Place, tokens: u64) -> ModelCall {
        ModelCall {
            role,
            model: ModelName::new("m"),
            place,
            template: "t/1".into(),
            usage: Usage { output: tokens, ..Usage::default() },
            candidates: 1,
            valid: 1,
            millis: 10,
            invented: vec![],
        }
    }

    #[test]
    fn sums_by_role_model_and_place() {
        let calls = vec![
            call(Role::Planner, Place::Local, 10),
            call(Role::Planner, Place::Local, 20),
            call(Role::Reviewer, Place::Cloud, 10),
        ];
        let receipt = Receipt::of(&TaskState { calls, millis: 7, ..TaskState::default() });
        let lines: Vec<(Role, u32, u64)> =
            receipt.calls.iter().map(|line| (line.role, line.calls, line.usage.output)).collect();
        assert_eq!(lines, [(Role::Planner, 2, 30), (Role::Reviewer, 1, 10)]);
        assert_eq!((receipt.local_share_permille, receipt.cloud_calls, receipt.millis), (750, 1, 7));
        assert_eq!(Receipt::of(&TaskState::default()).local_share_permille, 1_000);
    }
}
