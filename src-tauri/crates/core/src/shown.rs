//! Whether the kept tests show what the task says in so many words. A change may pass every test that was made for it and
//! still miss the very example the person gave; such a change is not ready.

use crate::Role;
use crate::examples::{Example, examples};
use crate::state::{StepState, TaskState};

/// Examples of the task. A text that tries to instruct the assistant is no source of tests.
pub fn stated(state: &TaskState) -> Vec<Example> {
    let injected = state.brief.as_ref().is_some_and(|brief| brief.injected_instructions);
    state.file.as_ref().filter(|_| !injected).map(|file| examples(&file.text)).unwrap_or_default()
}

/// Examples of the task about what the plan changes that no kept test shows.
pub fn not_shown(state: &TaskState) -> Vec<Example> {
    let Some(plan) = &state.plan else { return Vec::new() };
    let changes = plan.steps.iter().filter(|step| step.role == Role::Executor);
    let names: Vec<&str> = changes
        .flat_map(|step| step.symbols.iter().chain(&step.new_symbols))
        .map(|symbol| symbol.rsplit('.').next().unwrap_or(symbol))
        .collect();
    let tests: Vec<&str> = state
        .steps
        .iter()
        .filter_map(|step| match step {
            StepState::Tested { tests, .. } => Some(tests),
            StepState::Waiting | StepState::Working | StepState::Solved { .. } | StepState::Failed { .. } => None,
        })
        .flat_map(|tests| tests.kept.iter().map(|test| test.source.as_str()))
        .collect();
    let mut examples = stated(state);
    examples.retain(|example| names.contains(&example.name.as_str()) && !tests.iter().any(|test| shows(example, test)));
    examples
}

/// Whether a test makes the example's call and speaks of its result: every literal of it, or the error.
pub fn shows(example: &Example, test: &str) -> bool {
    let Some(at) = example.call.find(&format!("{}(", example.name)) else { return false };
    // The call with any spacing.
    let call = example.call.get(at..).unwrap_or("").chars().filter(|c| !c.is_whitespace());
    let pattern: Vec<String> = call.map(|c| regex::escape(&c.to_string())).collect();
    let Ok(call) = regex::Regex::new(&pattern.join(r"\s*")) else { return false };
    if !call.is_match(test) {
        return false;
    }
    if !example.error.is_empty() {
        return test.contains(example.error.rsplit(['.', ':']).next().unwrap_or(&example.error));
    }
    // What stands in the call itself says nothing about the result.
    let rest = call.replace_all(test, " ");
    let wanted = literals(&example.value);
    if wanted.is_empty() {
        let empty = ["is_empty(", "Vec::new(", "vec![]"];
        return without_space(&rest).contains(&without_space(&example.value))
            || empty.iter().any(|sign| rest.contains(sign));
    }
    let said = literals(&rest);
    wanted.iter().all(|literal| said.contains(literal))
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Numbers, the insides of strings, and the words for truth and nothing; in lower case, without digit marks.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = if c == '"' || c == '\'' {
            let inner = rest.get(1..).and_then(|inner| inner.split(c).next()).unwrap_or("");
            found.push(without_space(inner));
            inner.len() + 2
        } else if c.is_alphanumeric() || c == '_' {
            let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.')).collect();
            let word = word.trim_end_matches('.').to_owned();
            let plain = word.to_lowercase();
            if c.is_ascii_digit() {
                found.push(plain.replace('_', "").trim_end_matches("usize").trim_end_matches(".0").to_owned());
            } else if matches!(plain.as_str(), "true" | "false" | "none" | "null" | "undefined") {
                found.push(plain);
            }
            word.len().max(c.len_utf8())
        } else {
            c.len_utf8()
        };
        rest = rest.get(taken..).unwrap_or("");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(task: &str, test: &str, expected: bool) {
        let all = examples(task);
        let [example] = all.as_slice() else { panic!("one example in {task:?}: {all:?}") };
        assert_eq!(shows(example, test), expected, "{example:?} by {test:?}");
    }

    #[test]
    fn a_test_must_make_the_call_and_name_the_result() {
        let discount = "with 10 percent tax, `discounted(50)` returns `5500`";
        check(discount, "self.assertEqual(invoice.discounted(50), 5500)", true);
        check(discount, "assert 5_500 == i.discounted( 50 )", true);
        check(discount, "self.assertEqual(invoice.discounted(0), 0)", false);
        check(discount, "self.assertEqual(invoice.discounted(50), 5000)", false);
        check(discount, "x = 5500\nassert other(50) == x", false);
        let top = "`top(2)` returns `[(\"b\", 3), (\"a\", 2)]`";
        check(top, "assert_eq!(wc.top(2), vec![(\"b\".to_string(), 3), (\"a\".to_string(), 2)]);", true);
        check(top, "assert_eq!(wc.top(3), vec![(\"b\".to_string(), 3), (\"a\".to_string(), 2)]);", false);
        check(top, "assert_eq!(wc.top(2), vec![(\"b\".to_string(), 3)]);", false);
        check("`f(0)` raises `ValueError`", "with self.assertRaises(ValueError):\n    f(0)", true);
        check("`f(0)` raises `ValueError`", "assert f(0) is None", false);
        check("`f(\"x\")` returns `\"x\"`", "assert_eq!(f(\"x\"), \"x\");", true);
        check("`f(\"x\")` returns `\"x\"`", "f(\"x\");", false);
        check("`f(1)` returns `True`", "assert f(1) is True", true);
        check("`f(1)` returns `[]`", "assert!(f(1).is_empty());", true);
        check("`f(1)` returns `2.0`", "assert f(1) == 2", true);
    }

    proptest! {
        #[test]
        fn never_panics(value in "\\PC*", test in "\\PC*") {
            let example = Example { name: "f".into(), call: "f(1)".into(), value, error: String::new(), line: String::new() };
            shows(&example, &format!("f(1) {test}"));
        }
    }
}
