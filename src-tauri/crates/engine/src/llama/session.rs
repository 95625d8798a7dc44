//! The working memory of a model: keys and values of up to 32 sequences that share their common beginning, and one batch
//! of rows at a time. Keeps its own book of positions and refuses what does not fit before C++ sees it.

use super::process::backend;
use super::weights::Weights;
use crate::sample::Token;
use llama_cpp_2::DecodeError;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::{KvCacheType, LlamaContextParams};
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::token::LlamaToken;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

/// Sequences of a session: number 0 holds the prompt, the others the candidates.
pub const SEQUENCES: u32 = 32;
/// Rows of a batch. llama.cpp reserves memory for this many rows times the vocabulary.
pub const ROWS: u32 = 128;

/// Making two contexts of one model at once is unsound in the crate underneath.
static OPENING: Mutex<()> = Mutex::new(());

pub struct Session<'w> {
    context: LlamaContext<'w>,
    batch: LlamaBatch<'static>,
    /// Of the rows in the batch: sequence, and whether logits are wanted.
    rows: Vec<(u32, bool)>,
    /// Tokens each sequence holds, counting the rows of the batch.
    lengths: Vec<u32>,
    /// True when `rows` describes what was decoded last, so that its logits can be read.
    decoded: bool,
    cells: u32,
    vocabulary: u32,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    #[error("the working memory of {cells} tokens is full")]
    Full { cells: u32 },
    #[error("{0}")]
    Wrong(String),
}

impl<'w> Session<'w> {
    /// `cells`: tokens of all sequences together, a shared one counted once. `threads`: at least 1.
    pub fn open(weights: &'w Weights, cells: u32, threads: u32) -> Result<Session<'w>, StepError> {
        let backend = backend().map_err(StepError::Wrong)?;
        let threads = i32::try_from(threads.max(1)).unwrap_or(1);
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(cells))
            .with_n_batch(ROWS)
            .with_n_ubatch(ROWS)
            .with_n_seq_max(SEQUENCES)
            .with_kv_unified(true)
            // On a processor it walks the keys once per row: slower for many sequences on one prompt.
            .with_flash_attention_policy(llama_cpp_sys_2::LLAMA_FLASH_ATTN_TYPE_DISABLED)
            .with_type_k(KvCacheType::F16)
            .with_type_v(KvCacheType::F16)
            .with_n_threads(threads)
            .with_n_threads_batch(threads);
        let opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let context = weights.model().new_context(backend, params).map_err(|e| StepError::Wrong(e.to_string()))?;
        drop(opening);
        Ok(Session {
            cells: context.n_ctx(),
            context,
            batch: LlamaBatch::new(ROWS as usize, 1),
            rows: Vec::new(),
            lengths: vec![0; SEQUENCES as usize],
            decoded: false,
            vocabulary: weights.vocabulary(),
        })
    }

    /// Tokens the memory holds; llama.cpp rounds the wish up.
    pub fn cells(&self) -> u32 {
        self.cells
    }

    pub fn length(&self, sequence: u32) -> u32 {
        self.lengths.get(sequence as usize).copied().unwrap_or(0)
    }

    /// Empties the batch.
    pub fn begin(&mut self) {
        self.batch.clear();
        self.rows.clear();
        self.decoded = false;
    }

    /// Adds a row at the end of a sequence; returns its number, by which [`Self::logits`] finds it after the step.
    pub fn add(&mut self, sequence: u32, token: Token, logits: bool) -> Result<usize, StepError> {
        if self.decoded {
            return Err(wrong("a row was added to a batch that was decoded already"));
        }
        if self.rows.len() >= ROWS as usize {
            return Err(wrong("the batch is full"));
        }
        let known = (token < self.vocabulary).then(|| i32::try_from(token)).and_then(Result::ok);
        let token = LlamaToken(known.ok_or_else(|| wrong(&format!("token {token} is not in the vocabulary")))?);
        let id = sequence_id(sequence)?;
        let length = self.lengths.get_mut(sequence as usize).ok_or_else(|| wrong("no such sequence"))?;
        if *length >= self.cells {
            return Err(StepError::Full { cells: self.cells });
        }
        let position = i32::try_from(*length).map_err(|error| wrong(&error.to_string()))?;
        self.batch.add(token, position, &[id], logits).map_err(|error| wrong(&error.to_string()))?;
        *length += 1;
        self.rows.push((sequence, logits));
        Ok(self.rows.len() - 1)
    }

    /// Computes the batch. After an error the sequences are as before [`Self::begin`].
    pub fn step(&mut self) -> Result<(), StepError> {
        if self.rows.is_empty() || self.decoded {
            return Err(wrong("there is nothing to compute"));
        }
        match self.context.decode(&mut self.batch) {
            Ok(()) => {
                self.decoded = true;
                Ok(())
            }
            Err(error) => {
                self.undo()?;
                Err(match error {
                    DecodeError::NoKvCacheSlot => StepError::Full { cells: self.cells },
                    other => wrong(&other.to_string()),
                })
            }
        }
    }

    fn undo(&mut self) -> Result<(), StepError> {
        let rows = std::mem::take(&mut self.rows);
        for (sequence, _) in rows {
            let length = self.length(sequence).saturating_sub(1);
            self.shorten(sequence, length)?;
        }
        self.begin();
        Ok(())
    }

    /// The logits of a row of the last step, one per entry of the vocabulary.
    pub fn logits(&self, row: usize) -> Result<&[f32], StepError> {
        match self.rows.get(row) {
            Some((_, true)) if self.decoded => {
                let row = i32::try_from(row).map_err(|error| wrong(&error.to_string()))?;
                Ok(self.context.get_logits_ith(row))
            }
            Some(_) | None => Err(wrong(&format!("row {row} has no logits"))),
        }
    }

    /// Cuts a sequence down to its first `length` tokens.
    pub fn shorten(&mut self, sequence: u32, length: u32) -> Result<(), StepError> {
        sequence_id(sequence)?;
        if length >= self.length(sequence) {
            return Ok(());
        }
        let removed = self.context.clear_kv_cache_seq(Some(sequence), Some(length), None);
        match removed.map_err(|error| wrong(&error.to_string()))? {
            true => {
                if let Some(kept) = self.lengths.get_mut(sequence as usize) {
                    *kept = length;
                }
                Ok(())
            }
            false => Err(wrong("the end of a sequence could not be removed")),
        }
    }

    /// Makes `to` an equal of `from`; what they share takes no more room.
    pub fn share(&mut self, from: u32, to: u32) -> Result<(), StepError> {
        let (source, target) = (sequence_id(from)?, sequence_id(to)?);
        if source == target {
            return Err(wrong("a sequence cannot be copied onto itself"));
        }
        self.shorten(to, 0)?;
        self.context.copy_kv_cache_seq(source, target, None, None).map_err(|error| wrong(&error.to_string()))?;
        let length = self.length(from);
        if let Some(copied) = self.lengths.get_mut(to as usize) {
            *copied = length;
        }
        Ok(())
    }
}

fn sequence_id(sequence: u32) -> Result<i32, StepError> {
    if sequence < SEQUENCES {
        i32::try_from(sequence).map_err(|error| wrong(&error.to_string()))
    } else {
        Err(wrong(&format!("there is no sequence {sequence}")))
    }
}

fn wrong(message: &str) -> StepError {
    StepError::Wrong(message.to_owned())
}
