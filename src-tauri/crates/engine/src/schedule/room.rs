//! Room in the working memory: who may begin, and who steps back when it is full.

use super::request::Request;
use super::{Scheduler, engine};
use crate::candidate::Candidate;
use crate::llama::StepError;
use starling_core::port::ModelError;

/// Room that must be free for a candidate to begin; if it writes more and the memory is full, the youngest waits.
const TO_BEGIN: u32 = 64;
/// Room that is left to each of those that write already.
const TO_GO_ON: u32 = 16;

impl Scheduler<'_> {
    /// Whether a prompt of which `need` tokens are not known may be read now. Kept beginnings make room for it.
    pub(super) fn have_room(&mut self, at: usize, need: usize) -> Result<bool, ModelError> {
        let others = self.requests.iter().enumerate().filter(|(other, request)| *other != at && request.base.is_some());
        let promised: usize = others.clone().map(|(_, other)| other.room_to_read() + TO_BEGIN as usize).sum();
        let alone = others.count() == 0;
        let wanted = need + promised + TO_BEGIN as usize;
        self.free_up(wanted)?;
        // Alone it fits: that was checked when it came.
        Ok(alone || wanted <= self.session.free() as usize)
    }

    /// Moves kept beginnings out until `wanted` tokens are free, as far as there are any.
    fn free_up(&mut self, wanted: usize) -> Result<(), ModelError> {
        while (self.session.free() as usize) < wanted {
            match self.library.move_out(&mut self.session).map_err(engine)? {
                Some(sequence) => self.free.push(sequence),
                None => break,
            }
        }
        Ok(())
    }

    /// Whether this candidate may take a place. One that gave up its place needs room to its end, or the memory for
    /// itself: otherwise it would be sent away again.
    pub(super) fn may_begin(&mut self, candidate: &Candidate) -> Result<bool, ModelError> {
        let live = || self.requests.iter().flat_map(|request| &request.live);
        if live().next().is_none() {
            return Ok(true);
        }
        let returns = !candidate.pending.is_empty();
        let wanted = if returns {
            let others = live().map(Candidate::room_to_come).fold(0, u32::saturating_add);
            others.saturating_add(candidate.room_to_come())
        } else {
            let others = live().map(|other| other.room_to_come().min(TO_GO_ON)).fold(0, u32::saturating_add);
            others.saturating_add(TO_BEGIN.min(candidate.room_to_come()).max(1))
        };
        self.free_up(wanted as usize)?;
        Ok(wanted <= self.session.free())
    }

    /// The memory is full and request `at` cannot go on: first what is only kept goes, then the youngest candidate of
    /// whoever is served last, then the prompt of whoever is served last; at the very end the request fails.
    pub(super) fn make_room(&mut self, at: usize) -> Result<(), ModelError> {
        if let Some(sequence) = self.library.move_out(&mut self.session).map_err(engine)? {
            self.free.push(sequence);
            return Ok(());
        }
        let mut last_first = self.ranked();
        last_first.reverse();
        let live = self.requests.iter().map(|request| request.live.len()).sum::<usize>();
        let full = |request: &Request| !request.live.is_empty();
        if live > 1
            && let Some(victim) = last_first.iter().copied().find(|at| self.requests.get(*at).is_some_and(full))
        {
            return self.park_youngest(victim);
        }
        // One order for all: whoever is served first is never sent away, so somebody always gets on.
        let mut holders = last_first.into_iter().filter(|at| self.requests.get(*at).is_some_and(|r| r.base.is_some()));
        if let Some(victim) = holders.next()
            && (victim != at || holders.next().is_some())
        {
            return self.unseat(victim);
        }
        if let Some(request) = self.requests.get_mut(at) {
            request.failed = Some(engine(StepError::Full { cells: self.session.cells() }));
        }
        Ok(())
    }

    fn park_youngest(&mut self, at: usize) -> Result<(), ModelError> {
        let Some(request) = self.requests.get_mut(at) else { return Ok(()) };
        let Some(mut youngest) = request.live.pop() else { return Ok(()) };
        self.session.shorten(youngest.sequence, 0).map_err(engine)?;
        self.free.push(youngest.sequence);
        youngest.park();
        request.waiting.push_front(youngest);
        Ok(())
    }

    /// A request gives up its prompt too and begins anew later; nothing that was written is lost.
    fn unseat(&mut self, at: usize) -> Result<(), ModelError> {
        while self.requests.get(at).is_some_and(|request| !request.live.is_empty()) {
            self.park_youngest(at)?;
        }
        let Some(request) = self.requests.get_mut(at) else { return Ok(()) };
        (request.read, request.after_prompt) = (0, None);
        if let Some(base) = request.base.take() {
            self.session.shorten(base, 0).map_err(engine)?;
            self.free.push(base);
        }
        Ok(())
    }
}
