//! The Planner's prompt and schema. The schema offers only files and symbols that exist, so a plan cannot invent any;
//! what is new must be declared new.

use super::clipped;
use crate::brief::Brief;
use crate::port::Prompt;
use serde_json::{Value, json};

pub const PLAN: &str = "plan/1";

/// A symbol the plan may change, with what helps to choose.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanTarget {
    pub path: String,
    /// Qualified.
    pub symbol: String,
    pub signature: String,
    /// First sentence of its documentation, or "".
    pub doc: String,
    pub score: f32,
}

pub fn plan(brief: &Brief, targets: &[PlanTarget], files: &[String]) -> Prompt {
    let mut user = String::from("Symbols of the project that may matter:\n");
    let mut shown = "";
    for target in targets {
        if target.path != shown {
            user.push_str(&format!("\n{}\n", target.path));
            shown = &target.path;
        }
        let doc = if target.doc.is_empty() { String::new() } else { format!("  - {}", clipped(&target.doc, 120)) };
        user.push_str(&format!("  {}: {}{}\n", target.symbol, clipped(&target.signature, 140), doc));
    }
    user.push_str(&format!("\nFiles: {}\n\nTask ({}): {}\n", files.join(", "), brief.kind.as_str(), brief.title));
    if !brief.goal.is_empty() && brief.goal != brief.title {
        user.push_str(&format!("Goal: {}\n", clipped(&brief.goal, 400)));
    }
    list(&mut user, "Done when", &brief.acceptance);
    list(&mut user, "Must stay", &brief.constraints);
    Prompt {
        system: "You plan small changes of code. You choose the fewest symbols whose code must change. You do not write \
                 code. Answer with one JSON object: steps, each with goal (one imperative sentence), file, symbols \
                 (existing functions, methods or types of that file whose code changes), new_symbols (names that do not exist \
                 yet and must be added). A method to add is written Type.method. One step a file; most tasks need one step."
            .to_owned(),
        user,
        answer_start: String::new(),
    }
}

fn list(out: &mut String, title: &str, items: &[String]) {
    if !items.is_empty() {
        out.push_str(&format!("{title}:\n"));
        for item in items {
            out.push_str(&format!("- {}\n", clipped(item, 240)));
        }
    }
}

/// `paths` and `symbols` become the only values the answer can have. `may_create` allows new symbols.
pub fn plan_schema(paths: &[String], symbols: &[String], may_create: bool) -> Value {
    let new = if may_create {
        json!({ "type": "array", "maxItems": 3,
                "items": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,40}(\\.[A-Za-z_][A-Za-z0-9_]{0,40})?$" } })
    } else {
        json!({ "type": "array", "maxItems": 0 })
    };
    let known = if symbols.is_empty() {
        json!({ "type": "array", "maxItems": 0 })
    } else {
        json!({ "type": "array", "maxItems": 4, "items": { "enum": symbols } })
    };
    json!({
        "type": "object",
        "properties": { "steps": { "type": "array", "minItems": 1, "maxItems": 3, "items": {
            "type": "object",
            "properties": {
                "goal": { "type": "string", "minLength": 8, "maxLength": 160 },
                "file": { "enum": paths },
                "symbols": known,
                "new_symbols": new
            },
            "required": ["goal", "file", "symbols", "new_symbols"],
            "additionalProperties": false
        } } },
        "required": ["steps"],
        "additionalProperties": false
    })
}
