//! Candidates of the model, in rounds from one prefill each. Below about 3B a failed candidate is sampled anew, not
//! repaired: error feedback gave nothing at 0.5B and little at 1.5B.

use super::operators::{self, NearMiss};
use super::{Court, Survivor, choice, context, judge};
use crate::desk::{Desk, ask};
use crate::error::SwarmError;
use crate::gates;
use crate::splice::{Allowed, SpliceFault, change_from_block};
use starling_core::change::ChangeSet;
use starling_core::code::Language;
use starling_core::evidence::{Gate, GateOutcome, GateResult};
use starling_core::plan::Step;
use starling_core::port::{Completion, Flow, SampleRequest, Shape};
use starling_core::state::{CandidateSource, TaskEvent};
use starling_core::{Role, answer, prompt};

/// The first round is small: most steps that can be solved are solved in it.
const FIRST_ROUND: u32 = 4;

pub(crate) fn run(
    desk: &mut Desk<'_>,
    step: &Step,
    court: &Court,
    survivors: &mut Vec<Survivor>,
    fallen: &mut Vec<GateResult>,
) -> Result<(), SwarmError> {
    let mut begun = 0;
    let mut near: Vec<NearMiss> = Vec::new();
    while begun < desk.candidates {
        let n = if begun == 0 { FIRST_ROUND.min(desk.candidates) } else { (desk.candidates - begun).min(6) };
        round(desk, step, court, begun, n, survivors, fallen, &mut near)?;
        begun += n;
        if survivors.iter().any(|s| choice::is_proven(court, s)) || agreed(court, survivors) {
            return Ok(());
        }
        operators::around(desk, step, court, &mut near, survivors)?;
        if survivors.iter().any(|s| choice::is_proven(court, s)) {
            return Ok(());
        }
    }
    Ok(())
}

/// Two candidates of different text agree on a test that tells old from new.
fn agreed(court: &Court, survivors: &[Survivor]) -> bool {
    survivors.iter().enumerate().any(|(at, a)| {
        choice::shows_difference(court, a)
            && survivors.iter().skip(at + 1).any(|b| b.passes == a.passes && b.change != a.change)
    })
}

#[expect(clippy::too_many_arguments, reason = "one round has this much to say and to note")]
fn round(
    desk: &mut Desk<'_>,
    step: &Step,
    court: &Court,
    first: u32,
    n: u32,
    survivors: &mut Vec<Survivor>,
    fallen: &mut Vec<GateResult>,
    near: &mut Vec<NearMiss>,
) -> Result<(), SwarmError> {
    let model = desk.ports.models.bound(Role::Executor)?;
    let mut input = context::input(desk, step, court)?;
    let lessons = lessons(fallen);
    if !lessons.is_empty() {
        input.failure.push_str(&format!("\nEarlier tries failed, avoid their faults:\n{lessons}"));
    }
    let temperature = if first == 0 { 0.6 } else { 0.9 };
    let seed = desk.seed.wrapping_add(u64::from(first));
    let request = SampleRequest {
        greedy_first: first == 0,
        stop: context::ends(court.language, &input.opening),
        ..SampleRequest::new(prompt::execute(&input), Shape::Text, n, 700, temperature, seed)
    };
    let (ports, task, cancel) = (desk.ports, desk.task.clone(), desk.cancel);
    let mut valid = 0;
    let mut invented: Vec<String> = Vec::new();
    let mut seen: Vec<ChangeSet> = survivors.iter().map(|s| s.change.clone()).collect();
    let mut broken: Option<SwarmError> = None;
    let call = ask(
        &model,
        Role::Executor,
        prompt::EXECUTE,
        &request,
        cancel,
        &mut |p| ports.events.progress(&task, &p),
        &mut |completion| match meet(desk, step, court, first, completion, &mut seen) {
            Ok(met) => {
                valid += u32::from(met.valid);
                invented.extend(met.results.iter().flat_map(|r| r.invented.clone()));
                fallen.extend(met.results.into_iter().filter(|r| matches!(r.outcome, GateOutcome::Failed { .. })));
                let done = met.survivor.as_ref().is_some_and(|s| choice::is_proven(court, s));
                survivors.extend(met.survivor);
                near.extend(met.near);
                if done { Flow::Stop } else { Flow::Continue }
            }
            Err(error) => {
                broken = Some(error);
                Flow::Stop
            }
        },
    );
    if let Some(error) = broken {
        return Err(error);
    }
    let mut record = call?.record;
    record.valid = valid;
    invented.sort();
    invented.dedup();
    record.invented = invented;
    desk.fact(TaskEvent::Called { call: record })
}

