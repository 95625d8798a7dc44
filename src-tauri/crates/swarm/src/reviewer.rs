//! The Reviewer: builds the packet, and gets the verdict, from the cloud once or from the local model.
//!
//! A small local model says "change" easily. So a local verdict is a vote of several samples, a finding counts only when
//! the words it rests on stand in the packet, and "change" or "reject" needs such a finding. No verdict overrules a gate.

mod verdict;

use crate::desk::{Desk, ask};
use crate::drive::change_of;
use crate::error::SwarmError;
use crate::ports::{Policy, Ports};
use starling_core::change::fingerprint;
use starling_core::evidence::GateOutcome;
use starling_core::packet::{PacketBody, ReviewPacket, Section};
use starling_core::port::{
    Cancel, CloudReviewer, Flow, JournalError, Ledger, Model, ModelError, Progress, SampleRequest, Shape,
};
use starling_core::receipt::{EgressEntry, ModelCall};
use starling_core::review::{Finding, Place, Reviewer, Verdict, VerdictKind};
use starling_core::shown::not_shown;
use starling_core::state::{StepState, TaskEvent, TaskState};
use starling_core::test_set::TestProof;
use starling_core::{Role, TaskId, prompt};
use std::sync::{Arc, Mutex, PoisonError};
use verdict::{BEFORE, NOTICES, local_verdict, read_verdict, tally};

/// Samples of a local verdict.
const VOTES: u32 = 3;

/// Journals the packet, or that there is nothing to review.
pub(crate) fn build_packet(desk: &mut Desk<'_>, policy: &Policy) -> Result<(), SwarmError> {
    if !desk.state.steps.iter().any(|step| change_of(step).is_some()) {
        let why = desk.state.steps.iter().find_map(|step| match step {
            StepState::Failed { failure } => Some(failure_text(failure)),
            _ => None,
        });
        let message =
            format!("not solved, nothing changed: {}", why.unwrap_or_else(|| "no step was worked on".to_owned()));
        return desk.fact(TaskEvent::Failed { stage: "swarm".to_owned(), message });
    }
    let diff = desk.ports.workspace.diff(&desk.task)?;
    let packet = ReviewPacket::new(&sections(&desk.state, &diff))?;
    let packet = with_body(desk.ports, policy.offline, packet)?;
    desk.fact(TaskEvent::PacketBuilt { packet })
}

/// The packet with the exact request, when there is somewhere to send it.
pub(crate) fn with_body(ports: &Ports, offline: bool, packet: ReviewPacket) -> Result<ReviewPacket, SwarmError> {
    let Some(cloud) = ports.cloud.as_ref().filter(|_| !offline) else { return Ok(packet) };
    let bytes = cloud.body(prompt::review_system(), packet.text())?;
    let bound = cloud.bound(&bytes);
    let body = PacketBody {
        host: cloud.host(),
        model: cloud.card().name.to_string(),
        sha256: fingerprint(&bytes),
        json: String::from_utf8_lossy(&bytes).into_owned(),
        worst_case_micro_usd: bound.worst_case_micro_usd,
        input_tokens: bound.input_tokens,
        max_output_tokens: bound.max_output_tokens,
    };
    Ok(packet.with_body(body))
}

/// A diff as a section shows it.
pub(crate) fn fenced(diff: &str) -> String {
    format!("```diff\n{}\n```", diff.trim_end())
}

/// What the Reviewer sees, most important first: the task, the diff, the evidence, the tests, the doubts.
pub(crate) fn sections(state: &TaskState, diff: &str) -> Vec<Section> {
    let section = |title: &str, text: String| Section { title: title.to_owned(), text };
    let mut sections = Vec::new();
    if let Some(brief) = &state.brief {
        let mut text = format!("{}\nKind: {}\nGoal: {}\n", brief.title, brief.kind.as_str(), brief.goal);
        for (title, items) in [("Done when", &brief.acceptance), ("Must stay", &brief.constraints)] {
            if !items.is_empty() {
                text.push_str(&format!("{title}:\n{}", items.iter().map(|i| format!("- {i}\n")).collect::<String>()));
            }
        }
        sections.push(section("Task", text));
    }
    sections.push(section("Diff", fenced(diff)));
    sections.push(section("Evidence from tools", evidence_text(state)));
    let doubts = doubts(state);
    if !doubts.is_empty() {
        sections.push(section("Open", doubts));
    }
    sections
}

