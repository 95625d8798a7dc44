//! What a task file comes wrapped in: JSON issues and task objects become Markdown; the headers of mails and of Jira
//! exports become fields.
//!
//! Deliberately absent: MIME parts and attachments.

use super::front_matter::{Meta, meta_of};
use super::text::{collapsed, lines, slice};
use crate::code::Span;
use serde_json::Value;

/// JSON to the Markdown it stands for; `None` when the text is not a JSON task.
pub(super) fn from_json(text: &str) -> Option<(String, Meta)> {
    let start = text.trim_start();
    if !start.starts_with(['{', '[']) {
        return None;
    }
    let values: Vec<Value> = match serde_json::from_str::<Value>(start) {
        Ok(Value::Array(values)) => values,
        Ok(value) => vec![value],
        // One object a line.
        Err(_) => start
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .ok()?,
    };
    let tasks: Vec<&Value> = values.iter().map(inner).filter(|value| value.is_object()).collect();
    if tasks.is_empty() || !tasks.iter().any(|task| is_task(task)) {
        return None;
    }
    let mut meta = Meta::default();
    let mut out = String::new();
    for (index, task) in tasks.iter().enumerate() {
        let own = meta_of(task);
        let title = own.title.clone().unwrap_or_default();
        if !title.is_empty() {
            out.push_str(&format!("# {}\n\n", collapsed(&title)));
        }
        for key in ["body", "description", "text", "details", "content", "prompt", "body_text"] {
            if let Some(body) = task.get(key) {
                out.push_str(prose_of(body).trim_end());
                out.push_str("\n\n");
            }
        }
        for (key, heading) in [
            ("steps", "Steps to reproduce"),
            ("steps_to_reproduce", "Steps to reproduce"),
            ("actual", "Actual"),
            ("notes", "Notes"),
            ("environment", "Environment"),
        ] {
            if let Some(value) = task.get(key) {
                out.push_str(&format!("## {heading}\n\n{}\n\n", list_of(value)));
            }
        }
        for comment in task.get("comments").and_then(Value::as_array).into_iter().flatten() {
            let body = comment.get("body").map(prose_of).unwrap_or_default();
            out.push_str(&format!("## Comment\n\n{}\n\n", body.trim_end()));
        }
        if index == 0 {
            meta = Meta { title: None, ..own };
        } else {
            meta.files.extend(own.files);
            meta.symbols.extend(own.symbols);
            meta.commands.extend(own.commands);
            meta.acceptance.extend(own.acceptance);
            meta.constraints.extend(own.constraints);
        }
    }
    Some((out, meta))
}

/// Jira and webhooks keep the task one level down.
fn inner(value: &Value) -> &Value {
    ["fields", "issue", "task", "object_attributes", "data"]
        .iter()
        .find_map(|key| value.get(*key).filter(|v| v.is_object()))
        .map_or(value, |v| inner(v))
}

fn is_task(value: &Value) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| value.get(*key).is_some());
    has(&["title", "summary", "name", "subject", "goal"])
        && (has(&[
            "body",
            "description",
            "text",
            "details",
            "acceptance",
            "acceptance_criteria",
            "files",
            "kind",
            "goal",
            "labels",
            "prompt",
        ]))
}

