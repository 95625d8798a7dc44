//! Recorded tests in JavaScript and TypeScript: as in Python, each input is run in the sandbox and what the code gives, as a
//! literal, is what the test expects.

use super::Subject;
use super::cases::{Case, cases};
use crate::desk::Desk;
use crate::error::SwarmError;
use crate::javascript;
use crate::judge::Bench;
use crate::probes::{Origin, Probe, free_name};
use starling_core::test_set::TestClaim;

const SCRIPT: &str = include_str!("record.mjs");
/// Inputs of one symbol that are run.
const MAX_CASES: usize = 40;

pub(crate) fn run(
    desk: &mut Desk<'_>,
    subject: &Subject,
    bench: &Bench,
    symbol: &str,
) -> Result<Vec<Probe>, SwarmError> {
    let cases = cases(desk, subject, symbol, MAX_CASES)?;
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let source = script(subject.path.as_str(), &subject.symbols, &cases);
    let report = desk.ports.checks.script(&desk.task, bench.runner, &source, 30)?;
    let line = report.stdout.lines().rev().find(|line| line.starts_with('[')).unwrap_or("[]");
    let results: Vec<serde_json::Value> = serde_json::from_str(line).unwrap_or_default();
    let mut probes: Vec<Probe> = Vec::new();
    for (case, result) in cases.iter().zip(&results) {
        let Some(function) = function(case, result) else { continue };
        let name = free_name(&probes, javascript::title(&case.name, "").trim());
        let source = format!("test('{name}', {function});\n");
        let claim = TestClaim::Regression;
        probes.push(Probe { name, source, origin: Origin::Recorder, claim, imports: Vec::new() });
    }
    Ok(probes)
}

fn script(path: &str, symbols: &[String], cases: &[Case]) -> String {
    let mut names: Vec<&str> = symbols.iter().map(|s| s.split('.').next().unwrap_or(s)).collect();
    names.sort_unstable();
    names.dedup();
    let rows: Vec<[&str; 2]> = cases.iter().map(|case| [case.setup.as_str(), case.call.as_str()]).collect();
    let json = |value: serde_json::Value| value.to_string();
    SCRIPT
        .replacen("resolve(FILE)", &format!("resolve({})", json(path.into())), 1)
        .replacen("names = NAMES", &format!("names = {}", json(names.into())), 1)
        .replacen("of CASES", &format!("of {}", json(serde_json::json!(rows))), 1)
}

fn function(case: &Case, result: &serde_json::Value) -> Option<String> {
    let setup: String =
        case.setup.lines().filter(|l| !l.trim().is_empty()).map(|l| format!("  {}\n", l.trim_end())).collect();
    let call = case.call.trim_end_matches(';');
    if let Some(error) = result["error"].as_str() {
        let builtin = ["Error", "TypeError", "RangeError", "SyntaxError", "URIError"].contains(&error);
        let wanted = if builtin { error.to_owned() } else { format!("{{ name: '{error}' }}") };
        return Some(format!("() => {{\n{setup}  assert.throws(() => {call}, {wanted});\n}}"));
    }
    let value = result["value"].as_str()?;
    let (head, wait) = if result["waits"].as_bool()? { ("async ", "await ") } else { ("", "") };
    let compare = if value.starts_with(['[', '{']) { "deepEqual" } else { "equal" };
    Some(format!("{head}() => {{\n{setup}  assert.{compare}({wait}{call}, {value});\n}}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn writes_what_was_recorded() {
        let case = Case { name: "n".into(), setup: "const x = 1;".into(), call: "f(x)".into() };
        let check = |result, expected: &str| assert_eq!(function(&case, &result).as_deref(), Some(expected));
        check(json!({"value": "3", "waits": false}), "() => {\n  const x = 1;\n  assert.equal(f(x), 3);\n}");
        check(
            json!({"value": "[1]", "waits": true}),
            "async () => {\n  const x = 1;\n  assert.deepEqual(await f(x), [1]);\n}",
        );
        check(json!({"error": "RangeError"}), "() => {\n  const x = 1;\n  assert.throws(() => f(x), RangeError);\n}");
        check(json!({"error": "Own"}), "() => {\n  const x = 1;\n  assert.throws(() => f(x), { name: 'Own' });\n}");
        assert_eq!(function(&case, &serde_json::Value::Null), None);
    }

    #[test]
    fn puts_the_cases_into_the_script() {
        let case = Case { name: "n".into(), setup: String::new(), call: "f(\"a\\n\")".into() };
        let text = script("src/a.js", &["f".into(), "C.m".into(), "C.n".into()], &[case]);
        assert!(text.contains("path.resolve(\"src/a.js\")") && text.contains("const names = [\"C\",\"f\"];"), "{text}");
        assert!(text.contains("of [[\"\",\"f(\\\"a\\\\n\\\")\"]])"), "{text}");
    }
}
