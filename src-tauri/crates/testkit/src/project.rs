//! A project in memory: its files, its map, its stage, and checks that a test decides by looking at the stage's bytes.

use starling_core::change::{ByteProof, ChangeSet, Hunk};
use starling_core::code::{Definition, FileEntry, Language, Outline, Reference, SearchHit};
use starling_core::port::{
    BuildReport, Cancel, CaseOutcome, CheckError, Checks, CodeMap, MapError, MutantResult, ScriptReport, TestCase,
    TestReport, TestRun, Toolchain, Workspace, WorkspaceError,
};
use starling_core::test_set::{Mutant, Runner};
use starling_core::{RelPath, TaskId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

type Files = BTreeMap<RelPath, Vec<u8>>;
type OutlineOf = fn(Language, &str) -> Outline;

/// The map of a tree in memory. `outline` is given, because this crate does not parse.
pub struct TreeMap {
    files: Files,
    outline: OutlineOf,
}

impl TreeMap {
    pub fn new(files: &[(&str, &str)], outline: OutlineOf) -> TreeMap {
        TreeMap { files: tree(files), outline }
    }
    fn lines(&self) -> impl Iterator<Item = (&RelPath, u32, String)> {
        self.files.iter().flat_map(|(path, bytes)| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.into_iter().enumerate().map(move |(at, line)| (path, at as u32 + 1, line))
        })
    }
}

fn tree(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| (crate::rel(path), text.as_bytes().to_vec())).collect()
}

