//! The way of a task with a scripted model and checks that look at the stage's bytes: which facts are written, in which
//! order, and what happens after a kill.

mod javascript;

use crate::{Policy, Ports, SendPolicy, decide_packet, decide_plan, discard, drive, submit};
use starling_core::TaskId;
use starling_core::port::{
    Cancel, CaseOutcome, CloudAnswer, CloudBound, CloudReviewer, Journal, Ledger, ModelCard, ModelError,
};
use starling_core::receipt::{EgressEntry, Usage};
use starling_core::review::{Place, VerdictKind};
use starling_core::state::{Outcome, Stage, TaskEvent, TaskState};
use starling_core::task_file::TaskFile;
use starling_core::test_set::Runner;
use starling_core::{Fingerprint, ModelName};
use starling_testkit::{
    MemoryJournal, OneModel, RecordedEvents, ScriptedChecks, ScriptedModel, StepClock, TreeMap, TreeWorkspace,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const CODE: &str = "def double(n):\n    return n + n + 1\n\n\ndef half(n):\n    return n // 2\n";
const TASK: &str = "# `double` is wrong\n\nIn `m.py`: `double(2)` returns `5`.\n\n## Expected\n\n- `double(2)` returns `4`\n- `double(0)` returns `0`\n";
const PLAN: &str = r#"{"steps":[{"goal":"Make double right","file":"m.py","symbols":["double"],"new_symbols":[]}]}"#;
const FIX: &str = "```python\ndef double(n):\n    return n * 2\n```";
const VERDICT: &str = r#"{"findings":[],"verdict":"approve","summary":"it doubles"}"#;

struct Scene {
    ports: Ports,
    journal: Arc<MemoryJournal>,
    workspace: Arc<TreeWorkspace>,
    model: Arc<ScriptedModel>,
    task: TaskId,
}

/// Every `def test_...` of a test file passes when the code doubles right; `test_half` of the project always does.
fn verdicts(files: &BTreeMap<starling_core::RelPath, Vec<u8>>) -> Vec<(String, CaseOutcome)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = files.iter().find(|(path, _)| path.as_str() == "m.py").map(|(_, bytes)| text(bytes)).unwrap_or_default();
    let right = code.contains("n * 2") || code.contains("return n + n\n");
    let mut cases = vec![("tests/test_half.py::test_half".to_owned(), CaseOutcome::Passed)];
    for (path, bytes) in
        files.iter().filter(|(path, _)| path.as_str().starts_with("tests/") && path.file_name() != "test_half.py")
    {
        for line in text(bytes).lines().filter_map(|line| line.trim().strip_prefix("def ").map(str::to_owned)) {
            let name = line.split('(').next().unwrap_or("").to_owned();
            cases.push((format!("{path}::{name}"), if right { CaseOutcome::Passed } else { CaseOutcome::Failed }));
        }
    }
    cases
}

fn scene(model: ScriptedModel, cloud: Option<Arc<dyn CloudReviewer>>) -> Scene {
    let files = [("m.py", CODE), ("tests/test_half.py", "def test_half():\n    pass\n")];
    project(&files, TASK, Runner::Pytest, verdicts, model, cloud)
}

type Verdicts = fn(&BTreeMap<starling_core::RelPath, Vec<u8>>) -> Vec<(String, CaseOutcome)>;

fn project(
    files: &[(&str, &str)],
    task: &str,
    runner: Runner,
    verdicts: Verdicts,
    model: ScriptedModel,
    cloud: Option<Arc<dyn CloudReviewer>>,
) -> Scene {
    let workspace = Arc::new(TreeWorkspace::new(files));
    let journal = Arc::new(MemoryJournal::default());
    let model = Arc::new(model);
    let ports = Ports {
        models: Arc::new(OneModel(model.clone())),
        map: Arc::new(TreeMap::new(files, starling_syntax::outline)),
        workspace: workspace.clone(),
        checks: Arc::new(ScriptedChecks::new(workspace.clone(), runner, Box::new(verdicts))),
        cloud,
        journal: journal.clone(),
        ledger: journal.clone(),
        clock: Arc::new(StepClock::default()),
        events: Arc::new(RecordedEvents::default()),
    };
    let file = TaskFile::decode("task.md", task.as_bytes()).expect("small enough");
    let task = TaskId::new("t1");
    submit(&ports, &task, file, "/project").expect("written");
    Scene { ports, journal, workspace, model, task }
}

