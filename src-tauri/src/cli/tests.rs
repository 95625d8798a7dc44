//! `starling tests`: unit tests for one function, each verified before it counts.

use super::output::{CliError, CliResult, Output};
use super::{args, events, input, interrupt, report};
use crate::compose::fanout::Happening;
use crate::compose::{Trust, new_task_id};
use serde_json::{Value, json};
use starling_core::port::Cancel;
use starling_core::receipt::Usage;
use starling_core::review::Place;
use starling_core::test_set::TestProof;
use starling_swarm::{SwarmError, TestOutcome};
use std::time::Duration;

pub fn run(args: args::Tests, out: Output) -> CliResult {
    let project = input::project(&args.project)?;
    let (path, symbol) = input::target(&project, &args.target)?;
    let starling = super::open()?;
    let trust = if args.yes { Trust::ThisRun } else { Trust::AsSet };
    let ports = starling.ports(&project, trust).map_err(CliError::refused)?;
    if !out.json {
        starling.fanout.listen(move |_, happening| match happening {
            Happening::Progress(progress) => report::progress(out, progress),
            Happening::Fact(event) => report::fact(out, event),
        });
    }
    let (cancel, budget) = (Cancel::new(), Cancel::new());
    interrupt::watch(&cancel);
    let timer = args.budget_seconds.map(|seconds| stop_after(seconds, &cancel, &budget));
    let task = new_task_id();
    let outcome = starling_swarm::tests_for(&ports, &task, &path, &symbol, args.seed, &cancel);
    drop(timer);
    let closed = ports.workspace.close(&task);
    let outcome = match outcome {
        Err(SwarmError::Cancelled) if budget.is_cancelled() => {
            return Err(CliError::refused("the time of --budget-seconds ran out before the tests were verified"));
        }
        other => other.map_err(super::swarm_error)?,
    };
    closed.map_err(CliError::refused)?;
    if let Some(file) = args.out.as_ref().filter(|_| !outcome.tests.kept.is_empty()) {
        std::fs::write(file, &outcome.tests.source)
            .map_err(|e| CliError::refused(format!("{} cannot be written: {e}", file.display())))?;
    }
    out.result(&outcome_json(&outcome), || text(&outcome, args.out.is_some()))?;
    match outcome.tests.kept.is_empty() {
        true => Err(CliError::refused("no test was kept: none of them was proven to notice a fault")),
        false => Ok(()),
    }
}

/// Cancels when the time is over; dropping the sender ends the thread early.
fn stop_after(seconds: u32, cancel: &Cancel, budget: &Cancel) -> std::sync::mpsc::Sender<()> {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let (cancel, budget) = (cancel.clone(), budget.clone());
    let wait = move || {
        let over = receiver.recv_timeout(Duration::from_secs(u64::from(seconds)));
        if over == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            budget.cancel();
            cancel.cancel();
        }
    };
    if let Err(error) = std::thread::Builder::new().name("budget".into()).spawn(wait) {
        tracing::warn!(%error, "the time budget is not watched");
    }
    sender
}

fn outcome_json(outcome: &TestOutcome) -> Value {
    let mut tokens = Usage::default();
    let mut cloud = 0;
    for call in &outcome.calls {
        match call.place {
            Place::Local => tokens.add(call.usage),
            Place::Cloud => cloud += call.usage.total(),
        }
    }
    let mut set = events::tests(&outcome.tests);
    // One point of coverage is one mutant that no test before noticed: gains are counted in the order of the file.
    let mut noticed = std::collections::BTreeSet::new();
    if let Some(kept) = set.get_mut("kept").and_then(Value::as_array_mut) {
        for (test, known) in kept.iter_mut().zip(&outcome.tests.kept) {
            let new = known.proof.iter().filter(|proof| match proof {
                TestProof::KillsMutant { mutant, .. } => noticed.insert(mutant.clone()),
                TestProof::FailsBefore { .. } => false,
            });
            test["coverage_gain"] = json!(new.count());
        }
    }
    let rest = json!({
        "path": outcome.tests.path, "source": outcome.tests.source, "tokens": tokens, "cloud_tokens": cloud,
        "seconds": outcome.millis as f64 / 1000.0,
    });
    events::merge(set, rest)
}

fn text(outcome: &TestOutcome, written: bool) -> String {
    let source = if written { String::new() } else { format!("\n{}", outcome.tests.source) };
    format!("{}{source}", report::tests(&outcome.tests))
}
