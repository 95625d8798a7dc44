//! Probes: single tests before they are kept. They come from examples in the task, from a model, or from recorded runs;
//! each is one function that stands alone, so each can be judged alone.

use crate::javascript;
use crate::placing::snake;
use starling_core::answer;
use starling_core::code::Language;
use starling_core::examples::Example;
use starling_core::test_set::{Runner, TestClaim};
use starling_syntax::outline;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Written by the person in the task.
    Example,
    Model,
    /// Expected value recorded by running the code.
    Recorder,
}

/// One test. Python: `def test_x():` with plain asserts at the left margin (`def test_x(self):` only for unittest).
/// Rust: a `#[test] fn`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    pub name: String,
    pub source: String,
    pub origin: Origin,
    pub claim: TestClaim,
    /// Import statements it needs besides the target's.
    pub imports: Vec<String>,
}

/// Probes from the examples of a task: only calls of functions that a test can import as they are.
/// What those of `waits` give is waited for.
pub(crate) fn from_examples(
    language: Language,
    examples: &[Example],
    functions: &[String],
    waits: &[String],
) -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::new();
    for example in examples.iter().filter(|e| functions.contains(&e.name)) {
        let call = bare_call(&example.call, &example.name);
        let Some(source) = example_source(language, example, &call, waits.contains(&example.name)) else { continue };
        let name = if javascript::is(language) {
            let gives = if example.error.is_empty() { "returns" } else { "throws" };
            javascript::title(&call, &format!("{gives} {}{}", example.value, example.error))
        } else {
            test_name(&call)
        };
        let name = free_name(&probes, &name);
        let source = source.replace("NAME", &name);
        probes.push(Probe { name, source, origin: Origin::Example, claim: TestClaim::Oracle, imports: Vec::new() });
    }
    probes
}

/// The call without a path before the function's name: the test imports the name itself.
fn bare_call(call: &str, name: &str) -> String {
    let head = call.split('(').next().unwrap_or("");
    let rest = call.get(head.len()..).unwrap_or("");
    format!("{name}{rest}")
}

fn example_source(language: Language, example: &Example, call: &str, waits: bool) -> Option<String> {
    match language {
        Language::Python if example.error.is_empty() => {
            Some(format!("def NAME():\n    assert {call} == {}\n", example.value))
        }
        Language::Python => Some(format!("def NAME():\n    with pytest.raises({}):\n        {call}\n", example.error)),
        Language::Rust if example.error.is_empty() => {
            let value = rust_value(&example.value);
            Some(format!("#[test]\nfn NAME() {{\n    assert_eq!({call}, {value});\n}}\n"))
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            Some(format!("test('NAME', {});\n", javascript::example(example, call, waits)?))
        }
        _ => None,
    }
}

/// People write lists in brackets; an owned list of Rust is compared with `vec!`.
fn rust_value(value: &str) -> String {
    if value.starts_with('[') { format!("vec!{value}") } else { value.to_owned() }
}

/// A function name that says what is called with what, at most 60 characters.
pub(crate) fn test_name(text: &str) -> String {
    let slug: String = snake(text).chars().take(52).collect();
    format!("test_{}", slug.trim_matches('_'))
}

pub(crate) fn free_name(taken: &[Probe], name: &str) -> String {
    let free = |candidate: &str| !taken.iter().any(|probe| probe.name == candidate);
    if free(name) {
        return name.to_owned();
    }
    let gap = if name.contains(' ') { " " } else { "_" };
    (2..1000).map(|n| format!("{name}{gap}{n}")).find(|candidate| free(candidate)).unwrap_or_else(|| name.to_owned())
}

