//! OpenAI's Chat Completions, and everything that speaks it: the body of a request, the events of an answer. Only a gateway is
//! told how to sample: the provider's reasoning models refuse that.

use crate::bodies::Ask;
use crate::fold::{Fold, error_text, number};
use serde_json::{Value, json};
use starling_core::port::FinishReason;
use starling_core::receipt::Usage;

pub(crate) const PATH: &str = "chat/completions";

pub(crate) fn body(ask: &Ask<'_>) -> Value {
    let mut body = json!({
        "model": ask.model,
        "stream": true,
        "stream_options": { "include_usage": true },
        "messages": [
            { "role": "system", "content": ask.system },
            { "role": "user", "content": ask.user },
        ],
    });
    let limit = if ask.gateway { "max_tokens" } else { "max_completion_tokens" };
    body[limit] = json!(ask.max_tokens);
    if let Some(schema) = ask.schema {
        let form = json!({ "name": "answer", "strict": is_strict(schema), "schema": schema });
        body["response_format"] = json!({ "type": "json_schema", "json_schema": form });
    }
    if let Some(sampling) = ask.sampling.filter(|_| ask.gateway) {
        body["temperature"] = json!(sampling.temperature);
        body["top_p"] = json!(sampling.top_p);
        body["top_k"] = json!(sampling.top_k);
        body["seed"] = json!(sampling.seed);
        let stop: Vec<&String> = ask.stop.iter().filter(|stop| !stop.is_empty()).take(4).collect();
        if !stop.is_empty() {
            body["stop"] = json!(stop);
        }
    }
    body
}

/// Strict decoding needs closed objects whose properties are all required.
fn is_strict(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else { return true };
    if let Some(properties) = object.get("properties").and_then(Value::as_object) {
        let required = object.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        if object.get("additionalProperties") != Some(&Value::Bool(false)) || required != properties.len() {
            return false;
        }
        if !properties.values().all(is_strict) {
            return false;
        }
    }
    let inner = ["items", "$defs", "anyOf"].into_iter().filter_map(|name| object.get(name));
    inner.flat_map(parts).all(is_strict)
}

fn parts(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) if map.contains_key("type") || map.contains_key("$ref") => vec![value],
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn take(fold: &mut Fold, event: &Value) -> Result<String, String> {
    if event.get("error").is_some_and(|error| !error.is_null()) {
        return Err(error_text(event).unwrap_or("the server reported an error").to_owned());
    }
    if event["usage"].is_object() {
        fold.usage = Some(usage(&event["usage"]));
    }
    let choice = &event["choices"][0];
    match choice["finish_reason"].as_str() {
        Some("length") => fold.finish = Some(FinishReason::Length),
        Some(_) => fold.finish = Some(FinishReason::Stop),
        None => {}
    }
    let text = choice["delta"]["content"].as_str().unwrap_or_default();
    fold.text.push_str(text);
    Ok(text.to_owned())
}

/// The prompt's count there holds the cached tokens too; here the buckets are disjoint.
fn usage(value: &Value) -> Usage {
    let prompt = number(value, "prompt_tokens").unwrap_or(0);
    let cached = number(&value["prompt_tokens_details"], "cached_tokens").unwrap_or(0).min(prompt);
    let output = number(value, "completion_tokens").unwrap_or(0);
    Usage { input: prompt - cached, cache_read: cached, cache_write: 0, output }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_only_where_the_schema_allows_it() {
        let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
        let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let check = |schema: &Value, expected: bool| assert_eq!(is_strict(schema), expected, "{schema}");
        check(&closed, true);
        check(&open, false);
        check(&json!({"type": "array", "items": closed}), true);
        check(&json!({"type": "array", "items": open}), false);
        check(&json!({"type": "array", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": open}}), false);
    }
}
