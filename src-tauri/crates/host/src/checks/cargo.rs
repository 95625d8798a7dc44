//! Rust: `cargo check` for building, `cargo test` for tests. libtest has no stable report for machines, so its plain lines
//! are read strictly; the exit code has the last word.

mod targets;

use super::Site;
use super::clean::{head, plain, relative, tail};
use super::report::said;
use super::toolchain::{Rust, Tools};
use crate::sandbox::{Ended, Output};
use serde_json::Value;
use starling_core::RelPath;
use starling_core::port::{BuildReport, Cancel, CaseOutcome, CheckError, TestCase, TestReport, TestRun};
use std::ffi::OsString;
use std::time::Duration;
use targets::Workspace;

fn of(tools: &Tools) -> Result<&Rust, CheckError> {
    tools
        .rust
        .as_ref()
        .ok_or_else(|| CheckError::NotRun { why: "no Rust toolchain was found on this machine".to_owned() })
}

pub(super) fn build(tools: &Tools, site: &Site, cancel: &Cancel) -> Result<BuildReport, CheckError> {
    let args = ["check", "--workspace", "--tests", "--offline", "--quiet", "--message-format=json"].map(OsString::from);
    let output = of(tools)?.run(site, &args, Duration::from_secs(300), cancel)?;
    let mut errors = String::new();
    let mut unknown = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let message = &message["message"];
        if message["level"].as_str() != Some("error") {
            continue;
        }
        errors.push_str(message["rendered"].as_str().unwrap_or(""));
        if is_unknown_name(message["code"]["code"].as_str().unwrap_or("")) {
            let text = message["message"].as_str().unwrap_or("");
            unknown.extend(text.split('`').nth(1).map(str::to_owned));
        }
    }
    let ok = output.ended == Ended::Exit(0);
    if !ok && errors.is_empty() {
        errors = said(&output, &plain(&output.stderr));
    }
    unknown.sort();
    unknown.dedup();
    let output_text = relative(&head(&plain(errors.as_bytes()), 8_000), &site.tree);
    Ok(BuildReport { ok, output: output_text, unknown_names: unknown, millis: output.millis })
}

/// The compiler's codes for a name, path, type, method or field that does not exist.
fn is_unknown_name(code: &str) -> bool {
    matches!(
        code,
        "E0425" | "E0433" | "E0432" | "E0412" | "E0599" | "E0560" | "E0609" | "E0405" | "E0407" | "E0423" | "E0531"
    )
}

pub(super) fn test(tools: &Tools, site: &Site, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError> {
    let rust = of(tools)?;
    let ask = ["metadata", "--no-deps", "--offline", "--quiet", "--format-version=1"].map(OsString::from);
    let metadata = rust.run(site, &ask, Duration::from_secs(60), cancel)?;
    let workspace = Workspace::read(&metadata.stdout, &site.tree);
    let files = if run.files.is_empty() { files_of(&run.names) } else { run.files.clone() };
    let mut args: Vec<OsString> = ["test", "--offline", "--no-fail-fast"].map(OsString::from).to_vec();
    // Doc tests cost a build each and are left to the user's CI.
    args.extend(workspace.arguments(&files));
    if !run.names.is_empty() {
        args.extend(["--".into(), "--exact".into()]);
        args.extend(run.names.iter().map(|name| within_binary(name).into()));
    }
    let output = rust.run(site, &args, Duration::from_secs(run.timeout_seconds.max(60).into()), cancel)?;
    Ok(read(&output, site, &workspace))
}

/// "src/lib.rs::cart::adds" is "cart::adds" for the binary itself.
fn within_binary(name: &str) -> &str {
    name.split_once(".rs::").map_or(name, |(_, inner)| inner)
}

/// The root files of the binaries that hold some tests; none when one of the names has none.
fn files_of(names: &[String]) -> Vec<RelPath> {
    let file = |name: &String| RelPath::new(format!("{}.rs", name.split_once(".rs::")?.0)).ok();
    names.iter().map(file).collect::<Option<Vec<RelPath>>>().unwrap_or_default()
}

fn read(output: &Output, site: &Site, workspace: &Workspace) -> TestReport {
    let stdout = plain(&output.stdout);
    let stderr = plain(&output.stderr);
    let mut cases = Vec::new();
    // Cargo says on stderr which binary runs; the blocks on stdout follow in the same order.
    let mut binaries = stderr.lines().filter_map(binary_of);
    let mut prefix = String::new();
    let mut section: Option<String> = None;
    let mut messages: Vec<(String, String)> = Vec::new();
    for line in stdout.lines() {
        if line.starts_with("running ") && line.trim_end().ends_with(['t', 's']) {
            let path = |(source, program): (&str, &str)| format!("{}::", workspace.full_path(source, program));
            prefix = binaries.next().map(path).unwrap_or_default();
            section = None;
        } else if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            section = Some(format!("{prefix}{name}"));
            messages.push((format!("{prefix}{name}"), String::new()));
        } else if line == "failures:" {
            section = None;
        } else if let (Some(_), Some((_, text))) = (&section, messages.last_mut()) {
            text.push_str(line);
            text.push('\n');
        } else if let Some((name, outcome)) = case_of(line) {
            cases.push(TestCase { name: format!("{prefix}{name}"), outcome, message: String::new() });
        }
    }
    for case in &mut cases {
        if let Some((_, text)) = messages.iter().find(|(name, _)| name == &case.name) {
            let text = relative(text.trim(), &site.tree);
            case.message = without_backtrace(&text);
            if case.outcome == CaseOutcome::Failed
                && !case.message.contains("assertion")
                && !case.message.contains("did not panic")
            {
                case.outcome = CaseOutcome::Errored;
            }
        }
    }
    let compiled = stdout.lines().any(|line| line.starts_with("running "));
    let text = format!("{stderr}\n{stdout}");
    TestReport {
        cases,
        exit: output.ended.code(),
        broken: !compiled || output.ended.reason().is_some(),
        output: relative(&said(output, &errors_first(&text)), &site.tree),
        millis: output.millis,
    }
}