/// The tests of a model's answer. What is no test function, asserts nothing, or is cut off is left out.
pub(crate) fn from_answer(language: Language, text: &str, targets: &[String]) -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::new();
    for fence in answer::fences(text) {
        for found in javascript::from_answer(language, &fence.body) {
            let known = probes.iter().any(|known| body_of(&known.source) == body_of(&found.source));
            if mentions(&found.source, targets) && !known {
                let (name, source) = (found.name, found.source);
                let probe =
                    Probe { name, source, origin: Origin::Model, claim: TestClaim::Oracle, imports: Vec::new() };
                probes.push(renamed(probe, &probes));
            }
        }
        let parsed = outline(language, &fence.body);
        let imports: Vec<String> = parsed.imports.iter().map(|import| import.text.clone()).collect();
        for symbol in parsed.symbols.iter().filter(|s| s.is_test || s.name.starts_with("test")) {
            let broken = parsed.errors.iter().any(|error| error.span.overlaps(symbol.span));
            let Some(source) = fence.body.get(symbol.span.start..symbol.span.end) else { continue };
            let source = dedent(source, column(&fence.body, symbol.span.start));
            if broken || !asserts(&source) || !mentions(&source, targets) || answer::is_looping(&source) {
                continue;
            }
            if probes.iter().any(|known| body_of(&known.source) == body_of(&source)) {
                continue;
            }
            let (name, imports) = (symbol.name.clone(), imports.clone());
            let probe = Probe { name, source, origin: Origin::Model, claim: TestClaim::Oracle, imports };
            probes.push(renamed(probe, &probes));
        }
    }
    probes
}

/// The probe under a name that none of the others has.
pub(crate) fn renamed(probe: Probe, taken: &[Probe]) -> Probe {
    let name = free_name(taken, &probe.name);
    if probe.source.starts_with("test('") {
        let source = javascript::renamed_source(&probe.source, &probe.name, &name);
        return Probe { name, source, ..probe };
    }
    // With the bracket: "test" stands in "#[test]" too.
    let source = probe.source.replacen(&format!("{}(", probe.name), &format!("{name}("), 1);
    Probe { name, source, ..probe }
}

pub(crate) fn body_of(source: &str) -> &str {
    source.split_once('\n').map_or(source, |(_, body)| body).trim()
}

fn asserts(source: &str) -> bool {
    ["assert", "raises", "should_panic", "panic!"].iter().any(|word| source.contains(word))
}

fn mentions(source: &str, targets: &[String]) -> bool {
    targets.iter().any(|target| {
        let name = target.rsplit('.').next().unwrap_or(target);
        source.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
    })
}

fn column(text: &str, at: usize) -> usize {
    let start = text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |n| n + 1);
    text.get(start..at).map_or(0, |head| head.chars().count())
}

fn dedent(text: &str, by: usize) -> String {
    let line = |line: &str| {
        let lead = line.chars().take_while(|c| c.is_whitespace()).count();
        line.chars().skip(lead.min(by)).collect::<String>()
    };
    let mut out: Vec<String> =
        text.split('\n').enumerate().map(|(n, l)| if n == 0 { l.to_owned() } else { line(l) }).collect();
    while out.last().is_some_and(|l| l.trim().is_empty()) {
        out.pop();
    }
    out.join("\n") + "\n"
}

/// Whether a runner can hold a probe: a method of a unittest class cannot become a pytest function.
pub(crate) fn fits(runner: Runner, probe: &Probe) -> bool {
    let takes_self = probe.source.lines().next().is_some_and(|line| line.contains("(self"));
    let takes_more =
        probe.source.lines().find(|l| l.trim_start().starts_with("def ") || l.trim_start().starts_with("fn "));
    let bare = takes_more.is_some_and(|line| line.contains("()"));
    match runner {
        Runner::Pytest | Runner::CargoTest => bare,
        Runner::Unittest => bare || takes_self,
        Runner::NodeTest | Runner::Vitest | Runner::Jest => javascript::fits(&probe.source),
    }
}

