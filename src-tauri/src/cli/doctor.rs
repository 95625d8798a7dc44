//! `starling doctor`: the environment, in words or as one object.

use super::output::{CliResult, Output};
use crate::compose::doctor::{Part, examine};

pub fn run(out: Output) -> CliResult {
    let starling = super::open()?;
    let report = examine(&starling);
    out.result(&report, || {
        let line =
            |name: &str, part: &Part| format!("{} {name:<14} {}\n", if part.ok { "ok" } else { "--" }, part.detail);
        let mut text = format!(
            "Starling {} in {}\n{}, {} cores, {:.0} of {:.0} MB free\n",
            report.version, report.data_folder, report.cpu, report.cores, report.free_memory_mb, report.total_memory_mb
        );
        for (name, part) in [
            ("sandbox", &report.sandbox),
            ("kernels", &report.kernels),
            ("database", &report.database),
            ("models", &report.models),
            ("tray", &report.tray),
            ("notifications", &report.notifications),
            ("keychain", &report.keychain),
            ("cloud", &report.cloud),
        ] {
            text.push_str(&line(name, part));
        }
        text
    })
}
