//! Any role over an endpoint: each candidate is its own request, some at a time. A provider's model samples as it likes; a
//! gateway is told. What leaves the machine is scanned for secrets first.

use crate::bodies::{Ask, Sampling};
use crate::call::Fault;
use crate::cloud::{CloudEndpoint, Outcome, unwritten};
use crate::fold::Reply;
use crate::wire::{self, Lost};
use futures_util::{StreamExt, stream};
use starling_core::port::{
    Cancel, Completion, FinishReason, Flow, Model, ModelCard, ModelError, SampleEvent, SampleRequest, Sampled, Shape,
};
use starling_core::receipt::Usage;
use starling_core::review::Place;
use starling_core::{answer, redact};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// Requests at a time.
const TOGETHER: usize = 4;

enum News {
    Text(u32, String),
    End(u32, Result<Reply, Fault>),
}

impl Model for CloudEndpoint {
    fn card(&self) -> ModelCard {
        self.described()
    }

    /// Three bytes a token: rather too many than too few.
    fn count_tokens(&self, text: &str) -> Result<u32, ModelError> {
        Ok(u32::try_from(text.len().div_ceil(3)).unwrap_or(u32::MAX))
    }

    fn sample(
        &self,
        request: &SampleRequest,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(SampleEvent<'_>) -> Flow,
    ) -> Result<Sampled, ModelError> {
        if request.n == 0 {
            return Ok(Sampled { completions: Vec::new(), usage: Usage::default(), millis: 0 });
        }
        self.gate.allow()?;
        let bodies = self.candidate_bodies(request)?;
        let posts = bodies.iter().map(|body| self.post(body.clone())).collect::<Result<Vec<_>, _>>()?;
        let most = u64::from(request.max_tokens) * u64::from(request.n);
        let mut entry = self.entry(&bodies, most);
        let ledger = self.needed_ledger()?;
        if let Some(ledger) = ledger {
            ledger.sending(&entry).map_err(unwritten)?;
        }

        let begun = Instant::now();
        let (send, receive) = channel();
        let task = self.gate.wire.spawn(async move {
            let numbered = posts.into_iter().zip(0u32..);
            stream::iter(numbered)
                .for_each_concurrent(TOGETHER, |(post, candidate)| {
                    let (text, end) = (send.clone(), send.clone());
                    async move {
                        let result = post.answer(move |part| drop(text.send(News::Text(candidate, part)))).await;
                        // Nobody waits any more when the caller has enough.
                        end.send(News::End(candidate, result)).ok();
                    }
                })
                .await;
        });
        let mut desk = Desk { request, slots: (0..request.n).map(|_| Slot::default()).collect(), open: request.n };
        let ended = desk.listen(&receive, cancel, on_event);
        task.abort();

        self.settle(&mut entry, &desk.outcome());
        if let Some(ledger) = ledger {
            ledger.settled(&entry).map_err(|error| self.unsettled(&error))?;
        }
        match ended {
            Ok(()) => desk.sampled(begun.elapsed().as_millis() as u64),
            Err(lost) => Err(self.lost(lost).error),
        }
    }
}

impl CloudEndpoint {
    /// `None` on this machine, where nothing leaves.
    fn needed_ledger(&self) -> Result<Option<&dyn starling_core::port::Ledger>, ModelError> {
        match (&self.ledger, self.place()) {
            (_, Place::Local) => Ok(None),
            (Some(ledger), Place::Cloud) => Ok(Some(&**ledger)),
            (None, Place::Cloud) => {
                Err(ModelError::NotAllowed { reason: "there is no ledger to write it to".to_owned() })
            }
        }
    }

    fn candidate_bodies(&self, request: &SampleRequest) -> Result<Vec<Vec<u8>>, ModelError> {
        let system = self.scanned(&request.prompt.system)?;
        let mut user = self.scanned(&request.prompt.user)?;
        let schema = match &request.shape {
            Shape::Text => None,
            Shape::Json(schema) => Some(schema),
        };
        if schema.is_none() && !request.prompt.answer_start.is_empty() {
            user.push_str(&format!("\n\nBegin your answer exactly with:\n{}", request.prompt.answer_start));
        }
        let need =
            self.count_tokens(&system)?.saturating_add(self.count_tokens(&user)?).saturating_add(request.max_tokens);
        if need > self.target.context {
            let model = self.target.name.clone();
            return Err(ModelError::ContextTooLarge { model, need, have: self.target.context });
        }
        let one = |candidate: u32| {
            let greedy = candidate == 0 && request.greedy_first;
            let sampling = Sampling {
                temperature: if greedy { 0.0 } else { request.temperature },
                top_p: request.top_p,
                top_k: request.top_k,
                seed: request.seed.wrapping_add(candidate.into()),
            };
            let ask = Ask {
                model: &self.target.model,
                system: &system,
                user: &user,
                schema,
                max_tokens: request.max_tokens,
                stop: &request.stop,
                sampling: Some(sampling),
                gateway: self.is_gateway(),
            };
            ask.body(self.target.api)
        };
        (0..request.n).map(one).collect()
    }

