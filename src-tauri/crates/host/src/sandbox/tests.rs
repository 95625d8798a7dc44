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
    Cell { tree: PathBuf::new(), private: PathBuf::new(), readable: Vec::new(), env: Vec::new() }
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
