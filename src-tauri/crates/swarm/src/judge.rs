//! Running tests on the stage: the project's own suite, and probes, each with its own outcome. What is put into the stage
//! for a run is taken out again, byte for byte.

use crate::desk::Desk;
use crate::error::SwarmError;
use crate::javascript;
use crate::placing::{import_line, python_module, rust_module};
use crate::probes::{Probe, render};
use starling_core::RelPath;
use starling_core::change::{ChangeSet, FileChange, FileEdit};
use starling_core::code::Language;
use starling_core::port::{CaseOutcome, Progress, TestReport, TestRun};
use starling_core::test_set::Runner;

/// Seconds for one run of the whole suite.
const SUITE_SECONDS: u32 = 180;
/// Seconds for one run of a probe file.
const PROBE_SECONDS: u32 = 60;

/// Where and how the probes of a step are run.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    pub runner: Runner,
    pub language: Language,
    /// A path that is free in the project.
    pub probe_path: RelPath,
    /// The line that imports the targets.
    pub import: String,
    /// What the tests are about, for the name of a test class.
    pub title: String,
}

/// How one probe ended, and what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProbeResult {
    pub outcome: CaseOutcome,
    pub message: String,
}

impl ProbeResult {
    pub fn passed(&self) -> bool {
        self.outcome == CaseOutcome::Passed
    }
}

impl Bench {
    /// The import line for targets in `path`, for the test file `test`; the package name of a Rust project is read from its
    /// manifest, the kind of modules of a JavaScript project from the target.
    pub fn import_for(
        desk: &Desk<'_>,
        runner: Runner,
        test: &RelPath,
        path: &RelPath,
        symbols: &[String],
    ) -> Result<String, SwarmError> {
        let Some(language) = Language::of(path) else { return Ok(String::new()) };
        let module = match language {
            Language::Python => python_module(path),
            Language::Rust => match rust_module(&package_name(desk)?, path) {
                Some(module) => module,
                None => return Ok(String::new()),
            },
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                let bytes = desk.ports.workspace.read(&desk.task, path)?.unwrap_or_default();
                let source = String::from_utf8_lossy(&bytes);
                return Ok(javascript::import_line(runner, test, path, &source, symbols));
            }
            Language::Go | Language::Java | Language::C | Language::Cpp => return Ok(String::new()),
        };
        Ok(import_line(language, &module, symbols))
    }

    /// The lines a test file begins with, as a model is shown them.
    pub fn opening(&self) -> String {
        if javascript::is(self.language) {
            javascript::head(self.runner, &self.import).trim_end().to_owned()
        } else {
            self.import.clone()
        }
    }

    pub fn file_text(&self, probes: &[Probe]) -> String {
        render(self.runner, &self.import, &self.title, probes)
    }

    pub fn file_change(&self, probes: &[Probe]) -> ChangeSet {
        let edit = FileEdit::Create { bytes: self.file_text(probes).into_bytes() };
        ChangeSet { files: vec![FileChange { path: self.probe_path.clone(), edit }] }
    }

    /// The project's whole suite on the stage as it is.
    pub fn suite(&self, desk: &Desk<'_>) -> Result<TestReport, SwarmError> {
        desk.progress(&Progress::Running { what: "the project's tests".to_owned() });
        let run = TestRun { runner: self.runner, files: Vec::new(), names: Vec::new(), timeout_seconds: SUITE_SECONDS };
        Ok(desk.ports.checks.test(&desk.task, &run, desk.cancel)?)
    }

    /// Each probe's outcome on the stage as it is. When the file as a whole does not get as far as running (one test that
    /// does not compile is enough), the halves are run apart, down to single tests.
    pub fn probes(&self, desk: &Desk<'_>, probes: &[Probe]) -> Result<Vec<ProbeResult>, SwarmError> {
        if probes.is_empty() {
            return Ok(Vec::new());
        }
        let report = self.run_file(desk, probes)?;
        let found: Vec<Option<ProbeResult>> = probes.iter().map(|probe| result_of(&report, &probe.name)).collect();
        if !report.broken && found.iter().all(Option::is_some) {
            return Ok(found.into_iter().flatten().collect());
        }
        if let [_] = probes {
            let message = report.output.lines().take(12).collect::<Vec<_>>().join("\n");
            return Ok(vec![ProbeResult { outcome: CaseOutcome::Errored, message }]);
        }
        let (first, second) = probes.split_at(probes.len() / 2);
        let mut results = self.probes(desk, first)?;
        results.extend(self.probes(desk, second)?);
        Ok(results)
    }

    fn run_file(&self, desk: &Desk<'_>, probes: &[Probe]) -> Result<TestReport, SwarmError> {
        let change = self.file_change(probes);
        desk.ports.workspace.apply(&desk.task, &change)?;
        let files = vec![self.probe_path.clone()];
        let run = TestRun { runner: self.runner, files, names: Vec::new(), timeout_seconds: PROBE_SECONDS };
        desk.progress(&Progress::Running { what: format!("{} tests", probes.len()) });
        let report = desk.ports.checks.test(&desk.task, &run, desk.cancel);
        desk.ports.workspace.revert(&desk.task, &change)?;
        Ok(report?)
    }
}

