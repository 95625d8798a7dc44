//! How many threads a model should compute with: physical cores, because two threads on one core share its vector units
//! and only wait for each other.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

/// At least 1, at most what the process may use.
pub fn physical() -> u32 {
    let usable = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let usable = u32::try_from(usable).unwrap_or(1);
    let physical = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| count(&text)).unwrap_or(usable);
    physical.clamp(1, usable)
}

/// Distinct pairs of socket and core in the words of Linux; `None` when it does not tell them.
fn count(cpuinfo: &str) -> Option<u32> {
    let mut cores = BTreeSet::new();
    for processor in cpuinfo.split("\n\n") {
        let value = |key: &str| {
            let line = processor.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
            line.split(':').nth(1).map(|value| value.trim().to_owned())
        };
        if let (Some(socket), Some(core)) = (value("physical id"), value("core id")) {
            cores.insert((socket, core));
        }
    }
    u32::try_from(cores.len()).ok().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_on_one_core_count_once() {
        let processor = |socket, core| format!("processor\t: 9\nphysical id\t: {socket}\ncore id\t\t: {core}\n\n");
        let text: String = [(0, 0), (0, 1), (0, 0), (0, 1), (1, 0)].map(|(s, c)| processor(s, c)).concat();
        assert_eq!(count(&text), Some(3));
        assert_eq!(count("processor : 0\nmodel name : arm\n"), None);
        assert!(physical() >= 1);
    }
}
