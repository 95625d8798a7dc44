//! `starling tasks`, `diff`, `land`, `discard`: the inbox from a terminal.

use super::output::{CliError, CliResult, Output};
use super::{args, report};
use crate::compose::{Starling, Trust};
use serde_json::{Value, json};
use starling_core::TaskId;
use starling_core::receipt::Receipt;
use starling_core::state::{StepState, TaskState};

pub fn list(args: args::TaskQuery, out: Output) -> CliResult {
    let starling = super::open()?;
    if let Some(id) = args.id {
        let id = starling.find(&id).map_err(CliError::refused)?;
        let state = starling.state(&id).map_err(CliError::refused)?;
        let receipt = Receipt::of(&state);
        return out.result(&whole(&id, &state), || report::story(&state, "", &receipt));
    }
    let states = starling.states().map_err(CliError::refused)?;
    let rows: Vec<Value> = states.iter().map(|(id, state)| row(id, state)).collect();
    out.result(&json!({ "tasks": rows }), || states.iter().map(|(id, state)| line(id, state)).collect())
}

pub fn diff(args: args::TaskId, out: Output) -> CliResult {
    let starling = super::open()?;
    let (id, ports) = of(&starling, &args.id)?;
    let diff = ports.workspace.diff(&id).map_err(CliError::refused)?;
    if out.json { out.line(&json!({ "task": id, "diff": diff })) } else { out.raw(&diff) }
}

pub fn land(args: args::Land, out: Output) -> CliResult {
    let starling = super::open()?;
    let (id, ports) = of(&starling, &args.id)?;
    let _lease = starling.lease(&id).map_err(CliError::refused)?;
    let all = ports.workspace.hunks(&id).map_err(CliError::refused)?;
    let hunks = args.hunks.unwrap_or_else(|| all.iter().map(|hunk| hunk.index).collect());
    if let Some(unknown) = hunks.iter().find(|wanted| !all.iter().any(|hunk| hunk.index == **wanted)) {
        return Err(CliError::usage(format!("the change has no hunk {unknown}; it has {}", all.len())));
    }
    let proof = starling_swarm::land(&ports, &id, &hunks).map_err(CliError::refused)?;
    out.result(&json!({ "task": id, "hunks": hunks, "proof": proof }), || {
        let kept = |yes: bool| if yes { "yes" } else { "NO" };
        format!(
            "landed {} hunk(s) in {} file(s); bytes outside hunks identical: {}; encoding and line ends kept: {}",
            hunks.len(),
            proof.files,
            kept(proof.outside_identical),
            kept(proof.encoding_kept)
        )
    })
}

pub fn discard(args: args::TaskId, out: Output) -> CliResult {
    let starling = super::open()?;
    let (id, ports) = of(&starling, &args.id)?;
    let _lease = starling.lease(&id).map_err(CliError::refused)?;
    starling_swarm::discard(&ports, &id).map_err(CliError::refused)?;
    out.result(&json!({ "task": id, "state": "discarded" }), || format!("discarded {id}"))
}

pub fn receipt(args: args::TaskId, out: Output) -> CliResult {
    let starling = super::open()?;
    let id = starling.find(&args.id).map_err(CliError::refused)?;
    let receipt = Receipt::of(&starling.state(&id).map_err(CliError::refused)?);
    out.result(&receipt, || report::receipt(&receipt))
}

fn of(starling: &Starling, start: &str) -> Result<(TaskId, starling_swarm::Ports), CliError> {
    let id = starling.find(start).map_err(CliError::refused)?;
    let ports = starling.ports_of(&id, Trust::AsSet).map_err(CliError::refused)?;
    Ok((id, ports))
}

fn row(id: &TaskId, state: &TaskState) -> Value {
    json!({
        "task": id, "title": title(state), "project": state.project, "stage": state.stage(),
        "outcome": state.outcome(), "submitted_at": state.submitted_at,
    })
}

fn whole(id: &TaskId, state: &TaskState) -> Value {
    let step = |step: &StepState| match step {
        StepState::Waiting => json!({ "state": "waiting" }),
        StepState::Working => json!({ "state": "working" }),
        StepState::Solved { source, evidence, .. } => {
            json!({ "state": "solved", "source": source, "grade": evidence.grade })
        }
        StepState::Tested { tests, evidence, .. } => {
            super::events::merge(json!({ "state": "tested", "grade": evidence.grade }), super::events::tests(tests))
        }
        StepState::Failed { failure } => json!({ "state": "failed", "why": super::events::why(failure) }),
    };
    super::events::merge(
        row(id, state),
        json!({
            "brief": state.brief, "plan": state.plan, "steps": state.steps.iter().map(step).collect::<Vec<_>>(),
            "verdict": state.verdict, "receipt": Receipt::of(state), "oddities": state.oddities,
            "not_shown": starling_core::shown::not_shown(state).iter().map(|e| e.line.as_str()).collect::<Vec<_>>(),
        }),
    )
}

fn line(id: &TaskId, state: &TaskState) -> String {
    format!("{id}  {:<13} {}\n", state.stage().as_str(), title(state))
}

fn title(state: &TaskState) -> String {
    match (&state.brief, &state.file) {
        (Some(brief), _) => brief.title.clone(),
        (None, Some(file)) => file.name.clone(),
        (None, None) => String::new(),
    }
}
