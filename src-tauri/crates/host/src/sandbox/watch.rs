//! Looking at a running command: how many processes it has, what they hold in memory, how the disk fills.
//!
//! A cheap look that can only overestimate comes first; the exact one is taken when the cheap one is above the limit. What
//! cannot be read belongs to a process that has just ended.

use super::limits::{Exceeded, Limits};
use std::fs::read_to_string;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Between two looks; a look that took long is followed by a longer pause, but not by one in which much can happen.
const PAUSE: Duration = Duration::from_millis(40);
const LONGEST_PAUSE: Duration = Duration::from_millis(160);
/// What is left alone, so that the window, the journal and the rest of the machine go on.
const FREE_MEMORY: u64 = 192 * 1024 * 1024;
const FREE_DISK: u64 = 512 * 1024 * 1024;
/// Entries of the command's folders that are measured; more are too many.
const MAX_ENTRIES: usize = 1_000_000;

pub(super) struct Watch {
    /// The process outside whose descendants are all that runs.
    root: u32,
    limits: Limits,
    folders: Vec<PathBuf>,
    /// Free bytes of each folder's disk at the start, or at the last measurement.
    free: Vec<u64>,
    /// What the folders held when they were first measured.
    held: Option<u64>,
    next: Instant,
}

impl Watch {
    pub fn new(root: u32, limits: Limits, folders: Vec<PathBuf>) -> Watch {
        let free = folders.iter().map(|folder| free_space(folder).unwrap_or(0)).collect();
        Watch { root, limits, folders, free, held: None, next: Instant::now() }
    }

    /// Which limit is exceeded now, if it is time to look.
    pub fn look(&mut self) -> Option<Exceeded> {
        let start = Instant::now();
        if start < self.next {
            return None;
        }
        let found = self.processes().or_else(|| self.disk());
        self.next = Instant::now() + (start.elapsed() * 10).clamp(PAUSE, LONGEST_PAUSE);
        found
    }

    fn processes(&self) -> Option<Exceeded> {
        let limit = self.limits.processes;
        let processes = descendants(self.root, limit + 1);
        if processes.len() > limit {
            return Some(Exceeded::Processes { limit });
        }
        let resident: u64 = processes.iter().map(|pid| resident(*pid)).sum();
        let limit = self.limits.memory;
        if resident > limit && processes.iter().map(|pid| own_memory(*pid)).sum::<u64>() > limit {
            return Some(Exceeded::Memory { limit });
        }
        // What no process maps (files in memory, pipes) is seen only in what is left.
        let short = memory_field("MemAvailable:").is_some_and(|left| left < FREE_MEMORY.min(memory_total() / 10));
        short.then_some(Exceeded::MachineMemory)
    }

    fn disk(&mut self) -> Option<Exceeded> {
        let step = self.limits.disk / 8;
        let mut sunk = false;
        for (folder, before) in self.folders.iter().zip(&mut self.free) {
            let Some(now) = free_space(folder) else { continue };
            if now < FREE_DISK && now < *before / 2 {
                return Some(Exceeded::MachineDisk);
            }
            if now.saturating_add(step) < *before {
                (*before, sunk) = (now, true);
            }
        }
        if !sunk {
            return None;
        }
        let limit = self.limits.disk;
        let Some(now) = held(&self.folders) else { return Some(Exceeded::Disk { limit }) };
        let first = *self.held.get_or_insert(now.saturating_sub(step));
        (now.saturating_sub(first) > limit).then_some(Exceeded::Disk { limit })
    }
}

/// The process and all below it, at most `max`. A process whose parent ends stays below: the first process of the
/// sandbox's own process namespace takes it over.
fn descendants(root: u32, max: usize) -> Vec<u32> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(pid) = found.get(at).copied() {
        at += 1;
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for task in tasks.filter_map(Result::ok) {
            let children = read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            if found.len() >= max {
                found.truncate(max);
                return found;
            }
        }
    }
    found
}

/// Bytes in memory, those shared with others included.
fn resident(pid: u32) -> u64 {
    let text = read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    text.lines().find(|line| line.starts_with("VmRSS:")).and_then(kilobytes).unwrap_or(0)
}

/// Bytes of its own, in memory or swapped out: what it shares is counted by its share, and files on disk, which can be
/// dropped at any time, not at all.
fn own_memory(pid: u32) -> u64 {
    let text = read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let counted = ["Pss_Anon:", "Pss_Shmem:", "SwapPss:"];
    text.lines().filter(|line| counted.iter().any(|name| line.starts_with(name))).filter_map(kilobytes).sum()
}

fn kilobytes(line: &str) -> Option<u64> {
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

fn memory_field(name: &str) -> Option<u64> {
    read_to_string("/proc/meminfo").ok()?.lines().find(|line| line.starts_with(name)).and_then(kilobytes)
}

pub(super) fn memory_total() -> u64 {
    memory_field("MemTotal:").unwrap_or(0)
}

/// Bytes that can still be written; none when no more files can be made.
fn free_space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    let no_more_files = disk.f_files > 0 && disk.f_favail < disk.f_files / 200;
    Some(if no_more_files { 0 } else { disk.f_bavail.saturating_mul(disk.f_frsize) })
}

/// Bytes on disk below some folders; `None` when there are too many entries. Links are not followed.
fn held(folders: &[PathBuf]) -> Option<u64> {
    let mut open: Vec<PathBuf> = folders.to_vec();
    let (mut bytes, mut entries) = (0, 0);
    while let Some(folder) = open.pop() {
        let Ok(list) = std::fs::read_dir(&folder) else { continue };
        for entry in list.filter_map(Result::ok) {
            entries += 1;
            if entries > MAX_ENTRIES {
                return None;
            }
            // Of the entry itself, not of what it points to.
            let Ok(metadata) = entry.metadata() else { continue };
            bytes += metadata.blocks() * 512;
            if metadata.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Some(bytes)
}
