//! Vitest and Jest as the project installed them, through the JSON report that both write in one form.

use super::Site;
use super::clean::{head, relative};
use super::node::{escaped, failures, message, numbered, of};
use super::report::{ReportFile, assemble};
use super::toolchain::{JEST, Tools, VITEST};
use serde_json::Value;
use starling_core::RelPath;
use starling_core::port::{Cancel, CaseOutcome, CheckError, TestCase, TestReport, TestRun};
use starling_core::test_set::Runner;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

pub(super) fn test(tools: &Tools, site: &Site, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError> {
    let node = of(tools)?;
    let (program, words): (&str, &[&str]) = match run.runner {
        Runner::Vitest => (VITEST, &["run", "--reporter=json", "--no-color"]),
        _ => (JEST, &["--json", "--ci", "--watchman=false", "--cacheDirectory=/tmp/jest"]),
    };
    let program = node.package_file(site, program).ok_or_else(|| CheckError::NotRun {
        why: format!("{} is not installed in the project", run.runner.as_str()),
    })?;
    let report = ReportFile::new("json");
    let mut args: Vec<OsString> = vec![program.into()];
    args.extend(words.iter().map(OsString::from));
    args.push(format!("--outputFile={}", report.inside()).into());
    if !run.names.is_empty() {
        // Both know a test by all its names with spaces between.
        let full = |name: &String| {
            let inner = name.split_once("::").map_or(name.as_str(), |(_, inner)| inner);
            escaped(&inner.replace("::", " "))
        };
        let names: Vec<String> = run.names.iter().map(full).collect();
        args.extend(["-t".into(), format!("^({})$", names.join("|")).into()]);
    }
    let mut files: Vec<String> = run.files.iter().map(RelPath::to_string).collect();
    if files.is_empty() {
        files.extend(run.names.iter().filter_map(|name| Some(name.split_once("::")?.0.to_owned())));
    }
    files.sort();
    files.dedup();
    if run.runner == Runner::Jest && !files.is_empty() {
        args.push("--runTestsByPath".into());
    }
    args.extend(files.iter().map(|file| format!("./{file}").into()));
    let output = node.run(site, &args, Duration::from_secs(run.timeout_seconds.into()), cancel)?;
    let text = report.take(site);
    let (mut cases, unloaded) = read(&text, site);
    // What a pattern leaves out is reported as skipped.
    cases.retain(|case| run.names.is_empty() || run.names.contains(&case.name));
    let broken = unloaded || text.is_empty() || !matches!(output.ended.code(), Some(0 | 1));
    let told = failures(&cases);
    let mut report = assemble(cases, broken, &output, site);
    report.output = head(&format!("{told}{}", report.output), 8_000);
    Ok(report)
}

fn read(text: &str, site: &Site) -> (Vec<TestCase>, bool) {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let (mut cases, mut unloaded) = (Vec::new(), false);
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for result in value["testResults"].as_array().into_iter().flatten() {
        let file = relative(result["name"].as_str().unwrap_or(""), &site.tree);
        let tests = result["assertionResults"].as_array().map(Vec::as_slice).unwrap_or_default();
        if tests.is_empty() && result["status"].as_str() == Some("failed") {
            unloaded = true;
            let message = message(&result["message"], site);
            cases.push(TestCase { name: file.clone(), outcome: CaseOutcome::Errored, message });
        }
        for test in tests {
            let outer = test["ancestorTitles"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let inner = outer.filter(|name| !name.is_empty()).chain(test["title"].as_str());
            let name = std::iter::once(file.as_str()).chain(inner).collect::<Vec<_>>().join("::");
            let message = on_one_line(&message(&test["failureMessages"][0], site));
            let outcome = outcome(test["status"].as_str().unwrap_or(""), &message);
            cases.push(TestCase { name: numbered(&mut names, name), outcome, message });
        }
    }
    (cases, unloaded)
}

/// What is said before the stack, on its first line: whoever shows one line shows that one.
fn on_one_line(message: &str) -> String {
    let frame = |line: &&str| line.trim_start().starts_with("at ");
    let words = message.lines().take_while(|line| !frame(line)).flat_map(str::split_whitespace);
    let head = words.collect::<Vec<_>>().join(" ");
    let frames = message.lines().filter(frame).filter(|line| !line.contains("node_modules"));
    std::iter::once(head.as_str()).chain(frames).collect::<Vec<_>>().join("\n")
}

fn outcome(status: &str, message: &str) -> CaseOutcome {
    let head = message.lines().next().unwrap_or("");
    // Of an assertion of node's, Jest shows the call instead of the name.
    let asserted = ["AssertionError", "expect(", "assert.", "assert("].iter().any(|sign| head.contains(sign));
    match status {
        "passed" => CaseOutcome::Passed,
        "failed" if asserted => CaseOutcome::Failed,
        "pending" | "skipped" | "todo" | "disabled" => CaseOutcome::Skipped,
        _ => CaseOutcome::Errored,
    }
}