/// A whole test file in the style of the runner. `import` brings in the targets; imports of probes are added once, when
/// one of their names is used.
pub(crate) fn render(runner: Runner, import: &str, title: &str, probes: &[Probe]) -> String {
    let text: String = probes.iter().map(|probe| probe.source.as_str()).collect::<Vec<_>>().join("\n");
    let mut lines: Vec<String> = vec![import.to_owned()];
    for line in probes.iter().flat_map(|probe| &probe.imports) {
        let unwanted = line.contains("unittest") || line.contains("pytest") || lines.iter().any(|known| known == line);
        if !unwanted && brings_used(line, &text, import) {
            lines.push(line.clone());
        }
    }
    match runner {
        Runner::Pytest => {
            if text.contains("pytest.") {
                lines.insert(0, "import pytest\n".to_owned());
            }
            format!("{}\n\n\n{}", lines.join("\n"), join(probes.iter().map(|p| p.source.clone()), "\n\n"))
        }
        Runner::Unittest => {
            let class = class_name(title);
            let methods = join(probes.iter().map(|p| method(&p.source)), "\n");
            let imports = lines.join("\n");
            format!(
                "import unittest\n\n{imports}\n\n\nclass {class}(unittest.TestCase):\n{methods}\n\nif __name__ == \"__main__\":\n    unittest.main()\n"
            )
        }
        Runner::NodeTest | Runner::Vitest | Runner::Jest => {
            format!("{}\n{}", javascript::head(runner, import), join(probes.iter().map(|p| p.source.clone()), "\n"))
        }
        Runner::CargoTest => format!("{}\n\n{}", lines.join("\n"), join(probes.iter().map(|p| p.source.clone()), "\n")),
    }
}

fn join(parts: impl Iterator<Item = String>, gap: &str) -> String {
    parts.map(|part| part.trim_end().to_owned() + "\n").collect::<Vec<_>>().join(gap)
}

/// An import line is kept when it brings a name that the tests use and the target's import does not bring already.
fn brings_used(line: &str, text: &str, import: &str) -> bool {
    let words = |s: &str| -> Vec<String> {
        s.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()).map(str::to_owned).collect()
    };
    let used = words(text);
    let brought = words(line.rsplit_once(" import ").map_or(line, |(_, names)| names));
    let known = words(import);
    let fresh = brought.iter().filter(|w| !matches!(w.as_str(), "import" | "from" | "use" | "as"));
    fresh.into_iter().any(|word| used.contains(word) && !known.contains(word))
}

fn class_name(title: &str) -> String {
    let words = snake(title);
    let camel: String = words
        .split('_')
        .map(|w| w.chars().take(1).flat_map(char::to_uppercase).chain(w.chars().skip(1)).collect::<String>())
        .collect();
    format!("{camel}Test")
}

/// A plain function as a method of a unittest class, its asserts in the words of unittest.
fn method(source: &str) -> String {
    let mut out = String::new();
    for line in source.trim_end().lines() {
        let lead: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        let text = line.trim_start();
        let text = if let Some(rest) = text.strip_prefix("def ")
            && lead.is_empty()
        {
            format!("def {}", rest.replacen("()", "(self)", 1))
        } else {
            unittest_line(text)
        };
        out.push_str(if text.is_empty() { "" } else { "    " });
        out.push_str(&lead);
        out.push_str(&text);
        out.push('\n');
    }
    out
}

fn unittest_line(text: &str) -> String {
    if let Some(rest) = text.strip_prefix("with pytest.raises(") {
        return format!("with self.assertRaises({rest}");
    }
    let Some(condition) = text.strip_prefix("assert ") else { return text.to_owned() };
    if condition.contains('#') || !closed(condition) {
        return text.to_owned();
    }
    let simple = |sign: &str| {
        let (left, right) = condition.split_once(sign)?;
        let plain = [" and ", " or ", " if ", " == ", " != ", " in ", " is ", " for "]
            .iter()
            .all(|w| !left.contains(w) && !right.contains(w));
        (plain && closed(left) && closed(right)).then(|| (left.trim().to_owned(), right.trim().to_owned()))
    };
    if let Some((left, right)) = simple(" == ") {
        return match right.as_str() {
            "True" => format!("self.assertTrue({left})"),
            "False" => format!("self.assertFalse({left})"),
            _ => format!("self.assertEqual({left}, {right})"),
        };
    }
    if let Some((left, right)) = simple(" != ") {
        return format!("self.assertNotEqual({left}, {right})");
    }
    text.to_owned()
}

