//! The Executor's prompt: whole symbols in, whole symbols out, in one fence. Code never stands inside JSON, which costs
//! small models quality.

use super::{clipped, fenced};
use crate::port::Prompt;

pub const EXECUTE: &str = "execute/2";

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    pub path: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteInput {
    /// The name for the fence ("python").
    pub language: &'static str,
    pub goal: String,
    /// What the task says, in its own words, shortened.
    pub task: String,
    pub acceptance: Vec<String>,
    pub constraints: Vec<String>,
    /// Signatures and neighbours; read only.
    pub context: Vec<Snippet>,
    /// The code to change.
    pub target: Snippet,
    pub symbols: Vec<String>,
    pub new_symbols: Vec<String>,
    /// Output of a failing test or a trace, or "".
    pub failure: String,
    /// How the answer begins when only one definition is wanted ("def parse("): it saves tokens and keeps the form.
    pub opening: String,
}

pub fn execute(input: &ExecuteInput) -> Prompt {
    let mut user = String::new();
    for snippet in &input.context {
        user.push_str(&format!("{} (for reference):\n{}\n", snippet.path, fenced(input.language, &snippet.text)));
    }
    user.push_str(&format!("{}:\n{}\n", input.target.path, fenced(input.language, &input.target.text)));
    user.push_str(&format!("Task: {}\n", clipped(&input.task, 1_600)));
    if input.goal != input.task {
        user.push_str(&format!("Goal: {}\n", input.goal));
    }
    for (title, items) in [("It is done when", &input.acceptance), ("Must stay as it is", &input.constraints)] {
        if !items.is_empty() {
            user.push_str(&format!("{title}:\n"));
            user.extend(items.iter().map(|item| format!("- {}\n", clipped(item, 240))));
        }
    }
    if !input.failure.is_empty() {
        user.push_str(&format!("It fails now:\n{}", fenced("", &clipped(&input.failure, 1_200))));
    }
    user.push_str(&format!("\n{}\n", request(input)));
    Prompt {
        system: "You change code. You answer with exactly one fenced code block and nothing else. The block holds the whole \
                 new text of each function, method or type you change or add, with its decorators, attributes and \
                 documentation, never an excerpt and never unchanged code around it. Keep names, signatures and style \
                 unless the task says otherwise. Use only what exists in the project and the standard library; put imports \
                 you need at the top of the block."
            .to_owned(),
        user,
        answer_start: format!("```{}\n{}", input.language, input.opening),
    }
}

fn request(input: &ExecuteInput) -> String {
    let quoted = |names: &[String]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    match (input.symbols.is_empty(), input.new_symbols.is_empty()) {
        (false, true) => format!("Write the whole new text of {}.", quoted(&input.symbols)),
        (true, false) => {
            format!("Write {} in full, ready to be put into {}.", quoted(&input.new_symbols), input.target.path)
        }
        (false, false) => format!(
            "Write the new {} in full; if {} must change for that, write it in full too.",
            quoted(&input.new_symbols),
            quoted(&input.symbols)
        ),
        (true, true) => format!("Write what must be added to {}.", input.target.path),
    }
}
