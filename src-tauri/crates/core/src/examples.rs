//! Examples in prose: "`f(1)` returns `2`". A task file that gives them gives tests for nothing, with expected values
//! that come from the person and not from a model. Only what is said to be the wanted result is taken: lines about the
//! present, wrong result are left alone.

use regex::Regex;
use std::sync::LazyLock;

/// One example: a call and what it must give, both as source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The called name's last part ("parse_amount").
    pub name: String,
    pub call: String,
    /// A literal, or "" when an error is expected.
    pub value: String,
    /// The error's name when the call must fail ("ValueError"), or "".
    pub error: String,
    /// The line it was found on, for showing.
    pub line: String,
}

static CALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[A-Za-z_][A-Za-z0-9_]*(?:\.|::))*([A-Za-z_][A-Za-z0-9_]*)\(.*\)$").expect("the pattern is valid")
});

/// Words between a call and its value that make the value the wanted one.
static WANTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)^\W*(?: (?:should|must|shall|has\ to|needs\ to)\s+(?:return|give|be|equal|yield|produce|become)(?:\s+exactly)?
          | returns? | gives? | yields? | produces? | equals? | is | becomes? | evaluates\ to | -> | => | == | → | ⇒ | =
          | (?:은|는|이|가|의\ 결과는)? | ergibt | liefert | muss | gibt )\W*$",
    )
    .expect("the pattern is valid")
});

static PRESENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(actual(ly)?|currently|at the moment|now (?:it )?(?:returns|gives)|instead of|but got|got|wrongly|today)\b|현재|실제로|aktuell|derzeit")
        .expect("the pattern is valid")
});

static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:raises?|throws?|rejects?|fails? with|must raise|should raise)\b")
        .expect("the pattern is valid")
});

static EXPECTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)expect|should|accept|want|desired|done when|criteria|기대|완료|원하는|erwart|soll|attendu|期待|预期",
    )
    .expect("the pattern is valid")
});

/// All examples of a text, in order, without duplicates. Of a call that is given several results only those under a heading
/// of what is wanted are taken: the others may be the present, wrong ones.
pub fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<(bool, Example)> = Vec::new();
    let mut in_fence = false;
    let mut wanted = false;
    for paragraph in paragraphs(text) {
        if let Some(heading) = paragraph.strip_prefix('#') {
            wanted = EXPECTED.is_match(heading);
        }
        if paragraph.trim_start().starts_with("```") {
            in_fence = !in_fence;
            continue;
        }
        if in_fence {
            continue;
        }
        for sentence in clauses(&paragraph) {
            let wanted = wanted || EXPECTED.is_match(&outside_code(&sentence));
            found.extend(examples_of(&sentence).into_iter().map(|example| (wanted, example)));
        }
    }
    let result = |example: &Example| (example.value.clone(), example.error.clone());
    let disputed = |example: &Example| {
        found.iter().any(|(_, other)| other.call == example.call && result(other) != result(example))
    };
    let sound = found.iter().filter(|(wanted, example)| *wanted || !disputed(example));
    let mut seen = std::collections::BTreeSet::new();
    let mut examples: Vec<Example> = sound.map(|(_, example)| example.clone()).collect();
    examples.retain(|example| seen.insert((example.call.clone(), example.value.clone(), example.error.clone())));
    examples
}

/// Lines joined to paragraphs, because an example may run over a line's end; bullets start anew.
fn paragraphs(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut joining = false;
    for line in text.lines() {
        let trimmed = line.trim();
        let starts = trimmed.starts_with(['-', '*', '#', '|', '>', '+']) || trimmed.starts_with("```");
        let numbered =
            trimmed.split_once(['.', ')']).is_some_and(|(n, _)| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
        if trimmed.is_empty() {
            joining = false;
            continue;
        }
        match out.last_mut() {
            Some(last) if joining && !starts && !numbered => {
                last.push(' ');
                last.push_str(trimmed);
            }
            _ => out.push(trimmed.to_owned()),
        }
        joining = !trimmed.starts_with("```");
    }
    out
}

/// Sentences: cut at ". " and "; " outside backticks, so that "but now it returns" does not taint its neighbour.
fn clauses(paragraph: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut code = false;
    let mut before = ' ';
    for c in paragraph.chars() {
        if c == '`' {
            code = !code;
        }
        let ends = !code && matches!(before, '.' | ';' | '!' | '?') && c.is_whitespace();
        if ends {
            out.push(String::new());
        } else if let Some(last) = out.last_mut() {
            last.push(c);
        }
        before = c;
    }
    out
}

fn examples_of(sentence: &str) -> Vec<Example> {
    if PRESENT.is_match(&outside_code(sentence)) {
        return Vec::new();
    }
    let parts: Vec<&str> = sentence.split('`').collect();
    let mut found = Vec::new();
    for (at, code) in parts.iter().enumerate().filter(|(at, _)| at % 2 == 1) {
        let code = code.trim();
        if let Some(example) = equality(code, sentence) {
            found.push(example);
            continue;
        }
        let Some(name) = CALL.captures(code).and_then(|c| c.get(1)) else { continue };
        let between = parts.get(at + 1).copied().unwrap_or("");
        let next = parts.get(at + 2).copied().unwrap_or("").trim();
        let base = Example {
            name: name.as_str().to_owned(),
            call: code.to_owned(),
            value: String::new(),
            error: String::new(),
            line: said(sentence),
        };
        if ERROR.is_match(between) && is_error_name(next) {
            found.push(Example { error: next.to_owned(), ..base });
        } else if WANTED.is_match(between) && !between.trim().is_empty() && is_literal(next) {
            found.push(Example { value: next.to_owned(), ..base });
        }
    }
    found
}

/// "`f(1) == 2`" in one piece of code.
fn equality(code: &str, sentence: &str) -> Option<Example> {
    let code = code.strip_prefix("assert ").unwrap_or(code);
    let (call, value) = ["==", "->", "=>", "→"].iter().find_map(|sign| code.split_once(sign))?;
    let (call, value) = (call.trim(), value.trim());
    let name = CALL.captures(call)?.get(1)?.as_str().to_owned();
    is_literal(value).then(|| Example {
        name,
        call: call.to_owned(),
        value: value.to_owned(),
        error: String::new(),
        line: said(sentence),
    })
}

/// A sentence without the marks of its list.
fn said(sentence: &str) -> String {
    let bare = sentence.trim().trim_start_matches(['-', '*', '+']).trim_start();
    let open = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| bare.strip_prefix(mark));
    open.unwrap_or(bare).trim_start().to_owned()
}

