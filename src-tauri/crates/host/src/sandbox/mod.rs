//! Commands of the user's project in a sandbox without network, that fails closed: no working sandbox, no command.
//!
//! Rung 1 is bubblewrap with its own user, process and network namespaces, a read-only system, a hidden home, a cleared
//! environment, a syscall filter and limits of memory, processes and disk. There is no lower rung yet: where bubblewrap does not work, nothing is run.

mod filter;
mod limits;
mod run;
mod watch;

pub use limits::{Exceeded, Limits};
pub use run::{Ended, Output};

use run::execute;
use starling_core::port::{Cancel, CheckError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use watch::Watch;

/// What one command may see and write.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Writable, and the working folder.
    pub tree: PathBuf,
    /// Writable; seen as `/tmp`.
    pub private: PathBuf,
    /// Readable although they lie in the hidden home (toolchains, package caches): (outside, inside).
    pub readable: Vec<(PathBuf, PathBuf)>,
    pub env: Vec<(String, OsString)>,
    pub limits: Limits,
}

/// The state of the sandbox on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxLevel {
    pub works: bool,
    /// "bubblewrap 0.8.0", or "none".
    pub name: String,
    /// What the self-test found.
    pub detail: String,
}

/// Files in memory belong to no process, so each place for them has a size.
const SHARED_MEMORY: &str = "268435456";
const HIDDEN: &str = "16777216";

const BWRAP: &str = "/usr/bin/bwrap";

/// Runs a command; the program is an absolute path.
///
/// # Errors
/// `NotRun` when there is no working sandbox, `Cancelled`, `Io` when it cannot be started.
pub fn run(cell: &Cell, argv: &[OsString], limit: Duration, cancel: &Cancel) -> Result<Output, CheckError> {
    let level = level();
    if !level.works {
        return Err(CheckError::NotRun { why: format!("no sandbox: {}", level.detail) });
    }
    in_bubblewrap(cell, argv, limit, cancel)
}

/// The self-test, run once for each process.
pub fn level() -> &'static SandboxLevel {
    static LEVEL: OnceLock<SandboxLevel> = OnceLock::new();
    LEVEL.get_or_init(self_test)
}

