//! llama.cpp's own server as the opponent: started for one comparison, asked over the loopback address, ended with it.

use serde_json::{Value, json};
use starling_core::port::SampleRequest;
use starling_net::post_loopback;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(600);
const SLOT_FILE: &str = "slot.bin";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// As it comes, with as many threads as we use.
    Defaults,
    /// Sixteen slots on one memory, no flash attention: what suits this work best.
    Tuned,
    /// The same, with a folder for slot files.
    Slots(PathBuf),
}

impl Flavour {
    pub fn as_str(&self) -> &'static str {
        match self {
            Flavour::Defaults => "defaults",
            Flavour::Tuned | Flavour::Slots(_) => "tuned",
        }
    }
}

pub struct Server {
    child: Child,
    port: u16,
    pub flavour: Flavour,
}

impl Server {
    pub fn start(program: &Path, model: &Path, context: u32, flavour: Flavour) -> Result<Server, String> {
        // The port is free now; nothing else of this machine is likely to take it within the second.
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        drop(listener);
        let mut command = Command::new(program);
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).to_string();
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "-t", &threads, "-c", &context.to_string()]);
        command.arg("-m").arg(model);
        match &flavour {
            Flavour::Defaults => {}
            Flavour::Tuned => drop(command.args(["-np", "16", "-kvu", "-fa", "off", "--cache-ram", "8192"])),
            Flavour::Slots(folder) => {
                command.args(["-np", "16", "-kvu", "-fa", "off", "--slot-save-path"]).arg(folder);
            }
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.map_err(|error| format!("{} does not start: {error}", program.display()))?;
        let server = Server { child, port, flavour };
        let begun = Instant::now();
        let body = json!({ "prompt": "a", "n_predict": 1 });
        while let Err(error) = post_loopback(port, "completion", &body, PATIENCE) {
            if begun.elapsed() > Duration::from_secs(120) {
                return Err(format!("the server does not come up: {error}"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(server)
    }

    /// Tokens written and tokens read.
    pub fn complete(&self, request: &SampleRequest, schema: Option<&Value>) -> Result<(u64, u64), String> {
        let prompt = &request.prompt;
        let text = format!(
            "<|im_start|>system\n{}<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n{}",
            prompt.system, prompt.user, prompt.answer_start
        );
        let mut body = json!({
            "prompt": text, "n_predict": request.max_tokens, "temperature": request.temperature, "top_k": request.top_k,
            "top_p": request.top_p, "min_p": 0.0, "samplers": ["top_k", "top_p", "temperature"], "seed": request.seed,
            "id_slot": if request.n == 1 && matches!(self.flavour, Flavour::Slots(_)) { 0 } else { -1 },
        });
        if let (Some(fields), Some(schema)) = (body.as_object_mut(), schema) {
            fields.insert("json_schema".to_owned(), schema.clone());
        }
        if let (Some(fields), true) = (body.as_object_mut(), request.n > 1 && self.flavour != Flavour::Defaults) {
            fields.insert("n_cmpl".to_owned(), json!(request.n));
            return self.sum(&body);
        }
        if request.n == 1 {
            return self.sum(&body);
        }
        // What a client of the defaults does: as many requests.
        let results: Vec<Result<(u64, u64), String>> = std::thread::scope(|scope| {
            let ask = |number: u32| {
                let mut body = body.clone();
                if let Some(fields) = body.as_object_mut() {
                    fields.insert("seed".to_owned(), json!(request.seed + u64::from(number)));
                }
                scope.spawn(move || self.sum(&body))
            };
            let threads: Vec<_> = (0..request.n).map(ask).collect();
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a panic".to_owned()).flatten()).collect()
        });
        results.into_iter().try_fold((0, 0), |(tokens, read), result| {
            let (more, taken) = result?;
            Ok((tokens + more, read + taken))
        })
    }

    fn sum(&self, body: &Value) -> Result<(u64, u64), String> {
        let answer = post_loopback(self.port, "completion", body, PATIENCE).map_err(|error| error.to_string())?;
        let all = answer.as_array().cloned().unwrap_or_else(|| vec![answer]);
        let number = |value: &Value, of: &str, key: &str| value[of][key].as_u64().unwrap_or(0);
        let written = all.iter().map(|value| number(value, "timings", "predicted_n")).sum();
        Ok((written, all.iter().map(|value| number(value, "timings", "prompt_n")).sum()))
    }

    pub fn save_slot(&self) -> Result<(), String> {
        self.slot("save")
    }

    pub fn restore_slot(&self) -> Result<(), String> {
        self.slot("restore")
    }

    fn slot(&self, action: &str) -> Result<(), String> {
        let body = json!({ "filename": SLOT_FILE });
        let path = format!("slots/0?action={action}");
        post_loopback(self.port, &path, &body, PATIENCE).map(drop).map_err(|error| error.to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