fn evidence_text(state: &TaskState) -> String {
    let mut out = String::new();
    let steps = state.plan.iter().flat_map(|plan| &plan.steps).zip(&state.steps);
    for (step, done) in steps {
        match done {
            StepState::Solved { evidence, .. } => {
                let gates: Vec<&str> = evidence.gates.iter().filter(|g| g.passed()).map(|g| g.gate.as_str()).collect();
                out.push_str(&format!("- step {} ({}): passed {}\n", step.id, step.goal, gates.join(", ")));
            }
            StepState::Tested { tests, .. } => {
                out.push_str(&format!(
                    "- step {}: {} new tests in {}, all pass twice\n",
                    step.id,
                    tests.kept.len(),
                    tests.path
                ));
                for test in &tests.kept {
                    let proof = match test.proof.first() {
                        Some(TestProof::FailsBefore { message }) => {
                            format!("{BEFORE} ({})", message.lines().last().unwrap_or("").trim())
                        }
                        Some(TestProof::KillsMutant { mutant, .. }) => format!("{NOTICES} {mutant}"),
                        None => "passes".to_owned(),
                    };
                    out.push_str(&format!("  - {}: {proof}\n", test.name));
                }
            }
            StepState::Failed { failure } => {
                out.push_str(&format!("- step {}: NOT SOLVED, {}\n", step.id, failure_text(failure)))
            }
            StepState::Waiting | StepState::Working => {}
        }
    }
    out
}

fn doubts(state: &TaskState) -> String {
    let not_run = state.gates.iter().filter_map(|(step, _, result)| match &result.outcome {
        GateOutcome::NotRun { why } => Some(format!("- step {step}: {} was not run: {why}\n", result.gate.as_str())),
        GateOutcome::Passed | GateOutcome::Failed { .. } => None,
    });
    let mut lines: Vec<String> = not_run.collect();
    lines.dedup();
    if state.brief.as_ref().is_some_and(|brief| brief.injected_instructions) {
        lines.push("- the task file tried to instruct the assistant; that passage was cut out\n".to_owned());
    }
    lines.extend(
        not_shown(state).iter().map(|example| format!("- no kept test shows what the task says: {}\n", example.line)),
    );
    lines.concat()
}

pub(crate) fn failure_text(failure: &starling_core::evidence::StepFailure) -> String {
    use starling_core::evidence::StepFailure;
    match failure {
        StepFailure::NoCandidate { tried, gate, example } => {
            format!("no candidate of {tried} passed; most fell at the gate \"{}\" ({example})", gate.as_str())
        }
        StepFailure::ContextTooLarge { need, have } => format!("the step needs {need} tokens, the model holds {have}"),
        StepFailure::NotRun { why } => why.clone(),
        StepFailure::Model { message } => message.clone(),
    }
}

/// A packet whose price is unknown cannot be shown to keep within a limit.
pub(crate) fn too_dear(state: &TaskState, limit: u64) -> Option<String> {
    let body = state.packet.as_ref().and_then(|packet| packet.body()).filter(|_| limit > 0)?;
    let dollars = |micro: u64| format!("${:.4}", micro as f64 / 1_000_000.0);
    match body.worst_case_micro_usd {
        Some(most) if most <= limit => None,
        Some(most) => Some(format!("it may cost {}, more than the {} of a task", dollars(most), dollars(limit))),
        None => Some(format!("its price is unknown, and a task may cost {} at most", dollars(limit))),
    }
}

/// Gets the verdict and journals it. Exactly one request leaves for one change set.
pub(crate) fn run(desk: &mut Desk<'_>, policy: &Policy) -> Result<(), SwarmError> {
    let Some(packet) = desk.state.packet.clone() else { return Ok(()) };
    let (ports, task) = (desk.ports, desk.task.clone());
    let mut progress = |p: Progress| ports.events.progress(&task, &p);
    // A sending that was begun and not settled may have been charged: it is never repeated by itself.
    let tried = !desk.state.egress.is_empty();
    let mut fallback = match policy.offline {
        true => "offline".to_owned(),
        false => too_dear(&desk.state, policy.task_micro_usd).unwrap_or_default(),
    };
    let send = desk.state.send == Some(true) && fallback.is_empty();
    if send && tried {
        fallback = "an earlier sending was cut off and may have been charged".to_owned();
    } else if send && let Some(cloud) = ports.cloud.clone() {
        let told = Told { ports, task: &task, facts: Mutex::default() };
        let sent = send_once(&*cloud, &packet, desk.cancel, &told, &mut progress);
        desk.journalled(told.facts.into_inner().unwrap_or_else(PoisonError::into_inner));
        match sent {
            Ok((verdict, call)) => {
                return desk.facts(vec![TaskEvent::Called { call }, TaskEvent::Reviewed { verdict }]);
            }
            Err(ModelError::Cancelled) => return Err(SwarmError::Cancelled),
            Err(error) => fallback = error.to_string(),
        }
    }
    let model = ports.models.bound(Role::Reviewer)?;
    let (verdict, call) = local(&model, &packet, &fallback, desk.seed, desk.cancel, &mut progress)?;
    desk.facts(vec![TaskEvent::Called { call }, TaskEvent::Reviewed { verdict }])
}

