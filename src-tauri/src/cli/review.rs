//! `starling review`: a diff, judged locally unless `--send` lets the packet leave. `--dry-run` shows what would leave.

use super::output::{CliError, CliResult, Output};
use super::{args, events, input, interrupt, report};
use crate::compose::Trust;
use serde_json::{Value, json};
use starling_core::packet::ReviewPacket;
use starling_core::port::Cancel;
use starling_core::receipt::Usage;
use starling_core::review::VerdictKind;
use starling_swarm::ReviewOutcome;

pub fn run(args: args::Review, out: Output) -> CliResult {
    let project = input::project(&args.project)?;
    let diff = String::from_utf8_lossy(&input::read(&args.diff)?).into_owned();
    if diff.trim().is_empty() {
        return Err(CliError::refused("the diff is empty"));
    }
    let starling = super::open()?;
    let ports = starling.ports(&project, Trust::AsSet).map_err(CliError::refused)?;
    if args.dry_run {
        let packet = starling_swarm::packet_for_diff(&ports, &diff, false).map_err(super::swarm_error)?;
        return out.result(&packet_json(&packet), || report::packet(&packet));
    }
    if args.send && starling.settings.get().offline {
        return Err(CliError::refused("the setting \"offline\" forbids the network"));
    }
    let cancel = Cancel::new();
    interrupt::watch(&cancel);
    let before = starling.left_today().map_err(CliError::refused)?.1;
    let outcome = starling_swarm::review_diff(&ports, &diff, args.send, 1, &cancel).map_err(super::swarm_error)?;
    let cost = starling.left_today().map_err(CliError::refused)?.1.saturating_sub(before);
    out.result(&outcome_json(&outcome, cost), || report::verdict(&outcome.verdict))?;
    match outcome.verdict.kind {
        VerdictKind::Approve => Ok(()),
        VerdictKind::Change | VerdictKind::Reject => Err(CliError::refused("the reviewer does not approve")),
    }
}

fn packet_json(packet: &ReviewPacket) -> Value {
    let body = packet.body();
    json!({
        "packet": packet.text(), "packet_bytes": packet.text().len(), "redactions": packet.redactions(),
        "left_out": packet.left_out(), "host": body.map(|body| &body.host), "model": body.map(|body| &body.model),
        "body": body.map(|body| &body.json), "sha256": body.map(|body| &body.sha256),
        "input_tokens": body.map(|body| body.input_tokens),
        "worst_case_micro_usd": body.and_then(|body| body.worst_case_micro_usd),
    })
}

fn outcome_json(outcome: &ReviewOutcome, cost_micro_usd: u64) -> Value {
    let verdict = &outcome.verdict;
    let mut usage = Usage::default();
    outcome.calls.iter().for_each(|call| usage.add(call.usage));
    json!({
        "verdict": verdict.kind, "summary": verdict.summary, "findings": verdict.findings,
        "reviewer": events::reviewer(&verdict.reviewer), "packet_bytes": outcome.packet.text().len(), "usage": usage,
        "cost_micro_usd": cost_micro_usd,
    })
}
