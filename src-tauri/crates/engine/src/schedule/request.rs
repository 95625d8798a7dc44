//! One request on its way: its prompt is read into a sequence of its own, then its candidates go on from there.
#![forbid(unsafe_code)]

use crate::candidate::Candidate;
use crate::llama::Weights;
use crate::sample::{Choice, Sampler, Token};
use crate::schema::Grammar;
use crate::stream::TextStream;
use starling_core::port::{Cancel, Completion, FinishReason, ModelError, Sampled};
use starling_core::receipt::Usage;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;

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
    /// A person waits for it: it goes before everything else.
    pub urgent: bool,
    pub cancel: Cancel,
    /// The caller wants no more candidates, or is gone.
    pub enough: Arc<AtomicBool>,
}

pub enum News {
    Text { candidate: u32, text: String },
    Done(Completion),
}

pub enum Report {
    Begun,
    News(News),
    End(Result<Sampled, ModelError>),
}

pub struct Request {
    pub work: Work,
    reports: Sender<Report>,
    begun: Option<Instant>,
    /// The sequence its prompt is read into; none while it waits.
    pub base: Option<u32>,
    /// Tokens of the prompt that are in `base`.
    pub read: usize,
    /// Tokens of the prompt that were known when it began.
    kept: usize,
    /// The logits behind the prompt, when all of it is read.
    pub after_prompt: Option<Vec<f32>>,
    pub live: Vec<Candidate>,
    pub waiting: VecDeque<Candidate>,
    done: Vec<Completion>,
    /// It ends with this before the next step.
    pub failed: Option<ModelError>,
}

impl Request {
    pub fn new(work: Work, reports: Sender<Report>, weights: &Weights) -> Request {
        let waiting = (0..work.n).map(|number| candidate(&work, number, weights)).collect();
        Request {
            work,
            reports,
            begun: None,
            base: None,
            read: 0,
            kept: 0,
            after_prompt: None,
            live: Vec::new(),
            waiting,
            done: Vec::new(),
            failed: None,
        }
    }

    /// Its prompt goes on behind `known` tokens that are already in `base`.
    pub fn begin(&mut self, base: u32, known: usize) {
        (self.base, self.read) = (Some(base), known);
        if self.begun.is_none() {
            (self.begun, self.kept) = (Some(Instant::now()), known);
            self.tell(Report::Begun);
        }
    }

    pub fn is_reading(&self) -> bool {
        self.base.is_some() && self.after_prompt.is_none()
    }

    /// Nothing is left to be written.
    pub fn is_over(&self) -> bool {
        self.live.is_empty() && self.waiting.is_empty()
    }

    /// Tokens of memory it still needs before its first candidate can begin.
    pub fn room_to_read(&self) -> usize {
        self.work.prompt.len().saturating_sub(self.read)
    }

    pub fn finish(&mut self, mut candidate: Candidate, reason: FinishReason) {
        let text = candidate.last_news().to_owned();
        self.tell_text(candidate.number, text);
        let completion = candidate.completion(reason);
        self.tell(Report::News(News::Done(completion.clone())));
        self.done.push(completion);
    }

    pub fn tell_news(&mut self, candidate: &mut Candidate) {
        let text = candidate.news().to_owned();
        self.tell_text(candidate.number, text);
    }

    fn tell_text(&self, candidate: u32, text: String) {
        if !text.is_empty() {
            self.tell(Report::News(News::Text { candidate, text }));
        }
    }

    fn tell(&self, report: Report) {
        // A caller that is gone (a panic in its callback) wants no more candidates.
        if self.reports.send(report).is_err() {
            self.work.enough.store(true, Ordering::Relaxed);
        }
    }

    /// Ends everything that has begun; nobody listens any more. Returns the sequences that are free.
    pub fn give_up(&mut self) {
        let parked = self.waiting.drain(..).filter(|candidate| !candidate.pending.is_empty());
        let begun = self.live.drain(..).chain(parked);
        self.done.extend(begun.map(|candidate| candidate.completion(FinishReason::Cancelled)));
    }

    /// The last report.
    pub fn end(mut self, failure: Option<ModelError>) {
        let result = match failure {
            Some(error) => Err(error),
            None => Ok(self.sampled()),
        };
        self.tell(Report::End(result));
    }

    fn sampled(&mut self) -> Sampled {
        let mut completions = std::mem::take(&mut self.done);
        completions.sort_by_key(|completion| completion.candidate);
        let output = completions.iter().map(|completion| u64::from(completion.output_tokens)).sum();
        let input = self.work.prompt.len().saturating_sub(self.work.opening.len()) as u64;
        let cache_read = (self.kept as u64).min(input);
        let millis = self.begun.map_or(0, |begun| begun.elapsed().as_millis());
        Sampled {
            completions,
            usage: Usage { input: input - cache_read, cache_read, cache_write: 0, output },
            millis: u64::try_from(millis).unwrap_or(u64::MAX),
        }
    }
}

fn candidate(work: &Work, number: u32, weights: &Weights) -> Candidate {
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
}