/// Makes each entry a fact of the task as well: before the sending, so that a kill in the middle of it is remembered and
/// nothing is sent twice.
struct Told<'a> {
    ports: &'a Ports,
    task: &'a TaskId,
    facts: Mutex<Vec<TaskEvent>>,
}

impl Told<'_> {
    fn fact(&self, entry: &EgressEntry) -> Result<(), JournalError> {
        let fact = TaskEvent::Egress { entry: entry.clone() };
        self.ports.journal.append(self.task, std::slice::from_ref(&fact))?;
        self.ports.events.fact(self.task, &fact);
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).push(fact);
        Ok(())
    }
}

impl Ledger for Told<'_> {
    fn sending(&self, entry: &EgressEntry) -> Result<(), JournalError> {
        self.fact(entry)?;
        self.ports.ledger.sending(entry)
    }
    fn settled(&self, entry: &EgressEntry) -> Result<(), JournalError> {
        self.ports.ledger.settled(entry)?;
        self.fact(entry)
    }
}

/// Sends exactly the bytes of the packet's body, once.
pub(crate) fn send_once(
    cloud: &dyn CloudReviewer,
    packet: &ReviewPacket,
    cancel: &Cancel,
    ledger: &dyn Ledger,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Verdict, ModelCall), ModelError> {
    let body = packet.body().ok_or_else(|| ModelError::NotAllowed { reason: "the packet was not shown".to_owned() })?;
    let card = cloud.card();
    if body.host != cloud.host() || body.model != card.name.to_string() {
        let reason = format!("the packet was made for {} at {}", body.model, body.host);
        return Err(ModelError::NotAllowed { reason });
    }
    progress(Progress::RoleStarted { role: Role::Reviewer, model: card.name.clone(), candidates: 1 });
    let answer = cloud.send(body.json.as_bytes(), cancel, ledger, &mut |text| {
        progress(Progress::Text { role: Role::Reviewer, candidate: 0, text: text.to_owned() });
    })?;
    let reviewer = Reviewer { model: card.name.clone(), place: Place::Cloud, fallback: String::new() };
    let read = read_verdict(&answer.text, packet);
    let call = ModelCall {
        role: Role::Reviewer,
        model: card.name,
        place: Place::Cloud,
        template: prompt::REVIEW.to_owned(),
        usage: answer.usage,
        candidates: 1,
        valid: u32::from(read.is_some()),
        millis: answer.millis,
        invented: Vec::new(),
    };
    let (kind, summary, findings) = read.unwrap_or_else(|| {
        (VerdictKind::Change, format!("the answer could not be read as a verdict: {}", clip(&answer.text)), Vec::new())
    });
    Ok((Verdict { kind, summary, findings, reviewer, packet: body.sha256.clone() }, call))
}

fn clip(text: &str) -> String {
    text.chars().take(160).collect()
}

/// The verdict of the local model: several samples, grounded findings only.
pub(crate) fn local(
    model: &Arc<dyn Model>,
    packet: &ReviewPacket,
    fallback: &str,
    seed: u64,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Verdict, ModelCall), SwarmError> {
    let shape = Shape::Json(prompt::review_schema());
    let request = SampleRequest::new(prompt::review_prompt(packet.text()), shape, VOTES, 400, 0.6, seed);
    let call = ask(model, Role::Reviewer, prompt::REVIEW, &request, cancel, progress, &mut |_| Flow::Continue)?;
    let mut record = call.record;
    let votes: Vec<(VerdictKind, String, Vec<Finding>)> =
        call.sampled.completions.iter().filter_map(|c| local_verdict(&c.text, packet)).collect();
    record.valid = votes.len() as u32;
    let reviewer = Reviewer { model: record.model.clone(), place: Place::Local, fallback: fallback.to_owned() };
    let (kind, summary, findings) = tally(votes);
    let packet = fingerprint(packet.text().as_bytes());
    Ok((Verdict { kind, summary, findings, reviewer, packet }, record))
}
