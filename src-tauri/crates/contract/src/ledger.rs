//! What was done by whom, what it cost, and everything that ever left the machine.

use crate::mirror::{Place, Role};
use crate::real;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::receipt::EgressEntry;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MetricsView {
    pub overview: OverviewView,
    /// By role and model.
    pub cards: Vec<ScorecardView>,
    /// Names that models used and that do not exist, newest first.
    pub invented: Vec<InventedName>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct OverviewView {
    pub tasks: u32,
    pub ready: u32,
    #[specta(type = u32)]
    pub local_tokens: f64,
    #[specta(type = u32)]
    pub cloud_tokens: f64,
    /// Share of all tokens that local models handled, 0 to 100.
    #[specta(type = u32)]
    pub yield_percent: f64,
    #[specta(type = u32)]
    pub cost_usd: f64,
    #[specta(type = u32)]
    pub egress_bytes: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ScorecardView {
    pub role: Role,
    pub model: String,
    pub place: Place,
    pub calls: u32,
    pub candidates: u32,
    /// Percentages are 0 to 100, `null` when nothing was judged.
    #[specta(type = Option<u32>)]
    pub valid_percent: Option<f64>,
    #[specta(type = Option<u32>)]
    pub gate_pass_percent: Option<f64>,
    #[specta(type = u32)]
    pub invented_percent: f64,
    pub retries: u32,
    pub overturned: u32,
    #[specta(type = u32)]
    pub tokens: f64,
    #[specta(type = u32)]
    pub tokens_per_second: f64,
    #[specta(type = u32)]
    pub millis_p50: f64,
    #[specta(type = u32)]
    pub millis_p95: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct InventedName {
    pub name: String,
    pub role: Role,
    pub model: String,
    pub task: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EgressView {
    /// Newest first.
    pub rows: Vec<EgressRow>,
    #[specta(type = u32)]
    pub bytes: f64,
    #[specta(type = u32)]
    pub cost_usd: f64,
}

/// One body that left the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EgressRow {
    pub host: String,
    pub model: String,
    #[specta(type = u32)]
    pub bytes: f64,
    pub sha256: String,
    /// `null` when the price is unknown.
    #[specta(type = Option<u32>)]
    pub cost_usd: Option<f64>,
    /// Milliseconds since 1970.
    #[specta(type = u32)]
    pub at: f64,
    /// "sent", "refused", "unknown".
    pub outcome: String,
}

impl From<&EgressEntry> for EgressRow {
    fn from(entry: &EgressEntry) -> EgressRow {
        let EgressEntry { host, model, bytes, body, cost_micro_usd, at, outcome } = entry;
        EgressRow {
            host: host.clone(),
            model: model.to_string(),
            bytes: real(*bytes),
            sha256: body.to_string(),
            cost_usd: cost_micro_usd.map(dollars),
            at: real(*at),
            outcome: outcome.clone(),
        }
    }
}

impl EgressView {
    /// `entries` newest first.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a EgressEntry>) -> EgressView {
        let rows: Vec<EgressRow> = entries.into_iter().map(EgressRow::from).collect();
        let bytes = rows.iter().map(|row| row.bytes).sum();
        let cost_usd = rows.iter().filter_map(|row| row.cost_usd).sum();
        EgressView { rows, bytes, cost_usd }
    }
}

pub(crate) fn dollars(micro: u64) -> f64 {
    real(micro) / 1_000_000.0
}
