//! Inputs for recorded tests, whatever the language: from a model, from calls in the project, and from varied literals.

use super::Subject;
use crate::desk::Desk;
use crate::error::SwarmError;
use starling_core::port::{SampleRequest, Shape};
use starling_core::prompt::{self, Snippet};
use starling_core::state::TaskEvent;
use starling_core::{Role, answer};
use std::collections::BTreeSet;

/// One input: statements, then one expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Case {
    pub name: String,
    pub setup: String,
    pub call: String,
}

/// What a symbol is called with: what a model proposes, the calls of the project, and their neighbours; at most `max`.
pub(super) fn cases(desk: &mut Desk<'_>, subject: &Subject, symbol: &str, max: usize) -> Result<Vec<Case>, SwarmError> {
    let mut cases = proposed(desk, subject, symbol)?;
    if !symbol.contains('.') {
        let calls = project_calls(desk, subject, symbol)?;
        cases.extend(calls.into_iter().map(|call| Case { name: call.clone(), setup: String::new(), call }));
    }
    let varied: Vec<Case> = cases.iter().flat_map(vary).collect();
    cases.extend(varied);
    let mut seen = BTreeSet::new();
    cases.retain(|case| seen.insert((case.setup.clone(), case.call.clone())));
    cases.truncate(max);
    Ok(cases)
}

/// Calls of the symbol in the project's files, its documentation included.
fn project_calls(desk: &Desk<'_>, subject: &Subject, name: &str) -> Result<Vec<String>, SwarmError> {
    let mut files = BTreeSet::new();
    for reference in desk.ports.map.references(name, 40)? {
        files.insert(reference.path);
    }
    let mut texts = vec![subject.source.clone()];
    for path in
        files.into_iter().filter(|path| starling_core::code::Language::of(path) == Some(subject.language)).take(8)
    {
        texts.push(desk.ports.map.text(&path)?);
    }
    if let Some(file) = &desk.state.file {
        texts.extend(
            starling_core::examples::examples(&file.text).into_iter().filter(|e| e.name == name).map(|e| e.call),
        );
    }
    let calls =
        texts.iter().flat_map(|text| starling_syntax::calls_of(subject.language, text, name)).map(|site| site.text);
    let mut calls: Vec<String> = calls.filter(|call| call.len() < 160 && !call.contains('\n')).collect();
    calls.sort();
    calls.dedup();
    calls.truncate(12);
    Ok(calls)
}

/// One literal of a call at a time, moved to its neighbours.
fn vary(case: &Case) -> Vec<Case> {
    let mut found = Vec::new();
    let chars: Vec<(usize, char)> = case.call.char_indices().collect();
    let mut at = 0;
    let mut before = ' ';
    while let Some((start, c)) = chars.get(at).copied() {
        let word = before.is_alphanumeric() || before == '_' || before == '.';
        let (end, values): (usize, Vec<String>) = if c.is_ascii_digit() && !word {
            let len = chars[at..].iter().take_while(|(_, c)| c.is_ascii_digit()).count();
            let digits: String = chars[at..at + len].iter().map(|(_, c)| c).collect();
            let next = chars.get(at + len).map(|(_, c)| *c);
            let values = match (next, digits.parse::<i64>()) {
                (Some('.' | '_' | 'x' | 'e'), _) | (_, Err(_)) => Vec::new(),
                (_, Ok(n)) => [0, 1, n + 1, (n - 1).max(0), n * 2]
                    .into_iter()
                    .filter(|v| *v != n)
                    .map(|v| v.to_string())
                    .collect(),
            };
            (at + len, values)
        } else if matches!(c, '"' | '\'') {
            let len = chars[at + 1..].iter().take_while(|(_, d)| *d != c).count();
            let inner: String = chars[at + 1..at + 1 + len].iter().map(|(_, c)| c).collect();
            let texts = [String::new(), format!(" {inner} "), inner.to_uppercase(), format!("{inner}{inner}")];
            let values = texts
                .into_iter()
                .filter(|t| *t != inner && !inner.contains('\\'))
                .map(|t| format!("{c}{t}{c}"))
                .collect();
            (at + len + 2, values)
        } else {
            (at + 1, Vec::new())
        };
        let stop = chars.get(end).map_or(case.call.len(), |(n, _)| *n);
        for value in values {
            let call = format!("{}{value}{}", &case.call[..start], &case.call[stop..]);
            found.push(Case { name: call.clone(), setup: case.setup.clone(), call });
        }
        before = c;
        at = end.max(at + 1);
    }
    found.truncate(10);
    found
}

/// Inputs that a model proposes.
fn proposed(desk: &mut Desk<'_>, subject: &Subject, symbol: &str) -> Result<Vec<Case>, SwarmError> {
    let text = super::propose::shown(&subject.source, &subject.outline.symbols, &[symbol.to_owned()]);
    let target = Snippet { path: subject.path.to_string(), text };
    let prompt = prompt::cases(subject.language.as_str(), &target, symbol, &subject.notes);
    let request = SampleRequest::new(prompt, Shape::Json(prompt::cases_schema()), 3, 500, 0.8, desk.seed);
    let call = desk.ask(Role::Tester, prompt::CASES, &request)?;
    let mut record = call.record;
    let name = symbol.rsplit('.').next().unwrap_or(symbol);
    let mut cases: Vec<Case> = Vec::new();
    for completion in &call.sampled.completions {
        let Ok(value) = answer::json_object(&completion.text) else { continue };
        record.valid += 1;
        for item in value["cases"].as_array().into_iter().flatten() {
            let text = |key: &str| item[key].as_str().unwrap_or("").trim().to_owned();
            // Small models put the answer's own field names into its fields; such a case is about nothing.
            let garbled = ["setup", "call", "case"].iter().any(|key| text("setup").contains(&format!("{key}=")));
            let said = text("case");
            let label = if said.contains("setup") || said.contains("expression") {
                text("call")
            } else {
                format!("{name} {said}")
            };
            let case = Case { name: label, setup: text("setup"), call: text("call") };
            if !garbled
                && case.call.contains(name)
                && !cases.iter().any(|c| c.call == case.call && c.setup == case.setup)
            {
                cases.push(case);
            }
        }
    }
    desk.fact(TaskEvent::Called { call: record })?;
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varies_one_literal_at_a_time() {
        let case = Case { name: String::new(), setup: String::new(), call: "f(x1, 30, \"ab\")".to_owned() };
        let calls: Vec<String> = vary(&case).into_iter().map(|c| c.call).collect();
        assert!(calls.contains(&"f(x1, 31, \"ab\")".to_owned()), "{calls:?}");
        assert!(calls.contains(&"f(x1, 30, \"\")".to_owned()), "{calls:?}");
        assert!(calls.iter().all(|call| call.starts_with("f(x1, ")), "{calls:?}");
        let odd = Case { call: "f(1.5, 0x1f, \"\\n\", '한글', \"open".to_owned(), ..case };
        vary(&odd);
    }
}
