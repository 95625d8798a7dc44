//! The ports: what the core needs from the world, as object-safe, synchronous traits over plain values. Each has a real
//! and a test implementation (testkit). They name operations; no handle, path of the machine or connection leaks through.
//!
//! Longer than 400 lines because the ports are read together: whoever implements one needs the values of the others.

use crate::change::{ByteProof, ChangeSet, Hunk};
use crate::code::{Definition, FileEntry, Outline, Reference, SearchHit};
use crate::ids::{ModelName, RelPath, Role, TaskId};
use crate::receipt::{EgressEntry, Usage};
use crate::review::Place;
use crate::state::TaskEvent;
use crate::test_set::{Mutant, Runner};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by everything that works on one task; once cancelled it stays cancelled.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn new() -> Cancel {
        Cancel::default()
    }
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

// ---- Model -----------------------------------------------------------------------------------------------------------

/// What a model can do and cost; data on the binding, so that no code asks for a family by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCard {
    pub name: ModelName,
    pub place: Place,
    /// Tokens of prompt and answer together.
    pub context: u32,
    /// The output can be bound to a JSON schema while decoding.
    pub schema: bool,
    /// Billions of parameters times 1,000 (1,500 for 1.5B); 0 when unknown. Decides resample or repair.
    pub millions: u32,
    /// Microdollars per million tokens, input and output; `None` when local or unknown.
    pub price: Option<(u64, u64)>,
}

/// What a model is asked. The system text and the start of `user` should stay the same between calls, so that a prefix
/// can be reused: what changes stands last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub system: String,
    pub user: String,
    /// The beginning of the answer, put into the model's mouth ("```python\n"). It is part of the completion's text.
    pub answer_start: String,
}

/// The form an answer must have.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Text,
    /// A JSON schema (draft 2020-12). The completion is one JSON value of that schema.
    Json(serde_json::Value),
}

#[derive(Clone, Debug, PartialEq)]
pub struct SampleRequest {
    pub prompt: Prompt,
    pub shape: Shape,
    /// How many completions; they share one evaluation of the prompt.
    pub n: u32,
    pub max_tokens: u32,
    /// 0 means greedy for candidate 0. With `n > 1` and `greedy_first`, candidate 0 is greedy and the others sample.
    pub temperature: f32,
    pub greedy_first: bool,
    pub top_p: f32,
    pub top_k: u32,
    /// Candidate i draws from seed + i, so runs can be repeated.
    pub seed: u64,
    /// A person waits for the answer: it goes before what nobody waits for.
    pub urgent: bool,
    /// The completion ends before the first of these.
    pub stop: Vec<String>,
}

impl SampleRequest {
    /// `n` completions of which the first is greedy, from the usual part of the distribution, to their natural end.
    pub fn new(prompt: Prompt, shape: Shape, n: u32, max_tokens: u32, temperature: f32, seed: u64) -> SampleRequest {
        SampleRequest {
            prompt,
            shape,
            n,
            max_tokens,
            temperature,
            greedy_first: true,
            top_p: 0.95,
            top_k: 40,
            seed,
            urgent: false,
            stop: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended, or a stop text was reached.
    Stop,
    /// `max_tokens` was reached: the artefact may be incomplete.
    Length,
    /// The caller wanted no more.
    Cancelled,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub candidate: u32,
    pub text: String,
    pub finish: FinishReason,
    pub output_tokens: u32,
}

/// Told to the caller while a request runs.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleEvent<'a> {
    /// Whole UTF-8 text that candidate `candidate` just grew by.
    Text { candidate: u32, text: &'a str },
    /// A candidate ended. The others go on while the caller judges it.
    Done(&'a Completion),
}

/// The caller's answer to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Continue,
    /// No further candidate is needed: stop the rest at once.
    Stop,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// Every candidate that was begun, in the order of their numbers.
    pub completions: Vec<Completion>,
    pub usage: Usage,
    pub millis: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("the prompt has {need} tokens with room for the answer, but {model} holds {have}")]
    ContextTooLarge { model: ModelName, need: u32, have: u32 },
    #[error("the model {model} could not be loaded: {message}")]
    Load { model: ModelName, message: String },
    #[error("not enough memory for {model}: it needs {need_mb} MB and {have_mb} MB are free")]
    Memory { model: ModelName, need_mb: u64, have_mb: u64 },
    #[error("the answer's form cannot be enforced: {message}")]
    Shape { message: String },
    #[error("cancelled")]
    Cancelled,
    /// Provably not charged and not answered; the caller may fall back.
    #[error("{host} cannot be reached: {message}")]
    Unreachable { host: String, message: String },
    #[error("{host} refused the request ({status}): {message}")]
    Refused { host: String, status: u16, message: String },
    /// Sent, but the end of the answer is missing: it may have been charged, so it is never sent again by itself.
    #[error("the answer of {host} broke off: {message}")]
    Unknown { host: String, message: String },
    /// The network gate forbids it (offline, not shown, over budget).
    #[error("not sent: {reason}")]
    NotAllowed { reason: String },
    #[error("inference failed: {message}")]
    Engine { message: String },
}

/// A model, wherever it runs: in-process, in a shielded worker, or behind an endpoint.
pub trait Model: Send + Sync {
    fn card(&self) -> ModelCard;

