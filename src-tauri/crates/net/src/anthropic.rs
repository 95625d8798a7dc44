//! Anthropic's Messages API: the body of a request, the events of an answer. A schema is asked for as the input of a tool that
//! must be used; sampling is left to the model, because newer ones refuse to be told.

use crate::bodies::Ask;
use crate::fold::{Fold, error_text, number};
use serde_json::{Value, json};
use starling_core::port::FinishReason;
use starling_core::receipt::Usage;

pub(crate) const PATH: &str = "v1/messages";
pub(crate) const VERSION: &str = "2023-06-01";

pub(crate) fn body(ask: &Ask<'_>) -> Value {
    let mut body = json!({
        "model": ask.model,
        "max_tokens": ask.max_tokens,
        "stream": true,
        "system": ask.system,
        "messages": [{ "role": "user", "content": ask.user }],
    });
    // White space alone is refused there.
    let stop: Vec<&String> = ask.stop.iter().filter(|stop| !stop.trim().is_empty()).collect();
    if !stop.is_empty() {
        body["stop_sequences"] = json!(stop);
    }
    if let Some(schema) = ask.schema {
        let about = "Gives the answer. Call it exactly once.";
        body["tools"] = json!([{ "name": "answer", "description": about, "input_schema": schema }]);
        body["tool_choice"] = json!({ "type": "tool", "name": "answer" });
    }
    body
}

pub(crate) fn take(fold: &mut Fold, event: &Value) -> Result<String, String> {
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => add_usage(fold, &event["message"]["usage"]),
        "content_block_delta" => return Ok(delta(fold, &event["delta"])),
        "message_delta" => {
            match event["delta"]["stop_reason"].as_str() {
                Some("max_tokens" | "model_context_window_exceeded") => fold.finish = Some(FinishReason::Length),
                Some(_) => fold.finish = Some(FinishReason::Stop),
                None => {}
            }
            add_usage(fold, &event["usage"]);
        }
        "message_stop" => fold.ended = true,
        "error" => return Err(error_text(event).unwrap_or("the server reported an error").to_owned()),
        // Pings, the borders of blocks, and what will be added.
        _ => {}
    }
    Ok(String::new())
}

fn delta(fold: &mut Fold, delta: &Value) -> String {
    let text = |name: &str| delta[name].as_str().unwrap_or_default().to_owned();
    match delta["type"].as_str().unwrap_or_default() {
        "text_delta" => {
            let text = text("text");
            fold.text.push_str(&text);
            text
        }
        "input_json_delta" => {
            let text = text("partial_json");
            fold.json.push_str(&text);
            text
        }
        _ => String::new(),
    }
}

/// The counts are sums so far, so a later one replaces an earlier one. The four buckets are disjoint there as here.
fn add_usage(fold: &mut Fold, value: &Value) {
    if !value.is_object() {
        return;
    }
    let old = fold.usage.unwrap_or_default();
    fold.usage = Some(Usage {
        input: number(value, "input_tokens").unwrap_or(old.input),
        cache_read: number(value, "cache_read_input_tokens").unwrap_or(old.cache_read),
        cache_write: number(value, "cache_creation_input_tokens").unwrap_or(old.cache_write),
        output: number(value, "output_tokens").unwrap_or(old.output),
    });
}
