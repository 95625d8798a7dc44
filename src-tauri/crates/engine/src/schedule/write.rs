//! Candidates: who gets a place, and one step of all that have one.

use super::{PLACES, Scheduler, URGENT_PLACES, engine};
use crate::llama::StepError;
use starling_core::port::ModelError;

/// Matrix products take rows in groups of this many.
const GROUP: usize = 4;

/// A candidate in a step: its request, its place among the live ones, how many pending tokens it takes along, and the row
/// behind which its next token is chosen.
struct Rows {
    request: usize,
    place: usize,
    take: usize,
    last: Option<usize>,
}

impl Scheduler<'_> {
    /// Lets waiting candidates begin while there are places: one of a person's request first, else one of the request with
    /// the fewest.
    pub(super) fn seat(&mut self) -> Result<(), ModelError> {
        let mut refused = Vec::new();
        loop {
            let live = self.requests.iter().map(|request| request.live.len()).sum::<usize>();
            let open = |urgent: bool| live < PLACES + if urgent { URGENT_PLACES } else { 0 };
            let next = self
                .requests
                .iter()
                .enumerate()
                .filter(|(at, request)| {
                    let can = request.after_prompt.is_some() && !request.waiting.is_empty() && request.failed.is_none();
                    can && open(request.work.urgent) && !refused.contains(at)
                })
                .min_by_key(|(at, request)| (!request.work.urgent, request.live.len(), *at));
            let Some((at, _)) = next else { return Ok(()) };
            if !self.seat_one(at)? {
                refused.push(at);
            }
        }
    }

    fn seat_one(&mut self, at: usize) -> Result<bool, ModelError> {
        let Some(request) = self.requests.get_mut(at) else { return Ok(false) };
        let Some(mut candidate) = request.waiting.pop_front() else { return Ok(false) };
        if candidate.pending.is_empty() {
            let advanced = match (candidate.is_over(), &request.after_prompt) {
                (Some(reason), _) => Ok(Some(reason)),
                (None, Some(logits)) => self.stats.choosing(|| candidate.advance(logits, self.weights)),
                (None, None) => return Ok(false),
            };
            match advanced {
                Ok(Some(reason)) => {
                    request.finish(candidate, reason);
                    return Ok(true);
                }
                Ok(None) => request.tell_news(&mut candidate),
                Err(error) => {
                    request.failed = Some(error);
                    return Ok(false);
                }
            }
        }
        let (base, length) = (request.base, u32::try_from(request.work.prompt.len()).unwrap_or(0));
        let sequence = if self.may_begin(&candidate)? { self.sequence()? } else { None };
        let Some(request) = self.requests.get_mut(at) else { return Ok(false) };
        let (Some(sequence), Some(base)) = (sequence, base) else {
            request.waiting.push_front(candidate);
            return Ok(false);
        };
        self.session.share(base, sequence, length).map_err(engine)?;
        candidate.sequence = sequence;
        request.live.push(candidate);
        Ok(true)
    }

    /// Computes pending tokens of the live candidates together, then chooses the next ones.
    pub(super) fn write(&mut self) -> Result<(), ModelError> {
        let mut rows = self.chosen();
        self.session.begin();
        let mut count = 0;
        for row in &mut rows {
            let candidate = self.requests.get(row.request).and_then(|request| request.live.get(row.place));
            let Some(candidate) = candidate else { continue };
            for (at, token) in candidate.pending.iter().take(row.take).enumerate() {
                let is_last = at + 1 == candidate.pending.len();
                match self.session.add(candidate.sequence, *token, is_last) {
                    Ok(added) => row.last = is_last.then_some(added),
                    Err(StepError::Full { .. }) => {
                        let full = row.request;
                        self.session.give_up().map_err(engine)?;
                        return self.make_room(full);
                    }
                    Err(error) => return Err(engine(error)),
                }
                count += 1;
            }
        }
        let first = rows.first().map_or(0, |row| row.request);
        match self.compute(count) {
            Ok(()) => self.advance(&rows),
            Err(StepError::Full { .. }) => self.make_room(first),
            Err(error) => Err(engine(error)),
        }
    }

    /// Who takes part in the next step. While a person waits, only as many of the others as fill the last group of rows:
    /// those cost nothing.
    fn chosen(&self) -> Vec<Rows> {
        let mut rows = Vec::new();
        let mut limit = usize::MAX;
        for request in self.ranked() {
            let Some(of) = self.requests.get(request) else { continue };
            if !of.work.urgent && limit == usize::MAX && !rows.is_empty() {
                limit = rows.len().next_multiple_of(GROUP);
            }
            rows.extend((0..of.live.len()).map(|place| Rows { request, place, take: 1, last: None }));
        }
        rows.truncate(limit);
        // Tokens that a schema forces need no step each.
        let mut budget = self.grid.saturating_sub(rows.len());
        for row in &mut rows {
            let candidate = self.requests.get(row.request).and_then(|request| request.live.get(row.place));
            let more = candidate.map_or(0, |candidate| candidate.pending.len().saturating_sub(1)).min(budget);
            row.take += more;
            budget -= more;
        }
        rows
    }

    fn advance(&mut self, rows: &[Rows]) -> Result<(), ModelError> {
        // From the back, so that places stay right when a candidate leaves.
        let mut over = Vec::new();
        for row in rows {
            let Some(request) = self.requests.get_mut(row.request) else { continue };
            let Some(candidate) = request.live.get_mut(row.place) else { continue };
            candidate.pending.drain(..row.take.min(candidate.pending.len()));
            let Some(last) = row.last else { continue };
            let logits = self.session.logits(last).map_err(engine)?;
            match self.stats.choosing(|| candidate.advance(logits, self.weights)) {
                Ok(reason) => over.push((row.request, row.place, reason)),
                Err(error) => request.failed = Some(error),
            }
        }
        over.sort_by_key(|(request, place, _)| (*request, std::cmp::Reverse(*place)));
        for (at, place, reason) in over {
            let Some(request) = self.requests.get_mut(at) else { continue };
            match reason {
                Some(reason) => {
                    let candidate = request.live.remove(place);
                    self.session.shorten(candidate.sequence, 0).map_err(engine)?;
                    self.free.push(candidate.sequence);
                    request.finish(candidate, reason);
                }
                None => {
                    let mut live = std::mem::take(&mut request.live);
                    if let Some(candidate) = live.get_mut(place) {
                        request.tell_news(candidate);
                    }
                    request.live = live;
                }
            }
        }
        Ok(())
    }
}
