//! The tokenizer's tables. llama.cpp asserts that entries are unique and reads byte entries at fixed places, so both are
//! checked while the arrays stream by.

use super::limits::{TOKENIZERS, VOCABULARY};
use super::{GgufError, TEXT, Value, refused};
use std::collections::{BTreeMap, BTreeSet, HashSet};

const TOKENS: &str = "tokenizer.ggml.tokens";
const TYPES: &str = "tokenizer.ggml.token_type";
const SCORES: &str = "tokenizer.ggml.scores";
const MERGES: &str = "tokenizer.ggml.merges";
const MODEL: &str = "tokenizer.ggml.model";
/// llama.cpp's number for an entry that stands for one raw byte.
const BYTE_TYPE: i128 = 6;
/// Bracketed entries that are kept to find control tokens; the rest of a huge table is of no use.
const KEPT_BRACKETS: usize = 8_192;

#[derive(Default)]
pub struct VocabularyFacts {
    seen: HashSet<Vec<u8>>,
    /// Index by index: is the entry of the form "<0x0A>"?
    byte_form: Vec<bool>,
    typed_as_byte: Vec<usize>,
    pub bracket_tokens: BTreeSet<String>,
}

impl VocabularyFacts {
    pub fn see(&mut self, key: &str, index: u64, item: &Value) -> Result<(), GgufError> {
        match (key, item) {
            (TOKENS, Value::Text(text)) => self.see_token(index, text),
            (TYPES, Value::Integer(BYTE_TYPE)) => {
                self.typed_as_byte.push(usize::try_from(index).unwrap_or(usize::MAX));
                Ok(())
            }
            (_, _) => Ok(()),
        }
    }

    fn see_token(&mut self, index: u64, text: &[u8]) -> Result<(), GgufError> {
        // llama.cpp names empty entries this way before it compares them.
        let entry = if text.is_empty() { format!("[EMPTY_{index}]").into_bytes() } else { text.to_vec() };
        self.byte_form.push(is_byte_form(&entry));
        if self.bracket_tokens.len() < KEPT_BRACKETS && entry.len() <= 64 {
            let bracketed =
                matches!((entry.first(), entry.last()), (Some(b'<'), Some(b'>')) | (Some(b'['), Some(b']')));
            if let (true, Ok(text)) = (bracketed, std::str::from_utf8(&entry)) {
                self.bracket_tokens.insert(text.to_owned());
            }
        }
        if self.seen.insert(entry) { Ok(()) } else { Err(refused(TOKENS, format!("has entry {index} twice"))) }
    }

    /// The checks that need the whole header. The number of entries is then in `tokens()`.
    pub fn finish(&mut self, scalars: &BTreeMap<String, Value>) -> Result<(), GgufError> {
        self.seen = HashSet::new();
        let entries = array_len(scalars, TOKENS, &[TEXT])?.ok_or_else(|| refused(TOKENS, "is missing"))?;
        if !VOCABULARY.contains(&entries) {
            return Err(refused(TOKENS, format!("has {entries} entries")));
        }
        for (key, kinds) in [(TYPES, &[5u32][..]), (SCORES, &[5, 6])] {
            if array_len(scalars, key, kinds)?.is_some_and(|len| len != entries) {
                return Err(refused(key, format!("has not the same length as {TOKENS}")));
            }
        }
        array_len(scalars, MERGES, &[TEXT])?;
        if let Some(index) = self.typed_as_byte.iter().find(|index| self.byte_form.get(**index) != Some(&true)) {
            return Err(refused(TYPES, format!("calls entry {index} a byte, which it is not")));
        }
        self.check_model(scalars)?;
        check_ids(scalars, entries)
    }

    pub fn tokens(&self) -> u64 {
        self.byte_form.len() as u64
    }

    fn check_model(&self, scalars: &BTreeMap<String, Value>) -> Result<(), GgufError> {
        let model = match scalars.get(MODEL) {
            Some(Value::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            Some(_) | None => return Err(refused(MODEL, "is missing")),
        };
        if !TOKENIZERS.contains(&model.as_str()) {
            return Err(refused(MODEL, "is not a known tokenizer"));
        }
        // Without all 256 the tokenizer throws an exception that nothing on our side of the border can catch.
        if model == "llama" && self.byte_form.iter().filter(|form| **form).count() < 256 {
            return Err(refused(TOKENS, "lacks entries for single bytes"));
        }
        Ok(())
    }
}

fn is_byte_form(entry: &[u8]) -> bool {
    matches!(entry, [b'<', b'0', b'x', high, low, b'>'] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

fn array_len(scalars: &BTreeMap<String, Value>, key: &str, kinds: &[u32]) -> Result<Option<u64>, GgufError> {
    match scalars.get(key) {
        None => Ok(None),
        Some(Value::Array { kind, len }) if kinds.contains(kind) => Ok(Some(*len)),
        Some(_) => Err(refused(key, "has the wrong type")),
    }
}

/// Ids of special tokens ("tokenizer.ggml.eos_token_id") must name an entry.
fn check_ids(scalars: &BTreeMap<String, Value>, entries: u64) -> Result<(), GgufError> {
    for (key, value) in scalars.iter().filter(|(key, _)| key.starts_with("tokenizer.ggml.") && key.ends_with("_id")) {
        match value {
            Value::Integer(id) if (0..i128::from(entries)).contains(id) => {}
            _ => return Err(refused(key.clone(), "names no entry of the vocabulary")),
        }
    }
    Ok(())
}
