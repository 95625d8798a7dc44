//! The desk of one task while it is worked on: its state, its journal, and one place through which models are called, so
//! that each call across a bridge between roles leaves exactly one event.

use crate::error::SwarmError;
use crate::judge::ProbeResult;
use crate::ports::Ports;
use crate::probes::Probe;
use starling_core::port::{Cancel, Flow, Model, Progress, SampleEvent, SampleRequest, Sampled};
use starling_core::receipt::ModelCall;
use starling_core::state::{TaskEvent, TaskState};
use starling_core::{RelPath, Role, TaskId};
use std::sync::Arc;

pub(crate) struct Desk<'a> {
    pub ports: &'a Ports,
    pub task: TaskId,
    pub state: TaskState,
    pub cancel: &'a Cancel,
    pub seed: u64,
    pub candidates: u32,
    /// Probes that pass on the change of an earlier step, with the file they are about and what they said before. Kept in
    /// memory only: after a restart the Tester makes its own.
    pub carried: Vec<(RelPath, Probe, ProbeResult)>,
}

impl Desk<'_> {
    /// Journals facts, then shows them. What is not journalled never happened.
    pub fn facts(&mut self, events: Vec<TaskEvent>) -> Result<(), SwarmError> {
        self.ports.journal.append(&self.task, &events)?;
        for event in &events {
            self.state = std::mem::take(&mut self.state).apply(event);
            self.ports.events.fact(&self.task, event);
        }
        Ok(())
    }

    /// Takes over facts that were journalled and shown while the work went on.
    pub fn journalled(&mut self, events: Vec<TaskEvent>) {
        for event in &events {
            self.state = std::mem::take(&mut self.state).apply(event);
        }
    }

    pub fn fact(&mut self, event: TaskEvent) -> Result<(), SwarmError> {
        self.facts(vec![event])
    }

    pub fn progress(&self, progress: &Progress) {
        self.ports.events.progress(&self.task, progress);
    }

    /// Asks the model that is bound to a role now, and shows how it goes.
    pub fn ask(&self, role: Role, template: &str, request: &SampleRequest) -> Result<Call, SwarmError> {
        let model = self.ports.models.bound(role)?;
        ask(&model, role, template, request, self.cancel, &mut |p| self.progress(&p), &mut |_| Flow::Continue)
    }

    pub fn check_cancel(&self) -> Result<(), SwarmError> {
        if self.cancel.is_cancelled() { Err(SwarmError::Cancelled) } else { Ok(()) }
    }
}

/// A finished call that waits for the judgement of its answers before it is journalled.
pub(crate) struct Call {
    pub sampled: Sampled,
    pub record: ModelCall,
}

/// Asks the model of a role. `on_done` sees each finished candidate while the others go on.
pub(crate) fn ask(
    models: &Arc<dyn Model>,
    role: Role,
    template: &str,
    request: &SampleRequest,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
    on_done: &mut dyn FnMut(&starling_core::port::Completion) -> Flow,
) -> Result<Call, SwarmError> {
    let card = models.card();
    progress(Progress::RoleStarted { role, model: card.name.clone(), candidates: request.n });
    let sampled = models.sample(request, cancel, &mut |event| match event {
        SampleEvent::Text { candidate, text } => {
            progress(Progress::Text { role, candidate, text: text.to_owned() });
            Flow::Continue
        }
        SampleEvent::Done(completion) => on_done(completion),
    })?;
    let record = ModelCall {
        role,
        model: card.name,
        place: card.place,
        template: template.to_owned(),
        usage: sampled.usage,
        candidates: sampled.completions.len() as u32,
        valid: 0,
        millis: sampled.millis,
        invented: Vec::new(),
    };
    Ok(Call { sampled, record })
}
