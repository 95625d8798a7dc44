//! Drives a task from stage to stage. Every stage turns the state into facts; a kill at any moment loses at most the work
//! of the stage under way, because the next start folds the journal and goes on from there.

use crate::desk::Desk;
use crate::error::SwarmError;
use crate::ports::{Policy, Ports, SendPolicy};
use crate::{executor, parser, planner, reviewer, tester};
use starling_core::change::{ByteProof, ChangeSet};
use starling_core::evidence::StepFailure;
use starling_core::plan::{Plan, Step};
use starling_core::port::{Cancel, WorkspaceError};
use starling_core::state::{Stage, StepState, TaskEvent, TaskState};
use starling_core::task_file::TaskFile;
use starling_core::{Role, TaskId};

/// Writes the first fact of a task.
pub fn submit(ports: &Ports, id: &TaskId, file: TaskFile, project: &str) -> Result<(), SwarmError> {
    let event = TaskEvent::Submitted { file, project: project.to_owned(), at: ports.clock.now() };
    record(ports, id, event)
}

/// Works until the task ends or a person must decide. Blocks; cancel with `cancel`, which parks the task.
pub fn drive(ports: &Ports, task: &TaskId, policy: &Policy, cancel: &Cancel) -> Result<TaskState, SwarmError> {
    let mut desk = desk(ports, task, policy, cancel)?;
    let start = ports.clock.monotonic();
    let mut worked = false;
    if matches!(desk.state.stage(), Stage::DecidePacket | Stage::Review | Stage::Decide) {
        // A stage that was lost or stands behind the journal is brought back before anyone looks at the change.
        restore(&mut desk)?;
    }
    let result = loop {
        if let Err(error) = desk.check_cancel() {
            break Err(error);
        }
        let stage = desk.state.stage();
        match advance(&mut desk, policy, stage) {
            Ok(true) => worked = true,
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if worked {
        let millis = ports.clock.monotonic().saturating_sub(start);
        desk.fact(TaskEvent::Finished { millis })?;
    }
    result.map(|()| desk.state)
}

/// One stage further; false when a person or nobody is next.
fn advance(desk: &mut Desk<'_>, policy: &Policy, stage: Stage) -> Result<bool, SwarmError> {
    match stage {
        Stage::Brief => parser::run(desk)?,
        Stage::Plan => planner::run(desk)?,
        Stage::ApprovePlan => match (policy.auto_approve, desk.state.plan.clone()) {
            (true, Some(plan)) => desk.fact(TaskEvent::PlanApproved { plan, by_user: false })?,
            _ => return Ok(false),
        },
        Stage::Swarm => swarm(desk)?,
        Stage::Packet => {
            restore(desk)?;
            reviewer::build_packet(desk, policy)?;
        }
        Stage::DecidePacket => match leave(desk, policy) {
            Some((send, why)) => desk.fact(TaskEvent::PacketDecided { send, why })?,
            None => return Ok(false),
        },
        Stage::Review => reviewer::run(desk, policy)?,
        Stage::Decide | Stage::Landed | Stage::Discarded | Stage::Cancelled | Stage::Failed => return Ok(false),
    }
    Ok(true)
}

/// Whether the packet leaves without asking; `None` asks.
fn leave(desk: &Desk<'_>, policy: &Policy) -> Option<(bool, String)> {
    let no = |why: &str| Some((false, why.to_owned()));
    if policy.offline {
        return no("offline");
    }
    if desk.ports.cloud.is_none() {
        return no("no cloud model is set up");
    }
    if let Some(why) = reviewer::too_dear(&desk.state, policy.task_micro_usd) {
        return Some((false, why));
    }
    match policy.send {
        SendPolicy::Never => no("not allowed to leave in this run"),
        SendPolicy::Always => Some((true, "allowed beforehand".to_owned())),
        SendPolicy::Ask => None,
    }
}

/// Works on the next step that can be worked on.
fn swarm(desk: &mut Desk<'_>) -> Result<(), SwarmError> {
    restore(desk)?;
    let Some(plan) = desk.state.plan.clone() else { return Ok(()) };
    let Some(step) = next_step(&plan, &desk.state.steps) else {
        return fail_stuck(desk, &plan);
    };
    if let Some(blocker) = failed_dependency(&plan, &desk.state.steps, &step) {
        let why = format!("step {blocker}, which it needs, was not solved");
        return desk.fact(TaskEvent::StepFailed { step: step.id, failure: StepFailure::NotRun { why } });
    }
    desk.fact(TaskEvent::StepStarted { step: step.id.clone() })?;
    let solved = match step.role {
        Role::Executor => executor::solve(desk, &step),
        Role::Tester => tester::solve(desk, &step),
        Role::Parser | Role::Planner | Role::Reviewer => {
            let why = format!("the {} owns no steps", step.role);
            desk.fact(TaskEvent::StepFailed { step: step.id.clone(), failure: StepFailure::NotRun { why } })
        }
    };
    match solved {
        Err(SwarmError::Check(error)) => {
            desk.fact(TaskEvent::StepFailed { step: step.id, failure: StepFailure::NotRun { why: error.to_string() } })
        }
        Err(SwarmError::Model(starling_core::port::ModelError::ContextTooLarge { need, have, .. })) => {
            desk.fact(TaskEvent::StepFailed { step: step.id, failure: StepFailure::ContextTooLarge { need, have } })
        }
        other => other,
    }
}

fn next_step(plan: &Plan, states: &[StepState]) -> Option<Step> {
    let open = |state: &StepState| matches!(state, StepState::Waiting | StepState::Working);
    let ready = |step: &Step| {
        step.depends_on.iter().all(|id| {
            let at = plan.steps.iter().position(|s| &s.id == id);
            at.and_then(|at| states.get(at)).is_some_and(|state| !open(state))
        })
    };
    plan.steps.iter().zip(states).find(|(step, state)| open(state) && ready(step)).map(|(step, _)| step.clone())
}

fn failed_dependency(plan: &Plan, states: &[StepState], step: &Step) -> Option<String> {
    let failed = |id: &starling_core::StepId| {
        let at = plan.steps.iter().position(|s| &s.id == id)?;
        matches!(states.get(at)?, StepState::Failed { .. }).then(|| id.to_string())
    };
    step.depends_on.iter().find_map(failed)
}

/// An approved plan always has a next step unless its dependencies form a cycle, which the validator refuses.
fn fail_stuck(desk: &mut Desk<'_>, plan: &Plan) -> Result<(), SwarmError> {
    let waiting: Vec<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
    let message = format!("the steps {} wait for each other", waiting.join(", "));
    desk.fact(TaskEvent::Failed { stage: "swarm".to_owned(), message })
}

/// Brings the stage to what the journal says: every solved step's change is in it, and nothing else. Facts are journalled
/// before their effect, so after a kill the effect may be missing, or half a candidate may lie around.
pub(crate) fn restore(desk: &mut Desk<'_>) -> Result<(), SwarmError> {
    let workspace = &desk.ports.workspace;
    workspace.stage(&desk.task)?;
    workspace.reset(&desk.task)?;
    let changes: Vec<ChangeSet> = desk.state.steps.iter().filter_map(change_of).cloned().collect();
    for change in changes {
        if !is_applied(desk, &change)? {
            workspace.apply(&desk.task, &change)?;
            workspace.keep(&desk.task, "starling: a step that was solved")?;
        }
    }
    Ok(())
}

pub(crate) fn change_of(step: &StepState) -> Option<&ChangeSet> {
    match step {
        StepState::Solved { change, .. } | StepState::Tested { change, .. } => Some(change),
        StepState::Waiting | StepState::Working | StepState::Failed { .. } => None,
    }
}

/// The change is in the stage when no file fits it any more as its old self: the fingerprint of the old bytes differs.
fn is_applied(desk: &Desk<'_>, change: &ChangeSet) -> Result<bool, WorkspaceError> {
    for file in &change.files {
        let now = desk.ports.workspace.read(&desk.task, &file.path)?;
        if file.apply(now.as_deref()).is_ok() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The user's decision on a plan: the plan as edited, or `None` to give the task up.
pub fn decide_plan(ports: &Ports, task: &TaskId, plan: Option<Plan>) -> Result<(), SwarmError> {
    expect_stage(ports, task, Stage::ApprovePlan)?;
    match plan {
        Some(plan) => record(ports, task, TaskEvent::PlanApproved { plan, by_user: true }),
        None => discard(ports, task),
    }
}

/// The user's decision on the packet.
pub fn decide_packet(ports: &Ports, task: &TaskId, send: bool) -> Result<(), SwarmError> {
    expect_stage(ports, task, Stage::DecidePacket)?;
    record(ports, task, TaskEvent::PacketDecided { send, why: "decided by the user".to_owned() })
}

/// Writes the accepted hunks into the user's tree, on a clean base only.
pub fn land(ports: &Ports, task: &TaskId, hunks: &[u32]) -> Result<ByteProof, SwarmError> {
    expect_stage(ports, task, Stage::Decide)?;
    let proof = ports.workspace.land(task, hunks)?;
    record(ports, task, TaskEvent::Landed { hunks: hunks.to_vec(), proof: proof.clone() })?;
    ports.workspace.close(task)?;
    Ok(proof)
}

/// Gives a task up. The stage goes, its content stays under a rescue ref.
pub fn discard(ports: &Ports, task: &TaskId) -> Result<(), SwarmError> {
    end(ports, task, TaskEvent::Discarded)
}

/// Records that the user stopped a task for good.
pub fn cancelled(ports: &Ports, task: &TaskId) -> Result<(), SwarmError> {
    end(ports, task, TaskEvent::Cancelled)
}

fn end(ports: &Ports, task: &TaskId, event: TaskEvent) -> Result<(), SwarmError> {
    let state = load(ports, task)?;
    if state.stage().is_final() {
        return Ok(());
    }
    record(ports, task, event)?;
    Ok(ports.workspace.close(task)?)
}

fn record(ports: &Ports, task: &TaskId, event: TaskEvent) -> Result<(), SwarmError> {
    ports.journal.append(task, std::slice::from_ref(&event))?;
    ports.events.fact(task, &event);
    Ok(())
}

fn expect_stage(ports: &Ports, task: &TaskId, want: Stage) -> Result<(), SwarmError> {
    let have = load(ports, task)?.stage();
    if have == want { Ok(()) } else { Err(SwarmError::WrongStage { have, want }) }
}

fn load(ports: &Ports, task: &TaskId) -> Result<TaskState, SwarmError> {
    let events = ports.journal.events(task)?;
    if events.is_empty() {
        return Err(SwarmError::NoTask(task.clone()));
    }
    Ok(TaskState::fold(&events))
}

fn desk<'a>(ports: &'a Ports, task: &TaskId, policy: &Policy, cancel: &'a Cancel) -> Result<Desk<'a>, SwarmError> {
    let state = load(ports, task)?;
    let (seed, candidates) = (policy.seed, policy.candidates.max(1));
    Ok(Desk { ports, task: task.clone(), state, cancel, seed, candidates, carried: Vec::new() })
}
