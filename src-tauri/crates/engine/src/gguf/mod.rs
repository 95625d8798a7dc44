//! Looks at the header of a model file before any C++ does: a hostile or broken header makes llama.cpp abort the whole
//! process, so whatever lies outside the limits of [`limits`] is refused here with the field's name.
//!
//! Streaming and in safe Rust: strings and arrays are read piece by piece under one byte budget, and tensor data is never
//! touched. Deliberately absent: any call into llama.cpp, and any judgement of the weights themselves.
#![forbid(unsafe_code)]

mod hyper;
mod limits;
mod reader;
mod tensors;
mod vocabulary;

#[cfg(test)]
pub(crate) mod tests;

use reader::HeaderReader;
use sha2::{Digest, Sha256};
use starling_core::ids::Fingerprint;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
pub use tensors::{Tensor, TensorType};
use vocabulary::VocabularyFacts;

/// What the header says, all of it inside the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub architecture: String,
    /// The author's name of the model; foreign text.
    pub name: Option<String>,
    pub n_layer: u32,
    pub n_embd: u32,
    pub heads: u32,
    pub kv_heads: u32,
    pub head_dim: u32,
    /// Tokens the model was trained to hold.
    pub context_train: u32,
    pub vocab: u32,
    pub tensors: Vec<Tensor>,
    /// Foreign text; it is compared with known marks, never rendered.
    pub chat_template: Option<String>,
    pub chat_template_hash: Option<Fingerprint>,
    /// llama.cpp's number for the mix of weight types (15 = Q4_K_M); free for the author to choose.
    pub file_type: Option<u32>,
    /// Short vocabulary entries in brackets ("<|im_start|>", "[INST]"): among them are the control tokens.
    pub bracket_tokens: BTreeSet<String>,
    /// Size of the whole file.
    pub file_bytes: u64,
}

impl Header {
    /// Bytes of keys and values per token of context, in f16.
    pub fn kv_bytes_per_token(&self) -> u64 {
        4 * u64::from(self.n_layer) * u64::from(self.kv_heads) * u64::from(self.head_dim)
    }

    /// Bytes of all weights.
    pub fn weight_bytes(&self) -> u64 {
        self.tensors.iter().map(|tensor| tensor.bytes).sum()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    #[error("cannot read the model file at {field}: {source}")]
    Read { field: String, source: std::io::Error },
    #[error("not a model file that may be loaded: {field} {reason}")]
    Refused { field: String, reason: String },
}

pub(crate) fn refused(field: impl Into<String>, reason: impl Into<String>) -> GgufError {
    GgufError::Refused { field: field.into(), reason: reason.into() }
}

/// Reads and checks the header of a file.
pub fn check_file(path: &Path) -> Result<Header, GgufError> {
    let read = |source| GgufError::Read { field: "the file itself".to_owned(), source };
    let file = File::open(path).map_err(read)?;
    check_open_file(&file)
}

/// The same for an open file, so that exactly what was checked can be loaded afterwards. Reads from its current position.
pub fn check_open_file(file: &File) -> Result<Header, GgufError> {
    let meta = file.metadata().map_err(|source| GgufError::Read { field: "the file's size".to_owned(), source })?;
    if !meta.is_file() {
        return Err(refused("the file", "is not a regular file"));
    }
    check(BufReader::with_capacity(256 * 1024, file), meta.len())
}

/// The same for any stream; `file_bytes` is the size the whole file claims to have.
pub fn check(stream: impl Read, file_bytes: u64) -> Result<Header, GgufError> {
    let mut reader = HeaderReader::new(stream);
    if reader.bytes::<4>("magic")? != *b"GGUF" {
        return Err(refused("magic", "is not GGUF"));
    }
    let version = reader.u32("version")?;
    if !limits::VERSIONS.contains(&version) {
        return Err(refused("version", format!("is {version}, only 2 and 3 are known")));
    }
    let n_tensors = reader.count("n_tensors", 1, limits::TENSORS)?;
    let n_kv = reader.count("n_kv", 1, limits::KEYS)?;

    let mut scalars: BTreeMap<String, Value> = BTreeMap::new();
    let mut vocabulary = VocabularyFacts::default();
    for _ in 0..n_kv {
        let key = reader.key()?;
        if scalars.contains_key(&key) {
            return Err(refused(key, "stands twice"));
        }
        let value = read_value(&mut reader, &key, &mut vocabulary)?;
        scalars.insert(key, value);
    }
    let alignment = alignment(&scalars)?;
    let tensors = tensors::read(&mut reader, n_tensors, alignment, file_bytes)?;
    vocabulary.finish(&scalars)?;
    hyper::header(&scalars, vocabulary, tensors, file_bytes)
}

/// A value of the header. Arrays are looked at while they stream by; only their kind and length stay.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Integer(i128),
    Float(f64),
    Bool(bool),
    Text(Vec<u8>),
    Array { kind: u32, len: u64 },
}

