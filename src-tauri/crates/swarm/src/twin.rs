//! The second way of writing a Rust test, where only the compiler can say which is right.

use crate::probes::Probe;
use starling_core::examples::Example;

/// The same test with the strings of the example's result owned: people and small models write `("b", 3)` for what Rust calls
/// `("b".to_string(), 3)`, and only the compiler knows which of the two it is.
pub(crate) fn owned_twin(probe: &Probe, example: &Example) -> Option<Probe> {
    let strings: Vec<&str> = example.value.split('"').collect();
    if strings.len() < 3 || example.value.contains('\\') || !probe.source.contains(&example.value) {
        return None;
    }
    let mut owned = String::new();
    for (at, part) in strings.iter().enumerate() {
        match at % 2 {
            1 => owned.push_str(&format!("\"{part}\".to_string()")),
            _ => owned.push_str(part),
        }
    }
    Some(Probe { source: probe.source.replace(&example.value, &owned), ..probe.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::Origin;
    use starling_core::test_set::TestClaim;

    #[test]
    fn a_result_with_strings_gets_a_twin_that_owns_them() {
        let check = |value: &str, source: &str, expected: Option<&str>| {
            let example = Example {
                name: "top".into(),
                call: "top(2)".into(),
                value: value.into(),
                error: String::new(),
                line: String::new(),
            };
            let (name, source) = ("t".to_owned(), source.to_owned());
            let probe = Probe { name, source, origin: Origin::Model, claim: TestClaim::Oracle, imports: Vec::new() };
            assert_eq!(owned_twin(&probe, &example).map(|twin| twin.source).as_deref(), expected);
        };
        let value = r#"[("b", 3)]"#;
        check(
            value,
            r#"assert_eq!(c.top(2), vec![("b", 3)]);"#,
            Some(r#"assert_eq!(c.top(2), vec![("b".to_string(), 3)]);"#),
        );
        check(value, r#"assert_eq!(c.top(2), vec![("b".to_string(), 3)]);"#, None);
        check("[1, 2]", "assert_eq!(c.top(2), [1, 2]);", None);
        check(r#""a\"b""#, r#"assert_eq!(c.top(2), "a\"b");"#, None);
    }
}
