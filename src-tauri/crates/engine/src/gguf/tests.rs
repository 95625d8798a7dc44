//! A small GGUF writer, the headers that are known to kill llama.cpp, and random damage.

use super::*;
use proptest::prelude::*;

/// A header under construction; every part can be broken on purpose.
#[derive(Clone)]
pub(crate) struct Draft {
    pub version: u32,
    pub n_kv: Option<u64>,
    pub n_tensors: Option<u64>,
    pub values: Vec<(String, Vec<u8>)>,
    /// Name, dimensions, type id, offset.
    pub tensors: Vec<(String, Vec<u64>, u32, u64)>,
    pub data: usize,
}

fn text(text: &str) -> Vec<u8> {
    [(text.len() as u64).to_le_bytes().as_slice(), text.as_bytes()].concat()
}
fn typed(kind: u32, bytes: &[u8]) -> Vec<u8> {
    [kind.to_le_bytes().as_slice(), bytes].concat()
}
fn number(value: u32) -> Vec<u8> {
    typed(4, &value.to_le_bytes())
}
fn texts(items: &[&str]) -> Vec<u8> {
    let mut bytes = [9u32.to_le_bytes().as_slice(), &8u32.to_le_bytes(), &(items.len() as u64).to_le_bytes()].concat();
    items.iter().for_each(|item| bytes.extend(text(item)));
    bytes
}

impl Draft {
    pub fn good() -> Draft {
        let values = [
            ("general.architecture", typed(8, &text("qwen2"))),
            ("general.name", typed(8, &text("Tiny"))),
            ("general.file_type", number(2)),
            ("qwen2.block_count", number(2)),
            ("qwen2.context_length", number(128)),
            ("qwen2.embedding_length", number(8)),
            ("qwen2.feed_forward_length", number(16)),
            ("qwen2.attention.head_count", number(4)),
            ("qwen2.attention.head_count_kv", number(2)),
            ("qwen2.attention.layer_norm_rms_epsilon", typed(6, &1e-6f32.to_le_bytes())),
            ("tokenizer.ggml.model", typed(8, &text("gpt2"))),
            ("tokenizer.ggml.tokens", texts(&["a", "b", "<|im_start|>", "<|im_end|>"])),
            ("tokenizer.ggml.eos_token_id", number(3)),
            ("tokenizer.chat_template", typed(8, &text("<|im_start|>{{x}}"))),
        ];
        Draft {
            version: 3,
            n_kv: None,
            n_tensors: None,
            values: values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            tensors: vec![
                ("token_embd.weight".to_owned(), vec![8, 4], 0, 0),
                ("output_norm.weight".to_owned(), vec![8], 0, 128),
            ],
            data: 160,
        }
    }

    fn with(mut self, key: &str, value: Vec<u8>) -> Draft {
        match self.values.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.values.push((key.to_owned(), value)),
        }
        self
    }

    fn without(mut self, key: &str) -> Draft {
        self.values.retain(|(name, _)| name != key);
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(self.n_tensors.unwrap_or(self.tensors.len() as u64).to_le_bytes());
        out.extend(self.n_kv.unwrap_or(self.values.len() as u64).to_le_bytes());
        for (key, value) in &self.values {
            out.extend(text(key));
            out.extend(value);
        }
        for (name, dims, kind, offset) in &self.tensors {
            out.extend(text(name));
            out.extend((dims.len() as u32).to_le_bytes());
            dims.iter().for_each(|dim| out.extend(dim.to_le_bytes()));
            out.extend(kind.to_le_bytes());
            out.extend(offset.to_le_bytes());
        }
        out.resize(out.len().next_multiple_of(32) + self.data, 0);
        out
    }
}

fn run(bytes: &[u8]) -> Result<Header, GgufError> {
    check(bytes, bytes.len() as u64)
}

#[track_caller]
fn refuses(draft: &Draft, expected: &str) {
    match run(&draft.bytes()) {
        Err(GgufError::Refused { field, reason }) => assert_eq!(field, expected, "{reason}"),
        other => panic!("expected a refusal of {expected}, got {other:?}"),
    }
}

#[test]
fn reads_a_sound_header() {
    let header = run(&Draft::good().bytes()).unwrap();
    assert_eq!((header.n_layer, header.n_embd, header.heads, header.kv_heads, header.head_dim), (2, 8, 4, 2, 2));
    assert_eq!((header.context_train, header.vocab, header.file_type), (128, 4, Some(2)));
    assert_eq!((header.weight_bytes(), header.kv_bytes_per_token()), (160, 32));
    assert_eq!(header.bracket_tokens.len(), 2);
    assert_eq!(header.tensors[0].kind.as_str(), "F32");
    assert_eq!(header.chat_template_hash.unwrap().as_str().len(), 64);
}