    /// Tokens of `text` without special tokens; an estimate for endpoints.
    fn count_tokens(&self, text: &str) -> Result<u32, ModelError>;

    /// Blocks until every candidate ended or the caller said [`Flow::Stop`]. `on_event` runs on the caller's thread; a
    /// local model goes on decoding meanwhile. Cancelling stops within a second.
    fn sample(
        &self,
        request: &SampleRequest,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(SampleEvent<'_>) -> Flow,
    ) -> Result<Sampled, ModelError>;
}

/// Which model a role is bound to; asked at every step, so a binding can change in mid-task.
pub trait Models: Send + Sync {
    fn bound(&self, role: Role) -> Result<Arc<dyn Model>, ModelError>;
}

// ---- CodeMap ---------------------------------------------------------------------------------------------------------

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    #[error("{path} cannot be read: {message}")]
    Read { path: String, message: String },
    #[error("the index cannot be used: {message}")]
    Index { message: String },
}

/// What is where in the project, as of the user's tree when the task began plus what the watcher saw since.
pub trait CodeMap: Send + Sync {
    /// All files that are not ignored, by path.
    fn files(&self) -> Result<Vec<FileEntry>, MapError>;
    /// The text of a file of the user's tree; lossy for what is not UTF-8.
    fn text(&self, path: &RelPath) -> Result<String, MapError>;
    fn outline(&self, path: &RelPath) -> Result<Outline, MapError>;
    /// Definitions by last part or by qualified name ("add", "Cart.add", "cart::add").
    fn definitions(&self, name: &str) -> Result<Vec<Definition>, MapError>;
    /// Uses of a name outside its definition, at most `limit`.
    fn references(&self, name: &str, limit: usize) -> Result<Vec<Reference>, MapError>;
    /// Ranked lines for free text: identifiers, words, phrases.
    fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, MapError>;
}

// ---- Workspace -------------------------------------------------------------------------------------------------------

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkspaceError {
    #[error("{path} may not be touched: {reason}")]
    Refused { path: String, reason: String },
    #[error("the change does not fit: {0}")]
    Apply(#[from] crate::change::ApplyError),
    #[error("{path} changed since the task began; nothing was written")]
    NotClean { path: String },
    #[error("git: {message}")]
    Git { message: String },
    #[error("{what}: {message}")]
    Io { what: String, message: String },
}

/// The place where a task works: a git worktree of the project, or a copy where there is no git. The user's tree is only
/// written by `land`.
pub trait Workspace: Send + Sync {
    /// Makes the stage of a task, or finds it again after a restart.
    fn stage(&self, task: &TaskId) -> Result<(), WorkspaceError>;
    /// The bytes of a file in the stage, `None` if it does not exist.
    fn read(&self, task: &TaskId, path: &RelPath) -> Result<Option<Vec<u8>>, WorkspaceError>;
    /// The bytes of a file as the task found them.
    fn base(&self, task: &TaskId, path: &RelPath) -> Result<Option<Vec<u8>>, WorkspaceError>;
    /// Writes a change into the stage: all of it or nothing.
    fn apply(&self, task: &TaskId, change: &ChangeSet) -> Result<(), WorkspaceError>;
    /// Takes a change back; the files are byte for byte as before `apply`.
    fn revert(&self, task: &TaskId, change: &ChangeSet) -> Result<(), WorkspaceError>;
    /// Makes what is in the stage now the point to which `reset` returns.
    fn keep(&self, task: &TaskId, message: &str) -> Result<(), WorkspaceError>;
    /// Back to the last `keep` (or to the base).
    fn reset(&self, task: &TaskId) -> Result<(), WorkspaceError>;
    /// Everything that was kept since the base, hunk by hunk.
    fn hunks(&self, task: &TaskId) -> Result<Vec<Hunk>, WorkspaceError>;
    /// The same as one unified diff.
    fn diff(&self, task: &TaskId) -> Result<String, WorkspaceError>;
    /// Writes the named hunks into the user's tree, if every file is still as the task found it; else writes nothing.
    fn land(&self, task: &TaskId, hunks: &[u32]) -> Result<ByteProof, WorkspaceError>;
    /// Saves what is in the stage under a rescue ref and removes the stage.
    fn close(&self, task: &TaskId) -> Result<(), WorkspaceError>;
}

// ---- Checks ----------------------------------------------------------------------------------------------------------

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// Nothing was executed.
    #[error("not run: {why}")]
    NotRun { why: String },
    #[error("cancelled")]
    Cancelled,
    #[error("{what}: {message}")]
    Io { what: String, message: String },
}

/// What the runners of a project are and what is trusted to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// In order of preference; empty when nothing was recognised.
    pub runners: Vec<Runner>,
    /// Where the project's tests lie ("tests"), relative, "" at the root.
    pub test_dir: String,
    /// The sandbox that commands run in ("bubblewrap 0.8.0"), or why none does.
    pub sandbox: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRun {
    pub runner: Runner,
    /// Only these files or folders; all when empty.
    pub files: Vec<RelPath>,
    /// Only these tests, by the names of [`TestCase::name`]; all when empty.
    pub names: Vec<String>,
    pub timeout_seconds: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseOutcome {
    Passed,
    /// An assertion failed.
    Failed,
    /// It broke before it could assert (import error, panic outside an assertion, collection error).
    Errored,
    Skipped,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCase {
    /// As the runner's report writes it ("tests/test_cart.py::test_add", "cart::tests::adds").
    pub name: String,
    pub outcome: CaseOutcome,
    /// The assertion or error, at most 2,000 characters, cleaned.
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    pub cases: Vec<TestCase>,
    /// The process's own exit code; `None` if it was killed (time, memory).
    pub exit: Option<i32>,
    /// It did not get as far as running tests (does not compile, cannot be collected).
    pub broken: bool,
    /// The last 8 KB of what it printed, cleaned.
    pub output: String,
    pub millis: u64,
}

impl TestReport {
    /// At least one test ran and none failed; the exit code agrees.
    pub fn green(&self) -> bool {
        self.exit == Some(0)
            && !self.broken
            && self.cases.iter().any(|case| case.outcome == CaseOutcome::Passed)
            && self.failures().next().is_none()
    }
    pub fn failures(&self) -> impl Iterator<Item = &TestCase> {
        self.cases.iter().filter(|case| matches!(case.outcome, CaseOutcome::Failed | CaseOutcome::Errored))
    }
    pub fn outcome(&self, name: &str) -> Option<CaseOutcome> {
        self.cases.iter().find(|case| case.name == name).map(|case| case.outcome)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildReport {
    pub ok: bool,
    /// Errors first, at most 8 KB, cleaned.
    pub output: String,
    /// Names the compiler says do not exist.
    pub unknown_names: Vec<String>,
    pub millis: u64,
}

/// Runs what the user trusts, in a sandbox without network, on the stage of a task. Fails closed.
pub trait Checks: Send + Sync {
    fn toolchain(&self, task: &TaskId) -> Result<Toolchain, CheckError>;
    /// Compiles the stage without running tests (`cargo check --tests`, byte-compilation).
    fn build(&self, task: &TaskId, runner: Runner, cancel: &Cancel) -> Result<BuildReport, CheckError>;
    fn test(&self, task: &TaskId, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError>;
    /// Runs `run` once for each mutant on a scratch copy of the stage, several at a time, and says which tests failed.
    /// The stage itself is not changed. Order as given.
    fn mutate(
        &self,
        task: &TaskId,
        mutants: &[Mutant],
        run: &TestRun,
        cancel: &Cancel,
    ) -> Result<Vec<MutantResult>, CheckError>;
    /// Runs a small script with the runner's interpreter in the stage (recording outputs); standard output, at most 1 MB.
    fn script(
        &self,
        task: &TaskId,
        runner: Runner,
        source: &str,
        timeout_seconds: u32,
    ) -> Result<ScriptReport, CheckError>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutantResult {
    /// The tests that failed on it; empty when it survived.
    pub killed_by: Vec<String>,
    /// It did not build, hung or broke the collection: it proves nothing.
    pub invalid: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptReport {
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

// ---- Reviewer, Journal, Clock, Events ----------------------------------------------------------------------------------

/// The cloud side of the final review: sends exactly the bytes that were shown.
pub trait CloudReviewer: Send + Sync {
    fn card(&self) -> ModelCard;
    fn host(&self) -> String;
    /// The exact body of the request for a packet's text; the same input gives the same bytes.
    fn body(&self, system: &str, packet: &str) -> Result<Vec<u8>, ModelError>;
    /// The most that sending `body` can take; what is shown before is what the ledger is told.
    fn bound(&self, body: &[u8]) -> CloudBound;
    /// Sends `body` once and returns the text of the answer. `ledger` is told before the first byte and after the end.
    fn send(
        &self,
        body: &[u8],
        cancel: &Cancel,
        ledger: &dyn Ledger,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<CloudAnswer, ModelError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloudBound {
    pub input_tokens: u32,
    pub max_output_tokens: u32,
    /// Microdollars; `None` when the price is unknown.
    pub worst_case_micro_usd: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudAnswer {
    pub text: String,
    pub usage: Usage,
    pub cost_micro_usd: Option<u64>,
    pub millis: u64,
}

/// Everything that ever left the machine is written here, before it leaves.
pub trait Ledger: Send + Sync {
    fn sending(&self, entry: &EgressEntry) -> Result<(), JournalError>;
    fn settled(&self, entry: &EgressEntry) -> Result<(), JournalError>;
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    #[error("the journal cannot be written: {message}")]
    Write { message: String },
    #[error("the journal cannot be read: {message}")]
    Read { message: String },
    #[error("the journal was written by a newer version ({found}, this one knows {known})")]
    Newer { found: i64, known: i64 },
}

/// The append-only truth. What `append` acknowledged survives a kill at any moment.
pub trait Journal: Send + Sync {
    /// Appends all events or none.
    fn append(&self, task: &TaskId, events: &[TaskEvent]) -> Result<(), JournalError>;
    /// All events of a task, oldest first.
    fn events(&self, task: &TaskId) -> Result<Vec<TaskEvent>, JournalError>;
    /// Ids of all tasks, newest first.
    fn tasks(&self) -> Result<Vec<TaskId>, JournalError>;
}

pub trait Clock: Send + Sync {
    /// Milliseconds since 1970, for people.
    fn now(&self) -> u64;
    /// Milliseconds since some fixed moment, never backwards, for durations.
    fn monotonic(&self) -> u64;
}

/// What is shown while it happens and need not survive: token streams, counters. Facts go to the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Progress {
    /// A role began to work with a model.
    RoleStarted { role: Role, model: ModelName, candidates: u32 },
    /// Text of a candidate grew; joined to at most 20 messages a second by the receiver.
    Text { role: Role, candidate: u32, text: String },
    /// Tokens per second over all live candidates, and how many live.
    Speed { role: Role, tokens_per_second: f32, live: u32 },
    /// A command runs in the sandbox.
    Running { what: String },
}

pub trait Events: Send + Sync {
    /// A fact, after it was journalled.
    fn fact(&self, task: &TaskId, event: &TaskEvent);
    fn progress(&self, task: &TaskId, progress: &Progress);
}