fn script() -> ScriptedModel {
    ScriptedModel::new().answer("You plan", &[PLAN]).answer("You change code", &[FIX]).answer("You review", &[VERDICT])
}

fn policy(send: SendPolicy) -> Policy {
    Policy { auto_approve: true, send, ..Policy::default() }
}

impl Scene {
    fn drive(&self, policy: &Policy) -> TaskState {
        drive(&self.ports, &self.task, policy, &Cancel::new()).expect("it works")
    }
    fn kinds(&self) -> Vec<String> {
        let kind = |event: &TaskEvent| match event {
            TaskEvent::Gated { result, .. } => {
                format!("{} {}", result.gate.as_str(), if result.passed() { "+" } else { "-" })
            }
            other => serde_json::to_value(other).expect("it serialises")["kind"].as_str().unwrap_or("").to_owned(),
        };
        self.journal.events(&self.task).expect("read").iter().map(kind).collect()
    }
}

#[test]
fn a_small_fault_needs_no_sample_because_an_edit_repairs_it() {
    let scene = scene(script(), None);
    let state = scene.drive(&policy(SendPolicy::Never));
    assert_eq!(state.outcome(), Some(Outcome::Ready), "{:?}", scene.kinds());
    let asked: Vec<String> =
        scene.model.requests().iter().map(|r| r.prompt.system.chars().take(12).collect()).collect();
    assert_eq!(asked, ["You plan sma", "You review a"], "the Executor's model was not needed");
    let files = scene.workspace.files();
    let code = files.iter().find(|(path, _)| path.as_str() == "m.py").expect("there");
    assert!(
        verdicts(&files).iter().all(|(_, outcome)| *outcome == CaseOutcome::Passed),
        "{}",
        String::from_utf8_lossy(code.1)
    );
}

#[test]
fn facts_come_in_the_order_of_the_way() {
    let scene = scene(script(), None);
    scene.drive(&policy(SendPolicy::Never));
    let mut kinds = scene.kinds();
    kinds.dedup();
    let way: Vec<&str> = kinds.iter().map(String::as_str).filter(|kind| !kind.ends_with(['+', '-'])).collect();
    assert_eq!(
        way,
        [
            "submitted",
            "briefed",
            "called",
            "planned",
            "plan_approved",
            "step_started",
            "step_solved",
            "step_started",
            "tests_kept",
            "packet_built",
            "packet_decided",
            "called",
            "reviewed",
            "finished"
        ]
    );
    let gates: Vec<&str> = kinds.iter().map(String::as_str).filter(|kind| kind.ends_with('+')).collect();
    assert_eq!(gates, ["form +", "parses +", "symbols +", "builds +", "tests +", "stable +", "useful +"]);
}

#[test]
fn a_kill_after_any_fact_loses_nothing_and_the_task_ends_the_same() {
    let whole = scene(script(), None);
    let end = whole.drive(&policy(SendPolicy::Never));
    let facts = whole.journal.events(&whole.task).expect("read");
    for cut in 1..facts.len() {
        let again = scene(script(), None);
        again.journal.append(&again.task, &facts[1..cut]).expect("written");
        let state = again.drive(&policy(SendPolicy::Never));
        assert_eq!(state.stage(), Stage::Decide, "cut after {cut} facts: {:?}", again.kinds());
        assert_eq!(state.outcome(), end.outcome(), "cut after {cut} facts");
        assert_eq!(again.workspace.files(), whole.workspace.files(), "cut after {cut} facts");
    }
}

#[test]
fn a_full_disk_stops_the_work_and_says_so() {
    let scene = scene(script(), None);
    scene.journal.fail_after(2);
    let error = drive(&scene.ports, &scene.task, &policy(SendPolicy::Never), &Cancel::new()).expect_err("it stops");
    assert!(error.to_string().contains("disk full"), "{error}");
}

#[test]
fn a_person_decides_on_plan_and_packet() {
    let scene = scene(script(), Some(Arc::new(Cloud::default())));
    let ask = Policy { send: SendPolicy::Ask, ..Policy::default() };
    let state = scene.drive(&ask);
    assert_eq!(state.stage(), Stage::ApprovePlan);
    assert!(decide_packet(&scene.ports, &scene.task, true).is_err(), "there is no packet yet");
    decide_plan(&scene.ports, &scene.task, state.plan).expect("approved");
    let state = scene.drive(&ask);
    assert_eq!(state.stage(), Stage::DecidePacket);
    assert!(scene.journal.ledger().is_empty(), "nothing left before it was allowed");
    decide_packet(&scene.ports, &scene.task, false).expect("kept");
    let verdict = scene.drive(&ask).verdict.expect("a verdict");
    assert_eq!(verdict.reviewer.place, Place::Local);
    discard(&scene.ports, &scene.task).expect("given up");
    assert_eq!(scene.drive(&ask).stage(), Stage::Discarded);
}

