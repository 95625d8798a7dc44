//! One request from prompt to completions: the prompt is read once, all candidates continue from it in one batch, and
//! whoever is done makes room at once.
//!
//! What the last prompt had in common with this one is not read again. The prompt is read in pieces of a fixed grid, so
//! that a run with a kept beginning computes exactly what a cold run does.
#![forbid(unsafe_code)]

use crate::candidate::Candidate;
use crate::lease;
use crate::llama::{ROWS, SEQUENCES, Session, StepError, Weights};
use crate::sample::{Choice, Sampler, Token};
use crate::schema::Grammar;
use crate::stream::TextStream;
use starling_core::port::{Cancel, Completion, FinishReason, ModelError, Sampled};
use starling_core::receipt::Usage;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The sequence that holds the prompt between requests.
const BASE: u32 = 0;
/// Room that must be free for a candidate to begin; if it writes more and the memory is full, the youngest waits.
const ROOM_TO_BEGIN: u32 = 64;

/// A request in tokens.
pub struct Work {
    /// Not empty. Ends with the answer's start and `opening`.
    pub prompt: Vec<Token>,
    /// The last tokens of `prompt`, which the schema forces; they count as output.
    pub opening: Vec<Token>,
    pub answer_start: String,
    pub n: u32,
    pub max_tokens: u32,
    pub choice: Choice,
    pub greedy_first: bool,
    pub seed: u64,
    pub stop: Vec<String>,
    pub grammar: Option<Grammar>,
    pub cancel: Cancel,
    /// The caller wants no more candidates, or is gone.
    pub enough: Arc<AtomicBool>,
}

pub enum News {
    Text { candidate: u32, text: String },
    Done(Completion),
}

/// A model at work; lives on the owner thread.
pub struct Desk<'w> {
    weights: &'w Weights,
    session: Session<'w>,
    /// The tokens in [`BASE`].
    held: Vec<Token>,
    /// Rows per piece of a prompt: what takes well under 200 ms, because a cancel waits for it. A kept beginning is a
    /// multiple of it: other pieces run other kernels, whose last digits differ, and seeded draws would not repeat.
    grid: usize,
    /// The model is being dropped.
    closing: Arc<AtomicBool>,
}

