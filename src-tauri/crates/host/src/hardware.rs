//! What the machine has: for choosing a model, and for `doctor`.

use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hardware {
    pub cpu: String,
    pub cores_physical: usize,
    pub cores_logical: usize,
    pub avx2: bool,
    pub avx512: bool,
    pub avx512_vnni: bool,
    pub total_ram_mb: u64,
    /// What can be taken now: available memory, or less inside a control group.
    pub free_ram_mb: u64,
}

pub fn survey() -> Hardware {
    let logical = std::thread::available_parallelism().map_or(1, usize::from);
    let mb = |bytes: u64| bytes / (1024 * 1024);
    let (avx2, avx512, avx512_vnni) = vectors();
    // A system that does not answer has "no memory", so nothing is loaded on a guess.
    let (cpu, total, room) = sysinfo::System::new().map(asked).unwrap_or_default();
    Hardware {
        cpu,
        cores_physical: sysinfo::System::physical_core_count().unwrap_or(logical).min(logical),
        cores_logical: logical,
        avx2,
        avx512,
        avx512_vnni,
        total_ram_mb: mb(total),
        free_ram_mb: mb(room),
    }
}

/// Name of the CPU, total memory, and memory that can be taken, in bytes.
fn asked(mut system: sysinfo::System) -> (String, u64, u64) {
    system.refresh_memory();
    system.refresh_cpu_all();
    let available = system.available_memory();
    let room = system.cgroup_limits().map_or(available, |limits| limits.free_memory.min(available));
    let cpu = system.cpus().first().map(|cpu| cpu.brand().trim().to_owned()).unwrap_or_default();
    (cpu, system.total_memory(), room)
}

#[cfg(target_arch = "x86_64")]
fn vectors() -> (bool, bool, bool) {
    let all = std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl");
    (std::arch::is_x86_feature_detected!("avx2"), all, all && std::arch::is_x86_feature_detected!("avx512vnni"))
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> (bool, bool, bool) {
    (false, false, false)
}

/// Free space of the disk that holds `path`, in MB; `None` when the system does not say.
pub fn disk_free_mb(path: &Path) -> Option<u64> {
    let existing = path.ancestors().find(|path| path.exists())?;
    let found = rustix::fs::statvfs(existing).ok()?;
    Some(found.f_bavail * found.f_frsize / (1024 * 1024))
}

#[cfg(test)]
mod tests {
    #[test]
    fn says_something_sensible() {
        let found = super::survey();
        assert!(found.cores_logical >= 1 && found.cores_physical <= found.cores_logical);
        assert!(found.free_ram_mb > 0 && found.free_ram_mb <= found.total_ram_mb);
        assert!(super::disk_free_mb(&std::env::temp_dir()).is_some_and(|mb| mb > 0));
    }
}
