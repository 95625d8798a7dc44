//! All requests of one model at once: prompts are read behind what is already known of them, and the candidates of all
//! requests are computed together, in one batch a step.
//!
//! A prompt is read in pieces of a fixed grid, in steps of their own that take turns with the steps in which candidates
//! write: other rows in the batch of a piece would run other kernels, whose last digits differ. A request whose beginning
//! another one is just reading waits for it and goes on from there. What a person waits for goes first; among the others
//! the places go to the request that has the fewest.
#![forbid(unsafe_code)]

mod request;
mod room;
#[cfg(test)]
mod tests;
mod write;

pub use request::{News, Report, Request, Work};

use crate::lease;
use crate::library::{self, Library};
use crate::llama::{ROWS, SEQUENCES, Session, StepError, Weights};
use crate::sample::Token;
use crate::stats::Stats;
use starling_core::port::ModelError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Candidates computed together. More take longer in sum on the processors measured.
const PLACES: usize = 16;
/// Places beside those for what a person waits for.
const URGENT_PLACES: usize = 8;
/// Requests whose prompts are in the working memory at once.
const AT_WORK: usize = 24;
/// Beginnings that are written to disk when the model is dropped.
const SAVED_AT_THE_END: usize = 4;

/// A model at work; lives on the owner thread.
pub struct Scheduler<'w> {
    weights: &'w Weights,
    session: Session<'w>,
    library: Library,
    /// In order of arrival.
    requests: Vec<Request>,
    /// Sequences nobody uses.
    free: Vec<u32>,
    /// Rows per piece of a prompt. A kept beginning is a multiple of it, so that a run with one computes what a run
    /// without it does.
    grid: usize,
    read_last: bool,
    /// The model is being dropped.
    closing: Arc<AtomicBool>,
    stats: Arc<Stats>,
}

