//! The targets of real workspaces, chosen by file.

use super::*;

const MANIFEST: &str = "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const UNIT: &str = "fn main() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n";
const LIB: &str =
    "#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n    #[test]\n    fn wrong() { assert_eq!(1, 2); }\n}\n";
const OUTER: &str = "#[test]\nfn works() {}\n";

/// Each row: files that are run, and the tests that the report must hold.
#[track_caller]
fn check(files: &[(&str, &str)], rows: &[(&[&str], &[&str])]) {
    let Some(scene) = scene(files, true) else { return };
    if scene.checks.toolchain(&scene.task).expect("found").runners.is_empty() {
        eprintln!("SKIPPED: there is no Rust toolchain");
        return;
    }
    for (files, expected) in rows {
        let report = scene.test(Runner::CargoTest, files);
        let got: Vec<&str> = report.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(&got, expected, "{files:?}: {}", report.output);
        assert!(!report.broken);
    }
}

#[test]
fn a_crate_without_a_library() {
    let files = [("Cargo.toml", MANIFEST), ("src/main.rs", UNIT), ("src/bin/tool.rs", UNIT), ("tests/t.rs", OUTER)];
    let all = ["src/main.rs::tests::works", "src/bin/tool.rs::tests::works", "tests/t.rs::works"];
    check(
        &files,
        &[
            (&[], &all),
            (&["src/main.rs"], &all[..1]),
            (&["src/main.rs", "src/main.rs"], &all[..1]),
            (&["src/bin/tool.rs"], &all[1..2]),
            (&["tests/t.rs"], &all[2..]),
        ],
    );
}

#[test]
fn members_of_a_workspace_are_told_apart() {
    let root = "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n";
    let member = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let (one, two) = (member("one"), member("two-b"));
    let files = [
        ("Cargo.toml", root),
        ("crates/one/Cargo.toml", &one),
        ("crates/one/src/lib.rs", LIB),
        ("crates/two/Cargo.toml", &two),
        ("crates/two/src/lib.rs", &LIB.replace("assert_eq!(1, 2)", "")),
        ("crates/two/tests/t.rs", OUTER),
    ];
    let Some(scene) = scene(&files, true) else { return };
    if scene.checks.toolchain(&scene.task).expect("found").runners.is_empty() {
        return;
    }
    let all = scene.test(Runner::CargoTest, &[]);
    assert_eq!(all.outcome("crates/one/src/lib.rs::tests::wrong"), Some(CaseOutcome::Failed), "{}", all.output);
    assert_eq!(all.outcome("crates/two/src/lib.rs::tests::wrong"), Some(CaseOutcome::Passed));
    assert_eq!(all.outcome("crates/two/tests/t.rs::works"), Some(CaseOutcome::Passed));
    let names = vec!["crates/one/src/lib.rs::tests::wrong".to_owned()];
    let run = TestRun { runner: Runner::CargoTest, files: Vec::new(), names, timeout_seconds: 120 };
    let one = scene.checks.test(&scene.task, &run, &Cancel::new()).expect("it runs");
    assert_eq!(outcomes(&one), [("crates/one/src/lib.rs::tests::wrong", CaseOutcome::Failed)], "{}", one.output);
}
