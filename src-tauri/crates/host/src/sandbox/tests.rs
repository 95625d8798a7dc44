//! What a command cannot do, and how it ends.

use super::*;
use std::time::Instant;

struct Place {
    _folder: tempfile::TempDir,
    cell: Cell,
}

fn place() -> Option<Place> {
    if !level().works {
        eprintln!("SKIPPED: {}; the tests of what runs prove nothing here", level().detail);
        let refused = run(&empty_cell(), &["/bin/true".into()], Duration::from_secs(5), &Cancel::new());
        assert!(matches!(refused, Err(CheckError::NotRun { .. })), "without a sandbox nothing may run");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let cell = Cell { tree: folder.path().join("tree"), private: folder.path().join("private"), ..empty_cell() };
    std::fs::create_dir_all(&cell.tree).expect("made");
    std::fs::create_dir_all(&cell.private).expect("made");
    Some(Place { _folder: folder, cell })
}

fn empty_cell() -> Cell {
    let limits = Limits::of_machine();
    Cell { tree: PathBuf::new(), private: PathBuf::new(), readable: Vec::new(), env: Vec::new(), limits }
}

fn bash(cell: &Cell, script: &str, seconds: u64) -> Output {
    let argv = ["/bin/bash", "-c", script].map(OsString::from);
    run(cell, &argv, Duration::from_secs(seconds), &Cancel::new()).expect("it runs")
}

#[track_caller]
fn check(script: &str, expected: &str) {
    let Some(place) = place() else { return };
    let output = bash(&place.cell, script, 20);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_command_reaches_nothing_outside() {
    check("echo a > f && cat f", "a");
    check("echo a > /etc/x 2>/dev/null || echo refused", "refused");
    check("echo a > /usr/x 2>/dev/null || echo refused", "refused");
    check("(exec 3<>/dev/tcp/1.1.1.1/80) 2>/dev/null || echo refused", "refused");
    check("getent hosts example.org || echo refused", "refused");
    check("ls -A /root /home 2>/dev/null | grep -v ':' | grep -v '^$' | wc -l", "0");
    check("env | cut -d= -f1 | grep -vE '^(PATH|HOME|TMPDIR|LANG|LC_ALL|PWD|SHLVL|_|OLDPWD)$' | wc -l", "0");
    check("ls /proc | grep -c '^[0-9]' | awk '{print ($1 < 12)}'", "1");
    check("unshare -U true 2>/dev/null || echo refused", "refused");
}

#[test]
fn the_git_folder_of_the_tree_is_read_only() {
    let Some(place) = place() else { return };
    std::fs::create_dir_all(place.cell.tree.join(".git/hooks")).expect("made");
    let output = bash(&place.cell, "echo x > .git/hooks/post-checkout || echo refused", 10);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "refused");
}

#[test]
fn an_endless_command_is_ended_with_its_children() {
    let Some(place) = place() else { return };
    let start = Instant::now();
    let output = bash(&place.cell, "(sleep 300 &) ; sleep 300", 1);
    assert_eq!(output.ended, Ended::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(bash(&place.cell, "cat", 10).ended, Ended::Exit(0), "stdin is empty");
}

#[test]
fn cancelling_ends_it_within_a_second() {
    let Some(place) = place() else { return };
    let cancel = Cancel::new();
    let other = cancel.clone();
    let start = Instant::now();
    let argv = ["/bin/sleep", "60"].map(OsString::from);
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            other.cancel();
        });
        run(&place.cell, &argv, Duration::from_secs(30), &cancel)
    });
    assert!(matches!(ended, Err(CheckError::Cancelled)));
    assert!(start.elapsed() < Duration::from_millis(1_500));
}

#[test]
fn a_flood_keeps_only_its_end() {
    let Some(place) = place() else { return };
    let output = bash(&place.cell, "head -c 60000000 /dev/zero | tr '\\0' x; echo end", 60);
    assert!(output.stdout.len() <= 9 * 1024 * 1024);
    assert!(output.stdout.ends_with(b"xend\n"));
}

const MIB: u64 = 1024 * 1024;

/// A small machine, so that a hostile script is stopped long before it is felt.
const SMALL: Limits = Limits { memory: 300 * MIB, processes: 100, disk: 200 * MIB };

