//! Reading a verdict: what of it speaks about the change, and what several of them say together.

use crate::placing::is_test_path;
use starling_core::packet::ReviewPacket;
use starling_core::review::{Finding, Severity, VerdictKind};
use starling_core::{RelPath, answer};

/// How the packet says that a test failed on the old code.
pub(super) const BEFORE: &str = "failed before the change";

/// How it says that a test fails on a mutant.
pub(super) const NOTICES: &str = "notices the mutant";

/// A small model quotes what is easiest to quote, which is a line of a test, and says that it fails. Tools have seen that
/// test pass, so what quotes nothing else is a remark and no objection.
pub(super) fn local_verdict(text: &str, packet: &ReviewPacket) -> Option<(VerdictKind, String, Vec<Finding>)> {
    let (kind, summary, mut findings) = read_verdict(text, packet)?;
    let open = squeeze(&without_proofs(packet.text()));
    for finding in &mut findings {
        if finding.severity == Severity::Error && !open.contains(&quoted(&finding.evidence)) {
            finding.severity = Severity::Warning;
        }
    }
    Some((kind, summary, findings))
}

/// The packet without test files and without the mutants that tests notice.
fn without_proofs(packet: &str) -> String {
    let mut in_test = false;
    let mut out: Vec<&str> = Vec::new();
    for line in packet.lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            in_test = RelPath::new(path).is_ok_and(|path| is_test_path(&path));
        } else if line.starts_with("--- ") || line.starts_with("```") {
            in_test = false;
        }
        if !in_test && !line.contains(NOTICES) {
            out.push(line);
        }
    }
    out.join("\n")
}

/// The majority. An objection without a grounded finding of weight counts as approval with a remark.
pub(super) fn tally(votes: Vec<(VerdictKind, String, Vec<Finding>)>) -> (VerdictKind, String, Vec<Finding>) {
    let all = votes.len();
    let cast: Vec<(VerdictKind, Option<String>, Vec<Finding>)> = votes
        .into_iter()
        .map(|(kind, summary, findings)| {
            let weighty = findings.iter().any(|f| f.severity == Severity::Error);
            let counted = if weighty { kind } else { VerdictKind::Approve };
            // The words of an objection that does not count would contradict the verdict.
            (counted, (counted == kind).then_some(summary), findings)
        })
        .collect();
    let count = |kind| cast.iter().filter(|(k, _, _)| *k == kind).count();
    let against = count(VerdictKind::Change) + count(VerdictKind::Reject);
    let kind = if against * 2 <= cast.len() {
        VerdictKind::Approve
    } else if count(VerdictKind::Reject) > count(VerdictKind::Change) {
        VerdictKind::Reject
    } else {
        VerdictKind::Change
    };
    let speaks = cast.iter().filter(|(k, _, _)| *k == kind).find_map(|(_, summary, _)| summary.clone());
    let summary = speaks.unwrap_or_else(|| match all {
        0 => "No sample gave a readable verdict; the gates' results stand.".to_owned(),
        _ => "No objection quotes the change, so none counts; the gates' results stand.".to_owned(),
    });
    let mut findings: Vec<Finding> = Vec::new();
    for finding in cast.into_iter().filter(|(k, _, _)| *k == kind).flat_map(|(_, _, findings)| findings) {
        if !findings.iter().any(|known| known.evidence == finding.evidence || known.message == finding.message) {
            findings.push(finding);
        }
    }
    (kind, summary, findings)
}

/// Reads an answer. Findings whose words do not stand in the packet are dropped: they are about something else.
pub(super) fn read_verdict(text: &str, packet: &ReviewPacket) -> Option<(VerdictKind, String, Vec<Finding>)> {
    let value = answer::json_object(text).ok()?;
    let kind = match value["verdict"].as_str()? {
        "approve" => VerdictKind::Approve,
        "change" => VerdictKind::Change,
        "reject" => VerdictKind::Reject,
        _ => return None,
    };
    let summary = value["summary"].as_str().unwrap_or("").trim().to_owned();
    let findings =
        value["findings"].as_array().into_iter().flatten().filter_map(|item| finding(item, packet)).collect();
    Some((kind, summary, findings))
}

fn finding(item: &serde_json::Value, packet: &ReviewPacket) -> Option<Finding> {
    let text = |key: &str| item[key].as_str().unwrap_or("").trim().to_owned();
    let evidence = text("evidence");
    let words = quoted(&evidence);
    // What a test said before the change speaks for the change, not against it.
    let now: Vec<&str> = packet.text().lines().filter(|line| !line.contains(BEFORE)).collect();
    if words.chars().count() < 6 || !squeeze(&now.join("\n")).contains(&words) {
        return None;
    }
    let path = RelPath::new(text("path").trim_start_matches("b/").trim_start_matches("a/")).ok();
    let path = path.filter(|path| packet.text().contains(path.as_str()));
    let severity = match item["severity"].as_str() {
        Some("error") => Severity::Error,
        Some("warning") => Severity::Warning,
        _ => Severity::Info,
    };
    let line = item["line"].as_u64().and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0);
    Some(Finding { path, line, severity, message: text("message"), evidence })
}

/// The words of a quotation, without the marks of a diff.
fn quoted(evidence: &str) -> String {
    squeeze(evidence.trim_start_matches(['+', '-', ' ']))
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use starling_core::packet::Section;

    fn packet() -> ReviewPacket {
        let section =
            Section { title: "Diff".to_owned(), text: "+    return to_cents(cleaned)\n tally/money.py".to_owned() };
        let test = Section {
            title: "Test".to_owned(),
            text: "--- /dev/null\n+++ b/tests/test_money.py\n+    assert cents(10) == 1000\n--- a/x.py\n+++ b/x.py\n+    other = 1".to_owned(),
        };
        let proof = Section {
            title: "Evidence from tools".to_owned(),
            text: format!(
                "  - test_cents: {BEFORE} (AssertionError: 10 != 1000)\n  - test_low: {NOTICES} low -> high @3"
            ),
        };
        ReviewPacket::new(&[section, test, proof]).expect("it can be scanned")
    }

    #[track_caller]
    fn check(answer: &str, kind: VerdictKind, findings: usize) {
        let (got, _, found) = tally(local_verdict(answer, &packet()).into_iter().collect());
        assert_eq!((got, found.len()), (kind, findings), "{answer}");
    }

    #[test]
    fn an_objection_needs_words_of_the_packet() {
        let with = |evidence: &str, severity: &str| {
            format!(
                r#"{{"verdict":"change","summary":"s","findings":[{{"path":"tally/money.py","line":3,"severity":"{severity}","message":"m","evidence":"{evidence}"}}]}}"#
            )
        };
        check(&with("return to_cents(cleaned)", "error"), VerdictKind::Change, 1);
        check(&with("+ return   to_cents(cleaned)", "error"), VerdictKind::Change, 1);
        check(&with("return float(cleaned)", "error"), VerdictKind::Approve, 0);
        check(&with("return to_cents(cleaned)", "info"), VerdictKind::Approve, 1);
        check(&with("AssertionError: 10 != 1000", "error"), VerdictKind::Approve, 0);
        check(&with("assert cents(10) == 1000", "error"), VerdictKind::Approve, 1);
        check(&with("low -> high @3", "error"), VerdictKind::Approve, 1);
        check(&with("other = 1", "error"), VerdictKind::Change, 1);
        check("no json", VerdictKind::Approve, 0);
    }
}
