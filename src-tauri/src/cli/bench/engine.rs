//! The engine against llama.cpp's own server, on what a swarm does: the same file, the same prompts, the same number of
//! tokens, in turns within one run. Only ratios are judged, and none when the machine was busy meanwhile.

use super::server::{Flavour, Server};
use super::workload::{Workload, all};
use serde_json::{Value, json};
use starling_core::ModelName;
use starling_core::port::{Cancel, Flow, Model, SampleRequest};
use starling_engine::{Kept, LoadOptions, LocalModel};
use std::path::PathBuf;
use std::time::Instant;

/// Tokens of working memory.
const CONTEXT: u32 = 8_192;
/// The server holds a prompt once for each slot, so it needs room for sixteen of them.
const SERVER_CONTEXT: u32 = 49_152;

pub struct Plan {
    pub model: PathBuf,
    pub name: ModelName,
    pub millions: u32,
    pub server: PathBuf,
    pub rounds: u32,
    pub only: Option<String>,
    pub scratch: PathBuf,
}

/// What one side took for one round of a workload.
struct Took {
    seconds: f64,
    /// Tokens written.
    tokens: u64,
    /// Tokens read, where a side tells.
    read: u64,
}

pub fn run(plan: &Plan, note: &dyn Fn(&str)) -> Result<Value, String> {
    let begin = load_average();
    let ours = load(plan)?;
    let mut rows = Vec::new();
    for flavour in [Flavour::Tuned, Flavour::Defaults] {
        let server = Server::start(&plan.server, &plan.model, SERVER_CONTEXT, flavour.clone())?;
        for workload in all() {
            if plan.only.as_ref().is_some_and(|only| only != workload.name)
                || (flavour == Flavour::Defaults && workload.tuned_only)
            {
                continue;
            }
            // One side that cannot do a workload must not cost the figures of the others.
            let against = server.flavour.as_str();
            let failed = |error| json!({ "workload": workload.name, "against": against, "error": error });
            rows.push(compare(plan, &ours, &server, &workload, note).unwrap_or_else(failed));
        }
    }
    let times = ours.times();
    drop(ours);
    if plan.only.as_ref().is_none_or(|only| only == "restart") {
        rows.push(restart(plan, note)?);
    }
    let end = load_average();
    // Two cores busy with the benchmark itself make a load of about the number of cores.
    let quiet = begin.unwrap_or(0.0) < 0.7;
    let share = |part: u64| (part as f64 / times.working.max(1) as f64 * 1000.0).round() / 1000.0;
    Ok(json!({
        "model": plan.name, "context": CONTEXT, "server_context": SERVER_CONTEXT, "rounds": plan.rounds, "rows": rows,
        "load_before": begin, "load_after": end,
        "judged": quiet, "why_not": if quiet { Value::Null } else { json!("other programs were busy when it began") },
        "profile": {
            "steps": times.steps, "rows": times.rows, "computing": share(times.computing), "choosing": share(times.choosing),
            "rest": share(times.working.saturating_sub(times.computing).saturating_sub(times.choosing)),
        },
    }))
}

fn load(plan: &Plan) -> Result<LocalModel, String> {
    let options = LoadOptions::new(CONTEXT);
    LocalModel::load(&plan.model, plan.name.clone(), plan.millions, options).map_err(|error| error.to_string())
}

fn compare(
    plan: &Plan,
    ours: &LocalModel,
    server: &Server,
    workload: &Workload,
    note: &dyn Fn(&str),
) -> Result<Value, String> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for round in 0..plan.rounds {
        note(&format!("{} against {}: round {}", workload.name, server.flavour.as_str(), round + 1));
        // A prompt of its own each round, the same for both: nothing of an earlier round may help.
        let requests = workload.requests(u64::from(round) * 2 + u64::from(server.flavour == Flavour::Defaults));
        a.push(in_process(ours, &requests)?);
        b.push(server.run(&requests, workload.schema.as_ref())?);
    }
    let ratios: Vec<f64> = a.iter().zip(&b).map(|(a, b)| ratio(speed(a), speed(b))).collect();
    Ok(json!({
        "workload": workload.name, "against": server.flavour.as_str(), "goal": workload.goal(&server.flavour),
        "ratio": median(&ratios), "ratios": ratios,
        "ours": side(&a), "theirs": side(&b),
    }))
}

