//! One test of JavaScript: `test('what it shows', () => { ... });` with assertions of `node:assert/strict`, which every runner
//! takes.

use super::is;
use crate::placing::snake;
use starling_core::answer;
use starling_core::code::Language;
use starling_core::examples::Example;
use starling_syntax::{calls_of, outline};

/// A test that a model wrote: its name, its text, the imports beside it.
pub(crate) struct Found {
    pub name: String,
    pub source: String,
}

/// The function of a test for an example; `None` when its value is none of this language.
pub(crate) fn example(example: &Example, call: &str, waits: bool) -> Option<String> {
    let (head, wait) = if waits { ("async () =>", "await ") } else { ("() =>", "") };
    if !example.error.is_empty() {
        let builtin = ["Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "URIError", "EvalError"];
        let error = example.error.rsplit('.').next().unwrap_or(&example.error);
        // An error of the project's own is known by its name, so that nothing more must be imported.
        let wanted = if builtin.contains(&error) { error.to_owned() } else { format!("{{ name: '{error}' }}") };
        let throws = if waits { "rejects" } else { "throws" };
        return Some(format!("{head} {{\n  {wait}assert.{throws}({head} {call}, {wanted});\n}}"));
    }
    let value = match example.value.as_str() {
        "True" => "true",
        "False" => "false",
        "None" => return None,
        value
            if ["Some(", "Ok(", "Err(", "vec![", "b\"", "r\"", "Decimal(", "("]
                .iter()
                .any(|s| value.starts_with(s)) =>
        {
            return None;
        }
        value => value,
    };
    let compare = if value.starts_with(['[', '{']) { "deepEqual" } else { "equal" };
    Some(format!("{head} {{\n  assert.{compare}({wait}{call}, {value});\n}}"))
}

/// A name that stands in single quotes: the call and what it gives, or only words where that would need escapes.
pub(crate) fn title(call: &str, gives: &str) -> String {
    let text = format!("{call} {gives}").trim().replace('\'', "\"");
    let plain = !text.contains(['\\', '\n', '`']) && !text.contains("::") && text.chars().count() <= 80;
    if plain { text } else { snake(&text).replace('_', " ").chars().take(70).collect::<String>().trim().to_owned() }
}

/// The same test under another name.
pub(crate) fn renamed_source(source: &str, old: &str, new: &str) -> String {
    source.replacen(&format!("test('{old}'"), &format!("test('{new}'"), 1)
}

/// Whether a test stands alone: it takes nothing, so nothing has to be given to it.
pub(crate) fn fits(source: &str) -> bool {
    let head = source.lines().next().unwrap_or("").replace("async ", "");
    source.starts_with("test('") && ["() => ", "function () {", "function() {"].iter().any(|form| head.contains(form))
}

/// The tests of a model's fenced code: calls of `test` and `it` with a name and a function, wherever they stand.
pub(crate) fn from_answer(language: Language, code: &str) -> Vec<Found> {
    if !is(language) {
        return Vec::new();
    }
    let errors = outline(language, code).errors;
    let mut calls: Vec<_> = ["test", "it"].iter().flat_map(|name| calls_of(language, code, name)).collect();
    calls.sort_by_key(|call| call.span.start);
    let sound = calls.into_iter().filter(|call| !errors.iter().any(|error| error.span.overlaps(call.span)));
    let found = sound.filter_map(|call| {
        let [name, function] = call.arguments.as_slice() else { return None };
        let name = unquoted(name)?;
        let column = code.get(..call.span.start)?.rsplit('\n').next()?.chars().count();
        let function = asserted(&dedent(function, column))?;
        (!answer::is_looping(&function)).then(|| Found { source: format!("test('{name}', {function});\n"), name })
    });
    found.collect()
}

/// The words of a string literal, without what would end it elsewhere.
fn unquoted(literal: &str) -> Option<String> {
    let inner = ['\'', '"', '`'].iter().find_map(|q| literal.strip_prefix(*q)?.strip_suffix(*q))?;
    let plain: String = inner.chars().filter(|c| !"'\"`\\${}".contains(*c)).collect();
    let plain = plain.replace("::", " ").split_whitespace().collect::<Vec<_>>().join(" ");
    (!plain.is_empty() && !inner.contains("${")).then_some(plain)
}

fn dedent(text: &str, by: usize) -> String {
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or("").to_owned();
    for line in lines {
        let lead = line.chars().take_while(|c| c.is_whitespace()).count();
        out.push('\n');
        out.extend(line.chars().skip(lead.min(by)));
    }
    out
}

/// The function with `expect` said in the words of `assert`; `None` when that cannot be done or nothing is asserted.
fn asserted(function: &str) -> Option<String> {
    let lines: Vec<String> =
        function.lines().map(|line| expectation(line).unwrap_or_else(|| line.to_owned())).collect();
    let text = lines.join("\n");
    (!text.contains("expect(") && text.contains("assert")).then_some(text)
}

/// `expect(a).toBe(b);` as `assert.equal(a, b);`, where the line is nothing else.
fn expectation(line: &str) -> Option<String> {
    // A function of one line: the statement between its brackets.
    if let Some((head, rest)) = line.split_once("=> {").filter(|(_, rest)| rest.contains("expect(")) {
        let (statement, tail) = rest.rsplit_once('}')?;
        return Some(format!("{head}=> {{ {} }}{tail}", expectation(statement.trim())?.trim()));
    }
    let text = line.trim_start();
    let lead = line.get(..line.len() - text.len())?;
    let text = text.trim_end().trim_end_matches(';');
    let (awaits, text) = text.strip_prefix("await ").map_or(("", text), |rest| ("await ", rest));
    let (actual, rest) = bracketed(text.strip_prefix("expect")?)?;
    let (matcher, rest) = rest.strip_prefix('.')?.split_once('(').map(|(name, _)| (name, rest))?;
    let (expected, end) = bracketed(rest.strip_prefix('.')?.strip_prefix(matcher)?)?;
    if !end.trim().is_empty() || !awaits.is_empty() {
        return None;
    }
    let said = match matcher {
        "toBe" => format!("assert.equal({actual}, {expected})"),
        "toEqual" | "toStrictEqual" => format!("assert.deepEqual({actual}, {expected})"),
        "toBeTruthy" => format!("assert.ok({actual})"),
        "toBeFalsy" => format!("assert.ok(!({actual}))"),
        "toBeNull" => format!("assert.equal({actual}, null)"),
        "toBeUndefined" => format!("assert.equal({actual}, undefined)"),
        "toContain" => format!("assert.ok({actual}.includes({expected}))"),
        "toHaveLength" => format!("assert.equal({actual}.length, {expected})"),
        "toThrow" | "toThrowError" if expected.is_empty() || expected.starts_with(['\'', '"', '`']) => {
            format!("assert.throws({actual})")
        }
        "toThrow" | "toThrowError" => format!("assert.throws({actual}, {expected})"),
        _ => return None,
    };
    Some(format!("{lead}{said};"))
}

/// What stands between a bracket and the one that closes it, and what follows.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('(')?;
    let (mut depth, mut quote, mut escaped) = (0, None, false);
    for (at, c) in inner.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' | '`' => quote = Some(c),
                '(' | '[' | '{' => depth += 1,
                ')' if depth == 0 => return Some((inner.get(..at)?.trim(), inner.get(at + 1..)?)),
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            },
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_expectations_as_assertions() {
        let check = |line: &str, expected: Option<&str>| assert_eq!(expectation(line).as_deref(), expected, "{line}");
        check("  expect(add(1, 2)).toBe(3);", Some("  assert.equal(add(1, 2), 3);"));
        check("expect(f(')')).toEqual([1, { a: 2 }])", Some("assert.deepEqual(f(')'), [1, { a: 2 }]);"));
        check("expect(() => f(1)).toThrow(RangeError);", Some("assert.throws(() => f(1), RangeError);"));
        check("expect(() => f(1)).toThrow('bad');", Some("assert.throws(() => f(1));"));
        check("expect(f(1)).toContain('x');", Some("assert.ok(f(1).includes('x'));"));
        check("expect(x).not.toBe(3);", None);
        check("const y = expect(x).toBe(3);", None);
        check("() => { expect(f(1)).toBe(2); }", Some("() => { assert.equal(f(1), 2); }"));
    }

    #[test]
    fn reads_the_tests_of_an_answer() {
        let code = "import { test } from 'node:test';\n\ntest('adds two', () => {\n  assert.strictEqual(add(1, 2), 3);\n});\n\ndescribe('add', () => {\n  it(\"says 'no'\", async () => {\n    if (true) {\n      expect(add(1, 1)).toBe(2);\n    }\n  });\n  it('does nothing', () => {});\n  it(`a ${1}`, () => { assert.ok(1); });\n});\ntest.skip('x', () => { assert.ok(1); });\ntest('cut', () => { assert.ok(";
        let found = from_answer(Language::JavaScript, code);
        let got: Vec<&str> = found.iter().map(|f| f.source.as_str()).collect();
        assert_eq!(
            got,
            [
                "test('adds two', () => {\n  assert.strictEqual(add(1, 2), 3);\n});\n",
                "test('says no', async () => {\n  if (true) {\n    assert.equal(add(1, 1), 2);\n  }\n});\n"
            ]
        );
        assert!(got.iter().all(|source| fits(source)));
        assert!(!fits("test('x', (t) => {\n});\n") && !fits("test('x', done => {\n});\n"));
    }

    #[test]
    fn names_tests_in_words() {
        assert_eq!(title("add(2, 3)", "returns 5"), "add(2, 3) returns 5");
        assert_eq!(title("slug('Ä b')", "returns 'b'"), "slug(\"Ä b\") returns \"b\"");
        assert_eq!(title("slug('a\\n')", "returns 'b'"), "slug a n returns b");
        assert_eq!(renamed_source("test('a', () => {});\n", "a", "a 2"), "test('a 2', () => {});\n");
    }
}
