//! Python: what builds, unittest through a runner of our own, scripts for recording. pytest stands in `pytest`.

use super::clean::{head, plain, relative, tail};
use super::report::{INSIDE, ReportFile, assemble, said};
use super::toolchain::{Python, Tools};
use super::{Site, io, wary};
use crate::sandbox::Ended;
use serde_json::Value;
use starling_core::port::{BuildReport, Cancel, CaseOutcome, CheckError, ScriptReport, TestCase, TestReport, TestRun};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

const RUNNER: &str = include_str!("unittest_runner.py");

pub(super) fn of(tools: &Tools) -> Result<&Python, CheckError> {
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
        output: said(&output, &head(&text, 8_000)),
        unknown_names: Vec::new(),
        millis: output.millis,
    })
}

pub(super) fn script(tools: &Tools, site: &Site, source: &str, seconds: u32) -> Result<ScriptReport, CheckError> {
    let file = Path::new("script.py");
    wary::write(&site.private, file, source.as_bytes(), wary::PLAIN).map_err(|e| io(file, e))?;
    let args: Vec<OsString> = vec![format!("{INSIDE}/script.py").into()];
    let output = of(tools)?.run(site, &args, Duration::from_secs(seconds.into()), &Cancel::new())?;
    Ok(ScriptReport {
        exit: output.ended.code(),
        stdout: tail(&output.stdout, 1_000_000),
        stderr: said(&output, &tail(&output.stderr, 8_000)),
    })
}

pub(super) fn unittest(tools: &Tools, site: &Site, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError> {
    let report = ReportFile::new("json");
    let names = serde_json::to_string(&run.names).unwrap_or_else(|_| "[]".to_owned());
    let mut args: Vec<OsString> = vec!["-W".into(), "ignore".into(), "-c".into(), RUNNER.into()];
    args.extend([report.inside().into(), names.into()]);
    args.extend(run.files.iter().map(|file| file.as_str().into()));
    let output = of(tools)?.run(site, &args, Duration::from_secs(run.timeout_seconds.into()), cancel)?;
    let text = report.take(site);
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
