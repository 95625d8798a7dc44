//! How much memory a model will need, from its header alone. Whether that is available is measured elsewhere.
#![forbid(unsafe_code)]

use crate::gguf::Header;
use crate::llama::{ROWS, SEQUENCES};

/// Work space of llama.cpp and the vocabulary's trie; measured less for small models, never more than this plus logits.
const WORK_MB: u64 = 512;

/// Megabytes (1,000,000 bytes) for the weights, a context of `context` tokens and the work space, plus a tenth.
pub fn need_mb(header: &Header, context: u32) -> u64 {
    let keys_and_values = header.kv_bytes_per_token().saturating_mul(u64::from(context));
    let logits = u64::from(header.vocab) * u64::from(ROWS + SEQUENCES) * 4;
    // One row of attention scores per head and token of the context.
    let scores = u64::from(header.heads) * u64::from(context) * u64::from(ROWS) * 4;
    let work = logits.saturating_add(scores).max(WORK_MB * 1_000_000);
    let bytes = header.file_bytes.saturating_add(keys_and_values).saturating_add(work);
    bytes.saturating_add(bytes / 10).div_ceil(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_need_grows_with_file_and_context() {
        let mut header = crate::gguf::check(&crate::gguf::tests::Draft::good().bytes()[..], 1 << 20).unwrap();
        header.file_bytes = 1_000_000_000;
        let small = need_mb(&header, 4_096);
        assert_eq!(small, (1_000_000_000u64 + 512_000_000 + 4_096 * 32).div_ceil(100_000) * 11 / 100 + 1);
        (header.n_layer, header.kv_heads, header.head_dim) = (28, 2, 128);
        let growth = need_mb(&header, 104_096) - need_mb(&header, 4_096);
        assert!((3_150..3_160).contains(&growth), "100,000 tokens of 28,672 bytes and a tenth: {growth} MB");
    }
}
