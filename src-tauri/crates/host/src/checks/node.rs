//! JavaScript and TypeScript with what node brings along: its test runner through a reporter of our own, its parser for what
//! builds, scripts for recording. Vitest and Jest stand in `jest`.

use super::clean::{head, plain, relative, tail};
use super::report::{INSIDE, ReportFile, assemble, said};
use super::toolchain::{Node, Tools};
use super::{Site, io, wary};
use crate::sandbox::Ended;
use serde_json::Value;
use starling_core::RelPath;
use starling_core::code::Language;
use starling_core::port::{BuildReport, Cancel, CaseOutcome, CheckError, ScriptReport, TestCase, TestReport, TestRun};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

const REPORTER: &str = include_str!("node_reporter.mjs");
const BUILD: &str = include_str!("node_build.mjs");
/// Test files of one run at most.
const MAX_FILES: usize = 2_000;

pub(super) fn of(tools: &Tools) -> Result<&Node, CheckError> {
    let why = "no node of version 20 or newer was found on this machine".to_owned();
    tools.node.as_ref().ok_or(CheckError::NotRun { why })
}

/// Whether every file of the tree parses, without running any. TypeScript is read where node can.
pub(super) fn build(tools: &Tools, site: &Site, cancel: &Cancel) -> Result<BuildReport, CheckError> {
    let script = put(site, "starling-build.mjs", BUILD)?;
    let args: Vec<OsString> = vec!["--experimental-vm-modules".into(), script.into()];
    let output = of(tools)?.run(site, &args, Duration::from_secs(60), cancel)?;
    let text = plain(&output.stdout) + &plain(&output.stderr);
    Ok(BuildReport {
        ok: output.ended == Ended::Exit(0),
        output: said(&output, &head(&relative(&text, &site.tree), 8_000)),
        unknown_names: Vec::new(),
        millis: output.millis,
    })
}

pub(super) fn script(tools: &Tools, site: &Site, source: &str, seconds: u32) -> Result<ScriptReport, CheckError> {
    let node = of(tools)?;
    let mut args = node.loading();
    args.push(put(site, "starling-script.mjs", source)?.into());
    let output = node.run(site, &args, Duration::from_secs(seconds.into()), &Cancel::new())?;
    Ok(ScriptReport {
        exit: output.ended.code(),
        stdout: tail(&output.stdout, 1_000_000),
        stderr: said(&output, &tail(&output.stderr, 8_000)),
    })
}