impl<'w> Desk<'w> {
    pub fn new(weights: &'w Weights, session: Session<'w>, grid: usize, closing: Arc<AtomicBool>) -> Desk<'w> {
        Desk { weights, session, held: Vec::new(), grid: grid.clamp(1, ROWS as usize), closing }
    }

    pub fn run(&mut self, work: Work, tell: &mut dyn FnMut(News)) -> Result<Sampled, ModelError> {
        let begun = Instant::now();
        let result = self.run_inner(work, tell, begun);
        for sequence in BASE + 1..SEQUENCES {
            self.session.shorten(sequence, 0).map_err(engine)?;
        }
        result
    }

    fn run_inner(&mut self, work: Work, tell: &mut dyn FnMut(News), begun: Instant) -> Result<Sampled, ModelError> {
        let kept = self.keep_common(&work.prompt)?;
        let after_prompt = self.read(&work, kept)?;
        let mut crowd = Crowd::new(&work, self.weights, self.session.cells());
        while !crowd.is_empty() {
            self.check_cancel(&work)?;
            if work.enough.load(Ordering::Relaxed) {
                crowd.give_up();
                break;
            }
            self.seat(&mut crowd, &after_prompt, tell)?;
            if !crowd.live.is_empty() {
                self.step(&mut crowd, tell)?;
            }
        }
        let mut completions = crowd.done;
        completions.sort_by_key(|completion| completion.candidate);
        let opening = work.opening.len();
        let output = completions.iter().map(|completion| u64::from(completion.output_tokens)).sum();
        let input = (work.prompt.len() - opening.min(work.prompt.len())) as u64;
        let cache_read = (kept as u64).min(input);
        Ok(Sampled {
            completions,
            usage: Usage { input: input - cache_read, cache_read, cache_write: 0, output },
            millis: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Cuts the held prompt down to what the new one begins with; the last token is always read, for its logits.
    fn keep_common(&mut self, prompt: &[Token]) -> Result<usize, ModelError> {
        let common = self.held.iter().zip(prompt).take_while(|(held, new)| held == new).count();
        let common = common.min(prompt.len().saturating_sub(1));
        let kept = common - common % self.grid;
        self.held.truncate(kept);
        self.session.shorten(BASE, u32::try_from(kept).unwrap_or(0)).map_err(engine)?;
        Ok(kept)
    }

    /// Reads the rest of the prompt; returns the logits behind it.
    fn read(&mut self, work: &Work, kept: usize) -> Result<Vec<f32>, ModelError> {
        let mut last = None;
        for piece in work.prompt.get(kept..).unwrap_or(&[]).chunks(self.grid) {
            self.check_cancel(work)?;
            self.session.begin();
            for (place, token) in piece.iter().enumerate() {
                let is_last = self.held.len() + place + 1 == work.prompt.len();
                last = Some(self.session.add(BASE, *token, is_last).map_err(engine)?);
            }
            let _lease = lease::take();
            self.session.step().map_err(engine)?;
            self.held.extend_from_slice(piece);
        }
        let last = last.ok_or_else(|| ModelError::Engine { message: "the prompt is empty".to_owned() })?;
        Ok(self.session.logits(last).map_err(engine)?.to_vec())
    }

    /// Lets waiting candidates begin while there is room.
    fn seat(&mut self, crowd: &mut Crowd, after_prompt: &[f32], tell: &mut dyn FnMut(News)) -> Result<(), ModelError> {
        while let Some(mut candidate) = crowd.next() {
            if candidate.pending.is_empty() {
                let finish = match candidate.is_over() {
                    Some(finish) => Some(finish),
                    None => candidate.advance(after_prompt, self.weights)?,
                };
                if let Some(finish) = finish {
                    crowd.finish(candidate, finish, tell);
                    continue;
                }
                tell_text(&mut candidate, tell);
            }
            candidate.sequence = crowd.free.pop().ok_or_else(|| engine("no sequence is free"))?;
            self.session.share(BASE, candidate.sequence).map_err(engine)?;
            crowd.live.push(candidate);
        }
        Ok(())
    }

    /// Computes pending tokens of all live candidates together, then chooses the next ones.
    fn step(&mut self, crowd: &mut Crowd, tell: &mut dyn FnMut(News)) -> Result<(), ModelError> {
        self.session.begin();
        let mut rows = Vec::with_capacity(crowd.live.len());
        let mut budget = self.grid.max(crowd.live.len());
        let mut taken = Vec::with_capacity(crowd.live.len());
        let mut full = false;
        for (place, candidate) in crowd.live.iter().enumerate() {
            let others = crowd.live.len() - place - 1;
            let take = candidate.pending.len().min(budget - others);
            budget -= take;
            taken.push(take);
            let mut row = None;
            for (at, token) in candidate.pending.iter().take(take).enumerate() {
                let is_last = at + 1 == candidate.pending.len();
                match self.session.add(candidate.sequence, *token, is_last) {
                    Ok(added) => row = is_last.then_some(added),
                    Err(StepError::Full { .. }) => full = true,
                    Err(error) => return Err(engine(error)),
                }
            }
            rows.push(row);
        }
        let stepped = {
            let _lease = lease::take();
            if full { Err(StepError::Full { cells: self.session.cells() }) } else { self.session.step() }
        };
        match stepped {
            Ok(()) => {}
            Err(StepError::Full { cells }) => return self.park_youngest(crowd, cells),
            Err(error) => return Err(engine(error)),
        }
        let live = std::mem::take(&mut crowd.live);
        for ((mut candidate, row), take) in live.into_iter().zip(rows).zip(taken) {
            candidate.pending.drain(..take);
            let finish = match row {
                Some(row) => candidate.advance(self.session.logits(row).map_err(engine)?, self.weights)?,
                None => None,
            };
            match finish {
                None => {
                    tell_text(&mut candidate, tell);
                    crowd.live.push(candidate);
                }
                Some(finish) => {
                    self.session.shorten(candidate.sequence, 0).map_err(engine)?;
                    crowd.finish(candidate, finish, tell);
                }
            }
        }
        Ok(())
    }

    /// The memory is full: the candidate that began last waits until another one is done.
    fn park_youngest(&mut self, crowd: &mut Crowd, cells: u32) -> Result<(), ModelError> {
        match crowd.live.pop() {
            Some(mut youngest) if !crowd.live.is_empty() => {
                self.session.shorten(youngest.sequence, 0).map_err(engine)?;
                crowd.free.push(youngest.sequence);
                youngest.park();
                crowd.waiting.push_front(youngest);
                Ok(())
            }
            Some(_) | None => Err(engine(StepError::Full { cells })),
        }
    }

    fn check_cancel(&self, work: &Work) -> Result<(), ModelError> {
        let closing = self.closing.load(Ordering::Relaxed);
        if closing || work.cancel.is_cancelled() { Err(ModelError::Cancelled) } else { Ok(()) }
    }
}

/// All candidates of a request.
struct Crowd {
    live: Vec<Candidate>,
    waiting: VecDeque<Candidate>,
    done: Vec<Completion>,
    /// Sequences nobody uses.
    free: Vec<u32>,
    /// Tokens of memory beside the prompt.
    room: u32,
    room_to_begin: u32,
}

impl Crowd {
    fn new(work: &Work, weights: &Weights, cells: u32) -> Crowd {
        let candidate = |number| {
            let greedy = work.choice.temperature <= 0.0 || (work.greedy_first && work.n > 1 && number == 0);
            let choice = Choice { temperature: if greedy { 0.0 } else { work.choice.temperature }, ..work.choice };
            Candidate::new(
                number,
                TextStream::new(&work.answer_start, &work.stop),
                Sampler::new(choice, work.seed.wrapping_add(u64::from(number))),
                work.grammar.as_ref().map(Grammar::fork),
                &work.opening,
                work.max_tokens,
                weights,
            )
        };
        Crowd {
            live: Vec::new(),
            waiting: (0..work.n).map(candidate).collect(),
            done: Vec::new(),
            free: (BASE + 1..SEQUENCES).rev().collect(),
            room: cells.saturating_sub(u32::try_from(work.prompt.len()).unwrap_or(u32::MAX)),
            room_to_begin: ROOM_TO_BEGIN.min(work.max_tokens).max(1),
        }
    }

    fn is_empty(&self) -> bool {
        self.live.is_empty() && self.waiting.is_empty()
    }

    /// The next candidate, if there is a sequence and room for it. One that was parked needs room to its end, or the
    /// memory for itself: otherwise it would be parked again.
    fn next(&mut self) -> Option<Candidate> {
        let waiting = self.waiting.front()?;
        let parked = !waiting.pending.is_empty();
        let live = u32::try_from(self.live.len()).unwrap_or(u32::MAX);
        let fits = if parked {
            let taken: u32 = self.live.iter().map(Candidate::room_until_end).fold(0, u32::saturating_add);
            taken.saturating_add(waiting.room_until_end()) <= self.room
        } else {
            live.saturating_add(1).saturating_mul(self.room_to_begin) <= self.room
        };
        if live == 0 || (fits && !self.free.is_empty()) { self.waiting.pop_front() } else { None }
    }

    fn finish(&mut self, mut candidate: Candidate, finish: FinishReason, tell: &mut dyn FnMut(News)) {
        let text = candidate.last_news().to_owned();
        if !text.is_empty() {
            tell(News::Text { candidate: candidate.number, text });
        }
        let completion = candidate.completion(finish);
        tell(News::Done(completion.clone()));
        self.done.push(completion);
        if candidate.sequence != BASE {
            self.free.push(candidate.sequence);
        }
    }

    /// Ends everything that has begun; nobody listens any more.
    fn give_up(&mut self) {
        let parked = self.waiting.drain(..).filter(|candidate| !candidate.pending.is_empty());
        let begun = self.live.drain(..).chain(parked);
        self.done.extend(begun.map(|candidate| candidate.completion(FinishReason::Cancelled)));
    }
}

fn tell_text(candidate: &mut Candidate, tell: &mut dyn FnMut(News)) {
    let text = candidate.news().to_owned();
    if !text.is_empty() {
        tell(News::Text { candidate: candidate.number, text });
    }
}

fn engine(error: impl std::fmt::Display) -> ModelError {
    ModelError::Engine { message: error.to_string() }
}
