//! The verdict, and each finding with the hunk it stands in.

use super::change::HunkView;
use crate::mirror::{Place, Severity, Verdict};
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::review::{self, Finding, Reviewer};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct VerdictView {
    pub verdict: Verdict,
    pub summary: String,
    pub findings: Vec<FindingView>,
    pub model: String,
    pub place: Place,
    /// Why a local model judged although a cloud one is bound, or "".
    pub fallback: String,
    /// sha256 of the body that was judged.
    pub packet: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct FindingView {
    pub path: Option<String>,
    pub line: Option<u32>,
    pub severity: Severity,
    pub message: String,
    /// The words of the packet it rests on, or "".
    pub evidence: String,
    /// The hunk it stands in; `null` when it is in none, or the hunks were not looked at.
    pub hunk: Option<u32>,
}

impl VerdictView {
    pub fn of(verdict: &review::Verdict, hunks: Option<&[HunkView]>) -> VerdictView {
        let review::Verdict { kind, summary, findings, reviewer, packet } = verdict;
        let Reviewer { model, place, fallback } = reviewer;
        VerdictView {
            verdict: (*kind).into(),
            summary: summary.clone(),
            findings: findings.iter().map(|finding| FindingView::of(finding, hunks.unwrap_or_default())).collect(),
            model: model.to_string(),
            place: (*place).into(),
            fallback: fallback.clone(),
            packet: packet.to_string(),
        }
    }
}

impl FindingView {
    fn of(finding: &Finding, hunks: &[HunkView]) -> FindingView {
        let Finding { path, line, severity, message, evidence } = finding;
        let path = path.as_ref().map(|path| path.to_string());
        let hunk = path.as_ref().zip(*line).and_then(|(path, line)| {
            let holds = |hunk: &&HunkView| {
                hunk.path == *path && (hunk.new_start..hunk.new_start + hunk.new_lines.max(1)).contains(&line)
            };
            hunks.iter().find(holds).map(|hunk| hunk.index)
        });
        FindingView {
            path,
            line: *line,
            severity: (*severity).into(),
            message: message.clone(),
            evidence: evidence.clone(),
            hunk,
        }
    }
}
