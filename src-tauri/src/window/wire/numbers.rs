//! Metrics, egress and doctor for the page.

use crate::compose::doctor::{Part, Report};
use crate::compose::scorecards::{self, GroupBy, Scorecard};
use crate::compose::{ComposeError, Starling};
use starling_contract::{
    DoctorPart, DoctorView, EgressToday, EgressView, InventedName, MetricsView, OverviewView, ScorecardView,
};
use starling_core::TaskId;
use starling_core::state::TaskState;

pub fn metrics(tasks: &[(TaskId, TaskState)]) -> MetricsView {
    let states = || tasks.iter().map(|(_, state)| state);
    let overview = scorecards::overview(states());
    let cards = scorecards::scorecards(states(), GroupBy { role: true, model: true });
    let invented = tasks.iter().flat_map(|(task, state)| {
        state.calls.iter().rev().flat_map(move |call| {
            call.invented.iter().map(move |name| InventedName {
                name: name.clone(),
                role: call.role.into(),
                model: call.model.to_string(),
                task: task.to_string(),
            })
        })
    });
    MetricsView {
        overview: OverviewView {
            tasks: overview.tasks,
            ready: overview.ready,
            local_tokens: overview.local_tokens as f64,
            cloud_tokens: overview.cloud_tokens as f64,
            yield_percent: overview.yield_percent,
            cost_usd: overview.cost_micro_usd as f64 / 1_000_000.0,
            egress_bytes: overview.egress_bytes as f64,
        },
        cards: cards.iter().filter_map(card).collect(),
        invented: invented.take(200).collect(),
    }
}

/// Grouped by role and model, a card always has both.
fn card(card: &Scorecard) -> Option<ScorecardView> {
    Some(ScorecardView {
        role: card.role?.into(),
        model: card.model.as_ref()?.to_string(),
        place: card.place.into(),
        calls: card.calls,
        candidates: card.candidates,
        valid_percent: card.valid_percent,
        gate_pass_percent: card.gate_pass_percent,
        invented_percent: card.invented_percent,
        retries: card.retries,
        overturned: card.overturned,
        tokens: card.usage.total() as f64,
        tokens_per_second: card.tokens_per_second,
        millis_p50: card.millis_p50 as f64,
        millis_p95: card.millis_p95 as f64,
    })
}

pub fn egress(starling: &Starling) -> Result<EgressView, ComposeError> {
    Ok(EgressView::of(starling.store.egress()?.iter().rev()))
}

pub fn today(starling: &Starling) -> Result<EgressToday, ComposeError> {
    let (bytes, cost) = starling.left_today()?;
    Ok(EgressToday { bytes: bytes as f64, cost_usd: cost as f64 / 1_000_000.0 })
}

pub fn doctor(report: Report) -> DoctorView {
    let part = |name: &str, part: Part| DoctorPart { name: name.to_owned(), ok: part.ok, detail: part.detail };
    DoctorView {
        version: report.version,
        data_folder: report.data_folder,
        cpu: report.cpu,
        cores: report.cores,
        free_memory_mb: report.free_memory_mb,
        total_memory_mb: report.total_memory_mb,
        free_disk_mb: report.free_disk_mb,
        parts: vec![
            part("sandbox", report.sandbox),
            part("kernels", report.kernels),
            part("database", report.database),
            part("models", report.models),
            part("tray", report.tray),
            part("notifications", report.notifications),
            part("keychain", report.keychain),
            part("cloud", report.cloud),
        ],
    }
}
