//! One completion while it is being written: its sampler, its place in the schema, its text, and the tokens that still
//! wait to be computed.
#![forbid(unsafe_code)]

use crate::llama::Weights;
use crate::sample::{Sampler, Token};
use crate::schema::Grammar;
use crate::stream::TextStream;
use starling_core::port::{Completion, FinishReason, ModelError};
use std::collections::VecDeque;

pub struct Candidate {
    pub number: u32,
    /// Sequence of the session while it is live.
    pub sequence: u32,
    /// Chosen or forced tokens that were not computed yet. Empty: the next token is chosen from logits.
    pub pending: VecDeque<Token>,
    /// Everything since the shared prompt, to compute it again after the candidate had to give up its memory.
    written: Vec<Token>,
    stream: TextStream,
    sampler: Sampler,
    grammar: Option<Grammar>,
    output_tokens: u32,
    max_tokens: u32,
}

impl Candidate {
    /// `opening`: tokens after the answer's start that every candidate shares because the schema forces them.
    pub fn new(
        number: u32,
        mut stream: TextStream,
        sampler: Sampler,
        grammar: Option<Grammar>,
        opening: &[Token],
        max_tokens: u32,
        weights: &Weights,
    ) -> Candidate {
        for token in opening {
            stream.push(&weights.bytes(*token));
        }
        Candidate {
            number,
            sequence: 0,
            pending: VecDeque::new(),
            written: Vec::new(),
            stream,
            sampler,
            grammar,
            output_tokens: u32::try_from(opening.len()).unwrap_or(u32::MAX),
            max_tokens,
        }
    }

    /// Whether it is over before the next token is chosen.
    pub fn is_over(&self) -> Option<FinishReason> {
        if self.grammar.as_ref().is_some_and(Grammar::is_complete) {
            Some(FinishReason::Stop)
        } else if self.output_tokens >= self.max_tokens {
            Some(FinishReason::Length)
        } else {
            None
        }
    }

    /// Chooses the next token from the logits after everything written so far, and what the schema forces behind it.
    pub fn advance(&mut self, logits: &[f32], weights: &Weights) -> Result<Option<FinishReason>, ModelError> {
        let chosen = match &mut self.grammar {
            Some(grammar) => grammar.pick(&mut self.sampler, logits, |token| weights.ends(token))?,
            None => {
                let token = self
                    .sampler
                    .pick(logits)
                    .ok_or_else(|| ModelError::Engine { message: "the model gave no usable logits".to_owned() })?;
                (!weights.ends(token)).then_some(token)
            }
        };
        let Some(token) = chosen else { return Ok(Some(FinishReason::Stop)) };
        let mut forced = Vec::new();
        if let Some(grammar) = &mut self.grammar {
            grammar.consume(&[token])?;
            let room = self.max_tokens.saturating_sub(self.output_tokens).saturating_sub(1);
            forced = grammar.forced(room as usize)?;
        }
        for token in std::iter::once(token).chain(forced) {
            self.output_tokens += 1;
            self.written.push(token);
            self.pending.push_back(token);
            if self.stream.push(&weights.bytes(token)) {
                return Ok(Some(FinishReason::Stop));
            }
        }
        Ok(self.is_over())
    }

    /// Text that is new since the last call.
    pub fn news(&mut self) -> &str {
        self.stream.news()
    }

    /// The rest of the text at the end.
    pub fn last_news(&mut self) -> &str {
        self.stream.last_news()
    }

    /// Gives up its place: everything has to be computed again.
    pub fn park(&mut self) {
        self.pending = self.written.iter().copied().collect();
    }

    /// Tokens of memory that it may still take: what waits to be computed, and what may follow.
    pub fn room_to_come(&self) -> u32 {
        let pending = u32::try_from(self.pending.len()).unwrap_or(u32::MAX);
        pending.saturating_add(self.max_tokens.saturating_sub(self.output_tokens))
    }

    pub fn completion(&self, finish: FinishReason) -> Completion {
        Completion {
            candidate: self.number,
            text: self.stream.text().to_owned(),
            finish,
            output_tokens: self.output_tokens,
        }
    }
}
