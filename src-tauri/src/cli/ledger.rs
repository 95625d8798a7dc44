//! `starling metrics` and `egress`: what was done by whom, and what left the machine.

use super::args::{self, MetricKey};
use super::output::{CliError, CliResult, Output};
use super::report::dollars;
use crate::compose::scorecards::{self, GroupBy, Overview, Scorecard};
use serde_json::json;
use starling_core::state::TaskState;

pub fn metrics(args: args::Metrics, out: Output) -> CliResult {
    let starling = super::open()?;
    let states: Vec<TaskState> =
        starling.states().map_err(CliError::refused)?.into_iter().map(|(_, state)| state).collect();
    let by = GroupBy { role: args.by.contains(&MetricKey::Role), model: args.by.contains(&MetricKey::Model) };
    let cards = scorecards::scorecards(&states, by);
    let overview = scorecards::overview(&states);
    out.result(&json!({ "overview": overview, "scorecards": cards }), || text(&overview, &cards))
}

pub fn egress(out: Output) -> CliResult {
    let starling = super::open()?;
    let entries = starling.store.egress().map_err(CliError::refused)?;
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    let cost: u64 = entries.iter().filter_map(|entry| entry.cost_micro_usd).sum();
    out.result(&json!({ "entries": entries, "bytes": bytes, "cost_micro_usd": cost }), || {
        let mut text =
            format!("{bytes} bytes left this machine in {} request(s), {}\n", entries.len(), dollars(Some(cost)));
        for entry in &entries {
            let price = dollars(entry.cost_micro_usd);
            text.push_str(&format!(
                "  {}  {} bytes to {} ({}): {}, {price}\n",
                time(entry.at),
                entry.bytes,
                entry.host,
                entry.model,
                entry.outcome
            ));
        }
        text
    })
}

fn time(millis: u64) -> String {
    let stamp = i64::try_from(millis).ok().and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
    stamp.map_or_else(|| millis.to_string(), |stamp| stamp.to_string())
}

fn text(overview: &Overview, cards: &[Scorecard]) -> String {
    let mut text = format!(
        "{} task(s), {} ready; {:.1} % of {} tokens were local; {}, {} bytes left this machine\n\n",
        overview.tasks,
        overview.ready,
        overview.yield_percent,
        overview.local_tokens + overview.cloud_tokens,
        dollars(Some(overview.cost_micro_usd)),
        overview.egress_bytes
    );
    text.push_str("role      model                        calls  valid   gates  invented  tok/s    p50 ms    p95 ms\n");
    for card in cards {
        let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.0} %"));
        text.push_str(&format!(
            "{:<9} {:<28} {:>5}  {:>5}  {:>6}  {:>8}  {:>5.1}  {:>8}  {:>8}\n",
            card.role.map_or("all", |role| role.as_str()),
            card.model.as_ref().map_or("all", |model| model.as_str()),
            card.calls,
            share(card.valid_percent),
            share(card.gate_pass_percent),
            share(Some(card.invented_percent)),
            card.tokens_per_second,
            card.millis_p50,
            card.millis_p95
        ));
    }
    text
}
