//! Every kind of fact survives the way into the journal and back.

use super::*;
use starling_core::brief::{Brief, FieldEvidence, Source, TaskKind, TraceFrame};
use starling_core::change::{ByteProof, ChangeSet, FileChange, FileEdit, Splice};
use starling_core::code::Span;
use starling_core::evidence::{Evidence, Gate, GateOutcome, GateResult, Grade, StepFailure};
use starling_core::packet::{ReviewPacket, Section};
use starling_core::plan::{Plan, Step};
use starling_core::receipt::{ModelCall, Usage};
use starling_core::review::{Finding, Place, Reviewer, Severity, Verdict, VerdictKind};
use starling_core::state::CandidateSource;
use starling_core::test_set::{Funnel, KeptTest, TestClaim, TestProof, TestSet};
use starling_core::{RelPath, Role, StepId};

fn path(text: &str) -> RelPath {
    RelPath::new(text).expect("a good path")
}

pub(super) fn plan() -> Plan {
    let step = Step {
        id: StepId::new("1"),
        role: Role::Executor,
        goal: "Round half up".into(),
        files: vec![path("a.py")],
        new_files: vec![],
        symbols: vec!["f".into()],
        new_symbols: vec![],
        acceptance: vec!["it rounds".into()],
        depends_on: vec![],
        decides: vec!["rounding".into()],
    };
    Plan { steps: vec![step], rationale: "one place".into() }
}

pub(super) fn gated(candidate: u32, gate: Gate, outcome: GateOutcome) -> TaskEvent {
    let result = GateResult { gate, outcome, invented: vec![], millis: 3 };
    TaskEvent::Gated { step: StepId::new("1"), candidate, result }
}

pub(super) fn called(role: Role, model: &str, millis: u64, invented: &[&str]) -> TaskEvent {
    let call = ModelCall {
        role,
        model: ModelName::new(model),
        place: Place::Local,
        template: "execute/1".into(),
        usage: Usage { input: 10, cache_read: 5, cache_write: 1, output: 7 },
        candidates: 4,
        valid: 3,
        millis,
        invented: invented.iter().map(|name| (*name).to_owned()).collect(),
    };
    TaskEvent::Called { call }
}

pub(super) fn briefed(title: &str) -> TaskEvent {
    let field =
        FieldEvidence { field: "title".into(), value: title.into(), span: Some(Span::new(0, 3)), source: Source::Code };
    let brief = Brief {
        title: title.into(),
        kind: TaskKind::Bug,
        goal: "반올림".into(),
        acceptance: vec!["a".into()],
        files: vec!["a.py".into()],
        symbols: vec!["f".into()],
        commands: vec!["pytest".into()],
        constraints: vec!["no new names".into()],
        language: "ko-en".into(),
        injected_instructions: true,
        warnings: vec!["ignore all".into()],
        evidence: vec![field],
        grounded_files: vec![path("a.py")],
        grounded_symbols: vec![(path("a.py"), "f".into())],
        trace: vec![TraceFrame { path: "a.py".into(), line: Some(3), symbol: "f".into() }],
    };
    TaskEvent::Briefed { brief }
}

fn evidence() -> Evidence {
    let gates = vec![GateResult {
        gate: Gate::Tests,
        outcome: GateOutcome::NotRun { why: "no runner".into() },
        invented: vec!["g".into()],
        millis: 1,
    }];
    let (sandbox, output) = ("bubblewrap".into(), "1 passed".into());
    Evidence { step: StepId::new("1"), grade: Grade::TestsProve, gates, sandbox, output }
}

fn change() -> ChangeSet {
    let splices = vec![Splice { span: Span::new(1, 2), bytes: vec![0xff, 0x00] }];
    let splice = FileEdit::Splice { before: Fingerprint::new("ab"), splices };
    let create = FileEdit::Create { bytes: "é\r\n".into() };
    let files = vec![FileChange { path: path("a.py"), edit: splice }, FileChange { path: path("b.py"), edit: create }];
    ChangeSet { files }
}