/// Brackets and quotes close, and no comma stands outside them (a message after the condition, or two values).
fn closed(text: &str) -> bool {
    let (mut depth, mut quote, mut escaped) = (0i32, None, false);
    for c in text.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' => quote = Some(c),
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                ',' if depth == 0 => return false,
                _ => {}
            },
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && quote.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_become_tests() {
        let examples = starling_core::examples::examples(
            "- `money.parse(\"1,2\")` returns `12`\n- `parse(\"x\")` raises `ValueError`\n- `other(1)` returns `2`\n",
        );
        let probes = from_examples(Language::Python, &examples, &["parse".to_owned()], &[]);
        let text = render(Runner::Unittest, "from money import parse", "parse", &probes);
        assert_eq!(
            text,
            "import unittest\n\nfrom money import parse\n\n\nclass ParseTest(unittest.TestCase):\n    def test_parse_1_2(self):\n        self.assertEqual(parse(\"1,2\"), 12)\n\n    def test_parse_x(self):\n        with self.assertRaises(ValueError):\n            parse(\"x\")\n\n\nif __name__ == \"__main__\":\n    unittest.main()\n"
        );
        let rust = from_examples(Language::Rust, &examples, &["parse".to_owned()], &[]);
        let script = starling_core::examples::examples(
            "- `add(2, 3)` returns `5`\n- `m.add(0, 0)` throws `RangeError`\n- `add(1, 1)` returns `[2, \"x\"]`\n- `add(0, 1)` returns `None`\n",
        );
        let probes = from_examples(Language::JavaScript, &script, &["add".to_owned()], &[]);
        let text = render(Runner::NodeTest, "import { add } from './m.js';", "add", &probes);
        assert_eq!(
            text,
            "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { add } from './m.js';\n\ntest('add(2, 3) returns 5', () => {\n  assert.equal(add(2, 3), 5);\n});\n\ntest('add(0, 0) throws RangeError', () => {\n  assert.throws(() => add(0, 0), RangeError);\n});\n\ntest('add(1, 1) returns [2, \"x\"]', () => {\n  assert.deepEqual(add(1, 1), [2, \"x\"]);\n});\n"
        );
        let later = from_examples(Language::TypeScript, &script, &["add".to_owned()], &["add".to_owned()]);
        assert_eq!(
            later[0].source,
            "test('add(2, 3) returns 5', async () => {\n  assert.equal(await add(2, 3), 5);\n});\n"
        );
        assert_eq!(
            later[1].source,
            "test('add(0, 0) throws RangeError', async () => {\n  await assert.rejects(async () => add(0, 0), RangeError);\n});\n"
        );
        assert_eq!(rust[0].source, "#[test]\nfn test_parse_1_2() {\n    assert_eq!(parse(\"1,2\"), 12);\n}\n");
    }

    #[test]
    fn reads_the_tests_of_an_answer() {
        let answer = "```python\nimport math\nfrom m import f\n\ndef test_a():\n    assert f(1) == math.floor(2.5)\n\ndef helper():\n    pass\n\ndef test_nothing():\n    f(1)\n\ndef test_other():\n    assert 1 == 1\n\ndef test_a():\n    assert f(2) == 3\n\ndef test_cut():\n    assert f(\n";
        let probes = from_answer(Language::Python, answer, &["f".to_owned()]);
        let names: Vec<&str> = probes.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["test_a", "test_a_2"]);
        let text = render(Runner::Pytest, "from m import f", "f", &probes);
        assert!(text.starts_with("from m import f\nimport math\n\n\ndef test_a():"), "{text}");
    }

    #[test]
    fn says_asserts_in_unittest_words() {
        assert_eq!(unittest_line("assert f(1, 2) == [1, 2]"), "self.assertEqual(f(1, 2), [1, 2])");
        assert_eq!(unittest_line("assert f(1) == True"), "self.assertTrue(f(1))");
        assert_eq!(unittest_line("assert a == b and c"), "assert a == b and c");
        assert_eq!(unittest_line("assert f(\"a == b\") == 1, \"why\""), "assert f(\"a == b\") == 1, \"why\"");
        assert_eq!(unittest_line("assert x == ("), "assert x == (");
    }
}
