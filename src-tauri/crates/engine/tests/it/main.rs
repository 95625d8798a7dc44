//! The engine with real models. A test whose model file is missing says so loudly and passes: the files are too large for
//! the repository. `STARLING_TEST_MODELS` names their folder; the default is the build cache of this project.

// Helpers are tests too, which the lint does not see.
#![allow(clippy::unwrap_used)]

mod cancelling;
mod schedules;
mod schemas;
mod text;

use starling_core::ids::ModelName;
use starling_core::port::{Cancel, Flow, Model, ModelError, Prompt, SampleEvent, SampleRequest, Sampled, Shape};
use starling_engine::{LoadOptions, LocalModel};
use std::path::PathBuf;
use std::sync::OnceLock;

pub const SMOL: &str = "smollm2-135m";
pub const CODER: &str = "qwen2.5-coder-0.5b";

pub fn model_file(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("STARLING_TEST_MODELS").map(PathBuf::from).or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
        cache.map(|cache| cache.join("starling-build/models"))
    })?;
    let file = folder.join(format!("{name}.gguf"));
    if file.is_file() {
        return Some(file);
    }
    eprintln!("skipped: no model file {}", file.display());
    None
}

pub fn load(name: &str, context: u32) -> Option<LocalModel> {
    let file = model_file(name)?;
    let model = LocalModel::load(&file, ModelName::new(name), 500, LoadOptions::new(context));
    Some(model.expect("a sound model file loads"))
}

/// One instance of each model for all tests that do not need their own.
pub fn shared(name: &str) -> Option<&'static LocalModel> {
    static SMOL_MODEL: OnceLock<Option<LocalModel>> = OnceLock::new();
    static CODER_MODEL: OnceLock<Option<LocalModel>> = OnceLock::new();
    let slot = if name == SMOL { &SMOL_MODEL } else { &CODER_MODEL };
    slot.get_or_init(|| load(name, 4_096)).as_ref()
}

pub fn ask(user: &str, n: u32, max_tokens: u32) -> SampleRequest {
    SampleRequest {
        prompt: Prompt {
            system: "You are a precise assistant.".into(),
            user: user.into(),
            answer_start: String::new(),
        },
        shape: Shape::Text,
        n,
        max_tokens,
        temperature: 0.0,
        greedy_first: false,
        top_p: 0.95,
        top_k: 40,
        seed: 1,
        urgent: false,
        stop: Vec::new(),
    }
}

/// Runs a request and checks what must hold for each: the events of a candidate add up to its text, and the completions
/// stand in order.
pub fn run(model: &LocalModel, request: &SampleRequest) -> Result<Sampled, ModelError> {
    let mut told = vec![String::new(); request.n as usize];
    let mut done = 0;
    let sampled = model.sample(request, &Cancel::new(), &mut |event| {
        match event {
            SampleEvent::Text { candidate, text } => told[candidate as usize].push_str(text),
            SampleEvent::Done(completion) => {
                assert_eq!(completion.text, told[completion.candidate as usize]);
                done += 1;
            }
        }
        Flow::Continue
    })?;
    assert_eq!(done, request.n);
    for (number, completion) in sampled.completions.iter().enumerate() {
        assert_eq!(completion.candidate as usize, number);
        assert_eq!(completion.text, told[number]);
        assert!(completion.output_tokens <= request.max_tokens);
    }
    assert_eq!(sampled.usage.output, sampled.completions.iter().map(|c| u64::from(c.output_tokens)).sum::<u64>());
    Ok(sampled)
}

pub fn texts(sampled: &Sampled) -> Vec<&str> {
    sampled.completions.iter().map(|completion| completion.text.as_str()).collect()
}
