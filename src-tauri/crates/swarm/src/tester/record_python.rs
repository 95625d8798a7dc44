//! Recorded tests in Python: each input is run in the sandbox, and what the code gives is what the test expects, so the test
//! is valid by construction.

use super::Subject;
use super::cases::{Case, cases};
use crate::desk::Desk;
use crate::error::SwarmError;
use crate::judge::Bench;
use crate::placing::python_module;
use crate::probes::{Origin, Probe, free_name, test_name};
use starling_core::test_set::TestClaim;

/// Inputs of one symbol that are run.
const MAX_CASES: usize = 48;

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
