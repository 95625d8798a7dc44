//! What a run streams with `--json`: one line per fact, with a short tag. Fields are only ever added.

use serde_json::{Value, json};
use starling_core::TaskId;
use starling_core::evidence::{GateOutcome, GateResult, StepFailure};
use starling_core::port::Progress;
use starling_core::state::TaskEvent;
use starling_core::test_set::{TestProof, TestSet};

/// The line of a fact.
pub fn fact(task: &TaskId, event: &TaskEvent) -> Value {
    let (tag, mut body) = match event {
        TaskEvent::Submitted { file, project, at } => {
            ("submitted", json!({ "name": file.name, "project": project, "at": at, "binary": file.binary }))
        }
        TaskEvent::Briefed { brief } => ("brief", json!({ "brief": brief })),
        TaskEvent::Planned { plan } => ("plan", json!({ "plan": plan })),
        TaskEvent::PlanApproved { plan, by_user } => {
            ("approved", json!({ "steps": plan.steps.len(), "by_user": by_user }))
        }
        TaskEvent::StepStarted { step } => ("step", json!({ "step": step, "state": "started" })),
        TaskEvent::Gated { step, candidate, result } => {
            ("gate", merge(json!({ "step": step, "candidate": candidate }), gate(result)))
        }
        TaskEvent::StepSolved { step, candidate, source, change, evidence } => (
            "candidate",
            json!({
                "step": step, "candidate": candidate, "source": source, "state": "solved", "grade": evidence.grade,
                "sandbox": evidence.sandbox,
                "files": change.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
            }),
        ),
        TaskEvent::TestsKept { step, tests: set, change: _, evidence } => {
            ("tests", merge(json!({ "step": step, "grade": evidence.grade, "path": set.path }), tests(set)))
        }
        TaskEvent::StepFailed { step, failure } => {
            ("step", json!({ "step": step, "state": "failed", "failure": failure, "why": why(failure) }))
        }
        TaskEvent::PacketBuilt { packet } => (
            "packet",
            json!({
                "bytes": packet.text().len(), "redactions": packet.redactions(), "left_out": packet.left_out(),
                "host": packet.body().map(|body| body.host.as_str()),
                "worst_case_micro_usd": packet.body().and_then(|body| body.worst_case_micro_usd),
            }),
        ),
        TaskEvent::PacketDecided { send, why } => ("packet_decided", json!({ "send": send, "why": why })),
        TaskEvent::Reviewed { verdict } => (
            "verdict",
            json!({
                "verdict": verdict.kind, "summary": verdict.summary, "findings": verdict.findings,
                "reviewer": reviewer(&verdict.reviewer),
            }),
        ),
        TaskEvent::Landed { hunks, proof } => ("landed", json!({ "hunks": hunks, "proof": proof })),
        TaskEvent::Discarded => ("discarded", json!({})),
        TaskEvent::Cancelled => ("cancelled", json!({})),
        TaskEvent::Failed { stage, message } => ("failed", json!({ "stage": stage, "message": message })),
        TaskEvent::Called { call } => ("call", json!({ "call": call })),
        TaskEvent::Egress { entry } => ("egress", json!({ "entry": entry })),
        TaskEvent::Finished { millis } => ("worked", json!({ "millis": millis })),
    };
    body = merge(json!({ "event": tag, "task": task }), body);
    body
}

/// The line of a progress message; token streams are left out.
pub fn progress(task: &TaskId, progress: &Progress) -> Option<Value> {
    match progress {
        Progress::RoleStarted { role, model, candidates } => {
            Some(json!({ "event": "role", "task": task, "role": role, "model": model, "candidates": candidates }))
        }
        Progress::Running { what } => Some(json!({ "event": "running", "task": task, "what": what })),
        Progress::Text { .. } | Progress::Speed { .. } => None,
    }
}

/// The kept tests with their proof, and the funnel.
pub fn tests(set: &TestSet) -> Value {
    let kept: Vec<Value> = set
        .kept
        .iter()
        .map(|test| {
            let kills: Vec<Value> = test
                .proof
                .iter()
                .filter_map(|proof| match proof {
                    TestProof::KillsMutant { mutant, diff } => Some(json!({ "mutant": mutant, "diff": diff })),
                    TestProof::FailsBefore { .. } => None,
                })
                .collect();
            let fails_before = test.proof.iter().find_map(|proof| match proof {
                TestProof::FailsBefore { message } => Some(message.as_str()),
                TestProof::KillsMutant { .. } => None,
            });
            json!({
                "name": test.name, "source": test.source, "claim": test.claim, "kills": kills,
                "fails_before": fails_before,
            })
        })
        .collect();
    json!({ "kept": kept, "funnel": set.funnel })
}

pub fn reviewer(reviewer: &starling_core::review::Reviewer) -> Value {
    json!({ "model": reviewer.model, "where": reviewer.place, "fallback": reviewer.fallback })
}

fn gate(result: &GateResult) -> Value {
    let (outcome, why) = match &result.outcome {
        GateOutcome::Passed => ("passed", ""),
        GateOutcome::Failed { why } => ("failed", why.as_str()),
        GateOutcome::NotRun { why } => ("not_run", why.as_str()),
    };
    json!({
        "gate": result.gate, "outcome": outcome, "why": why, "invented": result.invented, "millis": result.millis,
    })
}

/// Why a step was not solved, in one sentence.
pub fn why(failure: &StepFailure) -> String {
    match failure {
        StepFailure::NoCandidate { tried, gate, example } => {
            format!("none of {tried} candidates passed; most fell at the gate \"{}\": {example}", gate.as_str())
        }
        StepFailure::ContextTooLarge { need, have } => {
            format!("the context has {need} tokens, more than the {have} the model holds")
        }
        StepFailure::NotRun { why } => why.clone(),
        StepFailure::Model { message } => message.clone(),
    }
}

/// The fields of both objects.
pub fn merge(mut left: Value, right: Value) -> Value {
    if let (Value::Object(left), Value::Object(right)) = (&mut left, right) {
        left.extend(right);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use starling_core::StepId;
    use starling_core::evidence::Gate;

    #[test]
    fn every_line_has_a_tag_and_the_task() {
        let task = TaskId::new("t1");
        let result = GateResult {
            gate: Gate::Symbols,
            outcome: GateOutcome::Failed { why: "no such name".into() },
            invented: vec!["foo".into()],
            millis: 3,
        };
        let line = fact(&task, &TaskEvent::Gated { step: StepId::new("1"), candidate: 2, result });
        let expected = json!({
            "event": "gate", "task": "t1", "step": "1", "candidate": 2, "gate": "symbols", "outcome": "failed",
            "why": "no such name", "invented": ["foo"], "millis": 3,
        });
        assert_eq!(line, expected);
        let line = fact(&task, &TaskEvent::Failed { stage: "swarm".into(), message: "x".into() });
        assert_eq!(line, json!({ "event": "failed", "task": "t1", "stage": "swarm", "message": "x" }));
    }
}
