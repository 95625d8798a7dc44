//! The Tester's prompt: small independent tests, each with one reason to fail.

use super::{clipped, fenced};
use crate::port::Prompt;
use crate::prompt::Snippet;

pub const TEST: &str = "test/1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestInput {
    pub language: &'static str,
    /// The code under test, or only its signature and documentation when the tests must come from the specification.
    pub target: Snippet,
    /// How a test file imports it ("from tally.money import parse_amount").
    pub import: String,
    /// What the task says the code must do; empty for tests of the present behaviour.
    pub specification: String,
    pub acceptance: Vec<String>,
    /// One sentence of the task that the tests must show with exactly its call and its result, or "".
    pub example: String,
    pub names: Vec<String>,
    pub count: u32,
}

pub fn test(input: &TestInput) -> Prompt {
    let mut user = format!("{}:\n{}\n", input.target.path, fenced(input.language, &input.target.text));
    if !input.specification.is_empty() {
        user.push_str(&format!("What it must do: {}\n", clipped(&input.specification, 1_600)));
        user.extend(input.acceptance.iter().map(|item| format!("- {}\n", clipped(item, 240))));
    }
    let names = input.names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let form = match input.language {
        "rust" => "Each is a `#[test] fn` without arguments; no `mod`, no helper functions.",
        "javascript" | "typescript" | "tsx" => {
            "Each is a top-level call `test('what it shows', () => { ... });` with `assert.equal(actual, expected)`, `assert.deepEqual` or `assert.throws(() => ..., TypeError)`; no `describe`, no hooks, no helper functions."
        }
        _ => {
            "Each is a top-level function `def test_...():` without arguments, with plain `assert` statements; no classes, no helper functions, no fixtures."
        }
    };
    if !input.example.is_empty() {
        user.push_str(&format!(
            "\nWrite one test for {names}. {form} It sets up exactly what this sentence describes, makes the call of the \
             sentence, and compares with the result of the sentence: {}\n",
            clipped(&input.example, 400)
        ));
        return prompt_of(input, user);
    }
    user.push_str(&format!(
        "\nWrite {} short tests for {names}, named after the behaviour they check. {form} Cover normal use, limits and \
         errors. Compute each expected value with care; leave a case out when you are not sure.\n",
        input.count
    ));
    prompt_of(input, user)
}

fn prompt_of(input: &TestInput, user: String) -> Prompt {
    Prompt {
        system:
            "You write unit tests. You answer with exactly one fenced code block that holds only the imports and the \
                 test functions. Each test stands alone, is deterministic, and touches no network, clock or file."
                .to_owned(),
        user,
        answer_start: format!("```{}\n{}\n", input.language, input.import),
    }
}