#[test]
fn exactly_the_shown_body_leaves_once() {
    let cloud = Arc::new(Cloud::default());
    let scene = scene(script(), Some(cloud.clone()));
    let state = scene.drive(&policy(SendPolicy::Always));
    let verdict = state.verdict.clone().expect("a verdict");
    assert_eq!((verdict.reviewer.place, verdict.kind), (Place::Cloud, VerdictKind::Approve));
    assert_eq!(cloud.sent.load(Ordering::Relaxed), 1);
    let shown = state.packet.as_ref().and_then(|p| p.body()).expect("it was shown");
    assert_eq!(scene.journal.ledger().last().map(|e| e.body.clone()), Some(shown.sha256.clone()));
    assert_eq!(verdict.packet, shown.sha256);
    assert_eq!(state.egress.len(), 1, "sending and its end are one entry");
    // A restart after the sending does not send again.
    let facts = scene.journal.events(&scene.task).expect("read");
    let cut = facts.iter().position(|e| matches!(e, TaskEvent::Reviewed { .. })).expect("reviewed");
    let again = super::tests::scene(script(), Some(cloud.clone()));
    again.journal.append(&again.task, &facts[1..cut]).expect("written");
    let state = again.drive(&policy(SendPolicy::Always));
    assert_eq!(cloud.sent.load(Ordering::Relaxed), 1);
    let reviewer = state.verdict.expect("a verdict").reviewer;
    assert!(reviewer.place == Place::Local && reviewer.fallback.contains("may have been charged"), "{reviewer:?}");
}

#[test]
fn a_kill_while_sending_does_not_send_twice() {
    let cloud = Arc::new(Cloud { dies: true, ..Cloud::default() });
    let scene = scene(script(), Some(cloud.clone()));
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scene.drive(&policy(SendPolicy::Always))));
    assert!(killed.is_err(), "it died while the answer came");
    let facts = scene.journal.events(&scene.task).expect("read");
    assert!(matches!(facts.last(), Some(TaskEvent::Egress { .. })), "{:?}", scene.kinds());
    let state = scene.drive(&policy(SendPolicy::Always));
    assert_eq!(cloud.sent.load(Ordering::Relaxed), 1);
    let reviewer = state.verdict.expect("a verdict").reviewer;
    assert!(reviewer.place == Place::Local && reviewer.fallback.contains("may have been charged"), "{reviewer:?}");
}

#[test]
fn without_the_cloud_the_review_is_local_and_says_why() {
    let down = Arc::new(Cloud { down: true, ..Cloud::default() });
    let scene = scene(script(), Some(down));
    let state = scene.drive(&policy(SendPolicy::Always));
    let reviewer = state.verdict.clone().expect("a verdict").reviewer;
    assert_eq!(reviewer.place, Place::Local);
    assert!(reviewer.fallback.contains("cannot be reached"), "{reviewer:?}");
    assert_eq!(state.outcome(), Some(Outcome::Ready));
}

#[test]
fn offline_means_that_the_cloud_is_not_even_asked() {
    let cloud = Arc::new(Cloud::default());
    let scene = scene(script(), Some(cloud.clone()));
    let offline = Policy { offline: true, ..policy(SendPolicy::Always) };
    let state = scene.drive(&offline);
    assert_eq!(cloud.sent.load(Ordering::Relaxed), 0);
    assert_eq!(state.packet.as_ref().and_then(|p| p.body()), None);
    assert_eq!(state.verdict.map(|v| v.reviewer.fallback), Some("offline".to_owned()));
}

#[test]
fn what_may_cost_more_than_a_task_may_does_not_leave() {
    let check = |limit: u64, worst_case: Option<u64>, sent: u32| {
        let cloud = Arc::new(Cloud { worst_case, ..Cloud::default() });
        let scene = scene(script(), Some(cloud.clone()));
        let state = scene.drive(&Policy { task_micro_usd: limit, ..policy(SendPolicy::Always) });
        assert_eq!(cloud.sent.load(Ordering::Relaxed), sent, "{limit} {worst_case:?}");
        let reviewer = state.verdict.expect("a verdict").reviewer;
        assert_eq!(reviewer.fallback.contains("a task"), sent == 0, "{reviewer:?}");
    };
    check(0, Some(5_000), 1);
    check(0, None, 1);
    check(5_000, Some(5_000), 1);
    check(4_999, Some(5_000), 0);
    check(5_000, None, 0);
}