/// The outcome of the test with this function name, whatever the runner puts before it.
pub(crate) fn result_of(report: &TestReport, name: &str) -> Option<ProbeResult> {
    let case = report.cases.iter().find(|case| last_part(&case.name) == name)?;
    Some(ProbeResult { outcome: case.outcome, message: case.message.clone() })
}

/// "tests/test_a.py::test_b" and "tests.test_a.ATest.test_b" and "a::tests::test_b" are all "test_b".
pub(crate) fn last_part(name: &str) -> &str {
    // Names of JavaScript are free text: "test/a.test.js::outer::adds 1.5 [m]".
    if let Some((file, inner)) = name.split_once("::")
        && RelPath::new(file).is_ok_and(|file| Language::of(&file).is_some_and(javascript::is))
    {
        return inner.rsplit("::").next().unwrap_or(inner);
    }
    let name = name.split('[').next().unwrap_or(name);
    name.rsplit([':', '.', ' ']).next().unwrap_or(name)
}

/// Tests that passed before and do not pass now.
pub(crate) fn regressions(before: &TestReport, after: &TestReport) -> Vec<String> {
    let passed = before.cases.iter().filter(|case| case.outcome == CaseOutcome::Passed);
    let now = |name: &str| after.outcome(name);
    passed.filter(|case| now(&case.name) != Some(CaseOutcome::Passed)).map(|case| case.name.clone()).collect()
}

/// Tests that failed before and pass now.
pub(crate) fn repaired(before: &TestReport, after: &TestReport) -> Vec<String> {
    let fixed = before.failures().filter(|case| after.outcome(&case.name) == Some(CaseOutcome::Passed));
    fixed.map(|case| case.name.clone()).collect()
}

/// `name = "..."` of the `[package]` table.
fn package_name(desk: &Desk<'_>) -> Result<String, SwarmError> {
    let manifest = RelPath::new("Cargo.toml").map_err(|e| SwarmError::NotFound { what: e.to_string() })?;
    let text = desk.ports.workspace.read(&desk.task, &manifest)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let table = text.split("[package]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or("");
    let name = table.lines().find_map(|line| line.trim().strip_prefix("name")?.trim().strip_prefix('='));
    Ok(name.map(|name| name.trim().trim_matches(['"', '\'']).to_owned()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_a_test_by_its_last_name() {
        assert_eq!(last_part("tests/test_a.py::test_b[1.5]"), "test_b");
        assert_eq!(last_part("tests.test_a.ATest.test_b"), "test_b");
        assert_eq!(last_part("a::tests::adds"), "adds");
        assert_eq!(last_part("test/a.test.mjs::outer::adds 1.5: [m]"), "adds 1.5: [m]");
    }
}