const ARRAY: u32 = 9;
const TEXT: u32 = 8;

fn read_value(
    reader: &mut HeaderReader<impl Read>,
    key: &str,
    vocabulary: &mut VocabularyFacts,
) -> Result<Value, GgufError> {
    let kind = reader.u32(key)?;
    if kind != ARRAY {
        return read_scalar(reader, key, kind);
    }
    let kind = reader.u32(key)?;
    if kind == ARRAY {
        return Err(refused(key, "is an array of arrays"));
    }
    let len = reader.count(key, 0, limits::ARRAY)?;
    for index in 0..len {
        let item = read_scalar(reader, key, kind)?;
        vocabulary.see(key, index, &item)?;
    }
    Ok(Value::Array { kind, len })
}

fn read_scalar(reader: &mut HeaderReader<impl Read>, key: &str, kind: u32) -> Result<Value, GgufError> {
    Ok(match kind {
        0 => Value::Integer(i128::from(u8::from_le_bytes(reader.bytes(key)?))),
        1 => Value::Integer(i128::from(i8::from_le_bytes(reader.bytes(key)?))),
        2 => Value::Integer(i128::from(u16::from_le_bytes(reader.bytes(key)?))),
        3 => Value::Integer(i128::from(i16::from_le_bytes(reader.bytes(key)?))),
        4 => Value::Integer(i128::from(u32::from_le_bytes(reader.bytes(key)?))),
        5 => Value::Integer(i128::from(i32::from_le_bytes(reader.bytes(key)?))),
        6 => Value::Float(f64::from(f32::from_le_bytes(reader.bytes(key)?))),
        7 => match reader.bytes::<1>(key)? {
            [0] => Value::Bool(false),
            [1] => Value::Bool(true),
            [other] => return Err(refused(key, format!("is the truth value {other}"))),
        },
        TEXT => {
            let limit = if key.starts_with("tokenizer.chat_template") { limits::TEMPLATE } else { limits::STRING };
            Value::Text(reader.string(key, limit)?)
        }
        10 => Value::Integer(i128::from(u64::from_le_bytes(reader.bytes(key)?))),
        11 => Value::Integer(i128::from(i64::from_le_bytes(reader.bytes(key)?))),
        12 => Value::Float(f64::from_le_bytes(reader.bytes(key)?)),
        other => return Err(refused(key, format!("has the unknown type {other}"))),
    })
}

fn alignment(scalars: &BTreeMap<String, Value>) -> Result<u64, GgufError> {
    const KEY: &str = "general.alignment";
    match scalars.get(KEY) {
        None => Ok(32),
        Some(Value::Integer(value)) => u64::try_from(*value)
            .ok()
            .filter(|value| limits::ALIGNMENT.contains(value) && value.is_power_of_two())
            .ok_or_else(|| refused(KEY, format!("is {value}"))),
        Some(_) => Err(refused(KEY, "is not a number")),
    }
}

pub(crate) fn fingerprint(text: &[u8]) -> Fingerprint {
    let hex: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    Fingerprint::new(hex)
}
