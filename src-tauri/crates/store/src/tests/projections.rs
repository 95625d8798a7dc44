//! Lists and scores say what the events say, and come back from the events alone.

use super::every_event::{briefed, called, gated, plan};
use super::*;
use starling_core::evidence::{Gate, GateOutcome};
use starling_core::review::Place;
use starling_core::{ModelName, Role};

fn worked(store: &Store) {
    let approved = TaskEvent::PlanApproved { plan: plan(), by_user: true };
    store.append(&task("t1"), &[submitted("fix it")]).expect("written");
    store.append(&task("t1"), &[briefed("Rounding"), approved]).expect("written");
    store.append(&task("t1"), &[called(Role::Executor, "m", 100, &["g"])]).expect("written");
    for (candidate, gate, outcome) in [
        (0, Gate::Form, GateOutcome::Passed),
        (0, Gate::Tests, GateOutcome::Passed),
        (1, Gate::Form, GateOutcome::Failed { why: "no".into() }),
        (2, Gate::Form, GateOutcome::Passed),
    ] {
        store.append(&task("t1"), &[gated(candidate, gate, outcome)]).expect("written");
    }
    store.append(&task("t2"), &[submitted("other")]).expect("written");
    let failed = TaskEvent::Failed { stage: "plan".into(), message: "no".into() };
    store.append(&task("t2"), &[called(Role::Executor, "m", 300, &[]), failed]).expect("written");
}

#[test]
fn lists_and_scores_follow_the_events() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(&dir.path().join("state.db")).expect("it opens");
    worked(&store);
    let rows = store.task_rows().expect("read");
    let short: Vec<_> =
        rows.iter().map(|r| (r.id.as_str(), r.title.as_str(), r.stage.as_str(), r.outcome.as_deref())).collect();
    assert_eq!(short, [("t2", "t.md", "failed", Some("failed")), ("t1", "Rounding", "swarm", None)]);
    let expected = ScoreRow {
        role: Role::Executor,
        model: ModelName::new("m"),
        place: Place::Local,
        calls: 2,
        candidates: 8,
        valid: 6,
        gate_passed: 1,
        gate_total: 3,
        invented: 1,
        input_tokens: 32,
        output_tokens: 14,
        millis: 400,
        millis_p50: 100,
        millis_p95: 300,
    };
    assert_eq!(store.metrics().expect("read"), [expected]);
}

#[test]
fn a_task_is_seen_until_something_happens() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(&dir.path().join("state.db")).expect("it opens");
    let seen = || store.task_rows().expect("read").first().map(|row| row.seen);
    store.append(&task("a"), &[submitted("one")]).expect("written");
    assert_eq!(seen(), Some(false));
    store.seen(&task("a")).expect("written");
    assert_eq!(seen(), Some(true));
    store.append(&task("a"), &[TaskEvent::Cancelled]).expect("written");
    assert_eq!(seen(), Some(false));
}

#[test]
fn rows_come_back_from_the_events() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    let store = Store::open(&file).expect("it opens");
    worked(&store);
    let before = (store.task_rows().expect("read"), store.metrics().expect("read"));
    store.rebuild().expect("made anew");
    assert_eq!((store.task_rows().expect("read"), store.metrics().expect("read")), before);
    drop(store);
    // As a database of the first version looks after its migration.
    let raw = rusqlite::Connection::open(&file).expect("it opens");
    raw.execute_batch(
        "DROP TABLE task; DROP TABLE model_call; DROP TABLE judged; DROP TABLE seen; PRAGMA user_version = 1",
    )
    .expect("taken back");
    drop(raw);
    let store = Store::open(&file).expect("it is migrated");
    assert_eq!((store.task_rows().expect("read"), store.metrics().expect("read")), before);
}

#[test]
fn a_lost_blob_does_not_stop_new_facts() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    let store = Store::open(&file).expect("it opens");
    store.append(&task("a"), &[submitted(&"x".repeat(400_000))]).expect("written");
    std::fs::remove_dir_all(dir.path().join("blobs")).expect("lost");
    store.append(&task("a"), &[TaskEvent::Cancelled]).expect("written all the same");
    store.rebuild().expect("what can be read");
    assert!(store.events(&task("a")).is_err(), "the loss is said");
    drop(store);
    assert_eq!(Store::open(&file).expect("it opens").verify().expect("the chain fits"), 2);
}