/// "     Running tests/texts.rs (target/debug/deps/texts-1a2b)" is tests/texts.rs and texts-1a2b.
fn binary_of(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix("Running ")?;
    let rest = rest.strip_prefix("unittests ").unwrap_or(rest);
    let (source, program) = rest.split_once(" (").unwrap_or((rest, ""));
    Some((source, program.trim_end_matches(')').rsplit('/').next().unwrap_or("")))
}

fn case_of(line: &str) -> Option<(&str, CaseOutcome)> {
    let rest = line.strip_prefix("test ")?;
    let (name, outcome) = rest.rsplit_once(" ... ")?;
    let outcome = match outcome.trim() {
        "ok" => CaseOutcome::Passed,
        "FAILED" => CaseOutcome::Failed,
        other if other.starts_with("ignored") => CaseOutcome::Skipped,
        _ => return None,
    };
    Some((name.trim_end_matches(" - should panic"), outcome))
}

fn without_backtrace(text: &str) -> String {
    let text = text.split("\nstack backtrace:").next().unwrap_or(text);
    let text = text.split("\nnote: ").next().unwrap_or(text);
    head(text, 2_000)
}

/// Compiler errors stand at the start, test failures at the end: both are kept.
fn errors_first(text: &str) -> String {
    match text.find("error") {
        Some(at) if text.contains("could not compile") => head(text.get(at..).unwrap_or(text), 8_000),
        _ => tail(text.as_bytes(), 8_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn reads_what_libtest_prints() {
        let stdout = "\nrunning 2 tests\ntest a::works ... ok\ntest b - should panic ... ok\n\ntest result: ok. 2 passed\n\nrunning 3 tests\ntest x ... FAILED\ntest y ... FAILED\ntest z ... ignored\n\nfailures:\n\n---- x stdout ----\n\nthread 'x' (7) panicked at tests/t.rs:3:5:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\n\n---- y stdout ----\nthread 'y' panicked at src/lib.rs:1:1:\nindex out of bounds\n\n\nfailures:\n    x\n    y\n\ntest result: FAILED.\n";
        let stderr = "     Running unittests src/lib.rs (t/deps/a-1)\n     Running tests/t.rs (t/deps/t-2)\n";
        let output = Output { ended: Ended::Exit(101), stdout: stdout.into(), stderr: stderr.into(), millis: 1 };
        let limits = crate::sandbox::Limits::of_machine();
        let site = Site { tree: PathBuf::from("/x"), private: PathBuf::new(), limits };
        let report = read(&output, &site, &Workspace::default());
        let got: Vec<(&str, CaseOutcome)> = report.cases.iter().map(|c| (c.name.as_str(), c.outcome)).collect();
        assert_eq!(
            got,
            [
                ("src/lib.rs::a::works", CaseOutcome::Passed),
                ("src/lib.rs::b", CaseOutcome::Passed),
                ("tests/t.rs::x", CaseOutcome::Failed),
                ("tests/t.rs::y", CaseOutcome::Errored),
                ("tests/t.rs::z", CaseOutcome::Skipped),
            ]
        );
        assert!(report.cases[2].message.ends_with("left: 1\n right: 2"), "{}", report.cases[2].message);
        assert!(!report.broken && !report.green());
    }
}