/// Text as it is; Jira's document tree is flattened to Markdown.
fn prose_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace("\r\n", "\n"),
        Value::Array(items) => items.iter().map(prose_of).collect(),
        Value::Object(map) => {
            let inner = map.get("content").map(prose_of).unwrap_or_default();
            match map.get("type").and_then(Value::as_str).unwrap_or("") {
                "text" => {
                    let text = map.get("text").and_then(Value::as_str).unwrap_or("").to_owned();
                    let marked = |name: &str| {
                        map.get("marks").and_then(Value::as_array).is_some_and(|marks| {
                            marks.iter().any(|m| m.get("type").and_then(Value::as_str) == Some(name))
                        })
                    };
                    if marked("code") { format!("`{text}`") } else { text }
                }
                "heading" => format!("## {}\n\n", inner.trim()),
                "paragraph" => format!("{}\n\n", inner.trim_end()),
                "listItem" | "taskItem" => format!("- {}\n", inner.trim().replace("\n\n", "\n")),
                "codeBlock" => format!("```\n{}\n```\n\n", inner.trim_end()),
                "bulletList" | "orderedList" | "taskList" => format!("{inner}\n"),
                "hardBreak" => "\n".to_owned(),
                _ => inner,
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

fn list_of(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(|item| format!("- {}\n", prose_of(item).trim())).collect(),
        _ => prose_of(value),
    }
}

const MAIL: [&str; 27] = [
    "from",
    "to",
    "cc",
    "bcc",
    "subject",
    "date",
    "reply-to",
    "message-id",
    "sent",
    "in-reply-to",
    "von",
    "an",
    "gesendet",
    "datum",
    "de",
    "à",
    "para",
    "fecha",
    "보낸사람",
    "보낸 사람",
    "받는사람",
    "받는 사람",
    "날짜",
    "差出人",
    "宛先",
    "发件人",
    "收件人",
];
const TITLES: [&str; 16] = [
    "subject", "summary", "title", "betreff", "titel", "sujet", "objet", "titre", "asunto", "título", "assunto",
    "oggetto", "제목", "件名", "标题", "主题",
];
const TRACKER: [&str; 30] = [
    "project",
    "key",
    "type",
    "issue type",
    "priority",
    "status",
    "reporter",
    "assignee",
    "fix version",
    "fix version/s",
    "affects version/s",
    "affects version",
    "labels",
    "label",
    "summary",
    "component",
    "component/s",
    "components",
    "sprint",
    "epic link",
    "created",
    "updated",
    "resolution",
    "story points",
    "severity",
    "title",
    "milestone",
    "due",
    "id",
    "environment",
];

/// The header lines at the top of a mail or a tracker export: the fields and the span to blank.
pub(super) fn header(text: &str) -> Option<(Meta, Span)> {
    let mut meta = Meta::default();
    let (mut mail, mut tracker) = (0, 0);
    let mut end = 0;
    let mut start = None;
    let mut last_title = false;
    for line in lines(text) {
        let body = slice(text, line);
        if body.trim().is_empty() {
            if start.is_some() {
                break;
            }
            continue;
        }
        // A long header goes on in an indented line.
        if body.starts_with([' ', '\t']) && start.is_some() && !body.contains(": ") {
            if let (true, Some(title)) = (last_title, meta.title.as_mut()) {
                title.push_str(&format!(" {}", body.trim()));
            }
            end = line.end;
            continue;
        }
        let Some((key, value)) = body.split_once([':', '：']) else { break };
        let bare = key.trim().trim_matches(['*', '_', '|', ' ']).to_lowercase();
        let value = value.trim().trim_matches('*').trim();
        let is_title = TITLES.contains(&bare.as_str());
        let (is_mail, is_tracker) = (MAIL.contains(&bare.as_str()), TRACKER.contains(&bare.as_str()));
        if !(is_title || is_mail || is_tracker) {
            break;
        }
        mail += usize::from(is_mail || is_title);
        tracker += usize::from(is_tracker || is_title);
        last_title = is_title;
        if last_title && !value.is_empty() {
            meta.title = Some(without_reply_marks(value));
        }
        if matches!(bare.as_str(), "type" | "issue type" | "labels" | "label") {
            meta.kinds.extend(value.split(',').map(|kind| kind.trim().to_lowercase()));
        }
        start = start.or(Some(line.start));
        end = line.end;
    }
    let whole = Span::new(start?, end);
    (mail >= 2 || tracker >= 3 || meta.title.is_some()).then_some((meta, whole))
}

fn without_reply_marks(subject: &str) -> String {
    let mut subject = subject;
    loop {
        let lower = subject.to_lowercase();
        let mark = ["re:", "fwd:", "fw:", "aw:", "wg:", "rv:", "tr:", "回复:", "转发:", "답장:"]
            .into_iter()
            .find(|mark| lower.starts_with(mark));
        match mark.and_then(|mark| subject.get(mark.len()..)) {
            Some(rest) => subject = rest.trim_start(),
            None => return subject.to_owned(),
        }
    }
}
