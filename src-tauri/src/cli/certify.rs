//! `starling models certify`: a model is loaded in a process of its own, because a bad file can take the process down, and
//! sits a fixed exam: a plan, an edit, a test. The certificate says what it may do and how fast it is, by the file's sha256.

use super::output::{CliError, CliResult, Output};
use crate::compose::certificate::{self, Certificate};
use crate::compose::settings::write_atomic;
use crate::compose::shelf::ModelFile;
use sha2::{Digest, Sha256};
use starling_core::port::{Cancel, Flow, Model, ModelError, Prompt, SampleRequest, Sampled, Shape};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs the exam in a worker and keeps its result beside the models.
pub fn run(name: &str, out: Output) -> CliResult {
    let starling = super::open()?;
    let file = starling.shelf.file(name).ok_or_else(|| super::models::unknown(name))?;
    out.note("exam", &format!("{name} loads in a process of its own and sits a plan, an edit and a test"));
    let mut certificate = in_worker(&file)?;
    certificate.sha256 = sha256(&file.path)?;
    let text = serde_json::to_vec_pretty(&certificate).map_err(CliError::refused)?;
    write_atomic(&certificate::path(&starling, name), &text).map_err(CliError::refused)?;
    out.result(&certificate, || {
        let may = |yes: bool| if yes { "may" } else { "may not" };
        format!(
            "{name}: {} plan, {} execute, {} test; {:.1} tokens/s, about {} MB\n",
            may(certificate.may_plan),
            may(certificate.may_execute),
            may(certificate.may_test),
            certificate.tokens_per_second,
            certificate.memory_mb
        )
    })
}

/// The other side of [`run`]: loads the file and prints the certificate. Its environment is empty, it knows no project.
pub fn worker(file: &Path, out: Output) -> CliResult {
    let file = crate::compose::shelf::examine(file).map_err(|refused| CliError::refused(refused.why))?;
    let start = Instant::now();
    let model = crate::compose::shelf::load_file(&file.name, &file.path, file.millions, None);
    let model = model.map_err(CliError::refused)?;
    let load_millis = start.elapsed().as_secs_f64() * 1000.0;
    let mut certificate = sit(&*model).map_err(CliError::refused)?;
    certificate.load_millis = load_millis;
    certificate.memory_mb = file.memory_mb;
    out.line(&certificate)
}

fn in_worker(file: &ModelFile) -> Result<Certificate, CliError> {
    let program = std::env::current_exe().map_err(CliError::refused)?;
    let output = Command::new(program)
        .args(["--json", "models", "probe"])
        .arg(&file.path)
        .env_clear()
        .env("GGML_NO_BACKTRACE", "1")
        .stdin(Stdio::null())
        .output()
        .map_err(CliError::refused)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let why = said.lines().last().unwrap_or_default();
        return Err(CliError::refused(format!("{} did not pass ({}): {why}", file.name, output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(CliError::refused)
}

/// The exam. Answers are judged by what they contain, never by another model.
fn sit(model: &dyn Model) -> Result<Certificate, ModelError> {
    let schema = serde_json::json!({
        "type": "object", "required": ["steps"], "additionalProperties": false,
        "properties": { "steps": { "type": "array", "minItems": 1, "maxItems": 3, "items": { "type": "string" } } },
    });
    let plan =
        ask(model, "Plan how to rename a function in a small project. Answer in JSON.", "", Shape::Json(schema))?;
    let edit = "Rewrite this function so that it subtracts b from a:\n\ndef combine(a, b):\n    return a + b\n";
    let edit = ask(model, edit, "```python\ndef combine(a, b):\n", Shape::Text)?;
    let test = "Write one pytest test for this function:\n\ndef add(a, b):\n    return a + b\n";
    let test = ask(model, test, "```python\n", Shape::Text)?;
    let answers = [&plan, &edit, &test];
    let tokens: u64 = answers.iter().map(|sampled| sampled.usage.output).sum();
    let millis: u64 = answers.iter().map(|sampled| sampled.millis).sum();
    let steps = serde_json::from_str::<serde_json::Value>(text(&plan)).ok();
    let steps = steps.and_then(|value| value.get("steps").and_then(|steps| steps.as_array().map(Vec::len)));
    let certificate = Certificate {
        model: model.card().name.to_string(),
        sha256: String::new(),
        may_plan: steps.is_some_and(|count| count > 0),
        may_execute: text(&edit).contains("a - b"),
        may_test: text(&test).contains("def test") && text(&test).contains("assert"),
        tokens_per_second: tokens as f64 * 1000.0 / millis.max(1) as f64,
        load_millis: 0.0,
        memory_mb: 0,
    };
    Ok(certificate)
}

fn ask(model: &dyn Model, user: &str, answer_start: &str, shape: Shape) -> Result<Sampled, ModelError> {
    let prompt = Prompt {
        system: "You are a careful programmer.".into(),
        user: user.to_owned(),
        answer_start: answer_start.to_owned(),
    };
    let request = SampleRequest {
        prompt,
        shape,
        n: 1,
        max_tokens: 160,
        temperature: 0.0,
        greedy_first: true,
        top_p: 1.0,
        top_k: 1,
        seed: 7,
        urgent: false,
        stop: vec!["```\n\n".into()],
    };
    model.sample(&request, &Cancel::new(), &mut |_| Flow::Continue)
}

fn text(sampled: &Sampled) -> &str {
    sampled.completions.first().map_or("", |completion| completion.text.as_str())
}

pub fn sha256(path: &Path) -> Result<String, CliError> {
    let mut file = std::fs::File::open(path).map_err(CliError::refused)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(CliError::refused)?;
        match buffer.get(..read) {
            Some([]) | None => break,
            Some(bytes) => digest.update(bytes),
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
