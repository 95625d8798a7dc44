//! The brief card.

use crate::mirror::TaskKind;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::brief::{Brief, FieldEvidence, Source, TraceFrame};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct BriefView {
    pub title: String,
    pub task_kind: TaskKind,
    pub goal: String,
    pub acceptance: Vec<String>,
    pub files: Vec<String>,
    pub symbols: Vec<String>,
    pub commands: Vec<String>,
    pub constraints: Vec<String>,
    /// "en", "ko", "ko-en", "und".
    pub language: String,
    /// The file tries to instruct the assistant; it is shown, never followed.
    pub injected: bool,
    pub warnings: Vec<String>,
    /// Files and symbols that exist in the project.
    pub found_files: Vec<String>,
    pub found_symbols: Vec<String>,
    pub trace: Vec<FrameView>,
    /// Who filled which field.
    pub sources: Vec<FieldSource>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct FrameView {
    pub path: String,
    pub line: Option<u32>,
    pub symbol: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct FieldSource {
    pub field: String,
    pub value: String,
    /// "code", "model", "user".
    pub by: String,
    /// It stands in the file word by word.
    pub quoted: bool,
}

impl From<&Brief> for BriefView {
    fn from(brief: &Brief) -> BriefView {
        let Brief {
            title,
            kind,
            goal,
            acceptance,
            files,
            symbols,
            commands,
            constraints,
            language,
            injected_instructions,
            warnings,
            evidence,
            grounded_files,
            grounded_symbols,
            trace,
        } = brief.clone();
        let frame = |TraceFrame { path, line, symbol }| FrameView { path, line, symbol };
        BriefView {
            title,
            task_kind: kind.into(),
            goal,
            acceptance,
            files,
            symbols,
            commands,
            constraints,
            language,
            injected: injected_instructions,
            warnings,
            found_files: grounded_files.into_iter().map(String::from).collect(),
            found_symbols: grounded_symbols.into_iter().map(|(_, symbol)| symbol).collect(),
            trace: trace.into_iter().map(frame).collect(),
            sources: evidence.into_iter().map(FieldSource::from).collect(),
        }
    }
}

impl From<FieldEvidence> for FieldSource {
    fn from(FieldEvidence { field, value, span, source }: FieldEvidence) -> FieldSource {
        let by = match source {
            Source::Code => "code",
            Source::Model => "model",
            Source::User => "user",
        };
        FieldSource { field, value, by: by.to_owned(), quoted: span.is_some() }
    }
}
