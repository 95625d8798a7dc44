//! `starling bench`: how fast this machine is at what Starling does. Ratios, because they travel better than seconds.

mod engine;
mod server;
mod workload;

use super::args::{self, BenchSubject};
use super::output::{CliError, CliResult, Output};
use super::{input, interrupt};
use crate::compose::{Starling, project};
use serde_json::{Value, json};
use starling_core::Role;
use starling_core::port::{Cancel, CodeMap, Flow, Model, Prompt, SampleRequest, Shape};
use std::path::Path;
use std::time::Instant;

pub fn run(args: args::Bench, out: Output) -> CliResult {
    let result = match args.what {
        BenchSubject::Engine => match &args.server {
            Some(server) => against(&args, server, out)?,
            None => engine(args.model.as_deref())?,
        },
        BenchSubject::Index => index(&input::project(&args.project)?)?,
        BenchSubject::App => app()?,
    };
    out.result(&result, || serde_json::to_string_pretty(&result).unwrap_or_default())
}

/// The engine and llama.cpp's server in turns.
fn against(args: &args::Bench, server: &Path, out: Output) -> Result<Value, CliError> {
    let starling = super::open()?;
    let name = match &args.model {
        Some(name) => name.clone(),
        None => starling.residency.name_of(Role::Executor).map(|name| name.to_string()).unwrap_or_default(),
    };
    let file = starling.shelf.file(&name).ok_or_else(|| super::models::unknown(&name))?;
    let scratch = starling.folders.scratch.join(format!("bench-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).map_err(CliError::refused)?;
    let plan = engine::Plan {
        model: file.path,
        name: file.name,
        millions: file.millions,
        server: server.to_owned(),
        rounds: args.rounds.max(1),
        only: args.workload.clone(),
        scratch: scratch.clone(),
    };
    let measured = engine::run(&plan, &|text| out.note("bench", text)).map_err(CliError::refused);
    std::fs::remove_dir_all(&scratch).map_err(CliError::refused)?;
    measured
}

/// One candidate against four that share a prompt, and a prompt that was read before against a new one.
fn engine(name: Option<&str>) -> Result<Value, CliError> {
    let starling = super::open()?;
    let cancel = Cancel::new();
    interrupt::watch(&cancel);
    let start = Instant::now();
    let model = match name {
        Some(name) => starling.known(name).and_then(|known| starling.residency.get(&known)),
        None => starling_core::port::Models::bound(starling.residency.as_ref(), Role::Executor),
    };
    let model = model.map_err(|error| super::swarm_error(error.into()))?;
    let load = millis(start);
    let text = "The quick brown fox jumps over the lazy dog, and then it writes a short report about it. ".repeat(40);
    let prompt_tokens = model.count_tokens(&text).map_err(|error| super::swarm_error(error.into()))?;
    let read = sample(&*model, &text, 1, 1, &cancel)?;
    let again = sample(&*model, &text, 1, 1, &cancel)?;
    let one = sample(&*model, &text, 1, 64, &cancel)?;
    let four = sample(&*model, &text, 4, 64, &cancel)?;
    Ok(json!({
        "model": model.card().name, "load_millis": load, "prompt_tokens": prompt_tokens,
        "prompt_tokens_per_second": per_second(prompt_tokens, read.millis),
        "prefix_reuse_ratio": ratio(read.millis, again.millis),
        "tokens_per_second": per_second(one.tokens, one.millis),
        "tokens_per_second_of_four": per_second(four.tokens, four.millis),
        "batch_of_four_ratio": ratio(per_second(four.tokens, four.millis), per_second(one.tokens, one.millis)),
    }))
}

struct Sample {
    tokens: u32,
    millis: f64,
}

fn sample(model: &dyn Model, text: &str, n: u32, max_tokens: u32, cancel: &Cancel) -> Result<Sample, CliError> {
    let prompt = Prompt { system: "You write.".into(), user: text.to_owned(), answer_start: String::new() };
    let request = SampleRequest {
        prompt,
        shape: Shape::Text,
        n,
        max_tokens,
        temperature: 0.8,
        greedy_first: false,
        top_p: 0.95,
        top_k: 40,
        seed: 7,
        urgent: false,
        stop: Vec::new(),
    };
    let start = Instant::now();
    let sampled = model.sample(&request, cancel, &mut |_| Flow::Continue);
    let millis = millis(start);
    let sampled = sampled.map_err(|error| super::swarm_error(error.into()))?;
    Ok(Sample { tokens: sampled.completions.iter().map(|completion| completion.output_tokens).sum(), millis })
}

/// A new index against one that is there, and a search.
fn index(dir: &Path) -> Result<Value, CliError> {
    let starling = super::open()?;
    // A folder of its own: the project's real index stays as it is.
    let scratch = starling.folders.scratch.join(format!("bench-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).map_err(CliError::refused)?;
    let measured = measure_index(dir, &project::index_file(&scratch, dir));
    std::fs::remove_dir_all(&scratch).map_err(CliError::refused)?;
    measured
}

fn measure_index(dir: &Path, database: &Path) -> Result<Value, CliError> {
    let open = || {
        let start = Instant::now();
        let map = starling_index::ProjectIndex::open(dir, database).map_err(CliError::refused)?;
        let files = map.files().map_err(CliError::refused)?;
        Ok::<_, CliError>((map, files, millis(start)))
    };
    let (map, _, cold) = open()?;
    drop(map);
    let (map, files, warm) = open()?;
    let start = Instant::now();
    let mut bytes = 0;
    for file in &files {
        bytes += map.text(&file.path).map_or(0, |text| text.len());
    }
    let read = millis(start);
    let start = Instant::now();
    let hits = map.search("return error value", 20).map_err(CliError::refused)?;
    let search = millis(start);
    Ok(json!({
        "files": files.len(), "bytes": bytes, "cold_millis": cold, "warm_millis": warm, "read_all_millis": read,
        "search_millis": search, "hits": hits.len(), "warm_ratio": ratio(cold, warm),
        "search_against_reading_ratio": ratio(read, search),
    }))
}

/// From nothing to the version, and to an open data folder.
fn app() -> Result<Value, CliError> {
    let program = std::env::current_exe().map_err(CliError::refused)?;
    let mut starts = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        let output = std::process::Command::new(&program).arg("--version").output().map_err(CliError::refused)?;
        if !output.status.success() {
            return Err(CliError::refused("the program does not print its version"));
        }
        starts.push(millis(start));
    }
    starts.sort_by(f64::total_cmp);
    let version = starts.get(2).copied().unwrap_or(0.0);
    let start = Instant::now();
    let starling: std::sync::Arc<Starling> = super::open()?;
    let open = millis(start);
    let start = Instant::now();
    let tasks = starling.states().map_err(CliError::refused)?.len();
    Ok(json!({
        "version_millis": version, "open_millis": open, "tasks": tasks, "fold_millis": millis(start),
        "open_ratio": ratio(open, version),
    }))
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}

fn per_second(tokens: u32, millis: f64) -> f64 {
    ratio(f64::from(tokens) * 1000.0, millis)
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { (a / b * 100.0).round() / 100.0 } else { 0.0 }
}