    /// Without secrets, if it leaves the machine.
    fn scanned(&self, text: &str) -> Result<String, ModelError> {
        match self.place() {
            Place::Local => Ok(text.to_owned()),
            Place::Cloud => redact::redact(text, 0)
                .map(|(clean, _)| clean)
                .map_err(|error| ModelError::NotAllowed { reason: format!("the scan for secrets failed: {error}") }),
        }
    }
}

#[derive(Default)]
struct Slot {
    /// The text so far, for candidates that are stopped.
    text: String,
    end: Option<Result<Reply, Fault>>,
}

struct Desk<'a> {
    request: &'a SampleRequest,
    slots: Vec<Slot>,
    open: u32,
}

impl Desk<'_> {
    fn listen(
        &mut self,
        receive: &Receiver<News>,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(SampleEvent<'_>) -> Flow,
    ) -> Result<(), Lost> {
        while self.open > 0 {
            let flow = match wire::next(receive, cancel)? {
                News::Text(candidate, text) => {
                    if let Some(slot) = self.slots.get_mut(candidate as usize) {
                        slot.text.push_str(&text);
                    }
                    on_event(SampleEvent::Text { candidate, text: &text })
                }
                News::End(candidate, result) => {
                    self.open -= 1;
                    let Some(slot) = self.slots.get_mut(candidate as usize) else { continue };
                    slot.end = Some(result);
                    match self.completion(candidate) {
                        Some(done) => on_event(SampleEvent::Done(&done)),
                        None => Flow::Continue,
                    }
                }
            };
            if flow == Flow::Stop {
                return Ok(());
            }
        }
        Ok(())
    }

    /// `None` for candidates that were not begun or failed.
    fn completion(&self, candidate: u32) -> Option<Completion> {
        let slot = self.slots.get(candidate as usize)?;
        match &slot.end {
            Some(Ok(reply)) => {
                let (text, stopped) = shaped(&reply.text, self.request);
                let finish = if reply.length && !stopped { FinishReason::Length } else { FinishReason::Stop };
                let output = reply.usage.map_or(text.len().div_ceil(3) as u64, |usage| usage.output);
                let output_tokens = u32::try_from(output).unwrap_or(u32::MAX);
                Some(Completion { candidate, text, finish, output_tokens })
            }
            Some(Err(_)) => None,
            None if slot.text.is_empty() => None,
            None => {
                let output_tokens = u32::try_from(slot.text.len().div_ceil(3)).unwrap_or(u32::MAX);
                Some(Completion { candidate, text: slot.text.clone(), finish: FinishReason::Cancelled, output_tokens })
            }
        }
    }

    /// All answered: their sum. None charged: so. Otherwise the upper bound stays.
    fn outcome(&self) -> Outcome {
        let mut sum = Usage::default();
        let (mut answered, mut sent) = (false, false);
        for slot in &self.slots {
            match slot.end.as_ref().map(Outcome::of) {
                Some(Outcome::Answered(Some(usage))) => {
                    answered = true;
                    sum.add(usage);
                }
                Some(Outcome::NotCharged { sent: reached }) => sent |= reached,
                Some(Outcome::Answered(None) | Outcome::Unknown) | None => return Outcome::Unknown,
            }
        }
        if answered { Outcome::Answered(Some(sum)) } else { Outcome::NotCharged { sent } }
    }

    /// What came; the first fault when nothing did.
    fn sampled(mut self, millis: u64) -> Result<Sampled, ModelError> {
        let completions: Vec<Completion> = (0..self.request.n).filter_map(|n| self.completion(n)).collect();
        if completions.is_empty()
            && let Some(Err(fault)) = self.slots.iter_mut().find_map(|slot| slot.end.take_if(|end| end.is_err()))
        {
            return Err(fault.error);
        }
        let mut usage = Usage::default();
        for slot in &self.slots {
            match &slot.end {
                Some(Ok(reply)) => usage.add(reply.usage.unwrap_or_default()),
                Some(Err(fault)) => usage.add(fault.partial.usage.unwrap_or_default()),
                None => {}
            }
        }
        Ok(Sampled { completions, usage, millis })
    }
}

/// The answer as the port promises it: one JSON value, or a text that has the agreed beginning and ends before the first
/// stop text. An answer that is not JSON stays as it is, so that the role counts it as invalid.
fn shaped(text: &str, request: &SampleRequest) -> (String, bool) {
    if let Shape::Json(_) = &request.shape {
        let json = answer::json_object(text).ok().map(|value| value.to_string());
        return (json.unwrap_or_else(|| text.to_owned()), false);
    }
    let start = request.prompt.answer_start.as_str();
    // Trimmed at its end, because models vary in the white space after it.
    let mark = start.trim_end();
    let rest = if mark.is_empty() { text } else { text.split_once(mark).map_or(text, |(_, rest)| rest) };
    let rest = if mark.is_empty() { rest } else { rest.strip_prefix(&start[mark.len()..]).unwrap_or(rest) };
    let end = request.stop.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| rest.find(stop.as_str())).min();
    let cut = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
    (format!("{start}{cut}"), end.is_some())
}
