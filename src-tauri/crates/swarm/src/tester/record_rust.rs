//! Recorded tests in Rust: each input is run once in a test that fails on purpose and shows the value in its message; the
//! test that is kept compares with that value.

use super::Subject;
use super::cases::{Case, cases};
use crate::desk::Desk;
use crate::error::SwarmError;
use crate::judge::Bench;
use crate::probes::{Origin, Probe, free_name, test_name};
use starling_core::test_set::TestClaim;

/// The value no code gives by chance.
const ASKED: &str = "starling asks for the value";
const MAX_CASES: usize = 24;

pub(crate) fn run(
    desk: &mut Desk<'_>,
    subject: &Subject,
    bench: &Bench,
    symbol: &str,
) -> Result<Vec<Probe>, SwarmError> {
    let cases = cases(desk, subject, symbol, MAX_CASES)?;
    let asking: Vec<Probe> =
        named(&cases, |case| format!("    assert_eq!(format!(\"{{:?}}\", {}), {ASKED:?});\n", case.call));
    let asking: Vec<(Case, Probe)> = cases
        .into_iter()
        .zip(asking)
        .filter(|(_, probe)| starling_syntax::parses(subject.language, &probe.source))
        .collect();
    let probes: Vec<Probe> = asking.iter().map(|(_, probe)| probe.clone()).collect();
    let results = bench.probes(desk, &probes)?;
    let recorded: Vec<(Case, String)> = asking
        .into_iter()
        .zip(results)
        .filter_map(|((case, _), result)| Some((case, left(&result.message)?)))
        .collect();
    let cases: Vec<Case> = recorded.iter().map(|(case, _)| case.clone()).collect();
    let mut values = recorded.into_iter().map(|(_, value)| value);
    Ok(named(&cases, |case| assertion(&case.call, &values.next().unwrap_or_default())))
}

fn named(cases: &[Case], mut line: impl FnMut(&Case) -> String) -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::new();
    for case in cases {
        // With "test_" before it: a test may not have the name of the function that it imports.
        let name = free_name(&probes, &test_name(&case.name));
        let source = format!("#[test]\nfn {name}() {{\n{}{}}}\n", statements(&case.setup), line(case));
        probes.push(Probe {
            name,
            source,
            origin: Origin::Recorder,
            claim: TestClaim::Regression,
            imports: Vec::new(),
        });
    }
    probes
}

/// A setup as the lines of a body. Models leave the last semicolon out.
fn statements(setup: &str) -> String {
    let setup = setup.trim();
    let end = if setup.is_empty() || setup.ends_with([';', '}']) { "" } else { ";" };
    format!("{setup}{end}").lines().map(|line| format!("    {}\n", line.trim())).collect()
}

/// The left side of a failed `assert_eq!`, which is the debug text of a debug text.
fn left(message: &str) -> Option<String> {
    if !message.contains(ASKED) {
        return None;
    }
    let line = message.lines().find_map(|line| line.trim().strip_prefix("left: "))?;
    unescape(line.trim().strip_prefix('"')?.strip_suffix('"')?)
}

/// Undoes Rust's string escapes.
fn unescape(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            'u' => {
                let hex: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                char::from_u32(u32::from_str_radix(&hex, 16).ok()?)?
            }
            other => other,
        });
    }
    Some(out)
}

/// Compares with a literal where the debug text is one, else with the debug text.
fn assertion(call: &str, debug: &str) -> String {
    let number = debug.parse::<i128>().is_ok();
    let plain_list = debug.starts_with('[') && debug.len() > 2 && !debug.contains(['(', '{']);
    match debug {
        "true" => format!("    assert!({call});\n"),
        "false" => format!("    assert!(!{call});\n"),
        "[]" => format!("    assert!({call}.is_empty());\n"),
        _ if debug.starts_with('"') || number => format!("    assert_eq!({call}, {debug});\n"),
        _ if plain_list => format!("    assert_eq!({call}, vec!{debug});\n"),
        _ => format!("    assert_eq!(format!(\"{{:?}}\", {call}), {debug:?});\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_value_out_of_a_failure() {
        let message =
            format!("assertion `left == right` failed\n  left: \"[\\\"a\\\", \\\"é\\\"]\"\n right: {ASKED:?}");
        assert_eq!(left(&message).as_deref(), Some("[\"a\", \"é\"]"));
        assert_eq!(left("thread panicked"), None);
    }

    #[test]
    fn a_test_has_a_name_of_its_own_and_whole_statements() {
        let case = Case { name: "median".into(), setup: "let a = 1;\n let b = 2".into(), call: "median(a, b)".into() };
        let probes = named(&[case.clone(), case], |case| assertion(&case.call, "1"));
        let expected =
            "#[test]\nfn test_median() {\n    let a = 1;\n    let b = 2;\n    assert_eq!(median(a, b), 1);\n}\n";
        assert_eq!(probes[0].source, expected);
        assert_ne!(probes[0].name, probes[1].name);
    }

    #[test]
    fn compares_with_a_literal_where_it_can() {
        assert_eq!(assertion("f(1)", "3"), "    assert_eq!(f(1), 3);\n");
        assert_eq!(assertion("f(1)", "\"a\""), "    assert_eq!(f(1), \"a\");\n");
        assert_eq!(assertion("f(1)", "[\"a\"]"), "    assert_eq!(f(1), vec![\"a\"]);\n");
        assert_eq!(assertion("f(1)", "[]"), "    assert!(f(1).is_empty());\n");
        assert_eq!(
            assertion("f(1)", "[(\"a\", 1)]"),
            "    assert_eq!(format!(\"{:?}\", f(1)), \"[(\\\"a\\\", 1)]\");\n"
        );
    }
}
