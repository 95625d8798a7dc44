//! Secrets out of text, in linear time: provider patterns first, then generic assignments. Pure.

use crate::packet::Redaction;
use regex::Regex;
use std::sync::LazyLock;

/// `NAME = "value"` where the name says it is a secret. The value must look like one, not like code.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\b[a-z0-9_.-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|private[_-]?key|token)[a-z0-9_]*["']?\s*[:=]\s*["']?([A-Za-z0-9+/_.=-]{16,})"#,
    )
    .expect("the pattern is valid")
});

static PRIVATE_KEY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)")
        .expect("the pattern is valid")
});

/// The scanner itself failed; what was not scanned must not be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text could not be scanned for secrets: {message}")]
pub struct RedactError {
    pub message: String,
}

/// Replaces secrets by marks that count on from `first`. The same secret gets the same mark within one call.
pub fn redact(text: &str, first: usize) -> Result<(String, Vec<Redaction>), RedactError> {
    let mut found: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for hit in PRIVATE_KEY.find_iter(text) {
        found.push((hit.range(), "private-key".to_owned()));
    }
    found.extend(provider_hits(text)?);
    for hit in ASSIGNMENT.captures_iter(text) {
        if let Some(value) = hit.get(1)
            && entropy(value.as_str()) >= 3.0
            && value.as_str().chars().any(|c| c.is_ascii_digit())
        {
            found.push((value.range(), "assignment".to_owned()));
        }
    }
    Ok(replace(text, found, first))
}

type Hit = (std::ops::Range<usize>, String);

fn provider_hits(text: &str) -> Result<Vec<Hit>, RedactError> {
    use redact_secret::{DefaultPolicy, DetectorRegistry, scan};
    let fail = |e: redact_secret::SecretScanError| RedactError { message: e.to_string() };
    let registry = DetectorRegistry::with_built_in([]).map_err(fail)?;
    let findings = scan(text, &registry, &DefaultPolicy).map_err(fail)?;
    Ok(findings.iter().map(|f| (f.range().start()..f.range().end(), f.type_name().replace('_', "-"))).collect())
}

fn replace(text: &str, mut found: Vec<(std::ops::Range<usize>, String)>, first: usize) -> (String, Vec<Redaction>) {
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut out = String::with_capacity(text.len());
    let mut marks: Vec<(String, Redaction)> = Vec::new();
    let mut at = 0;
    for (range, kind) in found {
        if range.start < at {
            continue;
        }
        let Some(secret) = text.get(range.clone()) else { continue };
        let mark = match marks.iter().find(|(known, _)| known == secret) {
            Some((_, redaction)) => redaction.mark.clone(),
            None => {
                let mark = format!("«secret:{kind}#{}»", first + marks.len() + 1);
                marks.push((secret.to_owned(), Redaction { kind: kind.clone(), mark: mark.clone() }));
                mark
            }
        };
        out.push_str(text.get(at..range.start).unwrap_or(""));
        out.push_str(&mark);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    (out, marks.into_iter().map(|(_, redaction)| redaction).collect())
}

/// Shannon entropy in bits per character.
fn entropy(text: &str) -> f64 {
    let total = text.chars().count() as f64;
    let mut counts = std::collections::BTreeMap::new();
    for c in text.chars() {
        *counts.entry(c).or_insert(0.0_f64) += 1.0;
    }
    counts.values().map(|n| -(n / total) * (n / total).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, secret: &str, kept: &str) {
        let (clean, found) = redact(text, 0).expect("the scanner works");
        assert!(!clean.contains(secret), "leaked: {clean}");
        assert!(clean.contains(kept), "lost: {clean}");
        assert!(!found.is_empty());
    }

    #[test]
    fn takes_secrets_and_leaves_the_rest() {
        check("API_KEY=ghp_SYNTHETICREVOKED00000000000000000000 # x", "ghp_SYNTHETICREVOKED", "# x");
        check("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----\nb", "MIIEabc", "b");
        check("+db_password = \"x9Kq2mZp7LtR4vWn8sYd\"\n", "x9Kq2mZp7LtR4vWn8sYd", "db_password");
    }

    #[test]
    fn leaves_code_alone() {
        let code = "def token_count(text):\n    return len(tokenize(text))\nmax_token_length = self.limits.maximum\n";
        assert_eq!(redact(code, 0).expect("the scanner works"), (code.to_owned(), Vec::new()));
    }

    #[test]
    fn gives_one_mark_to_one_secret() {
        let text = "a=ghp_SYNTHETICREVOKED00000000000000000000 b=ghp_SYNTHETICREVOKED00000000000000000000";
        let (_, found) = redact(text, 4).expect("the scanner works");
        assert_eq!(found.len(), 1);
        assert!(found[0].mark.ends_with("#5»"), "{:?}", found[0].mark);
    }
}