impl<'w> Scheduler<'w> {
    pub fn new(
        weights: &'w Weights,
        session: Session<'w>,
        library: Library,
        grid: usize,
        closing: Arc<AtomicBool>,
        stats: Arc<Stats>,
    ) -> Scheduler<'w> {
        let grid = grid.clamp(1, ROWS as usize);
        let free = (0..SEQUENCES).rev().collect();
        let requests = Vec::new();
        Scheduler { weights, session, library, requests, free, grid, read_last: false, closing, stats }
    }

    pub fn admit(&mut self, work: Work, reports: Sender<Report>) {
        self.requests.push(Request::new(work, reports, self.weights));
    }

    pub fn is_idle(&self) -> bool {
        self.requests.is_empty()
    }

    /// One step for whoever is next.
    pub fn turn(&mut self) {
        let result = self.sweep().and_then(|()| self.step());
        if let Err(error) = result {
            // The working memory cannot be trusted any more for what was under way; everyone is told.
            for request in &mut self.requests {
                request.failed.get_or_insert_with(|| error.clone());
            }
            if let Err(error) = self.sweep() {
                tracing::error!("the working memory of a model is in disorder: {error}");
                for request in self.requests.drain(..) {
                    request.end(Some(error.clone()));
                }
            }
        }
    }

    /// Work for idle times: writes a beginning to disk. False when there is nothing to do.
    pub fn rest(&mut self) -> bool {
        match self.free.last() {
            Some(spare) => self.library.save_one(*spare, &mut self.session),
            None => false,
        }
    }

    /// The last work before the model is dropped.
    pub fn close(mut self) {
        for request in self.requests.drain(..) {
            request.end(Some(ModelError::Cancelled));
        }
        for _ in 0..SAVED_AT_THE_END {
            if !self.rest() {
                break;
            }
        }
    }

    fn step(&mut self) -> Result<(), ModelError> {
        self.open()?;
        self.seat()?;
        let writing = |urgent: bool| {
            let mut live = self.requests.iter().filter(|request| !request.live.is_empty());
            live.any(|request| request.work.urgent || !urgent)
        };
        let Some(reader) = self.reader() else {
            return if writing(false) { self.write() } else { self.sweep() };
        };
        let urgent = self.requests.get(reader).is_some_and(|request| request.work.urgent);
        let read = match (urgent, writing(true)) {
            _ if !writing(false) => true,
            (true, false) => true,
            (false, true) => false,
            _ => !self.read_last,
        };
        self.read_last = read;
        if read { self.read(reader) } else { self.write() }
    }

    /// Ends what is over, cancelled or failed.
    fn sweep(&mut self) -> Result<(), ModelError> {
        let closing = self.closing.load(Ordering::Relaxed);
        let mut at = 0;
        while let Some(request) = self.requests.get_mut(at) {
            let cancelled = closing || request.work.cancel.is_cancelled();
            let enough = request.work.enough.load(Ordering::Relaxed);
            if !(cancelled || enough || request.failed.is_some() || request.is_over()) {
                at += 1;
                continue;
            }
            let mut request = self.requests.remove(at);
            let failure = request.failed.take().or(cancelled.then_some(ModelError::Cancelled));
            let cleared = self.clear(&mut request);
            request.end(failure);
            cleared?;
        }
        Ok(())
    }

    /// Takes everything of a request out of the working memory, except what may serve the next one.
    fn clear(&mut self, request: &mut Request) -> Result<(), ModelError> {
        for candidate in &request.live {
            self.session.shorten(candidate.sequence, 0).map_err(engine)?;
            self.free.push(candidate.sequence);
        }
        request.give_up();
        if let Some(base) = request.base.take() {
            let kept = request.read - request.read % self.grid;
            self.session.shorten(base, u32::try_from(kept).unwrap_or(0)).map_err(engine)?;
            let tokens = request.work.prompt.get(..kept).unwrap_or(&[]);
            self.free.extend(self.library.keep(base, tokens, &mut self.session).map_err(engine)?);
        }
        Ok(())
    }

    /// Requests in the order in which they are served.
    fn ranked(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.requests.len()).collect();
        order.sort_by_key(|at| self.requests.get(*at).is_none_or(|request| !request.work.urgent));
        order
    }

    fn reader(&self) -> Option<usize> {
        self.ranked().into_iter().find(|at| self.requests.get(*at).is_some_and(Request::is_reading))
    }

    /// Gives waiting requests a sequence and what is known of their prompts.
    fn open(&mut self) -> Result<(), ModelError> {
        for at in self.ranked() {
            let at_work = self.requests.iter().filter(|request| request.base.is_some()).count();
            let Some(request) = self.requests.get(at).filter(|request| request.base.is_none()) else { continue };
            if at_work >= AT_WORK {
                break;
            }
            let found = self.library.find(&request.work.prompt, self.grid);
            let known = found.map_or(0, |found| found.common);
            let other = self.read_by_others(at);
            if let Some(other) = other
                && other.to_come > other.now.max(known)
                && !request.work.urgent
            {
                continue;
            }
            let from_other = other.filter(|other| other.now > known);
            let need = request.work.prompt.len() - known.max(from_other.map_or(0, |other| other.now));
            if !self.have_room(at, need)? {
                continue;
            }
            let Some(base) = self.sequence()? else { break };
            // Making room may have moved or dropped what was found.
            let found = self.requests.get(at).and_then(|r| self.library.find(&r.work.prompt, self.grid));
            let brought = match (from_other, found) {
                (Some(other), _) => {
                    let length = u32::try_from(other.now).unwrap_or(0);
                    self.session.share(other.base, base, length).map(|()| other.now)
                }
                (None, Some(found)) => self.library.bring(found, base, &mut self.session),
                (None, None) => Ok(0),
            };
            let brought = brought.map_err(engine)?;
            if let Some(request) = self.requests.get_mut(at) {
                request.begin(base, brought);
            }
            self.make_way()?;
        }
        Ok(())
    }

    fn make_way(&mut self) -> Result<(), ModelError> {
        let at_work = self.requests.iter().filter(|request| request.base.is_some());
        let prompts: Vec<&[Token]> = at_work.map(|request| request.work.prompt.as_slice()).collect();
        self.free.extend(self.library.make_way(&prompts, &mut self.session).map_err(engine)?);
        Ok(())
    }

    /// The request at work whose prompt has most in common with that of request `at`.
    fn read_by_others(&self, at: usize) -> Option<Other> {
        let prompt = &self.requests.get(at)?.work.prompt;
        let others = self.requests.iter().enumerate().filter(|(other, _)| *other != at);
        let shared = others.filter_map(|(_, other)| {
            let common = library::common(&other.work.prompt, prompt, self.grid);
            Some(Other { base: other.base?, now: common.min(other.read - other.read % self.grid), to_come: common })
        });
        shared.filter(|other| other.to_come > 0).max_by_key(|other| (other.to_come, other.now))
    }

    /// Reads the next piece of a prompt.
    fn read(&mut self, at: usize) -> Result<(), ModelError> {
        let Some(request) = self.requests.get(at) else { return Ok(()) };
        let Some(base) = request.base else { return Ok(()) };
        let end = (request.read + self.grid).min(request.work.prompt.len());
        let piece: Vec<_> = request.work.prompt.get(request.read..end).unwrap_or(&[]).to_vec();
        let is_last = end == request.work.prompt.len();
        if piece.is_empty() {
            return Err(engine("a prompt has no end to be read"));
        }
        self.session.begin();
        let mut last = None;
        for (place, token) in piece.iter().enumerate() {
            match self.session.add(base, *token, is_last && place + 1 == piece.len()) {
                Ok(row) => last = Some(row),
                Err(StepError::Full { .. }) => {
                    self.session.give_up().map_err(engine)?;
                    return self.make_room(at);
                }
                Err(error) => return Err(engine(error)),
            }
        }
        match self.compute(piece.len()) {
            Ok(()) => {}
            Err(StepError::Full { .. }) => return self.make_room(at),
            Err(error) => return Err(engine(error)),
        }
        let logits = match last.filter(|_| is_last) {
            Some(row) => Some(self.session.logits(row).map_err(engine)?.to_vec()),
            None => None,
        };
        if let Some(request) = self.requests.get_mut(at) {
            request.read = end;
            request.after_prompt = logits;
        }
        Ok(())
    }

    fn compute(&mut self, rows: usize) -> Result<(), StepError> {
        let _lease = lease::take();
        let stats = Arc::clone(&self.stats);
        stats.computing(rows, || self.session.step())
    }

    /// An empty sequence, if one can be had.
    fn sequence(&mut self) -> Result<Option<u32>, ModelError> {
        match self.free.pop() {
            Some(sequence) => Ok(Some(sequence)),
            None => self.library.move_out(&mut self.session).map_err(engine),
        }
    }
}

#[derive(Clone, Copy)]
struct Other {
    base: u32,
    /// Tokens in common that it has read, and will have read.
    now: usize,
    to_come: usize,
}

fn engine(error: impl std::fmt::Display) -> ModelError {
    ModelError::Engine { message: error.to_string() }
}
