//! What the machine has to give, as far as models ask: memory.

/// Megabytes that can be used without pushing anything out; a cautious guess where the system does not say.
pub fn available_mb() -> u64 {
    const GUESS: u64 = 4_096;
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    available_in(&text).unwrap_or(GUESS)
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024 / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let text = "MemTotal:       8000000 kB\nMemAvailable:    3906250 kB\n";
        assert_eq!(available_in(text), Some(4_000));
        assert_eq!(available_in("MemTotal: 1 kB\n"), None);
    }
}