/// Runs a hostile script; the host must see why it was ended, at once, and be able to run the next command.
#[track_caller]
fn check_limit(script: &str, expected: Exceeded) {
    let Some(mut place) = place() else { return };
    place.cell.limits = SMALL;
    let start = Instant::now();
    let output = bash(&place.cell, script, 60);
    assert_eq!(output.ended, Ended::Exceeded(expected), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(bash(&place.cell, "true", 20).ended, Ended::Exit(0), "the next command runs");
}

#[test]
fn a_fork_bomb_is_ended() {
    let limit = Exceeded::Processes { limit: SMALL.processes };
    check_limit("bomb() { bomb | bomb & }; bomb; sleep 60", limit);
    check_limit("for i in $(seq 400); do (sleep 60 &) ; done; sleep 60", limit);
    check_limit("for i in $(seq 400); do setsid sleep 60 & done; wait", limit);
}

#[test]
fn a_memory_hog_is_ended() {
    let limit = Exceeded::Memory { limit: SMALL.memory };
    check_limit("x=a; while :; do x=$x$x; done", limit);
    // As fast as memory can be filled.
    check_limit("head -c 20000000000 /dev/zero | tail -c 20000000000 | wc -c", limit);
    // Many that are small each.
    check_limit(
        "for i in $(seq 20); do bash -c 'x=$(head -c 30000000 /dev/zero | tr \\\\0 x); sleep 60' & done; wait",
        limit,
    );
}

#[test]
fn files_in_memory_have_a_size() {
    check("head -c 400000000 /dev/zero 2>&1 >/dev/shm/x | grep -o 'No space'", "No space");
    check("head -c 40000000 /dev/zero 2>&1 >/run/x | grep -o 'No space'", "No space");
    check("touch /dev/x 2>&1 | grep -o Read-only", "Read-only");
}

#[test]
fn a_disk_filler_is_ended_and_what_it_wrote_is_gone() {
    let limit = Exceeded::Disk { limit: SMALL.disk };
    check_limit("i=0; while :; do i=$((i+1)); head -c 20000000 /dev/zero > /tmp/$i; sync /tmp/$i; done", limit);
    check_limit("for i in $(seq 200); do fallocate -l 50000000 /tmp/$i; done; sleep 60", limit);
    let Some(mut place) = place() else { return };
    place.cell.limits = SMALL;
    let script = "mkdir -p /tmp/a/b && ln -s /etc /tmp/c && for i in $(seq 90); do fallocate -l 9000000 /tmp/a/b/$i; done; sleep 60";
    assert_eq!(bash(&place.cell, script, 60).ended, Ended::Exceeded(limit));
    assert_eq!(std::fs::read_dir(&place.cell.private).expect("there").count(), 0);
}

#[test]
fn a_file_has_a_largest_size() {
    check_limit("exec truncate -s 2G /tmp/x", Exceeded::File);
    check("(ulimit -c; ulimit -f; cat /proc/self/oom_score_adj) | tr '\\n' ' '", "0 1048576 800");
}

#[test]
fn what_builds_and_interpreters_need_is_there() {
    let Some(place) = place() else { return };
    // Address space is no memory: programs reserve what they never touch.
    let reserve = "ulimit -v; exec /usr/bin/env bash -c 'for i in 1 2 3 4 5 6 7 8; do sleep 1 & done; wait; echo done'";
    assert_eq!(String::from_utf8_lossy(&bash(&place.cell, reserve, 20).stdout), "unlimited\ndone\n");
}

#[test]
fn says_why() {
    let said = |limit: Exceeded| Ended::Exceeded(limit).reason().expect("a reason");
    assert_eq!(said(Exceeded::Memory { limit: 300 * MIB }), "stopped: it used more than 300 MiB of memory");
    assert_eq!(said(Exceeded::Processes { limit: 100 }), "stopped: it had more than 100 processes");
    assert_eq!(said(Exceeded::Disk { limit: 200 * MIB }), "stopped: it wrote more than 200 MiB");
    assert_eq!(said(Exceeded::File), "stopped: it wrote a file of more than 1024 MiB");
    assert_eq!((Ended::Exit(1).reason(), Ended::Exit(1).code()), (None, Some(1)));
}
