//! What issue templates put into a task that nobody wrote: hints, empty answers, legal boxes, bare HTML.

use super::text::{lines, masked, slice};
use crate::code::Span;
use regex::Regex;
use std::sync::LazyLock;

static HINT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix) ^[\s>*_-]*(?:
          _?no\ response_?\.? | n/?a | none\.? | \(?optional\)?
        | a\ clear\ and\ concise\ description\ of\b.* | if\ applicable,\ add\ screenshots\b.* | add\ any\ other\ context\ (?:or|about)\b.*
        | (?:please\ )?(?:describe|explain|provide|fill\ (?:in|out)|include|list)\b.{0,60}\b(?:here|below|sections?|following\ information|this\ (?:form|template))\b.*
        | thanks?\ for\ (?:taking\ the\ time|reporting|the\ report|filing|your)\b.*
        | steps\ to\ reproduce\ the\ behaviou?r:? | e\.g\.\ \[.*\]
        | 스크린샷이\ 있(?:다면|으면).* | 여기에\ .{0,20}(?:작성|적어|입력).*
        | (?:ここに|こちらに).{0,30}(?:記入|書いて).* | (?:请|請)(?:在此|在这里|在下方)?(?:填写|描述).{0,20}
        )[\s*_]*$
        | ^\s*</?(?:details|summary|br|hr|p|div|img|table|tr|td|th|center|kbd|sub|sup|picture|source|a)\b[^>\n]*/?>\s*$",
    )
    .expect("valid")
});
static SIGNATURE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^-- ?$\n(?s:.{0,600})\z").expect("valid"));
static TAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"</?(?:details|summary|br|b|i|em|strong|p|kbd|sub|sup|u)\s*/?>").expect("valid"));

/// The text with template boilerplate and mail signatures blanked.
pub(super) fn without_boilerplate(text: &str) -> String {
    let mut hidden: Vec<Span> = Vec::new();
    let mut fenced = false;
    for line in lines(text) {
        let body = slice(text, line);
        if body.trim_start().starts_with("```") || body.trim_start().starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && HINT.is_match(body) {
            hidden.push(line);
        } else if !fenced && body.contains('<') {
            hidden.extend(TAG.find_iter(body).map(|m| Span::new(line.start + m.start(), line.start + m.end())));
        }
    }
    hidden.extend(SIGNATURE.find(text).map(|m| Span::new(m.start(), m.end())));
    masked(text, &hidden)
}
