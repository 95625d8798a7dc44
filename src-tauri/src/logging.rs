//! Where the program's own messages go: a rolling file for the window, stderr for the command line. `STARLING_LOG` sets what
//! is written ("debug", "starling_engine=trace"); text of models and projects is never logged.

use std::path::Path;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

const DAYS_KEPT: usize = 7;

/// Flushes when the guard is dropped. `None` when the folder cannot be written: the window opens all the same.
pub fn to_folder(folder: &Path) -> Option<WorkerGuard> {
    let files = tracing_appender::rolling::Builder::new()
        .rotation(tracing_appender::rolling::Rotation::DAILY)
        .filename_prefix("starling")
        .filename_suffix("log")
        .max_log_files(DAYS_KEPT)
        .build(folder)
        .ok()?;
    let (writer, guard) = tracing_appender::non_blocking(files);
    let subscriber =
        tracing_subscriber::fmt().with_env_filter(filter("info,llama-cpp-2=warn")).with_writer(writer).with_ansi(false);
    subscriber.try_init().ok()?;
    Some(guard)
}

pub fn to_stderr() {
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter("error")).with_writer(std::io::stderr);
    // A second call (tests) keeps the first subscriber.
    subscriber.with_ansi(false).try_init().ok();
}

fn filter(default: &str) -> EnvFilter {
    EnvFilter::try_from_env("STARLING_LOG").unwrap_or_else(|_| EnvFilter::new(default))
}