pub(super) fn test(tools: &Tools, site: &Site, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError> {
    let node = of(tools)?;
    let files = files_of(node, site, run)?;
    if files.is_empty() {
        let output = "no test was found".to_owned();
        return Ok(TestReport { cases: Vec::new(), exit: Some(0), broken: false, output, millis: 0 });
    }
    let (reporter, report) = (put(site, "starling-reporter.mjs", REPORTER)?, ReportFile::new("ndjson"));
    let mut args = node.loading();
    args.push("--test".into());
    args.push(format!("--test-reporter={reporter}").into());
    args.push(format!("--test-reporter-destination={}", report.inside()).into());
    // Patterns are about the last name or about all of them, by version; what they let through too is sorted out below.
    let last = |name: &String| name.rsplit("::").next().map(|name| format!("--test-name-pattern={}$", escaped(name)));
    args.extend(run.names.iter().filter_map(last).map(OsString::from));
    args.extend(files.iter().map(|file| format!("./{file}").into()));
    let output = node.run(site, &args, Duration::from_secs(run.timeout_seconds.into()), cancel)?;
    let (mut cases, unloaded) = read(&report.take(site), site);
    cases.retain(|case| run.names.is_empty() || run.names.contains(&case.name));
    let silent = cases.is_empty() && output.ended != Ended::Exit(0);
    let broken = unloaded || silent || !matches!(output.ended.code(), Some(0 | 1));
    let told = failures(&cases);
    let mut report = assemble(cases, broken, &output, site);
    report.output = head(&format!("{told}{}", report.output), 8_000);
    Ok(report)
}

/// What failed, in words: a reporter of our own leaves the terminal empty.
pub(super) fn failures(cases: &[TestCase]) -> String {
    let failed = cases.iter().filter(|case| matches!(case.outcome, CaseOutcome::Failed | CaseOutcome::Errored));
    failed.take(20).map(|case| format!("{}\n{}: failed\n", head(&case.message, 1_000), case.name)).collect()
}

/// The test files of a run, relative to the tree.
fn files_of(node: &Node, site: &Site, run: &TestRun) -> Result<Vec<String>, CheckError> {
    let mut wanted: Vec<String> = run.files.iter().map(RelPath::to_string).collect();
    if wanted.is_empty() {
        let named = run.names.iter().filter_map(|name| Some(name.split_once("::")?.0.to_owned()));
        wanted.extend(named);
        wanted.sort();
        wanted.dedup();
    }
    if wanted.iter().any(|file| is_typed(file)) && !node.reads_types() {
        let (major, minor) = node.version;
        let why = format!(
            "node {major}.{minor} reads no TypeScript: it needs node 22.6 or newer, or a loader in the project's test script"
        );
        return Err(CheckError::NotRun { why });
    }
    let below = |file: &str, place: &str| file == place || file.starts_with(&format!("{place}/"));
    let mut all = discover(&site.tree);
    all.retain(|file| node.reads_types() || !is_typed(file));
    if wanted.is_empty() {
        let told = |file: &String| node.places.iter().any(|place| below(file, place));
        return Ok(if all.iter().any(told) { all.into_iter().filter(told).collect() } else { all });
    }
    let folder = |place: &String| site.tree.join(place).is_dir();
    let (folders, mut files): (Vec<String>, Vec<String>) = wanted.into_iter().partition(folder);
    files.extend(all.into_iter().filter(|file| folders.iter().any(|folder| below(file, folder))));
    Ok(files)
}

fn is_typed(file: &str) -> bool {
    let extension = file.rsplit('.').next().unwrap_or("");
    matches!(Language::of_extension(extension), Some(Language::TypeScript | Language::Tsx))
}

/// Files that are tests by their name or place, and that speak of assertions or of node's tests: beside tests lie helpers,
/// and a name alone also fits tests of other runners.
fn discover(tree: &Path) -> Vec<String> {
    let mut walk = ignore::WalkBuilder::new(tree);
    walk.git_ignore(false).git_exclude(false).git_global(false).parents(false);
    walk.filter_entry(|entry| !matches!(entry.file_name().to_str(), Some("node_modules" | "dist" | "coverage")));
    let relative = |path: &Path| Some(path.strip_prefix(tree).ok()?.to_str()?.to_owned());
    let files = walk.build().filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|t| t.is_file()));
    let names = files.filter_map(|entry| relative(entry.path())).filter(|file| looks_like_test(file));
    let speaks = |file: &String| {
        let bytes = wary::read(tree, Path::new(file), 1024 * 1024).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.contains("node:test") || text.contains("assert")
    };
    let mut found: Vec<String> = names.filter(speaks).take(MAX_FILES).collect();
    found.sort();
    found
}

fn looks_like_test(file: &str) -> bool {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let code = matches!(extension, "js" | "mjs" | "cjs" | "ts" | "mts" | "cts");
    let named = [".test", ".spec", "-test", "_test", "-spec"].iter().any(|end| stem.ends_with(end))
        || stem.starts_with("test-")
        || stem.starts_with("test_")
        || stem == "test";
    let placed = folder.split('/').any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec"));
    code && (named || placed)
}

/// The cases of our reporter's lines, and whether a file could not be loaded.
fn read(lines: &str, site: &Site) -> (Vec<TestCase>, bool) {
    let (mut cases, mut unloaded) = (Vec::new(), false);
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for row in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let file = relative(row["file"].as_str().unwrap_or(""), &site.tree);
        let inner = row["names"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let name = std::iter::once(file.as_str()).chain(inner).collect::<Vec<_>>().join("::");
        let outcome = match row["outcome"].as_str() {
            Some("passed") => CaseOutcome::Passed,
            Some("failed") => CaseOutcome::Failed,
            Some("skipped") => CaseOutcome::Skipped,
            Some(_) | None => CaseOutcome::Errored,
        };
        unloaded |= row["unloaded"].as_bool().unwrap_or(false);
        cases.push(TestCase { name: numbered(&mut names, name), outcome, message: message(&row["message"], site) });
    }
    (cases, unloaded)
}

pub(super) fn message(value: &Value, site: &Site) -> String {
    let text = plain(value.as_str().unwrap_or("").as_bytes()).replace("file://", "");
    head(&relative(&text, &site.tree), 2_000)
}

/// Two tests of a file may have one name; the later ones are counted.
pub(super) fn numbered(names: &mut BTreeMap<String, u32>, name: String) -> String {
    let count = names.entry(name.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { name } else { format!("{name} #{count}") }
}

/// A text as a regular expression that means itself.
pub(super) fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| Some('\\').filter(|_| ".*+?^${}()|[]\\/".contains(c)).into_iter().chain([c])).collect()
}

/// A file of ours in the private folder; the path is the one inside.
fn put(site: &Site, name: &str, text: &str) -> Result<String, CheckError> {
    wary::write(&site.private, Path::new(name), text.as_bytes(), wary::PLAIN).map_err(|e| io(Path::new(name), e))?;
    Ok(format!("{INSIDE}/{name}"))
}
