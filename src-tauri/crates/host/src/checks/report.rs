//! What a run leaves behind for the host to read: a file of its own, and what it printed.

use super::clean::{head, plain, relative, tail};
use super::{Site, wary};
use crate::sandbox::Output;
use starling_core::port::{TestCase, TestReport};
use std::path::PathBuf;

/// Where the sandbox shows the private folder.
pub(super) const INSIDE: &str = "/tmp";
/// A larger report counts as none.
const MAX_REPORT: u64 = 32 * 1024 * 1024;

/// A file in the private folder for the report of one run. Its name is new each time, so that nothing an earlier run left
/// behind lies in the way; what is left there is read without trust and removed.
pub(super) struct ReportFile(PathBuf);

impl ReportFile {
    pub fn new(extension: &str) -> ReportFile {
        ReportFile(PathBuf::from(format!("report-{}.{extension}", uuid::Uuid::now_v7())))
    }

    /// As the sandbox sees it.
    pub fn inside(&self) -> String {
        format!("{INSIDE}/{}", self.0.display())
    }

    /// What the run left as its report; empty when that is no report.
    pub fn take(self, site: &Site) -> String {
        let bytes = wary::read(&site.private, &self.0, MAX_REPORT).unwrap_or_default();
        // What cannot be removed is only space.
        std::fs::remove_file(site.private.join(&self.0)).ok();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// The report of a run whose cases were read from its file.
pub(super) fn assemble(cases: Vec<TestCase>, broken: bool, output: &Output, site: &Site) -> TestReport {
    let mut text = plain(&output.stdout);
    text.push_str(&plain(&output.stderr));
    TestReport {
        cases,
        exit: output.ended.code(),
        broken,
        output: relative(&said(output, &tail(text.as_bytes(), 8_000)), &site.tree),
        millis: output.millis,
    }
}

/// What a command printed; if it was stopped, the reason stands before it.
pub(super) fn said(output: &Output, text: &str) -> String {
    match output.ended.reason() {
        None => text.to_owned(),
        Some(reason) => format!("{reason}\n{}", head(text, 7_900)),
    }
}
