//! The way of a task in JavaScript: what is new is exported, imported, tested and named as the project does it.

use super::*;

const TASK: &str = "# Add a function\n\nAdd a function `shout` to `lib/words.js` that gives a text in capitals.\n\n- `shout(\"ab\")` returns `\"AB\"`\n- `shout(\"\")` returns `\"\"`\n";
const OLD_TEST: &str = "const { test } = require('node:test');\n\ntest('words of a text', () => {});\n";

/// Tests of JavaScript pass when `shout` is right and can be required.
fn verdicts(files: &BTreeMap<starling_core::RelPath, Vec<u8>>) -> Vec<(String, CaseOutcome)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = |path: &str| files.iter().find(|(known, _)| known.as_str() == path).map(|(_, bytes)| text(bytes));
    let code = code("lib/words.js").unwrap_or_default();
    let right = code.contains("  return text.toUpperCase();\n") && code.contains("words, shout }");
    let mut cases = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| path.as_str().starts_with("test/")) {
        for line in text(bytes).lines().filter_map(|line| line.strip_prefix("test('").map(str::to_owned)) {
            let name = line.split("',").next().unwrap_or("").to_owned();
            let passes = right || name == "words of a text";
            cases.push((format!("{path}::{name}"), if passes { CaseOutcome::Passed } else { CaseOutcome::Failed }));
        }
    }
    cases
}

/// What the Executor answers, and what comes of it.
#[track_caller]
fn check(code: &str, answer: &str, expected_code: &str, expected_test: &str) {
    let files = [("package.json", "{}"), ("lib/words.js", code), ("test/words.test.js", OLD_TEST)];
    let answer = format!("```javascript\n{answer}\n```");
    let plan = r#"{"steps":[{"goal":"Add shout","file":"lib/words.js","symbols":[],"new_symbols":["shout"]}]}"#;
    let model = ScriptedModel::new()
        .answer("You read task", &["{}"])
        .answer("You plan", &[plan])
        .answer("You choose test inputs", &["{\"cases\":[]}"])
        .answer("You write unit tests", &["```javascript\n```"])
        .answer("You change code", &[&answer])
        .answer("You review", &[VERDICT]);
    let scene = project(&files, TASK, Runner::NodeTest, verdicts, model, None);
    let state = scene.drive(&policy(SendPolicy::Never));
    assert_eq!(state.outcome(), Some(Outcome::Ready), "{:?} {:?}", scene.kinds(), state.steps);
    let files = scene.workspace.files();
    let text = |path: &str| {
        let bytes = files.iter().find(|(known, _)| known.as_str() == path).map(|(_, bytes)| bytes.clone());
        String::from_utf8(bytes.unwrap_or_default()).expect("text")
    };
    assert_eq!(text("lib/words.js"), expected_code);
    // The project's tests lie in a folder of their own, so the new one does too.
    assert_eq!(text("test/words-shout.test.js"), expected_test);
}

const TESTS: &str = "test('shout(\"ab\") returns \"AB\"', () => {\n  assert.equal(shout(\"ab\"), \"AB\");\n});\n\ntest('shout(\"\") returns \"\"', () => {\n  assert.equal(shout(\"\"), \"\");\n});\n";

#[test]
fn a_new_function_of_a_module_with_require() {
    check(
        "function words(text) {\n  return text.split(' ');\n}\n\nmodule.exports = { words };\n",
        "function shout(text) {\n  return text.toUpperCase();\n}",
        "function words(text) {\n  return text.split(' ');\n}\n\nfunction shout(text) {\n  return text.toUpperCase();\n}\n\nmodule.exports = { words, shout };\n",
        &format!(
            "const {{ test }} = require('node:test');\nconst assert = require('node:assert/strict');\nconst {{ shout }} = require('../lib/words.js');\n\n{TESTS}"
        ),
    );
}

#[test]
fn a_new_function_of_a_module_with_exports() {
    check(
        "function words(text) {\n  return text.split(' ');\n}\n\nexport { words };\n",
        "/** Louder. */\nfunction shout(text) {\n  return text.toUpperCase();\n}",
        "function words(text) {\n  return text.split(' ');\n}\n\n/** Louder. */\nfunction shout(text) {\n  return text.toUpperCase();\n}\n\nexport { words, shout };\n",
        &format!(
            "import {{ test }} from 'node:test';\nimport assert from 'node:assert/strict';\nimport {{ shout }} from '../lib/words.js';\n\n{TESTS}"
        ),
    );
}
