//! What a swarm asks of a model, as requests that say nothing secret and are the same on every machine.

use super::server::Flavour;
use serde_json::{Value, json};
use starling_core::port::{Prompt, SampleRequest, Shape};

pub struct Workload {
    pub name: &'static str,
    /// What the server is given to bind the answer to the same schema.
    pub schema: Option<Value>,
    pub tuned_only: bool,
    goals: (f64, Option<f64>),
    make: fn(u64) -> Vec<SampleRequest>,
}

impl Workload {
    /// `round` makes the prompts of each round different.
    pub fn requests(&self, round: u64) -> Vec<SampleRequest> {
        (self.make)(round)
    }

    pub fn goal(&self, flavour: &Flavour) -> Option<f64> {
        if *flavour == Flavour::Defaults { self.goals.1 } else { Some(self.goals.0) }
    }
}

pub fn all() -> Vec<Workload> {
    let plain = |name, goals, make| Workload { name, schema: None, tuned_only: false, goals, make };
    vec![
        plain("one_sequence", (1.0, None), |round| vec![request(&short(round), Shape::Text, 1, 128)]),
        plain("sixteen_candidates", (1.6, Some(3.5)), |round| {
            vec![SampleRequest { temperature: 0.8, ..request(&long(round), Shape::Text, 16, 64) }]
        }),
        plain("sixteen_workers", (5.0, None), |round| {
            let worker = |number| {
                request(&format!("{}\nWorker {number}: explain function {number}.", long(round)), Shape::Text, 1, 32)
            };
            (0..16).map(worker).collect()
        }),
        Workload {
            name: "schema_plan",
            schema: Some(plan_schema()),
            tuned_only: true,
            goals: (1.5, None),
            make: |round| vec![request(&plan_prompt(round), Shape::Json(plan_schema()), 1, 220)],
        },
    ]
}

/// A long prompt, one token.
pub fn first_token(round: u64) -> Vec<SampleRequest> {
    vec![request(&long(round), Shape::Text, 1, 1)]
}

fn request(user: &str, shape: Shape, n: u32, max_tokens: u32) -> SampleRequest {
    let prompt = Prompt {
        system: "You are a careful programmer.".to_owned(),
        user: user.to_owned(),
        answer_start: String::new(),
    };
    SampleRequest {
        greedy_first: false,
        top_k: 40,
        top_p: 0.95,
        ..SampleRequest::new(prompt, shape, n, max_tokens, 0.0, 7)
    }
}

fn short(round: u64) -> String {
    format!("Run {round}. Write a long story about a fox and a crow, in at least three hundred words.")
}

/// About two thousand tokens.
fn long(round: u64) -> String {
    let mut text = format!("Run {round}. This is the module.\n\n");
    for number in 0..46 {
        text.push_str(&format!(
            "def step_{number}(values, limit={number}):\n    \"\"\"Keep what is below the limit.\"\"\"\n    kept = [value for value in values if value < limit + {round}]\n    return sorted(kept)\n\n"
        ));
    }
    text
}

fn plan_prompt(round: u64) -> String {
    format!("Run {round}. Plan in four steps how to add a command line to a small Python library. Answer in JSON.")
}

fn plan_schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["steps"],
        "properties": { "steps": { "type": "array", "minItems": 4, "maxItems": 4, "items": {
            "type": "object", "additionalProperties": false, "required": ["goal", "file", "symbols", "new_symbols"],
            "properties": {
                "goal": { "type": "string", "maxLength": 60 },
                "file": { "enum": ["library/main.py", "library/command_line.py"] },
                "symbols": { "type": "array", "maxItems": 2, "items": { "enum": ["parse_arguments", "run_command"] } },
                "new_symbols": { "type": "array", "maxItems": 1, "items": { "type": "string", "maxLength": 20 } },
            } } } },
    })
}