#[test]
fn refuses_every_header_that_kills_or_starves_the_process() {
    let good = Draft::good;
    let long = |length: u64| typed(8, &length.to_le_bytes());
    refuses(&good().with("qwen2.block_count", number(0)), "qwen2.block_count");
    refuses(&good().with("qwen2.block_count", number(513)), "qwen2.block_count");
    refuses(&good().without("qwen2.block_count"), "qwen2.block_count");
    refuses(&good().with("qwen2.expert_count", number(1 << 31)), "qwen2.expert_count");
    refuses(&good().with("qwen2.attention.head_count", number(0)), "qwen2.attention.head_count");
    refuses(&good().with("qwen2.attention.head_count_kv", number(3)), "qwen2.attention.head_count_kv");
    refuses(&good().with("qwen2.attention.causal", typed(7, &[0])), "qwen2.attention.causal");
    refuses(&good().with("qwen2.attention.causal", typed(7, &[7])), "qwen2.attention.causal");
    refuses(
        &good().with("qwen2.attention.layer_norm_rms_epsilon", typed(6, &(-1f32).to_le_bytes())),
        "qwen2.attention.layer_norm_rms_epsilon",
    );
    refuses(&good().with("qwen2.rope.scaling.type", typed(8, &text("x"))), "qwen2.rope.scaling.type");
    refuses(&good().with("qwen2.nextn_predict_layers", number(9)), "qwen2.nextn_predict_layers");
    refuses(&good().with("qwen2.pooling_type", number(99)), "qwen2.pooling_type");
    refuses(&good().with("split.count", number(2)), "split.count");
    refuses(&good().with("general.architecture", typed(8, &text("mamba"))), "general.architecture");
    refuses(&good().with("general.alignment", number(1 << 31)), "general.alignment");
    refuses(&good().with("general.alignment", number(24)), "general.alignment");
    refuses(&good().with("general.name", long(1 << 62)), "general.name");
    refuses(&good().with("tokenizer.chat_template", long(300 * 1024)), "tokenizer.chat_template");
    refuses(&good().with("tokenizer.ggml.model", typed(8, &text("plamo2"))), "tokenizer.ggml.model");
    refuses(&good().with("tokenizer.ggml.model", typed(8, &text("llama"))), "tokenizer.ggml.tokens");
    refuses(&good().with("tokenizer.ggml.tokens", texts(&["a", "a", "b", "c"])), "tokenizer.ggml.tokens");
    refuses(&good().with("tokenizer.ggml.tokens", texts(&["", "[EMPTY_0]", "b", "c"])), "tokenizer.ggml.tokens");
    refuses(&good().with("tokenizer.ggml.eos_token_id", number(4)), "tokenizer.ggml.eos_token_id");
    let types = [9u32.to_le_bytes().as_slice(), &5u32.to_le_bytes(), &1u64.to_le_bytes(), &6i32.to_le_bytes()].concat();
    refuses(&good().with("tokenizer.ggml.token_type", types), "tokenizer.ggml.token_type");
    let nested = [9u32.to_le_bytes(), 9u32.to_le_bytes()].concat();
    refuses(&good().with("general.tags", nested), "general.tags");
    let endless = [9u32.to_le_bytes().as_slice(), &4u32.to_le_bytes(), &(1u64 << 40).to_le_bytes()].concat();
    refuses(&good().with("general.tags", endless), "general.tags");
    refuses(&good().with("general.tags", typed(77, &[])), "general.tags");
    refuses(&Draft { n_kv: Some(1 << 40), ..good() }, "n_kv");
    refuses(&Draft { n_tensors: Some(1 << 40), ..good() }, "n_tensors");
    refuses(&Draft { n_tensors: Some(0), ..good() }, "n_tensors");
    refuses(&Draft { version: 1, ..good() }, "version");
    refuses(&Draft { data: 100, ..good() }, "the file");
    let mut twice = good();
    twice.values.push(twice.values[1].clone());
    refuses(&twice, "general.name");
    let mut key = good();
    key.values[1].0 = "General Name".to_owned();
    refuses(&key, "key");
}

#[test]
fn refuses_impossible_tensors() {
    let tensor = |name: &str, dims: &[u64], kind: u32, offset: u64| {
        let mut draft = Draft::good();
        draft.tensors[1] = (name.to_owned(), dims.to_vec(), kind, offset);
        draft
    };
    refuses(&tensor("x", &[1 << 32, 1 << 32], 0, 128), "x");
    refuses(&tensor("x", &[1 << 31, 1 << 31, 4, 4], 0, 128), "x");
    refuses(&tensor("x", &[0], 0, 128), "x");
    refuses(&tensor("x", &[33], 2, 128), "x");
    refuses(&tensor("x", &[1, 1, 1, 1, 1], 0, 128), "x");
    refuses(&tensor("x", &[], 0, 128), "x");
    refuses(&tensor("x", &[8], 4, 128), "x");
    refuses(&tensor("x", &[8], 0, 96), "x");
    refuses(&tensor("x", &[8], 0, u64::MAX), "x");
    refuses(&tensor("token_embd.weight", &[8], 0, 128), "token_embd.weight");
    refuses(&tensor(&"x".repeat(64), &[8], 0, 128), "tensor name");
    let mut shape = Draft::good();
    shape.tensors[0].1 = vec![4, 8];
    refuses(&shape, "token_embd.weight");
}

#[test]
fn a_cut_file_is_refused_at_every_length() {
    let bytes = Draft::good().bytes();
    for cut in 0..bytes.len() - 1 {
        assert!(matches!(run(&bytes[..cut]), Err(GgufError::Refused { .. })), "cut at {cut}");
    }
}

proptest! {
    /// Whatever is damaged: no panic, and what is accepted lies inside the limits the C++ side relies on.
    #[test]
    fn damage_never_panics_nor_slips_through(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = Draft::good().bytes();
        let header = bytes.len() - 160;
        for (place, value) in edits {
            let at = place.index(header);
            bytes[at] = value;
        }
        if let Ok(header) = run(&bytes) {
            prop_assert!((1..=256).contains(&header.n_layer));
            prop_assert!(header.heads >= header.kv_heads && header.heads % header.kv_heads == 0);
            prop_assert!(header.weight_bytes() <= bytes.len() as u64);
            prop_assert_eq!(header.vocab, 4);
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut file = b"GGUF\x03\0\0\0".to_vec();
        file.extend(bytes);
        prop_assert!(run(&file).is_err());
    }
}
