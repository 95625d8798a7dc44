//! The Tester's other prompt: only inputs. What the code gives for them is recorded by running it, so the expected values
//! are right by construction; the model adds what code cannot see, inputs that mean something, and their names.

use super::fenced;
use crate::port::Prompt;
use crate::prompt::Snippet;
use serde_json::{Value, json};

pub const CASES: &str = "cases/1";

/// `symbol` is qualified. `notes` are lines of the task that say what should be covered.
pub fn cases(language: &str, target: &Snippet, symbol: &str, notes: &[String]) -> Prompt {
    let mut user = format!("{}:\n{}\n", target.path, fenced(language, &target.text));
    if !notes.is_empty() {
        user.push_str("To be covered:\n");
        user.extend(notes.iter().map(|note| format!("- {note}\n")));
    }
    let setup = match language {
        "rust" => "setup holds the `let` statements that the call needs, or is empty; call is one expression",
        _ => {
            "setup holds the statements that the call needs, separated by newlines, or is empty; call is one expression"
        }
    };
    user.push_str(&format!(
        "\nPropose inputs that test `{symbol}`: normal use, every branch, limits just below, at and above, and errors. {setup}. \
         case says in three to six English words what the input shows. Do not say what the result is.\n"
    ));
    Prompt {
        system: "You choose test inputs. You read code closely and look for the values at which its behaviour changes. Answer \
                 with one JSON object."
            .to_owned(),
        user,
        answer_start: String::new(),
    }
}

pub fn cases_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "cases": { "type": "array", "minItems": 3, "maxItems": 8, "items": {
            "type": "object",
            "properties": {
                "case": { "type": "string", "minLength": 3, "maxLength": 60 },
                "setup": { "type": "string", "maxLength": 200 },
                "call": { "type": "string", "minLength": 3, "maxLength": 160 }
            },
            "required": ["case", "setup", "call"],
            "additionalProperties": false
        } } },
        "required": ["cases"],
        "additionalProperties": false
    })
}