/// The same prompt before and after a restart of the program: to the first token.
fn restart(plan: &Plan, note: &dyn Fn(&str)) -> Result<Value, String> {
    let folder = plan.scratch.join("prompts");
    let kept = || Some(Kept { folder: folder.clone(), quota: 1 << 30 });
    let open = || {
        let options = LoadOptions { kept: kept(), ..LoadOptions::new(CONTEXT) };
        LocalModel::load(&plan.model, plan.name.clone(), plan.millions, options).map_err(|error| error.to_string())
    };
    let (mut ours, mut cold, mut slots) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..plan.rounds {
        note(&format!("restart: round {}", round + 1));
        let requests = super::workload::first_token(u64::from(round) + 100);
        let first = open()?;
        in_process(&first, &requests)?;
        drop(first);
        let second = open()?;
        ours.push(in_process(&second, &requests)?);
        drop(second);
        let before = Server::start(&plan.server, &plan.model, SERVER_CONTEXT, Flavour::Slots(plan.scratch.clone()))?;
        before.run(&requests, None)?;
        before.save_slot()?;
        drop(before);
        let after = Server::start(&plan.server, &plan.model, SERVER_CONTEXT, Flavour::Slots(plan.scratch.clone()))?;
        cold.push(after.run(&requests, None)?);
        drop(after);
        let after = Server::start(&plan.server, &plan.model, SERVER_CONTEXT, Flavour::Slots(plan.scratch.clone()))?;
        let begun = Instant::now();
        after.restore_slot()?;
        let restored = begun.elapsed().as_secs_f64();
        let mut took = after.run(&requests, None)?;
        took.seconds += restored;
        slots.push(took);
    }
    let ratios = |theirs: &[Took]| -> Vec<f64> {
        ours.iter().zip(theirs).map(|(ours, theirs)| ratio(theirs.seconds, ours.seconds)).collect()
    };
    Ok(json!({
        "workload": "restart", "against": "tuned", "goal": { "cold": 15.0, "slots": 1.1 },
        "ratio": median(&ratios(&cold)), "ratio_with_slot_files": median(&ratios(&slots)),
        "ours": side(&ours), "theirs": side(&cold), "theirs_with_slot_files": side(&slots),
    }))
}

fn in_process(model: &LocalModel, requests: &[SampleRequest]) -> Result<Took, String> {
    at_once(requests, |request| {
        let sampled = model.sample(request, &Cancel::new(), &mut |_| Flow::Continue).map_err(|e| e.to_string())?;
        Ok((sampled.usage.output, sampled.usage.input))
    })
}

impl Server {
    fn run(&self, requests: &[SampleRequest], schema: Option<&Value>) -> Result<Took, String> {
        at_once(requests, |request| self.complete(request, schema))
    }
}

/// Asks for all requests at once, each from a thread of its own. `ask` gives the tokens written and read.
fn at_once(
    requests: &[SampleRequest],
    ask: impl Fn(&SampleRequest) -> Result<(u64, u64), String> + Sync,
) -> Result<Took, String> {
    let (begun, ask) = (Instant::now(), &ask);
    let results: Vec<Result<(u64, u64), String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = requests.iter().map(|request| scope.spawn(move || ask(request))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a worker ended with a panic".to_owned())))
            .collect()
    });
    let seconds = begun.elapsed().as_secs_f64();
    let (mut tokens, mut read) = (0, 0);
    for result in results {
        let (written, taken) = result?;
        (tokens, read) = (tokens + written, read + taken);
    }
    Ok(Took { seconds, tokens, read })
}

/// Tokens a second: both sides are asked for as many, but a schema may end one earlier.
fn speed(took: &Took) -> f64 {
    took.tokens as f64 / took.seconds.max(1e-6)
}

fn side(all: &[Took]) -> Value {
    let seconds: Vec<f64> = all.iter().map(|took| (took.seconds * 1000.0).round() / 1000.0).collect();
    let tokens: Vec<u64> = all.iter().map(|took| took.tokens).collect();
    let read: Vec<u64> = all.iter().map(|took| took.read).collect();
    json!({ "seconds": seconds, "tokens": tokens, "read": read })
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { (a / b * 100.0).round() / 100.0 } else { 0.0 }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// Of the last minute, where the system tells.
fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}
