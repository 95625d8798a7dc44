//! What the machine has to give, as far as models ask: memory.

/// Megabytes (1,000,000 bytes) that can be used without pushing anything out.
pub fn available_mb() -> u64 {
    starling_host::hardware::survey().free_ram_mb * 1_048_576 / 1_000_000
}
