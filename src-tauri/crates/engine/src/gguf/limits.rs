//! The limits a header must keep. Each number is either what llama.cpp aborts on, or far above every model we ship.

use std::ops::RangeInclusive;

pub const VERSIONS: RangeInclusive<u32> = 2..=3;
/// Bytes of the whole header. The largest shipped one has 6 MB.
pub const HEADER: u64 = 64 * 1024 * 1024;
pub const KEYS: u64 = 4_096;
/// llama.cpp compares every pair of names.
pub const TENSORS: u64 = 16_384;
pub const KEY: u64 = 256;
pub const STRING: u64 = 1024 * 1024;
pub const TEMPLATE: u64 = 256 * 1024;
pub const ARRAY: u64 = 2_000_000;
pub const TENSOR_NAME: u64 = 63;
pub const DIMS: u64 = 4;
pub const ALIGNMENT: RangeInclusive<u64> = 8..=4_096;

pub const LAYERS: RangeInclusive<u64> = 1..=256;
pub const HEADS: RangeInclusive<u64> = 1..=512;
pub const EMBEDDING: RangeInclusive<u64> = 1..=65_536;
pub const HEAD_DIM: RangeInclusive<u64> = 1..=1_024;
pub const FEED_FORWARD: RangeInclusive<u64> = 1..=1_048_576;
pub const CONTEXT: RangeInclusive<u64> = 1..=16_777_216;
pub const VOCABULARY: RangeInclusive<u64> = 1..=1_000_000;

/// Plain attention models whose loading was probed. Others keep state that cannot be rolled back, or are untested.
pub const ARCHITECTURES: [&str; 2] = ["llama", "qwen2"];

/// Tokenizers whose tables [`super::vocabulary`] knows how to check.
pub const TOKENIZERS: [&str; 2] = ["gpt2", "llama"];

/// The keys after "<architecture>." that plain models use. Every other key steers code paths of llama.cpp that assert
/// on values nobody checked (experts, sliding windows, recurrent state, classifiers), so it is refused.
pub const HYPER_KEYS: [&str; 22] = [
    "attention.causal",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.layer_norm_rms_epsilon",
    "attention.value_length",
    "block_count",
    "context_length",
    "embedding_length",
    "expert_count",
    "feed_forward_length",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scale_linear",
    "rope.scaling.attn_factor",
    "rope.scaling.factor",
    "rope.scaling.finetuned",
    "rope.scaling.original_context_length",
    "rope.scaling.type",
    "rope.scaling.yarn_log_multiplier",
    "tensor_data_layout",
    "vocab_size",
];

pub const ROPE_SCALING: [&str; 4] = ["none", "linear", "yarn", "longrope"];
