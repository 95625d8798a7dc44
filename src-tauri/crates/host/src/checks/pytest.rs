//! pytest, through its JUnit report.

use super::Site;
use super::clean::{head, plain, relative, tail};
use super::python::of;
use super::report::{ReportFile, assemble};
use super::toolchain::Tools;
use starling_core::port::{Cancel, CaseOutcome, CheckError, TestCase, TestReport, TestRun};
use std::ffi::OsString;
use std::time::Duration;

/// What pytest writes of a file that it cannot import.
const UNCOLLECTED: &str = "collection failure";

pub(super) fn test(tools: &Tools, site: &Site, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError> {
    let report = ReportFile::new("xml");
    let mut args: Vec<OsString> =
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1"].map(OsString::from).to_vec();
    args.push(format!("--junitxml={}", report.inside()).into());
    // The project's own options may stop at the first failure, and one bad file would hide all others.
    args.extend(["--maxfail=0", "--continue-on-collection-errors"].map(OsString::from));
    // Names come from a report, so they could look like options.
    args.push("--".into());
    if run.names.is_empty() {
        args.extend(run.files.iter().map(|file| file.as_str().into()));
    } else {
        args.extend(run.names.iter().map(|name| name.as_str().into()));
    }
    let output = of(tools)?.run(site, &args, Duration::from_secs(run.timeout_seconds.into()), cancel)?;
    let xml = report.take(site);
    let cases = junit(&xml, site);
    // 2: interrupted, 3: internal error, 4: wrong use, 5: nothing collected. A file that cannot be imported ends with 1.
    let uncollected = cases.iter().any(|case| case.message.starts_with(UNCOLLECTED));
    let broken = !matches!(output.ended.code(), Some(0 | 1)) || xml.is_empty() || uncollected;
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
                    match reference.resolve_char_ref() {
                        Ok(Some(c)) => case.message.push(c),
                        Ok(None) | Err(_) => case.message.push_str(named(&reference)),
                    }
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
        case.message = relative(&middle_out(&case.message), &site.tree);
    }
    cases
}

/// The summary stands at the start and the failing line at the end; the middle is source text.
fn middle_out(message: &str) -> String {
    let message = plain(message.as_bytes());
    if message.chars().count() <= 2_000 {
        return message;
    }
    format!("{}\n...\n{}", head(&message, 500), tail(message.as_bytes(), 1_490))
}

fn attribute(element: &quick_xml::events::BytesStart<'_>, name: &str) -> String {
    let found = element.attributes().flatten().find(|a| a.key.as_ref() == name);
    found
        .and_then(|a| a.normalized_value(quick_xml::XmlVersion::Explicit1_0).ok().map(|v| v.into_owned()))
        .unwrap_or_default()
}

fn named(reference: &str) -> &'static str {
    match reference {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
}

/// The name as pytest itself writes it, so that it can be asked for again.
fn junit_case(element: &quick_xml::events::BytesStart<'_>) -> TestCase {
    let (file, class, name) = (attribute(element, "file"), attribute(element, "classname"), attribute(element, "name"));
    // "tests.test_a.TestB.TestC" in tests/test_a.py: what the module's name leaves over are the classes.
    let module = file.strip_suffix(".py").unwrap_or(&file).replace('/', ".");
    let classes = class.strip_prefix(&module).and_then(|rest| rest.strip_prefix('.')).unwrap_or("");
    let mut parts: Vec<&str> = vec![if file.is_empty() { &class } else { &file }];
    parts.extend(classes.split('.').filter(|part| !part.is_empty()));
    // A file that could not be collected is reported under its own name.
    parts.extend(Some(name.as_str()).filter(|name| *name != module));
    TestCase { name: parts.join("::"), outcome: CaseOutcome::Passed, message: String::new() }
}

/// Notes how a case ended, and says whether the text that follows belongs to it. Of several ends (a test and its
/// teardown, a test and its subtests) the first counts.
fn mark(open: &mut Option<TestCase>, element: &quick_xml::events::BytesStart<'_>) -> bool {
    let Some(case) = open.as_mut().filter(|case| case.outcome == CaseOutcome::Passed) else { return false };
    let message = attribute(element, "message");
    let asserted = ["assert", "Failed:", "[XPASS(strict)]"].iter().any(|start| message.starts_with(start))
        || message.contains("AssertionError");
    case.outcome = match element.name().as_ref() {
        "skipped" => CaseOutcome::Skipped,
        "failure" if asserted => CaseOutcome::Failed,
        _ => CaseOutcome::Errored,
    };
    case.message = format!("{message}\n");
    true
}
