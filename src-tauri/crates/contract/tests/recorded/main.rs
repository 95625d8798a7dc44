//! Every stage of a task, from core's events to the exact JSON the page gets. The file is what the page's own tests and
//! its mock mode run on, so the two sides cannot drift apart. `STARLING_UPDATE=1 cargo test -p starling-contract` writes it.

mod story;

use starling_contract::{Activity, AppEvent, ProgressView, RowGroup, RowState, TaskRow, TaskView};
use starling_core::TaskId;
use starling_core::port::Progress;
use starling_core::state::{TaskEvent, TaskState};
use std::path::Path;

/// The same task under another name, so that a list of all scenes can be told apart.
fn titled(title: &str, mut events: Vec<TaskEvent>) -> Vec<TaskEvent> {
    for event in &mut events {
        if let TaskEvent::Briefed { brief } = event {
            brief.title = title.to_owned();
        }
    }
    events
}

/// Name, activity, events, whether somebody looks at the hunks.
fn scenes() -> Vec<(&'static str, Activity, Vec<TaskEvent>, bool)> {
    use Activity::{Queued, Resting, Stuck, Working};
    vec![
        ("plan", Resting, story::planned(), false),
        ("swarm", Working, titled("Number credit notes without gaps", story::swarming()), false),
        ("packet", Resting, titled("Reject negative quantities", story::packed()), false),
        ("change", Resting, titled("Cache exchange rates per day", story::asks_for_change()), true),
        ("ready", Resting, titled("Parse ISO week dates in imports", story::approved()), true),
        ("landed", Resting, titled("Name the currency in error texts", story::landed()), true),
        ("half", Resting, titled("Split totals.py by concern", story::half_solved()), true),
        ("failed", Resting, titled("Stream large CSV exports", story::failed()), false),
        ("korean", Resting, story::korean(), false),
        ("queued", Queued, vec![story::submitted("vat-id.md", "Add the VAT id to the footer of the PDF")], false),
        ("parked", Resting, titled("Move tax tables into data", story::swarming()), false),
        (
            "stuck",
            Stuck("there is no model that fits on this machine".into()),
            vec![story::submitted("dates.txt", "Parse ISO week dates in imports")],
            false,
        ),
    ]
}

fn state(events: &[TaskEvent]) -> TaskState {
    TaskState::fold(events)
}

#[test]
fn the_page_gets_exactly_this() {
    let tasks = scenes().into_iter().map(|(name, activity, events, look)| {
        let (id, state, hunks) = (TaskId::new(name), state(&events), story::hunks());
        let view = TaskView::of(&id, &state, &activity, look.then_some(hunks.as_slice()));
        let row = TaskRow::of(&id, &state, &activity, row_is_new(&view));
        serde_json::json!({ "row": row, "view": view }).to_string()
    });
    let fresh = format!(
        "[
{}
]
",
        tasks.collect::<Vec<_>>().join(
            ",
"
        )
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/src/mock/recorded.json");
    if std::env::var_os("STARLING_UPDATE").is_some() {
        std::fs::write(&path, &fresh).expect("the record can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("the record is there");
    // Compared as values: whether keys are sorted depends on the features of a whole build.
    let values = |text: &str| serde_json::from_str::<Vec<serde_json::Value>>(text).expect("the record is JSON");
    for (old, new) in values(&committed).iter().zip(&values(&fresh)) {
        assert!(old == new, "{} is stale: STARLING_UPDATE=1 cargo test -p starling-contract", new["row"]["id"]);
    }
    assert_eq!(values(&committed).len(), scenes().len());
}

fn row_is_new(view: &TaskView) -> bool {
    view.needs_you
}

#[track_caller]
fn check(name: &str, group: RowGroup, row_state: &RowState) {
    let (_, activity, events, _) = scenes().into_iter().find(|(known, ..)| *known == name).expect("a scene");
    let row = TaskRow::of(&TaskId::new(name), &state(&events), &activity, false);
    assert_eq!((row.group, &row.state), (group, row_state), "{name}");
}

#[test]
fn rows_say_what_is_next() {
    use RowGroup::{Earlier, NeedsYou, Waiting, Working};
    check("plan", NeedsYou, &RowState::ApprovePlan { steps: 3, files: 3 });
    let working = RowState::Working { stage: starling_contract::Stage::Swarm, done: 1, steps: 3, alive: 4, begun: 6 };
    check("swarm", Working, &working);
    check("ready", NeedsYou, &RowState::Ready { findings: 0 });
    let verdict = Some(starling_contract::Verdict::Change);
    check("change", NeedsYou, &RowState::NeedsWork { verdict, findings: 2, unsolved: 0 });
    check("half", NeedsYou, &RowState::NeedsWork { verdict, findings: 1, unsolved: 2 });
    check("landed", Earlier, &RowState::Landed { hunks: 3 });
    let why = "no candidate passed the tests".into();
    check("failed", Earlier, &RowState::NotSolved { why });
    check("queued", Waiting, &RowState::Queued);
    check("parked", Waiting, &RowState::Parked { done: 1, steps: 3 });
}

#[test]
fn findings_know_their_hunk_and_wings_their_fall() {
    let (id, state, hunks) = (TaskId::new("t"), state(&story::asks_for_change()), story::hunks());
    let view = TaskView::of(&id, &state, &Activity::Resting, Some(&hunks));
    let linked: Vec<_> = view.verdict.expect("a verdict").findings.iter().map(|finding| finding.hunk).collect();
    assert_eq!(linked, [Some(1), Some(0)]);
    let plan = view.plan.expect("a plan");
    let first = &plan.steps[0];
    assert_eq!(first.passed, [6, 5, 5, 4, 4, 3, 2, 1]);
    let fell: Vec<_> = first.fell.iter().map(|fell| fell.candidate).collect();
    assert_eq!(fell, [6, 4, 1, 2, 5], "the furthest first");
    assert!(first.candidates.iter().all(|candidate| candidate.won == (candidate.number == 3)));
    let unseen = TaskView::of(&id, &state, &Activity::Resting, None);
    assert_eq!(unseen.hunks, None);
}

#[test]
fn packets_leave_no_secret_in_the_view() {
    let view = TaskView::of(&TaskId::new("t"), &state(&story::packed()), &Activity::Resting, None);
    let text = serde_json::to_string(&view.packet).expect("it is JSON");
    assert!(!text.contains("ghp_SYNTHETIC"), "{text}");
    assert_eq!(view.packet.expect("a packet").redactions.len(), 1);
}

#[test]
fn events_are_tagged_and_never_carry_nan() {
    let progress = Progress::Speed { role: starling_core::Role::Executor, tokens_per_second: f32::NAN, live: 2 };
    let event = AppEvent::Progress { task: "t".into(), progress: ProgressView::from(progress) };
    assert_eq!(
        serde_json::to_value(&event).expect("it is JSON"),
        serde_json::json!({
            "kind": "progress", "task": "t",
            "progress": { "kind": "speed", "role": "executor", "tokensPerSecond": 0.0, "live": 2 },
        })
    );
}
