//! The numbers that describe the network. llama.cpp asserts on many of them, so each must be present and in range, and a
//! key nobody has looked at is refused.

use super::limits::{self, ARCHITECTURES, HYPER_KEYS, ROPE_SCALING};
use super::vocabulary::VocabularyFacts;
use super::{GgufError, Header, Tensor, Value, fingerprint, refused};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

pub fn header(
    scalars: &BTreeMap<String, Value>,
    vocabulary: VocabularyFacts,
    tensors: Vec<Tensor>,
    file_bytes: u64,
) -> Result<Header, GgufError> {
    let architecture =
        text(scalars, "general.architecture")?.ok_or_else(|| refused("general.architecture", "is missing"))?;
    if !ARCHITECTURES.contains(&architecture.as_str()) {
        return Err(refused("general.architecture", format!("is not one of {}", ARCHITECTURES.join(", "))));
    }
    let hyper = Hyper { scalars, architecture: &architecture };
    hyper.check_keys()?;
    let n_layer = hyper.number("block_count", limits::LAYERS)?;
    let n_embd = hyper.number("embedding_length", limits::EMBEDDING)?;
    let heads = hyper.number("attention.head_count", limits::HEADS)?;
    let kv_heads = hyper.optional("attention.head_count_kv", limits::HEADS)?.unwrap_or(heads);
    if kv_heads > heads || heads % kv_heads != 0 {
        return Err(refused(hyper.key("attention.head_count_kv"), format!("is {kv_heads} for {heads} heads")));
    }
    let head_dim = hyper.head_dim(n_embd, heads)?;
    let context_train = hyper.number("context_length", limits::CONTEXT)?;
    hyper.number("feed_forward_length", limits::FEED_FORWARD)?;
    hyper.check_plain()?;

    let vocab = u32::try_from(vocabulary.tokens()).map_err(|_| refused("tokenizer.ggml.tokens", "is too long"))?;
    if hyper.optional("vocab_size", limits::VOCABULARY)?.is_some_and(|size| size != vocab) {
        return Err(refused(hyper.key("vocab_size"), "differs from the vocabulary's length"));
    }
    check_embedding(&tensors, n_embd, vocab)?;
    let chat_template = text(scalars, "tokenizer.chat_template")?;
    Ok(Header {
        name: text(scalars, "general.name")?,
        n_layer,
        n_embd,
        heads,
        kv_heads,
        head_dim,
        context_train,
        vocab,
        tensors,
        chat_template_hash: chat_template.as_ref().map(|template| fingerprint(template.as_bytes())),
        chat_template,
        file_type: integer(scalars, "general.file_type")?.and_then(|value| u32::try_from(value).ok()),
        bracket_tokens: vocabulary.bracket_tokens,
        file_bytes,
        architecture,
    })
}

struct Hyper<'a> {
    scalars: &'a BTreeMap<String, Value>,
    architecture: &'a str,
}

impl Hyper<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    fn check_keys(&self) -> Result<(), GgufError> {
        let known = ["general", "tokenizer", "quantize", "imatrix", "mradermacher"];
        for key in self.scalars.keys() {
            let (space, name) = key.split_once('.').unwrap_or((key, ""));
            let fine = if space == self.architecture { HYPER_KEYS.contains(&name) } else { known.contains(&space) };
            if !fine {
                return Err(refused(key.clone(), "is not a key of a plain model"));
            }
        }
        Ok(())
    }

    fn number(&self, name: &str, range: RangeInclusive<u64>) -> Result<u32, GgufError> {
        self.optional(name, range)?.ok_or_else(|| refused(self.key(name), "is missing"))
    }

    fn optional(&self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u32>, GgufError> {
        let key = self.key(name);
        let Some(value) = integer(self.scalars, &key)? else { return Ok(None) };
        match u64::try_from(value).ok().filter(|value| range.contains(value)).map(u32::try_from) {
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(_)) | None => {
                let reason = format!("is {value}, allowed are {} to {}", range.start(), range.end());
                Err(refused(key, reason))
            }
        }
    }

    fn head_dim(&self, n_embd: u32, heads: u32) -> Result<u32, GgufError> {
        let stated = self.optional("attention.key_length", limits::HEAD_DIM)?;
        let head_dim = match stated {
            Some(length) => length,
            None if n_embd.is_multiple_of(heads) => n_embd / heads,
            None => return Err(refused(self.key("attention.head_count"), "does not divide the embedding")),
        };
        if !limits::HEAD_DIM.contains(&u64::from(head_dim)) || head_dim % 2 != 0 {
            return Err(refused(self.key("attention.key_length"), format!("is {head_dim}")));
        }
        if self.optional("attention.value_length", limits::HEAD_DIM)?.is_some_and(|length| length != head_dim) {
            return Err(refused(self.key("attention.value_length"), "differs from the keys' length"));
        }
        if self.optional("rope.dimension_count", limits::HEAD_DIM)?.is_some_and(|count| count != head_dim) {
            return Err(refused(self.key("rope.dimension_count"), format!("is not {head_dim}")));
        }
        Ok(head_dim)
    }

    /// No experts, causal attention, and a normalisation that cannot trip an assertion.
    fn check_plain(&self) -> Result<(), GgufError> {
        self.optional("expert_count", 0..=0)?;
        let causal = self.key("attention.causal");
        if !matches!(self.scalars.get(&causal), None | Some(Value::Bool(true))) {
            return Err(refused(causal, "is not true"));
        }
        let epsilon = self.key("attention.layer_norm_rms_epsilon");
        match self.scalars.get(&epsilon) {
            Some(Value::Float(value)) if (0.0..=0.1).contains(value) => {}
            Some(_) | None => return Err(refused(epsilon, "is missing or out of range")),
        }
        let rope = self.key("rope.scaling.type");
        if text(self.scalars, &rope)?.is_some_and(|kind| !ROPE_SCALING.contains(&kind.as_str())) {
            return Err(refused(rope, "is unknown"));
        }
        for name in ["rope.freq_base", "rope.scaling.factor", "rope.scaling.attn_factor", "rope.scale_linear"] {
            let key = self.key(name);
            match self.scalars.get(&key) {
                None => {}
                Some(Value::Float(value)) if value.is_finite() && *value > 0.0 => {}
                Some(_) => return Err(refused(key, "is not a positive number")),
            }
        }
        Ok(())
    }
}

fn check_embedding(tensors: &[Tensor], n_embd: u32, vocab: u32) -> Result<(), GgufError> {
    const NAME: &str = "token_embd.weight";
    let embedding = tensors.iter().find(|tensor| tensor.name == NAME).ok_or_else(|| refused(NAME, "is missing"))?;
    if embedding.dims != [u64::from(n_embd), u64::from(vocab)] {
        return Err(refused(NAME, format!("is not {n_embd} by {vocab}")));
    }
    Ok(())
}

fn text(scalars: &BTreeMap<String, Value>, key: &str) -> Result<Option<String>, GgufError> {
    match scalars.get(key) {
        None => Ok(None),
        Some(Value::Text(text)) => Ok(Some(String::from_utf8_lossy(text).into_owned())),
        Some(_) => Err(refused(key, "is not text")),
    }
}

fn integer(scalars: &BTreeMap<String, Value>, key: &str) -> Result<Option<i128>, GgufError> {
    match scalars.get(key) {
        None => Ok(None),
        Some(Value::Integer(value)) => Ok(Some(*value)),
        Some(_) => Err(refused(key, "is not one whole number")),
    }
}
