//! Starting a process, reading it without letting it fill memory, and ending it with everything it started.

use super::limits::Exceeded;
use super::watch::Watch;
use starling_core::port::{Cancel, CheckError};
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes kept of each stream: its end, because that is where failures stand.
const KEPT: usize = 4 * 1024 * 1024;
const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exit(i32),
    /// Killed by a signal of its own making (a crash, memory).
    Signal,
    TimedOut,
    /// Ended because it wanted more of the machine than it may have.
    Exceeded(Exceeded),
}

impl Ended {
    pub fn code(self) -> Option<i32> {
        match self {
            Ended::Exit(code) => Some(code),
            Ended::Signal | Ended::TimedOut | Ended::Exceeded(_) => None,
        }
    }

    /// Why it was ended, where that was not its own doing.
    pub fn reason(self) -> Option<String> {
        match self {
            Ended::Exit(_) | Ended::Signal => None,
            Ended::TimedOut => Some("stopped: it took too long".to_owned()),
            Ended::Exceeded(limit) => Some(format!("stopped: {limit}")),
        }
    }
}

/// What bubblewrap answers when the kernel ended the command at the largest file it may write (SIGXFSZ).
const FILE_TOO_LARGE: i32 = 128 + 25;

#[derive(Clone, Debug)]
pub struct Output {
    pub ended: Ended,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub millis: u64,
}

pub(super) fn execute(
    program: &Path,
    args: &[OsString],
    limit: Duration,
    cancel: &Cancel,
    watch: impl FnOnce(u32) -> Watch,
) -> Result<Output, CheckError> {
    let fail = |message: String| CheckError::Io { what: program.display().to_string(), message };
    let start = Instant::now();
    let mut command = Command::new(program);
    command.args(args).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|e| fail(e.to_string()))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let reader = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let out = reader("starling-stdout").spawn_scoped(scope, move || stdout.map(tail_of).unwrap_or_default());
        let err = reader("starling-stderr").spawn_scoped(scope, move || stderr.map(tail_of).unwrap_or_default());
        let mut watch = watch(child.id());
        let ended = wait(&mut child, start, limit, cancel, &mut watch);
        let out = out.map_err(|e| fail(e.to_string()))?.join().unwrap_or_default();
        let err = err.map_err(|e| fail(e.to_string()))?.join().unwrap_or_default();
        let millis = start.elapsed().as_millis() as u64;
        Ok(Output { ended: ended?, stdout: out, stderr: err, millis })
    })
}

fn wait(
    child: &mut Child,
    start: Instant,
    limit: Duration,
    cancel: &Cancel,
    watch: &mut Watch,
) -> Result<Ended, CheckError> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.code() == Some(FILE_TOO_LARGE) => return Ok(Ended::Exceeded(Exceeded::File)),
            Ok(Some(status)) => return Ok(status.code().map_or(Ended::Signal, Ended::Exit)),
            Ok(None) => {}
            Err(error) => {
                end(child);
                return Err(CheckError::Io { what: "waiting for a command".to_owned(), message: error.to_string() });
            }
        }
        if cancel.is_cancelled() {
            end(child);
            return Err(CheckError::Cancelled);
        }
        if start.elapsed() > limit {
            end(child);
            return Ok(Ended::TimedOut);
        }
        if let Some(exceeded) = watch.look() {
            end(child);
            return Ok(Ended::Exceeded(exceeded));
        }
        std::thread::sleep(LOOK.min(limit));
    }
}

/// Kills the group; bubblewrap's own end takes its process namespace with it.
fn end(child: &mut Child) {
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        // The group may be gone already; then there is nothing to kill.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
    child.kill().ok();
    child.wait().ok();
}

fn tail_of(mut stream: impl Read) -> Vec<u8> {
    let mut kept: Vec<u8> = Vec::new();
    let mut buffer = [0_u8; 64 * 1024];
    while let Ok(count) = stream.read(&mut buffer) {
        if count == 0 {
            break;
        }
        kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
    kept
}
