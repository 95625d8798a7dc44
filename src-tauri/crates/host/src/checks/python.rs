//! Python: pytest through its JUnit report, unittest through a runner of our own, scripts for recording.

use super::clean::{head, plain, relative, tail};
use super::toolchain::{Python, Tools};
use super::{Site, io, wary};
use crate::sandbox::{Ended, Output};
use serde_json::Value;
use starling_core::port::{BuildReport, Cancel, CaseOutcome, CheckError, ScriptReport, TestCase, TestReport, TestRun};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

const RUNNER: &str = include_str!("unittest_runner.py");
/// Where the sandbox shows the private folder.
const INSIDE: &str = "/tmp";
/// A larger report counts as none.
const MAX_REPORT: u64 = 32 * 1024 * 1024;

fn of(tools: &Tools) -> Result<&Python, CheckError> {
    tools.python.as_ref().ok_or_else(|| CheckError::NotRun { why: "no Python 3 was found on this machine".to_owned() })
}

/// Compiles every file of the tree without writing anything.
pub(super) fn build(tools: &Tools, site: &Site, cancel: &Cancel) -> Result<BuildReport, CheckError> {
    const CODE: &str = "import os, sys\nbad = 0\nfor folder, dirs, files in os.walk('.'):\n    dirs[:] = [d for d in dirs if not d.startswith('.') and d not in ('node_modules', 'target', 'venv', '__pycache__')]\n    for name in files:\n        if name.endswith('.py'):\n            path = os.path.join(folder, name)\n            try:\n                compile(open(path, 'rb').read(), path, 'exec', dont_inherit=True)\n            except (SyntaxError, ValueError) as error:\n                bad = 1\n                print(f'{path}: {error}')\nsys.exit(bad)\n";
    let output = of(tools)?.run(
        site,
        &["-W".into(), "ignore".into(), "-c".into(), CODE.into()],
        Duration::from_secs(60),
        cancel,
    )?;
    let text = plain(&output.stdout) + &plain(&output.stderr);
    Ok(BuildReport {
        ok: output.ended == Ended::Exit(0),
        output: head(&text, 8_000),
        unknown_names: Vec::new(),
        millis: output.millis,
    })
}

pub(super) fn script(tools: &Tools, site: &Site, source: &str, seconds: u32) -> Result<ScriptReport, CheckError> {
    let file = Path::new("script.py");
    wary::write(&site.private, file, source.as_bytes()).map_err(|e| io(file, e))?;
    let args: Vec<OsString> = vec![format!("{INSIDE}/script.py").into()];
    let output = of(tools)?.run(site, &args, Duration::from_secs(seconds.into()), &Cancel::new())?;
    Ok(ScriptReport {
        exit: output.ended.code(),
        stdout: tail(&output.stdout, 1_000_000),
        stderr: tail(&output.stderr, 8_000),
    })
}