fn in_bubblewrap(cell: &Cell, argv: &[OsString], limit: Duration, cancel: &Cancel) -> Result<Output, CheckError> {
    let filters = filter::descriptors()?;
    let mut args: Vec<OsString> = Vec::new();
    let mut push = |words: &[&str]| args.extend(words.iter().map(OsString::from));
    push(&["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]);
    push(&[
        "--cap-drop",
        "ALL",
        "--clearenv",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--size",
        SHARED_MEMORY,
        "--tmpfs",
        "/dev/shm",
        "--remount-ro",
        "/dev",
        "--proc",
        "/proc",
        "--size",
        HIDDEN,
        "--tmpfs",
        "/run",
    ]);
    for home in homes() {
        args.extend(["--size".into(), HIDDEN.into(), "--tmpfs".into(), home.into()]);
    }
    args.extend(["--bind".into(), cell.private.clone().into(), "/tmp".into()]);
    // What is shown inside the tree is mounted after it.
    let (within, beside): (Vec<_>, Vec<_>) =
        cell.readable.iter().partition(|(_, inside)| inside.starts_with(&cell.tree));
    let shown = |(outside, inside): &(PathBuf, PathBuf)| {
        ["--ro-bind-try".into(), outside.clone().into(), inside.clone().into()]
    };
    args.extend(beside.into_iter().flat_map(shown));
    args.extend(["--bind".into(), cell.tree.clone().into(), cell.tree.clone().into()]);
    args.extend(within.into_iter().flat_map(shown));
    let git = cell.tree.join(".git");
    args.extend(["--ro-bind-try".into(), git.clone().into(), git.into()]);
    args.extend(["--chdir".into(), cell.tree.clone().into()]);
    for (name, value) in base_env().iter().map(|(n, v)| (OsString::from(n), OsString::from(v))) {
        args.extend(["--setenv".into(), name, value]);
    }
    for (name, value) in &cell.env {
        args.extend(["--setenv".into(), name.into(), value.clone()]);
    }
    for descriptor in filters.numbers() {
        args.extend(["--add-seccomp-fd".into(), descriptor.to_string().into()]);
    }
    args.push("--".into());
    args.extend(limits::words());
    args.extend(argv.iter().cloned());
    let watch = |child| Watch::new(child, cell.limits, vec![cell.private.clone(), cell.tree.clone()]);
    let output = execute(Path::new(BWRAP), &args, limit, cancel, watch)?;
    if matches!(output.ended, Ended::Exceeded(Exceeded::Disk { .. } | Exceeded::MachineDisk)) {
        empty(&cell.private);
    }
    Ok(output)
}

/// What a command wrote until it was stopped would go on filling the disk. Links in it are removed, not followed.
fn empty(private: &Path) {
    for entry in std::fs::read_dir(private).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        // What cannot be removed stays until the task is forgotten.
        if folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.ok();
    }
}

fn base_env() -> [(&'static str, &'static str); 5] {
    [("PATH", "/usr/bin:/bin"), ("HOME", "/tmp"), ("TMPDIR", "/tmp"), ("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8")]
}

/// The homes that are hidden: the user's own, root's, and everyone's.
fn homes() -> Vec<PathBuf> {
    let mut homes = vec![PathBuf::from("/root"), PathBuf::from("/home")];
    let own = std::env::home_dir().filter(|home| home.is_absolute() && home != Path::new("/"));
    homes.extend(own.filter(|home| !home.starts_with("/home") && !home.starts_with("/tmp")));
    homes.retain(|home| home.is_dir());
    homes.dedup();
    homes
}

fn self_test() -> SandboxLevel {
    let none = |detail: String| SandboxLevel { works: false, name: "none".to_owned(), detail };
    if !Path::new(BWRAP).is_file() {
        return none("bubblewrap is not installed (package bubblewrap)".to_owned());
    }
    if let Some(why) = limits::missing() {
        return none(why.to_owned());
    }
    let folder = match tempfile_folder() {
        Ok(folder) => folder,
        Err(error) => return none(format!("no temporary folder: {error}")),
    };
    let cell = Cell {
        tree: folder.join("tree"),
        private: folder.join("private"),
        readable: Vec::new(),
        env: Vec::new(),
        limits: Limits::of_machine(),
    };
    let result = test_cell(&cell);
    // A folder that cannot be removed does no harm; the next start uses another name.
    std::fs::remove_dir_all(&folder).ok();
    match result {
        Ok(version) => SandboxLevel {
            works: true,
            name: format!("bubblewrap {version}"),
            detail: "network refused, system read-only, home hidden, environment empty".to_owned(),
        },
        Err(detail) => none(detail),
    }
}

fn tempfile_folder() -> std::io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("starling-sandbox-{}", uuid::Uuid::now_v7()));
    for part in ["tree", "private"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    Ok(folder)
}

/// Each line of the answer is one thing that must hold.
fn test_cell(cell: &Cell) -> Result<String, String> {
    const SCRIPT: &str = "touch /etc/starling-was-here 2>/dev/null && echo wrote-etc; \
        ls /root/* /home/* 2>/dev/null | head -n 1 | grep -q . && echo saw-home; \
        (exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && echo reached-net; \
        grep -qv 'lo:\\|Inter\\|face' /proc/net/dev && echo has-interface; \
        env | grep -qi 'key\\|token' && echo saw-secret; \
        [ \"$(ulimit -c)$(ulimit -f | grep unlimited)\" = 0 ] || echo no-limits; echo ok > ready && cat ready";
    let argv: Vec<OsString> = ["/bin/bash", "-c", SCRIPT].map(OsString::from).to_vec();
    let output = in_bubblewrap(cell, &argv, Duration::from_secs(20), &Cancel::new()).map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.trim() != "ok" || output.ended != Ended::Exit(0) {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("the self-test failed: {} {}", text.trim().replace('\n', ", "), errors.trim()));
    }
    let version = std::process::Command::new(BWRAP).arg("--version").env_clear().output().map_err(|e| e.to_string())?;
    let version = String::from_utf8_lossy(&version.stdout).trim().replace("bubblewrap ", "");
    Ok(version)
}

#[cfg(test)]
mod tests;