fn outside_code(sentence: &str) -> String {
    sentence.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn is_error_name(text: &str) -> bool {
    let last = text.rsplit(['.', ':']).next().unwrap_or(text);
    !last.is_empty()
        && last.starts_with(|c: char| c.is_ascii_uppercase())
        && last.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A literal of the usual languages: number, string, list, tuple, mapping, boolean, none; balanced.
fn is_literal(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let word = matches!(text, "True" | "False" | "None" | "true" | "false" | "null" | "undefined");
    let wrapped = ["Some(", "Ok(", "Err(", "vec![", "b\"", "r\"", "Decimal("].iter().any(|p| text.starts_with(p));
    let opens = matches!(first, '"' | '\'' | '[' | '{' | '(' | '-') || first.is_ascii_digit();
    (word || text == "None" || wrapped || opens) && balanced(text)
}

fn balanced(text: &str) -> bool {
    let mut stack = Vec::new();
    let mut quote: Option<char> = None;
    let mut escaped = false;
    for c in text.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '\'' => quote = Some(c),
                '(' | '[' | '{' => stack.push(c),
                ')' | ']' | '}' => {
                    let open = stack.pop();
                    if !matches!((open, c), (Some('('), ')') | (Some('['), ']') | (Some('{'), '}')) {
                        return false;
                    }
                }
                _ => {}
            },
        }
    }
    stack.is_empty() && quote.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let got = examples(text);
        let got: Vec<_> = got
            .iter()
            .map(|e| (e.call.as_str(), if e.error.is_empty() { e.value.as_str() } else { e.error.as_str() }))
            .collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn finds_what_is_wanted() {
        check("- `parse(\"1,2\")` returns `12`", &[("parse(\"1,2\")", "12")]);
        check("- `f(1, [2])` should return `[1, 2]`.", &[("f(1, [2])", "[1, 2]")]);
        check(
            "`a::b::f(\"é\")` must be `\"e\"`, and\n`f(2)` gives `None`",
            &[("a::b::f(\"é\")", "\"e\""), ("f(2)", "None")],
        );
        check("`f(0)` raises `ValueError`", &[("f(0)", "ValueError")]);
        check("it holds that `f(3) == 9`", &[("f(3)", "9")]);
        check("`f(3)` → `9`", &[("f(3)", "9")]);
        check("`top(2)` returns `[(\"b\", 3), (\"a\", 2)]`", &[("top(2)", "[(\"b\", 3), (\"a\", 2)]")]);
    }

    #[test]
    fn the_sentence_comes_without_the_marks_of_its_list() {
        let line = |text: &str| examples(text)[0].line.clone();
        assert_eq!(line("- [ ] when empty, `f(1)` is `2`"), "when empty, `f(1)` is `2`");
        assert_eq!(line("* `f(-1)` is `2`"), "`f(-1)` is `2`");
        assert_eq!(line("`f(1)` is `2`"), "`f(1)` is `2`");
    }

    #[test]
    fn leaves_the_present_result_alone() {
        check("Currently `f(1)` returns `3`.", &[]);
        check("Actual: `f(1)` gives `3`", &[]);
        check("현재 `f(1)` → `3`", &[]);
        check("`f(1)` returns `3` instead of `4`", &[]);
        check("`f(1)` returns `3` today. `f(1)` should return `4`.", &[("f(1)", "4")]);
    }

    #[test]
    fn of_two_results_the_wanted_one_counts() {
        let report = "In `m.py` `f(2)` returns `5`.\n\n## Expected\n\n- `f(2)` returns `4`\n";
        check(report, &[("f(2)", "4")]);
        check("`f(2)` returns `5`.\n\n`f(2)` returns `4`.", &[]);
        check("`f(2)` returns `5`. It should hold that `f(2)` returns `4`.", &[("f(2)", "4")]);
    }

    #[test]
    fn does_not_take_names_for_values() {
        check("`f(x)` returns `total`", &[]);
        check("`f(x)` and `g(y)`", &[]);
        check("```\n`f(1)` returns `2`\n```", &[]);
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*|[`a-f() \"'\\n.=>\\-]*") {
            examples(&text);
        }
    }
}
