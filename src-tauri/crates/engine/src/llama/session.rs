//! The working memory of a model: keys and values of many sequences that share their common beginnings, and one batch
//! of rows at a time. Keeps its own book of positions and refuses what does not fit before C++ sees it.

use super::cells::Cells;
use super::process::backend;
use super::weights::Weights;
use crate::sample::Token;
use llama_cpp_2::DecodeError;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::{KvCacheType, LlamaContextParams};
use llama_cpp_2::context::session::{LlamaStateSeqFlags, SeqState};
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::token::LlamaToken;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Sequences of a session: prompts that are kept, prompts at work, and candidates.
pub const SEQUENCES: u32 = 64;
/// Rows of a batch. llama.cpp reserves memory for this many rows times the vocabulary.
pub const ROWS: u32 = 128;

/// Making two contexts of one model at once is unsound in the crate underneath.
static OPENING: Mutex<()> = Mutex::new(());

pub struct Session<'w> {
    context: LlamaContext<'w>,
    batch: LlamaBatch<'static>,
    /// Of the rows in the batch: sequence, and whether logits are wanted.
    rows: Vec<(u32, bool)>,
    /// What each sequence holds, counting the rows of the batch.
    held: Cells,
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
            held: Cells::new(context.n_ctx(), SEQUENCES),
            cells: context.n_ctx(),
            context,
            batch: LlamaBatch::new(ROWS as usize, 1),
            rows: Vec::new(),
            decoded: false,
            vocabulary: weights.vocabulary(),
        })
    }

    /// Tokens the memory holds; llama.cpp rounds the wish up.
    pub fn cells(&self) -> u32 {
        self.cells
    }

    /// Tokens for which there is room.
    pub fn free(&self) -> u32 {
        self.held.free()
    }

    pub fn length(&self, sequence: u32) -> u32 {
        self.held.length(sequence)
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
        let position = i32::try_from(self.held.length(sequence)).map_err(|error| wrong(&error.to_string()))?;
        if !self.held.push(sequence) {
            return Err(StepError::Full { cells: self.cells });
        }
        if let Err(error) = self.batch.add(token, position, &[id], logits) {
            self.held.shorten(sequence, self.held.length(sequence).saturating_sub(1));
            return Err(wrong(&error.to_string()));
        }
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
                self.held.shorten(sequence, length);
                Ok(())
            }
            false => Err(wrong("the end of a sequence could not be removed")),
        }
    }

    /// Gives up the rows of a batch that was not computed.
    pub fn give_up(&mut self) -> Result<(), StepError> {
        if self.decoded { Ok(()) } else { self.undo() }
    }

    /// Makes `to` an equal of the first `length` tokens of `from`; what they share takes no more room.
    pub fn share(&mut self, from: u32, to: u32, length: u32) -> Result<(), StepError> {
        let (source, target) = (sequence_id(from)?, sequence_id(to)?);
        if source == target {
            return Err(wrong("a sequence cannot be copied onto itself"));
        }
        if length > self.length(from) {
            return Err(wrong("a sequence is shorter than what is to be copied"));
        }
        self.shorten(to, 0)?;
        if length > 0 {
            self.context
                .copy_kv_cache_seq(source, target, None, Some(length))
                .map_err(|error| wrong(&error.to_string()))?;
        }
        self.held.share(from, to, length);
        Ok(())
    }

    /// A copy of a sequence outside the working memory.
    pub fn take_out(&self, sequence: u32) -> Result<TakenOut, StepError> {
        let state = self.context.state_seq_get(sequence_id(sequence)?, LlamaStateSeqFlags::empty());
        let state = state.map_err(|error| wrong(&error.to_string()))?;
        Ok(TakenOut { state, tokens: self.length(sequence) })
    }

    /// Puts a copy into an empty sequence.
    pub fn put_back(&mut self, taken: &TakenOut, sequence: u32) -> Result<(), StepError> {
        let id = self.empty(sequence, taken.tokens)?;
        self.context.state_seq_set(&taken.state, id).map_err(|error| wrong(&error.to_string()))?;
        self.hold(sequence, taken.tokens)
    }

    /// Writes a sequence into a file; `tokens` are what it holds.
    pub fn save(&self, sequence: u32, file: &Path, tokens: &[Token]) -> Result<(), StepError> {
        let tokens: Vec<LlamaToken> = tokens.iter().map(|t| LlamaToken(i32::try_from(*t).unwrap_or(0))).collect();
        let saved = self.context.state_seq_save_file(file, sequence_id(sequence)?, &tokens);
        saved.map(drop).map_err(|error| wrong(&error.to_string()))
    }

    /// Reads a file that [`Self::save`] wrote for exactly these tokens into an empty sequence. The caller has checked that
    /// the file is what was written: llama.cpp checks little.
    pub fn restore(&mut self, sequence: u32, file: &Path, tokens: &[Token]) -> Result<(), StepError> {
        let count = u32::try_from(tokens.len()).map_err(|error| wrong(&error.to_string()))?;
        let id = self.empty(sequence, count)?;
        let loaded = self.context.state_seq_load_file(file, id, tokens.len());
        let same =
            |loaded: &[LlamaToken]| loaded.iter().map(|t| u32::try_from(t.0).ok()).eq(tokens.iter().copied().map(Some));
        match loaded {
            Ok((loaded, _)) if same(&loaded) => self.hold(sequence, count),
            Ok(_) => {
                self.context.clear_kv_cache_seq(Some(sequence), None, None).map_err(|e| wrong(&e.to_string()))?;
                Err(wrong("the file holds other tokens"))
            }
            Err(error) => Err(wrong(&error.to_string())),
        }
    }

    /// Checks that `tokens` fit and that nothing is in the sequence.
    fn empty(&mut self, sequence: u32, tokens: u32) -> Result<i32, StepError> {
        let id = sequence_id(sequence)?;
        self.shorten(sequence, 0)?;
        if tokens > self.free() { Err(StepError::Full { cells: self.cells }) } else { Ok(id) }
    }

    fn hold(&mut self, sequence: u32, tokens: u32) -> Result<(), StepError> {
        let all = (0..tokens).all(|_| self.held.push(sequence));
        if all { Ok(()) } else { Err(StepError::Full { cells: self.cells }) }
    }
}

/// A sequence outside the working memory.
pub struct TakenOut {
    state: SeqState,
    tokens: u32,
}

impl TakenOut {
    pub fn bytes(&self) -> u64 {
        self.state.byte_len() as u64
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