fn tests() -> TestSet {
    let proof = vec![
        TestProof::FailsBefore { message: "1 != 2".into() },
        TestProof::KillsMutant { mutant: "compare@1".into(), diff: "-a\n+b".into() },
    ];
    let kept = KeptTest { name: "test_f".into(), source: "def test_f(): ...".into(), claim: TestClaim::Oracle, proof };
    let funnel = Funnel { generated: 9, useful: 1, ..Funnel::default() };
    TestSet { path: path("tests/test_a.py"), source: "…".into(), kept: vec![kept], funnel }
}

fn verdict() -> Verdict {
    let finding = Finding {
        path: Some(path("a.py")),
        line: Some(1),
        severity: Severity::Warning,
        message: "m".into(),
        evidence: "+ x".into(),
    };
    let reviewer = Reviewer { model: ModelName::new("m"), place: Place::Cloud, fallback: "offline".into() };
    let packet = Fingerprint::new("cd");
    Verdict { kind: VerdictKind::Change, summary: "s".into(), findings: vec![finding], reviewer, packet }
}

fn all() -> Vec<TaskEvent> {
    let step = || StepId::new("1");
    let sections = [Section { title: "Diff".into(), text: "+ x".into() }];
    let packet = ReviewPacket::new(&sections).expect("a packet");
    let entry = EgressEntry {
        host: "api.example".into(),
        model: ModelName::new("m"),
        bytes: 7,
        body: Fingerprint::new("cd"),
        cost_micro_usd: Some(9),
        at: 5,
        outcome: "sent".into(),
    };
    let proof = ByteProof { files: 1, outside_identical: true, encoding_kept: true };
    let failure = StepFailure::NoCandidate { tried: 6, gate: Gate::Symbols, example: "no g".into() };
    vec![
        submitted("fix it"),
        briefed("Rounding"),
        TaskEvent::Planned { plan: plan() },
        TaskEvent::PlanApproved { plan: plan(), by_user: true },
        TaskEvent::StepStarted { step: step() },
        called(Role::Executor, "m", 12, &["g"]),
        gated(0, Gate::Form, GateOutcome::Failed { why: "no fence".into() }),
        TaskEvent::StepFailed { step: step(), failure },
        TaskEvent::StepSolved {
            step: step(),
            candidate: 1,
            source: CandidateSource::Operator,
            change: change(),
            evidence: evidence(),
        },
        TaskEvent::TestsKept { step: step(), tests: tests(), change: change(), evidence: evidence() },
        TaskEvent::PacketBuilt { packet },
        TaskEvent::PacketDecided { send: false, why: "offline".into() },
        TaskEvent::Egress { entry },
        TaskEvent::Reviewed { verdict: verdict() },
        TaskEvent::Finished { millis: 900 },
        TaskEvent::Landed { hunks: vec![0, 2], proof },
        TaskEvent::Discarded,
        TaskEvent::Cancelled,
        TaskEvent::Failed { stage: "plan".into(), message: "no".into() },
    ]
}

/// Does not compile when a kind is added: add it to [`all`] too.
fn number(event: &TaskEvent) -> usize {
    match event {
        TaskEvent::Submitted { .. } => 0,
        TaskEvent::Briefed { .. } => 1,
        TaskEvent::Planned { .. } => 2,
        TaskEvent::PlanApproved { .. } => 3,
        TaskEvent::StepStarted { .. } => 4,
        TaskEvent::Gated { .. } => 5,
        TaskEvent::StepSolved { .. } => 6,
        TaskEvent::TestsKept { .. } => 7,
        TaskEvent::StepFailed { .. } => 8,
        TaskEvent::PacketBuilt { .. } => 9,
        TaskEvent::PacketDecided { .. } => 10,
        TaskEvent::Reviewed { .. } => 11,
        TaskEvent::Landed { .. } => 12,
        TaskEvent::Discarded => 13,
        TaskEvent::Cancelled => 14,
        TaskEvent::Failed { .. } => 15,
        TaskEvent::Called { .. } => 16,
        TaskEvent::Egress { .. } => 17,
        TaskEvent::Finished { .. } => 18,
    }
}

#[test]
fn every_kind_comes_back_as_it_was() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(&dir.path().join("state.db")).expect("it opens");
    let events = all();
    let mut kinds: Vec<usize> = events.iter().map(number).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, (0..19).collect::<Vec<_>>(), "each kind once");
    for event in &events {
        store.append(&task("t"), std::slice::from_ref(event)).expect("written");
    }
    assert_eq!(store.events(&task("t")).expect("read"), events);
}
