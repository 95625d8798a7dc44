//! The Brief: what a task file asks for, each field grounded in the file.

use crate::code::Span;
use crate::ids::RelPath;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    Bug,
    Feature,
    Refactor,
    Test,
    Docs,
    Question,
    Chore,
}

impl TaskKind {
    pub const ALL: [TaskKind; 7] = [
        TaskKind::Bug,
        TaskKind::Feature,
        TaskKind::Refactor,
        TaskKind::Test,
        TaskKind::Docs,
        TaskKind::Question,
        TaskKind::Chore,
    ];
    pub fn as_str(self) -> &'static str {
        match self {
            TaskKind::Bug => "bug",
            TaskKind::Feature => "feature",
            TaskKind::Refactor => "refactor",
            TaskKind::Test => "test",
            TaskKind::Docs => "docs",
            TaskKind::Question => "question",
            TaskKind::Chore => "chore",
        }
    }
    pub fn parse(text: &str) -> Option<TaskKind> {
        TaskKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Who filled a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Extracted by code.
    Code,
    /// Read by a model and grounded in the text.
    Model,
    /// Edited by the user.
    User,
}

/// Where a value of a field stands in the decoded text of the task file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldEvidence {
    /// The field's name as in the JSON of `starling parse` ("acceptance").
    pub field: String,
    pub value: String,
    /// `None` when the value is a summary and stands nowhere word by word.
    pub span: Option<Span>,
    pub source: Source,
}

/// What is asked. Lists keep the order of the file and hold no duplicates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    pub title: String,
    pub kind: TaskKind,
    pub goal: String,
    /// The open items that must hold when the task is done.
    pub acceptance: Vec<String>,
    /// Paths as the task writes them; `grounded_files` are those that exist.
    pub files: Vec<String>,
    pub symbols: Vec<String>,
    pub commands: Vec<String>,
    /// What must not be done or must stay as it is.
    pub constraints: Vec<String>,
    /// BCP 47 primary tag of the prose ("en", "ko"), "ko-en" when mixed, "und" when there is none.
    pub language: String,
    /// The file tries to instruct the assistant. Such text is shown, never followed, never copied into a field.
    pub injected_instructions: bool,
    /// The suspicious passages, for showing only.
    pub warnings: Vec<String>,
    pub evidence: Vec<FieldEvidence>,
    /// Files of the project that the task names or that define a symbol it names; empty before grounding.
    pub grounded_files: Vec<RelPath>,
    /// Symbols of the project that the task names, qualified, with their file.
    pub grounded_symbols: Vec<(RelPath, String)>,
    /// Stack frames of a trace in the file that lie in the project, innermost last.
    pub trace: Vec<TraceFrame>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFrame {
    pub path: String,
    pub line: Option<u32>,
    pub symbol: String,
}