/// What most candidates of earlier rounds fell over, each fault once: a fresh sample is told, no answer is repaired.
fn lessons(fallen: &[GateResult]) -> String {
    let mut counts: Vec<(usize, &str)> = Vec::new();
    for result in fallen.iter().filter(|r| matches!(r.gate, Gate::Symbols | Gate::Builds | Gate::Tests)) {
        let GateOutcome::Failed { why } = &result.outcome else { continue };
        match counts.iter_mut().find(|(_, known)| known == why) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, why)),
        }
    }
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    counts.into_iter().take(3).map(|(_, why)| format!("- {why}\n")).collect()
}

struct Met {
    valid: bool,
    results: Vec<GateResult>,
    survivor: Option<Survivor>,
    near: Option<NearMiss>,
}

/// One finished candidate meets the gates; each result is a fact at once, so that the window can show it.
fn meet(
    desk: &mut Desk<'_>,
    step: &Step,
    court: &Court,
    first: u32,
    completion: &Completion,
    seen: &mut Vec<ChangeSet>,
) -> Result<Met, SwarmError> {
    let candidate = first + completion.candidate;
    if completion.finish == starling_core::port::FinishReason::Cancelled {
        return Ok(Met { valid: false, results: Vec::new(), survivor: None, near: None });
    }
    let mut near = None;
    let (results, survivor) = match form(desk, step, court, completion)? {
        Err(why) => (vec![gates::failed(Gate::Form, why, 0)], None),
        Ok(change) if seen.contains(&change) => {
            (vec![gates::failed(Gate::Form, "the same change as another candidate", 0)], None)
        }
        Ok(change) => {
            seen.push(change.clone());
            let (results, survivor) = judge(desk, court, candidate, CandidateSource::Model, &change)?;
            let fell_at_tests = results.last().is_some_and(|r| r.gate == Gate::Tests && !r.passed());
            near = fell_at_tests.then_some(NearMiss { change, tried: false });
            (results, survivor)
        }
    };
    let valid = results.first().is_some_and(GateResult::passed);
    let gated = |result: &GateResult| TaskEvent::Gated { step: step.id.clone(), candidate, result: result.clone() };
    desk.facts(results.iter().map(gated).collect())?;
    Ok(Met { valid, results, survivor, near })
}

/// The change an answer means, or in words why it means none.
fn form(
    desk: &Desk<'_>,
    step: &Step,
    court: &Court,
    completion: &Completion,
) -> Result<Result<ChangeSet, String>, SwarmError> {
    let old = desk.ports.workspace.read(&desk.task, &court.path)?.unwrap_or_default();
    let cut = completion.finish == starling_core::port::FinishReason::Length;
    let fences = answer::fences(&completion.text);
    let Some(fence) = fences.first() else { return Ok(Err("the answer holds no code".to_owned())) };
    if cut && !fence.closed {
        return Ok(Err("the answer was cut off".to_owned()));
    }
    let allowed = Allowed { symbols: &step.symbols, new_symbols: &step.new_symbols };
    let braces = court.language == Language::Rust || crate::javascript::is(court.language);
    let change = change_from_block(court.language, &court.path, &old, &fence.body, &allowed);
    if matches!(change, Err(SpliceFault::Broken { .. })) && braces {
        // The text that ends an answer (a closing brace at the margin) is not part of it.
        let body = format!("{}\n}}\n", fence.body.trim_end());
        let closed = change_from_block(court.language, &court.path, &old, &body, &allowed);
        return Ok(closed.map_err(|fault| fault.to_string()));
    }
    Ok(change.map_err(|fault| fault.to_string()))
}
