//! What a task cost, by role and model.

use crate::ledger::{EgressRow, dollars};
use crate::mirror::{Place, Role};
use crate::real;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::receipt::{Receipt, ReceiptLine, Usage};
use starling_core::state::TaskState;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptView {
    pub rows: Vec<ReceiptRow>,
    #[specta(type = u32)]
    pub millis: f64,
    #[specta(type = u32)]
    pub egress_bytes: f64,
    pub cloud_calls: u32,
    #[specta(type = u32)]
    pub cost_usd: f64,
    /// Share of all tokens that local models handled, 0 to 100.
    #[specta(type = u32)]
    pub local_percent: f64,
    /// What left the machine for this task.
    pub egress: Vec<EgressRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ReceiptRow {
    pub role: Role,
    pub model: String,
    pub place: Place,
    pub calls: u32,
    /// Tokens that were computed, that came from a cache, and that were written.
    #[specta(type = u32)]
    pub input: f64,
    #[specta(type = u32)]
    pub cached: f64,
    #[specta(type = u32)]
    pub output: f64,
    #[specta(type = u32)]
    pub millis: f64,
}

impl ReceiptView {
    pub fn of(receipt: &Receipt, state: &TaskState) -> ReceiptView {
        let Receipt { calls, millis, egress_bytes, cloud_calls, cost_micro_usd, local_share_permille } = receipt;
        ReceiptView {
            rows: calls.iter().map(ReceiptRow::from).collect(),
            millis: real(*millis),
            egress_bytes: real(*egress_bytes),
            cloud_calls: *cloud_calls,
            cost_usd: dollars(*cost_micro_usd),
            local_percent: f64::from(*local_share_permille) / 10.0,
            egress: state.egress.iter().map(EgressRow::from).collect(),
        }
    }
}

impl From<&ReceiptLine> for ReceiptRow {
    fn from(line: &ReceiptLine) -> ReceiptRow {
        let ReceiptLine { role, model, place, calls, usage, millis } = line;
        let Usage { input, cache_read, cache_write, output } = *usage;
        ReceiptRow {
            role: (*role).into(),
            model: model.to_string(),
            place: (*place).into(),
            calls: *calls,
            input: real(input),
            cached: real(cache_read + cache_write),
            output: real(output),
            millis: real(*millis),
        }
    }
}
