//! What one command may use of the machine, and what is said when it wants more.
//!
//! Address space is deliberately not limited: node, cargo's linker and sanitizers reserve far more than they use. Memory is
//! what its processes really hold, summed over all of them; `watch` looks at it while the command runs.

use super::watch;
use std::ffi::OsString;
use std::path::Path;

const MIB: u64 = 1024 * 1024;

/// What all processes of one command may use together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory that no other program shares.
    pub memory: u64,
    pub processes: usize,
    /// Bytes by which its folders may grow.
    pub disk: u64,
}

impl Limits {
    /// Half of the machine's memory, at least 1 GiB; 1,024 processes; 8 GiB of disk.
    pub fn of_machine() -> Limits {
        let memory = (watch::memory_total() / 2).max(1024 * MIB);
        Limits { memory, processes: 1_024, disk: 8 * 1024 * MIB }
    }

    /// For one of `count` commands that run side by side.
    #[must_use]
    pub fn shared_by(self, count: usize) -> Limits {
        let count = (count as u64).max(1);
        Limits { memory: (self.memory / count).max(512 * MIB), disk: self.disk / count, ..self }
    }
}

/// Which limit ended a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    Memory {
        limit: u64,
    },
    /// Little memory was left on the machine, whoever took it.
    MachineMemory,
    Processes {
        limit: usize,
    },
    Disk {
        limit: u64,
    },
    /// Little space was left on a disk it writes to, whoever took it.
    MachineDisk,
    File,
}

impl std::fmt::Display for Exceeded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exceeded::Memory { limit } => write!(f, "it used more than {} MiB of memory", limit / MIB),
            Exceeded::MachineMemory => write!(f, "the machine had nearly no memory left"),
            Exceeded::Processes { limit } => write!(f, "it had more than {limit} processes"),
            Exceeded::Disk { limit } => write!(f, "it wrote more than {} MiB", limit / MIB),
            Exceeded::MachineDisk => write!(f, "the disk was nearly full"),
            Exceeded::File => write!(f, "it wrote a file of more than {} MiB", FILE / MIB),
        }
    }
}

const PRLIMIT: &str = "/usr/bin/prlimit";
const CHOOM: &str = "/usr/bin/choom";
/// The largest file.
const FILE: u64 = 1024 * MIB;
/// The last barrier against a fork bomb that is faster than the watch. It counts threads, on older kernels those of the
/// whole user, so it stands far above what a build needs.
const THREADS: u64 = 8_192;
/// Of 1,000: a command dies before the window does.
const OUT_OF_MEMORY: i32 = 800;

/// Why the limits cannot be set on this machine.
pub(super) fn missing() -> Option<&'static str> {
    let children = Path::new("/proc/thread-self/children").exists();
    match (Path::new(PRLIMIT).exists(), children) {
        (false, _) => Some("prlimit is not installed (package util-linux)"),
        (true, false) => Some("the kernel does not list the children of a process"),
        (true, true) => None,
    }
}

/// The words before a command that set what the kernel itself enforces. No limit is raised above what this process has.
pub(super) fn words() -> Vec<OsString> {
    use rustix::process::{Resource, getrlimit};
    let capped = |wanted: u64, resource: Resource| getrlimit(resource).maximum.map_or(wanted, |most| most.min(wanted));
    let mut words: Vec<OsString> = Vec::new();
    let score = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap_or_default();
    if Path::new(CHOOM).exists() && score.trim().parse().is_ok_and(|score: i32| score < OUT_OF_MEMORY) {
        words.extend([CHOOM, "-n", &OUT_OF_MEMORY.to_string(), "--"].map(OsString::from));
    }
    words.extend([
        PRLIMIT.into(),
        "--core=0".into(),
        format!("--fsize={}", capped(FILE, Resource::Fsize)).into(),
        format!("--nproc={}", capped(THREADS, Resource::Nproc)).into(),
        "--".into(),
    ]);
    words
}
