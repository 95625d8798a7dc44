//! Recorded tests in Python: inputs from calls in the project, from varied literals and from a model; results by running
//! the code in the sandbox. What the code gives is what the test expects, so the test is valid by construction.

use super::Subject;
use crate::desk::Desk;
use crate::error::SwarmError;
use crate::judge::Bench;
use crate::placing::python_module;
use crate::probes::{Origin, Probe, free_name, test_name};
use starling_core::port::{SampleRequest, Shape};
use starling_core::prompt::{self, Snippet};
use starling_core::state::TaskEvent;
use starling_core::test_set::TestClaim;
use starling_core::{Role, answer};
use std::collections::BTreeSet;

/// One input: statements, then one expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Case {
    pub name: String,
    pub setup: String,
    pub call: String,
}

/// Inputs of one symbol that are run.
const MAX_CASES: usize = 48;

pub(crate) fn run(
    desk: &mut Desk<'_>,
    subject: &Subject,
    bench: &Bench,
    symbol: &str,
) -> Result<Vec<Probe>, SwarmError> {
    let cases = cases(desk, subject, symbol)?;
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let module = python_module(&subject.path);
    let source = script(&module, &cases);
    let report = desk.ports.checks.script(&desk.task, bench.runner, &source, 30)?;
    let line = report.stdout.lines().rev().find(|line| line.starts_with("[")).unwrap_or("[]");
    let results: Vec<serde_json::Value> = serde_json::from_str(line).unwrap_or_default();
    let mut probes: Vec<Probe> = Vec::new();
    let imports: Vec<String> = subject.outline.imports.iter().map(|import| import.text.clone()).collect();
    for (case, result) in cases.iter().zip(&results) {
        let Some(body) = body(case, result) else { continue };
        let name = free_name(&probes, &test_name(&case.name));
        let mut imports = imports.clone();
        imports.extend(["datetime", "decimal", "fractions", "collections", "math"].map(|m| format!("import {m}")));
        imports.retain(|line| needed(line, &body));
        let source = format!("def {name}():\n{body}");
        probes.push(Probe { name, source, origin: Origin::Recorder, claim: TestClaim::Regression, imports });
    }
    Ok(probes)
}

/// `import datetime` is needed only where `datetime.` stands; imports of names are sorted out when the file is written.
fn needed(line: &str, body: &str) -> bool {
    match line.strip_prefix("import ") {
        Some(module) => body.contains(&format!("{module}.")),
        None => true,
    }
}

fn body(case: &Case, result: &serde_json::Value) -> Option<String> {
    let setup: String =
        case.setup.lines().filter(|l| !l.trim().is_empty()).map(|l| format!("    {}\n", l.trim_end())).collect();
    if let Some(value) = result["value"].as_str() {
        return Some(match value {
            "True" => format!("{setup}    assert {} is True\n", case.call),
            "False" => format!("{setup}    assert {} is False\n", case.call),
            "None" => format!("{setup}    assert {} is None\n", case.call),
            value => format!("{setup}    assert {} == {value}\n", case.call),
        });
    }
    let error = result["error"].as_str()?;
    Some(format!("{setup}    with pytest.raises({error}):\n        {}\n", case.call))
}

fn cases(desk: &mut Desk<'_>, subject: &Subject, symbol: &str) -> Result<Vec<Case>, SwarmError> {
    let mut cases = proposed(desk, subject, symbol)?;
    let name = symbol.rsplit('.').next().unwrap_or(symbol);
    if !symbol.contains('.') {
        for call in project_calls(desk, subject, name)? {
            let case = Case { name: call.clone(), setup: String::new(), call };
            cases.push(case);
        }
    }
    let varied: Vec<Case> = cases.iter().flat_map(vary).collect();
    cases.extend(varied);
    let mut seen = BTreeSet::new();
    cases.retain(|case| seen.insert((case.setup.clone(), case.call.clone())));
    cases.truncate(MAX_CASES);
    Ok(cases)
}

/// Calls of the symbol in the project's files, its documentation included.
pub(crate) fn project_calls(desk: &Desk<'_>, subject: &Subject, name: &str) -> Result<Vec<String>, SwarmError> {
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
pub(crate) fn vary(case: &Case) -> Vec<Case> {
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
pub(crate) fn proposed(desk: &mut Desk<'_>, subject: &Subject, symbol: &str) -> Result<Vec<Case>, SwarmError> {
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

/// A script that prints one JSON list: for each case its value as source text, or the error it raises. Values that do not
/// read back as themselves, errors that only say that the input makes no sense, and errors that the input itself raises
/// before the code is reached are null.
fn script(module: &str, cases: &[Case]) -> String {
    let rows: Vec<[&str; 2]> = cases.iter().map(|case| [case.setup.as_str(), case.call.as_str()]).collect();
    let rows = serde_json::to_string(&rows).unwrap_or_else(|_| "[]".to_owned());
    let literal = serde_json::to_string(&rows).unwrap_or_else(|_| "\"[]\"".to_owned());
    format!(
        r#"import builtins, collections, datetime, decimal, fractions, importlib, json, math
module = importlib.import_module("{module}")
base = {{name: getattr(module, name) for name in dir(module) if not name.startswith("__")}}
for extra in (collections, datetime, decimal, fractions, math):
    base.setdefault(extra.__name__, extra)
senseless = ("TypeError", "NameError", "AttributeError", "SyntaxError", "UnboundLocalError", "RecursionError", "MemoryError")
def run(setup, call):
    space = dict(base)
    exec(setup, space)
    return eval(call, space), space
out = []
for setup, call in json.loads({literal}):
    row = None
    try:
        value, space = run(setup, call)
        again, _ = run(setup, call)
        text = repr(value)
        back = eval(text, space)
        if len(text) < 240 and back == value and type(back) is type(value) and repr(again) == text:
            row = {{"value": text}}
    except Exception as error:
        name = type(error).__name__
        frame, inside = error.__traceback__, False
        while frame is not None:
            inside = inside or frame.tb_frame.f_code.co_filename == module.__file__
            frame = frame.tb_next
        if inside and name not in senseless and hasattr(builtins, name):
            row = {{"error": name}}
    out.append(row)
print()
print(json.dumps(out))
"#
    )
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

    #[test]
    fn writes_what_was_recorded() {
        let case = Case { name: "n".into(), setup: "x = 1".into(), call: "f(x)".into() };
        let body = |value| super::body(&case, &value);
        assert_eq!(body(serde_json::json!({"value": "3"})).as_deref(), Some("    x = 1\n    assert f(x) == 3\n"));
        assert_eq!(body(serde_json::json!({"value": "None"})).as_deref(), Some("    x = 1\n    assert f(x) is None\n"));
        assert_eq!(
            body(serde_json::json!({"error": "ValueError"})).as_deref(),
            Some("    x = 1\n    with pytest.raises(ValueError):\n        f(x)\n")
        );
        assert_eq!(body(serde_json::Value::Null), None);
    }
}