impl CodeMap for TreeMap {
    fn files(&self) -> Result<Vec<FileEntry>, MapError> {
        let entry = |(path, bytes): (&RelPath, &Vec<u8>)| FileEntry {
            path: path.clone(),
            bytes: bytes.len() as u64,
            language: Language::of(path),
        };
        Ok(self.files.iter().map(entry).collect())
    }
    fn text(&self, path: &RelPath) -> Result<String, MapError> {
        let bytes = self
            .files
            .get(path)
            .ok_or_else(|| MapError::Read { path: path.to_string(), message: "absent".to_owned() })?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
    fn outline(&self, path: &RelPath) -> Result<Outline, MapError> {
        let text = self.text(path)?;
        let none = Outline { language: None, symbols: Vec::new(), imports: Vec::new(), errors: Vec::new() };
        Ok(Language::of(path).map_or(none, |language| (self.outline)(language, &text)))
    }
    fn definitions(&self, name: &str) -> Result<Vec<Definition>, MapError> {
        let wanted = name.replace("::", ".");
        let mut found = Vec::new();
        for path in self.files.keys() {
            for symbol in self.outline(path)?.symbols {
                if symbol.name == wanted || symbol.qualified == wanted {
                    found.push(Definition { path: path.clone(), symbol });
                }
            }
        }
        Ok(found)
    }
    fn references(&self, name: &str, limit: usize) -> Result<Vec<Reference>, MapError> {
        let hits = self.lines().filter(|(_, _, line)| words(line).any(|word| word == name));
        let hit = |(path, line, text): (&RelPath, u32, String)| Reference {
            path: path.clone(),
            line,
            text: text.trim().to_owned(),
            within: String::new(),
        };
        Ok(hits.map(hit).take(limit).collect())
    }
    fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, MapError> {
        let wanted: Vec<String> = words(query).map(str::to_lowercase).collect();
        let mut hits: Vec<SearchHit> = self
            .lines()
            .map(|(path, line, text)| {
                let score = words(&text).filter(|word| wanted.contains(&word.to_lowercase())).count() as f32;
                SearchHit { path: path.clone(), line, text, score }
            })
            .filter(|hit| hit.score > 0.0)
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(limit);
        Ok(hits)
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// One stage in memory.
#[derive(Default)]
pub struct TreeWorkspace {
    base: Files,
    kept: Mutex<Files>,
    now: Mutex<Files>,
}

impl TreeWorkspace {
    pub fn new(files: &[(&str, &str)]) -> TreeWorkspace {
        let files = tree(files);
        TreeWorkspace { base: files.clone(), kept: Mutex::new(files.clone()), now: Mutex::new(files) }
    }
    /// The stage as it is.
    pub fn files(&self) -> BTreeMap<RelPath, Vec<u8>> {
        self.now.lock().expect("no test panics with the lock").clone()
    }
}

impl Workspace for TreeWorkspace {
    fn stage(&self, _task: &TaskId) -> Result<(), WorkspaceError> {
        Ok(())
    }
    fn read(&self, _task: &TaskId, path: &RelPath) -> Result<Option<Vec<u8>>, WorkspaceError> {
        Ok(self.files().get(path).cloned())
    }
    fn base(&self, _task: &TaskId, path: &RelPath) -> Result<Option<Vec<u8>>, WorkspaceError> {
        Ok(self.base.get(path).cloned())
    }
    fn apply(&self, _task: &TaskId, change: &ChangeSet) -> Result<(), WorkspaceError> {
        let mut now = self.now.lock().expect("no test panics with the lock");
        let mut next = now.clone();
        for file in &change.files {
            let bytes = file.apply(now.get(&file.path).map(Vec::as_slice))?;
            next.insert(file.path.clone(), bytes);
        }
        *now = next;
        Ok(())
    }
    fn revert(&self, _task: &TaskId, change: &ChangeSet) -> Result<(), WorkspaceError> {
        let kept = self.kept.lock().expect("no test panics with the lock").clone();
        let mut now = self.now.lock().expect("no test panics with the lock");
        for file in &change.files {
            match kept.get(&file.path) {
                Some(bytes) => now.insert(file.path.clone(), bytes.clone()),
                None => now.remove(&file.path),
            };
        }
        Ok(())
    }
    fn keep(&self, _task: &TaskId, _message: &str) -> Result<(), WorkspaceError> {
        *self.kept.lock().expect("no test panics with the lock") = self.files();
        Ok(())
    }
    fn reset(&self, _task: &TaskId) -> Result<(), WorkspaceError> {
        let kept = self.kept.lock().expect("no test panics with the lock").clone();
        *self.now.lock().expect("no test panics with the lock") = kept;
        Ok(())
    }
    fn hunks(&self, _task: &TaskId) -> Result<Vec<Hunk>, WorkspaceError> {
        Ok(Vec::new())
    }
    fn diff(&self, _task: &TaskId) -> Result<String, WorkspaceError> {
        Ok(String::new())
    }
    fn land(&self, _task: &TaskId, _hunks: &[u32]) -> Result<ByteProof, WorkspaceError> {
        Ok(ByteProof { files: 0, outside_identical: true, encoding_kept: true })
    }
    fn close(&self, _task: &TaskId) -> Result<(), WorkspaceError> {
        Ok(())
    }
}

type Verdicts = Box<dyn Fn(&BTreeMap<RelPath, Vec<u8>>) -> Vec<(String, CaseOutcome)> + Send + Sync>;

/// Checks whose outcomes are a function of the stage's bytes.
pub struct ScriptedChecks {
    workspace: Arc<TreeWorkspace>,
    runner: Runner,
    verdicts: Verdicts,
}

impl ScriptedChecks {
    pub fn new(workspace: Arc<TreeWorkspace>, runner: Runner, verdicts: Verdicts) -> ScriptedChecks {
        ScriptedChecks { workspace, runner, verdicts }
    }
    fn report(&self, files: &BTreeMap<RelPath, Vec<u8>>, run: &TestRun) -> TestReport {
        let wanted = |name: &str| run.files.is_empty() || run.files.iter().any(|file| name.starts_with(file.as_str()));
        let cases: Vec<TestCase> = (self.verdicts)(files)
            .into_iter()
            .filter(|(name, _)| wanted(name))
            .map(|(name, outcome)| TestCase { name, outcome, message: format!("{outcome:?}") })
            .collect();
        let red = cases.iter().any(|case| case.outcome != CaseOutcome::Passed);
        TestReport { cases, exit: Some(i32::from(red)), broken: false, output: String::new(), millis: 1 }
    }
}

impl Checks for ScriptedChecks {
    fn toolchain(&self, _task: &TaskId) -> Result<Toolchain, CheckError> {
        Ok(Toolchain { runners: vec![self.runner], test_dir: "tests".to_owned(), sandbox: "scripted".to_owned() })
    }
    fn build(&self, _task: &TaskId, _runner: Runner, _cancel: &Cancel) -> Result<BuildReport, CheckError> {
        Ok(BuildReport { ok: true, output: String::new(), unknown_names: Vec::new(), millis: 1 })
    }
    fn test(&self, _task: &TaskId, run: &TestRun, _cancel: &Cancel) -> Result<TestReport, CheckError> {
        Ok(self.report(&self.workspace.files(), run))
    }
    fn mutate(
        &self,
        _task: &TaskId,
        mutants: &[Mutant],
        run: &TestRun,
        _cancel: &Cancel,
    ) -> Result<Vec<MutantResult>, CheckError> {
        let result = |mutant: &Mutant| {
            let mut files = self.workspace.files();
            if let Some(bytes) = files.get_mut(&mutant.path) {
                bytes.splice(mutant.span.start..mutant.span.end, mutant.replacement.bytes());
            }
            let report = self.report(&files, run);
            MutantResult { killed_by: report.failures().map(|case| case.name.clone()).collect(), invalid: false }
        };
        Ok(mutants.iter().map(result).collect())
    }
    fn script(
        &self,
        _task: &TaskId,
        _runner: Runner,
        _source: &str,
        _seconds: u32,
    ) -> Result<ScriptReport, CheckError> {
        Ok(ScriptReport { exit: Some(0), stdout: "[]\n".to_owned(), stderr: String::new() })
    }
}