#[test]
fn a_step_that_nothing_solves_ends_the_task_without_a_change() {
    let hopeless = "```python\ndef double(n):\n    return nonsense(n)\n```";
    let model = ScriptedModel::new()
        .answer("You plan", &[PLAN])
        .answer("You change code", &[hopeless])
        .answer("You change code", &[hopeless])
        .answer("You change code", &[hopeless]);
    let mut scene = scene(model, None);
    let never = |_: &BTreeMap<starling_core::RelPath, Vec<u8>>| {
        vec![("tests/test_half.py::test_half".to_owned(), CaseOutcome::Passed)]
    };
    scene.ports.checks = Arc::new(ScriptedChecks::new(scene.workspace.clone(), Runner::Pytest, Box::new(never)));
    let state = scene.drive(&policy(SendPolicy::Never));
    assert_eq!(state.outcome(), Some(Outcome::Failed));
    let said = format!("{:?}", state.ended);
    assert!(said.contains("nothing changed"), "{said}");
    let called: Vec<String> = state.calls.iter().flat_map(|c| c.invented.clone()).collect();
    assert!(called.contains(&"nonsense".to_owned()), "the invented name is counted: {called:?}");
    assert_eq!(scene.workspace.files().len(), 2, "no probe is left in the stage");
}

#[test]
fn cancelling_parks_the_task() {
    let scene = scene(script(), None);
    let cancel = Cancel::new();
    cancel.cancel();
    let error = drive(&scene.ports, &scene.task, &policy(SendPolicy::Never), &cancel).expect_err("it stops");
    assert_eq!(error, crate::SwarmError::Cancelled);
    assert_eq!(scene.drive(&policy(SendPolicy::Never)).outcome(), Some(Outcome::Ready), "it goes on afterwards");
}

/// A cloud that approves everything, or does not answer.
#[derive(Default)]
struct Cloud {
    down: bool,
    /// Ends the process, as it were, after the sending began.
    dies: bool,
    worst_case: Option<u64>,
    sent: AtomicU32,
}

impl CloudReviewer for Cloud {
    fn card(&self) -> ModelCard {
        let (name, place) = (ModelName::new("cloud"), Place::Cloud);
        ModelCard { name, place, context: 100_000, schema: true, millions: 0, price: Some((3_000_000, 15_000_000)) }
    }
    fn host(&self) -> String {
        "cloud.example".to_owned()
    }
    fn body(&self, system: &str, packet: &str) -> Result<Vec<u8>, ModelError> {
        Ok(serde_json::json!({ "system": system, "packet": packet }).to_string().into_bytes())
    }
    fn bound(&self, _body: &[u8]) -> CloudBound {
        CloudBound { input_tokens: 100, max_output_tokens: 1_000, worst_case_micro_usd: self.worst_case }
    }
    fn send(
        &self,
        body: &[u8],
        _cancel: &Cancel,
        ledger: &dyn Ledger,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<CloudAnswer, ModelError> {
        if self.down {
            return Err(ModelError::Unreachable { host: self.host(), message: "no connection".to_owned() });
        }
        self.sent.fetch_add(1, Ordering::Relaxed);
        let body_sum: Fingerprint = starling_core::change::fingerprint(body);
        let mut entry = EgressEntry {
            host: self.host(),
            model: ModelName::new("cloud"),
            bytes: body.len() as u64,
            body: body_sum,
            cost_micro_usd: None,
            at: 5,
            outcome: "sending".to_owned(),
        };
        let written = |e: starling_core::port::JournalError| ModelError::NotAllowed { reason: e.to_string() };
        ledger.sending(&entry).map_err(written)?;
        assert!(!self.dies, "killed");
        on_text(VERDICT);
        entry.outcome = "sent".to_owned();
        entry.cost_micro_usd = Some(1);
        ledger.settled(&entry).map_err(written)?;
        let usage = Usage { input: 10, output: 5, ..Usage::default() };
        Ok(CloudAnswer { text: VERDICT.to_owned(), usage, cost_micro_usd: Some(1), millis: 1 })
    }
}
