//! The journal keeps what it acknowledged, in order, through kills and broken files.

mod every_event;

use super::*;
use starling_core::task_file::TaskFile;
use starling_core::{Fingerprint, ModelName};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn submitted(text: &str) -> TaskEvent {
    let file = TaskFile::decode("t.md", text.as_bytes()).expect("small enough");
    TaskEvent::Submitted { file, project: "/p".to_owned(), at: 1 }
}

fn task(id: &str) -> TaskId {
    TaskId::new(id)
}

#[test]
fn reads_back_what_was_appended() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    let large = submitted(&"x".repeat(400_000));
    let events = [submitted("fix it"), large, TaskEvent::Cancelled];
    {
        let store = Store::open(&file).expect("it opens");
        store.append(&task("b"), &events).expect("written");
        store.append(&task("a"), &[submitted("other")]).expect("written");
        assert_eq!(store.events(&task("b")).expect("read"), events);
    }
    let store = Store::open(&file).expect("it opens again");
    assert_eq!(store.events(&task("b")).expect("read"), events);
    assert_eq!(store.tasks().expect("read"), [task("a"), task("b")]);
    assert_eq!(store.verify().expect("the chain fits"), 4);
    assert_eq!(store.opened().set_aside, None);
}

#[test]
fn events_cannot_be_changed_and_hand_edits_are_seen() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    let store = Store::open(&file).expect("it opens");
    store.append(&task("a"), &[submitted("one"), TaskEvent::Discarded]).expect("written");
    let other = rusqlite::Connection::open(&file).expect("it opens");
    for sql in ["UPDATE event SET body = '{}'", "DELETE FROM event"] {
        let error = other.execute(sql, []).expect_err("append only");
        assert!(error.to_string().contains("append only"), "{error}");
    }
    other.execute_batch("DROP TRIGGER event_no_update; UPDATE event SET kind = 'x' WHERE seq = 1").expect("by force");
    assert!(store.verify().expect_err("seen").to_string().contains("event 1 does not fit"));
}

#[test]
fn the_ledger_keeps_the_last_state_of_each_sending() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(&dir.path().join("state.db")).expect("it opens");
    let entry = |outcome: &str, cost| EgressEntry {
        host: "api".to_owned(),
        model: ModelName::new("m"),
        bytes: 10,
        body: Fingerprint::new("ab"),
        cost_micro_usd: cost,
        at: 5,
        outcome: outcome.to_owned(),
    };
    store.sending(&entry("sending", None)).expect("written");
    assert_eq!(store.egress().expect("read"), [entry("sending", None)]);
    store.settled(&entry("sent", Some(21))).expect("written");
    assert_eq!(store.egress().expect("read"), [entry("sent", Some(21))]);
}

#[test]
fn a_broken_file_is_set_aside_whole() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    std::fs::write(&file, b"this is no database, it is a letter to my aunt").expect("written");
    let store = Store::open(&file).expect("a new one is made");
    let aside = store.opened().set_aside.clone().expect("the old one was kept");
    assert_eq!(std::fs::read(&aside).expect("it is there"), b"this is no database, it is a letter to my aunt");
    drop(store);
    let store = Store::open(&file).expect("it opens");
    assert_eq!((store.opened().set_aside.clone(), store.set_aside()), (None, vec![aside]), "still told of later");
    store.append(&task("a"), &[TaskEvent::Cancelled]).expect("written");
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    drop(Store::open(&file).expect("it opens"));
    rusqlite::Connection::open(&file).expect("it opens").pragma_update(None, "user_version", 99).expect("set");
    let error = Store::open(&file).err().expect("refused");
    assert_eq!(error, JournalError::Newer { found: 99, known: 3 });
}

#[test]
fn a_page_that_was_overwritten_is_noticed_and_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    {
        let store = Store::open(&file).expect("it opens");
        for n in 0..200 {
            store.append(&task("a"), &[submitted(&format!("{n} {}", "y".repeat(2_000)))]).expect("written");
        }
    }
    let mut bytes = std::fs::read(&file).expect("there");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 20_000].fill(0x5a);
    std::fs::write(&file, &bytes).expect("written");
    let store = Store::open(&file).expect("a new one is made");
    let aside = store.opened().set_aside.clone().expect("the old one was kept");
    assert!(std::fs::read(aside).expect("there") == bytes, "kept as it was found");
    assert_eq!(store.tasks().expect("read"), []);
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    let other = rusqlite::Connection::open(&file).expect("it opens");
    other.execute_batch("PRAGMA application_id = 77; CREATE TABLE t(x)").expect("made");
    let error = Store::open(&file).err().expect("refused").to_string();
    assert!(error.contains("another program"), "{error}");
}

#[test]
fn two_stores_on_one_file_take_turns() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    drop(Store::open(&file).expect("it opens"));
    std::thread::scope(|scope| {
        for name in ["a", "b"] {
            let file = &file;
            scope.spawn(move || {
                let store = Store::open(file).expect("it opens twice");
                for n in 0..30 {
                    store.append(&task(name), &[submitted(&n.to_string())]).expect("written");
                }
            });
        }
    });
    let store = Store::open(&file).expect("it opens");
    assert_eq!(store.verify().expect("one chain"), 60);
    assert_eq!(store.events(&task("b")).expect("read").len(), 30);
}

#[test]
fn a_backup_is_a_whole_database() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(&dir.path().join("state.db")).expect("it opens");
    store.append(&task("a"), &[submitted("one")]).expect("written");
    let copy = dir.path().join("copy.db");
    store.backup(&copy).expect("copied");
    assert!(store.backup(&copy).is_err(), "nothing is overwritten");
    store.append(&task("a"), &[TaskEvent::Discarded]).expect("written");
    let copy = Store::open(&copy).expect("it opens");
    assert_eq!(copy.verify().expect("the chain fits"), 1);
    assert_eq!(copy.tasks().expect("read").len(), 1);
}

/// The child of the test below: appends until it is killed, and says what was acknowledged.
#[test]
fn child_that_appends() {
    let Some(file) = std::env::var_os("STARLING_STORE_CHILD") else { return };
    let store = Store::open(Path::new(&file)).expect("it opens");
    for n in 0.. {
        store.append(&task("k"), &[submitted(&n.to_string())]).expect("written");
        println!("ack {n}");
    }
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("state.db");
    let mut acknowledged = 0;
    for round in 0..20 {
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["tests::child_that_appends", "--exact", "--nocapture"])
            .env("STARLING_STORE_CHILD", &file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut seen = 0;
        for line in lines.map_while(Result::ok).filter(|line| line.contains("ack ")) {
            seen += 1;
            let _ = line;
            if seen > 1 + round * 7 % 11 {
                break;
            }
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
        acknowledged += seen;
        let store = Store::open(&file).expect("it opens after a kill");
        let kept = store.verify().expect("the chain fits");
        assert!(kept >= acknowledged, "{kept} kept, {acknowledged} acknowledged");
        assert_eq!(store.events(&task("k")).expect("readable").len() as u64, kept);
        acknowledged = kept;
    }
}