pub(super) fn unittest(tools: &Tools, site: &Site, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError> {
    let report = Path::new("report.json");
    clear(&site.private.join(report))?;
    let names = serde_json::to_string(&run.names).unwrap_or_else(|_| "[]".to_owned());
    let mut args: Vec<OsString> = vec!["-W".into(), "ignore".into(), "-c".into(), RUNNER.into()];
    args.extend([format!("{INSIDE}/report.json").into(), names.into()]);
    args.extend(run.files.iter().map(|file| file.as_str().into()));
    let output = of(tools)?.run(site, &args, Duration::from_secs(run.timeout_seconds.into()), cancel)?;
    let text = text_of(report, site);
    let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let cases: Vec<TestCase> =
        value["cases"].as_array().into_iter().flatten().filter_map(|case| unittest_case(case, site)).collect();
    let broken = value["broken"].as_bool().unwrap_or(true);
    Ok(assemble(cases, broken, &output, site))
}

fn unittest_case(case: &Value, site: &Site) -> Option<TestCase> {
    let outcome = match case["outcome"].as_str()? {
        "passed" => CaseOutcome::Passed,
        "failed" => CaseOutcome::Failed,
        "skipped" => CaseOutcome::Skipped,
        _ => CaseOutcome::Errored,
    };
    let message = relative(&plain(case["message"].as_str().unwrap_or("").as_bytes()), &site.tree);
    Some(TestCase { name: case["name"].as_str()?.to_owned(), outcome, message })
}

pub(super) fn pytest(tools: &Tools, site: &Site, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError> {
    let report = Path::new("report.xml");
    clear(&site.private.join(report))?;
    let mut args: Vec<OsString> =
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1"].map(OsString::from).to_vec();
    args.push(format!("--junitxml={INSIDE}/report.xml").into());
    let mut wanted: Vec<OsString> = run.names.iter().map(|name| name.as_str().into()).collect();
    if wanted.is_empty() {
        wanted.extend(run.files.iter().map(|file| file.as_str().into()));
    }
    args.extend(wanted);
    let output = of(tools)?.run(site, &args, Duration::from_secs(run.timeout_seconds.into()), cancel)?;
    let xml = text_of(report, site);
    let cases = junit(&xml, site);
    // 2: interrupted (nearly always a file that cannot be imported), 3: internal error, 4: wrong use, 5: nothing collected.
    let broken = !matches!(output.ended.code(), Some(0 | 1)) || xml.is_empty();
    Ok(assemble(cases, broken, &output, site))
}

/// The cases of a JUnit report as pytest writes it.
fn junit(xml: &str, site: &Site) -> Vec<TestCase> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut cases: Vec<TestCase> = Vec::new();
    let mut open: Option<TestCase> = None;
    let mut reading = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => match element.name().as_ref() {
                "testcase" => open = Some(junit_case(&element)),
                "failure" | "error" | "skipped" => reading = mark(&mut open, &element),
                _ => {}
            },
            Ok(Event::Empty(element)) => match element.name().as_ref() {
                "testcase" => cases.push(junit_case(&element)),
                "failure" | "error" | "skipped" => {
                    mark(&mut open, &element);
                }
                _ => {}
            },
            Ok(Event::Text(text)) if reading => {
                if let Some(case) = open.as_mut() {
                    case.message.push_str(&text.xml10_content());
                }
            }
            // "<", "&" and quotes of the message come as references of their own.
            Ok(Event::GeneralRef(reference)) if reading => {
                if let Some(case) = open.as_mut() {
                    case.message.push_str(match &*reference {
                        "lt" => "<",
                        "gt" => ">",
                        "amp" => "&",
                        "quot" => "\"",
                        "apos" => "'",
                        _ => "",
                    });
                }
            }
            Ok(Event::End(element)) => match element.name().as_ref() {
                "testcase" => cases.extend(open.take()),
                "failure" | "error" | "skipped" => reading = false,
                _ => {}
            },
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    for case in &mut cases {
        case.message = relative(&tail(case.message.as_bytes(), 2_000), &site.tree);
    }
    cases
}

fn attribute(element: &quick_xml::events::BytesStart<'_>, name: &str) -> String {
    let found = element.attributes().flatten().find(|a| a.key.as_ref() == name);
    found
        .and_then(|a| a.normalized_value(quick_xml::XmlVersion::Explicit1_0).ok().map(|v| v.into_owned()))
        .unwrap_or_default()
}

fn junit_case(element: &quick_xml::events::BytesStart<'_>) -> TestCase {
    let (file, class, name) = (attribute(element, "file"), attribute(element, "classname"), attribute(element, "name"));
    // The class name ends with the class when there is one ("tests.test_a.TestB").
    let inner = class
        .rsplit('.')
        .next()
        .filter(|last| last.starts_with(char::is_uppercase))
        .map(|c| format!("{c}::"))
        .unwrap_or_default();
    let place = if file.is_empty() { class.clone() } else { file };
    TestCase { name: format!("{place}::{inner}{name}"), outcome: CaseOutcome::Passed, message: String::new() }
}

fn mark(open: &mut Option<TestCase>, element: &quick_xml::events::BytesStart<'_>) -> bool {
    let Some(case) = open.as_mut() else { return false };
    let message = attribute(element, "message");
    let asserted =
        message.starts_with("assert") || message.contains("AssertionError") || message.starts_with("Failed:");
    case.outcome = match element.name().as_ref() {
        "skipped" => CaseOutcome::Skipped,
        "failure" if asserted => CaseOutcome::Failed,
        _ => CaseOutcome::Errored,
    };
    case.message = format!("{message}\n");
    true
}

/// What the run left as its report; empty when that is no report.
fn text_of(report: &Path, site: &Site) -> String {
    let bytes = wary::read(&site.private, report, MAX_REPORT).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn clear(report: &Path) -> Result<(), CheckError> {
    match std::fs::remove_file(report) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(report, error)),
        _ => Ok(()),
    }
}

fn assemble(cases: Vec<TestCase>, broken: bool, output: &Output, site: &Site) -> TestReport {
    let mut text = plain(&output.stdout);
    text.push_str(&plain(&output.stderr));
    if output.ended == Ended::TimedOut {
        text.push_str("\nstopped: it took too long\n");
    }
    TestReport {
        cases,
        exit: output.ended.code(),
        broken,
        output: relative(&tail(text.as_bytes(), 8_000), &site.tree),
        millis: output.millis,
    }
}
