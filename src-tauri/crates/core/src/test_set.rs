//! A TestSet: unit tests, each judged alone, each with its proof.

use crate::code::Language;
use crate::ids::RelPath;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestSet {
    /// The file the kept tests are written to, and its whole text.
    pub path: RelPath,
    pub source: String,
    pub kept: Vec<KeptTest>,
    pub funnel: Funnel,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptTest {
    pub name: String,
    pub source: String,
    pub claim: TestClaim,
    pub proof: Vec<TestProof>,
}

/// What a kept test may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestClaim {
    /// Expected values were recorded by running the present code.
    Regression,
    /// Expected values come from the specification.
    Oracle,
}

/// Why a test counts: it can fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TestProof {
    /// It fails on the code before the change and passes after it.
    FailsBefore { message: String },
    /// It fails on this mutant of the target.
    KillsMutant { mutant: String, diff: String },
}

/// How many candidates are left after each gate; every field counts tests, not files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funnel {
    pub generated: u32,
    pub parsed: u32,
    pub symbols_ok: u32,
    pub built: u32,
    pub passed: u32,
    pub stable: u32,
    pub useful: u32,
}

/// A small change of the target that a good test notices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    pub path: RelPath,
    /// "compare:<->,<=@12"; stable for the same source.
    pub id: String,
    pub span: crate::code::Span,
    pub replacement: String,
    pub line: u32,
    /// A one-hunk unified diff without file headers.
    pub diff: String,
}

/// Which test runner a project uses, found by its manifest files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    Pytest,
    Unittest,
    CargoTest,
    /// The runner that node brings along (`node --test`).
    NodeTest,
    Vitest,
    Jest,
}

impl Runner {
    /// What its tests may be written in.
    pub fn languages(self) -> &'static [Language] {
        match self {
            Runner::Pytest | Runner::Unittest => &[Language::Python],
            Runner::CargoTest => &[Language::Rust],
            Runner::NodeTest => &[Language::JavaScript, Language::TypeScript],
            Runner::Vitest | Runner::Jest => &[Language::JavaScript, Language::TypeScript, Language::Tsx],
        }
    }
    pub fn as_str(self) -> &'static str {
        match self {
            Runner::Pytest => "pytest",
            Runner::Unittest => "unittest",
            Runner::CargoTest => "cargo_test",
            Runner::NodeTest => "node_test",
            Runner::Vitest => "vitest",
            Runner::Jest => "jest",
        }
    }
}
