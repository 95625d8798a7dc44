//! Front matter (`---` YAML, `+++` TOML) and what a structured task says about itself.
//!
//! Deliberately absent: schemas. Any key that people use for a field is taken, everything else is left alone.

use crate::code::Span;
use serde_json::Value;

/// Fields that a task states outright, before anything is read from prose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Meta {
    pub title: Option<String>,
    pub goal: Option<String>,
    /// Types and labels, lower case, as they stand.
    pub kinds: Vec<String>,
    pub acceptance: Vec<String>,
    pub files: Vec<String>,
    pub symbols: Vec<String>,
    pub commands: Vec<String>,
    pub constraints: Vec<String>,
}

/// The front matter's fields and the span to blank, or `None` when the text has no readable front matter.
pub(super) fn read(text: &str) -> Option<(Meta, Span)> {
    let start = text.len() - text.trim_start().len();
    let rest = text.get(start..)?;
    let fence = if rest.starts_with("---") { "---" } else { rest.starts_with("+++").then_some("+++")? };
    let first = rest.lines().next()?;
    if first.trim_end() != fence {
        return None;
    }
    let body_at = start + first.len() + 1;
    let mut at = body_at;
    for line in text.get(body_at..)?.split_inclusive('\n') {
        let end = at + line.len();
        if line.trim_end() == fence || (fence == "---" && line.trim_end() == "...") {
            let value = values(fence, text.get(body_at..at)?)?;
            return Some((meta_of(&value), Span::new(start, end)));
        }
        at = end;
    }
    None
}

fn values(fence: &str, body: &str) -> Option<Value> {
    let value: Value = match fence {
        "+++" => serde_json::to_value(toml::from_str::<toml::Table>(body).ok()?).ok()?,
        _ => match serde_saphyr::from_str::<Value>(body) {
            Ok(value) => value,
            Err(_) => simple_pairs(body)?,
        },
    };
    value.is_object().then_some(value)
}

/// YAML that people write by hand often does not parse (`title: Fix: the thing`); plain `key: value` lines still count.
fn simple_pairs(body: &str) -> Option<Value> {
    let mut map = serde_json::Map::new();
    for line in body.lines().filter(|line| !line.starts_with([' ', '#', '-'])) {
        if let Some((key, value)) = line.split_once(':') {
            map.insert(key.trim().to_owned(), Value::String(value.trim().trim_matches(['"', '\'']).to_owned()));
        }
    }
    (!map.is_empty()).then_some(Value::Object(map))
}

/// Reads the fields of an object by the names people give them; nested `task` or `meta` tables count as well.
pub(super) fn meta_of(value: &Value) -> Meta {
    let mut meta = Meta::default();
    let Some(map) = value.as_object() else { return meta };
    // `about` marks an issue template: its name is the template's, not the task's.
    let template = map.contains_key("about") || map.contains_key("assignees");
    for (key, value) in map {
        let key = key.to_lowercase().replace([' ', '-'], "_");
        match key.as_str() {
            "title" | "summary" | "subject" if !template => meta.title = meta.title.or_else(|| text_of(value)),
            "name" if !template && meta.title.is_none() => meta.title = text_of(value),
            "goal" | "objective" | "intent" => meta.goal = text_of(value),
            "kind" | "type" | "issuetype" | "issue_type" | "category" | "labels" | "label" | "tags" => {
                meta.kinds.extend(texts_of(value).into_iter().map(|kind| kind.to_lowercase()));
            }
            "acceptance"
            | "acceptance_criteria"
            | "criteria"
            | "done_when"
            | "definition_of_done"
            | "requirements"
            | "expected" => meta.acceptance.extend(texts_of(value)),
            "files" | "file" | "target" | "targets" | "paths" | "path" | "touches" => {
                meta.files.extend(texts_of(value).into_iter().filter(|file| !file.contains(char::is_whitespace)));
            }
            "symbols" | "symbol" | "functions" | "function" => meta.symbols.extend(texts_of(value)),
            "verify" | "command" | "commands" | "run" | "test_command" | "check" | "reproduce" => {
                meta.commands.extend(texts_of(value));
            }
            "constraints" | "constraint" | "rules" | "do_not" | "must_not" | "non_goals" | "out_of_scope" => {
                meta.constraints.extend(texts_of(value));
            }
            "task" | "meta" | "issue" if value.is_object() => meta = merged(meta, meta_of(value)),
            _ => {}
        }
    }
    meta
}

fn merged(mut outer: Meta, inner: Meta) -> Meta {
    outer.title = outer.title.or(inner.title);
    outer.goal = outer.goal.or(inner.goal);
    outer.kinds.extend(inner.kinds);
    outer.acceptance.extend(inner.acceptance);
    outer.files.extend(inner.files);
    outer.symbols.extend(inner.symbols);
    outer.commands.extend(inner.commands);
    outer.constraints.extend(inner.constraints);
    outer
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// One text or many: a list, a comma-separated line is left whole, objects give their `name` or `text`.
fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts_of).collect(),
        Value::Object(map) => {
            // An item that is marked as done is not open any more.
            let done = map.get("done").or_else(|| map.get("checked")).and_then(Value::as_bool).unwrap_or(false);
            let named =
                ["name", "text", "title", "path", "description"].iter().find_map(|key| map.get(*key).and_then(text_of));
            named.filter(|_| !done).into_iter().collect()
        }
        _ => text_of(value).into_iter().collect(),
    }
}
