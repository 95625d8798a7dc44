//! One run of the command line over tasks: consent from flags, events to stdout or stderr, Ctrl-C, and how it ends.

use super::args::Consent;
use super::output::{CliError, CliResult, Output, ask, can_ask};
use super::{events, interrupt, report};
use crate::compose::fanout::Happening;
use crate::compose::instance::Lock;
use crate::compose::{Starling, Trust};
use serde_json::{Value, json};
use starling_core::TaskId;
use starling_core::port::Cancel;
use starling_core::receipt::Receipt;
use starling_core::state::{Ended, Outcome, Stage, TaskState};
use starling_swarm::{Policy, Ports, SendPolicy, SwarmError};
use std::sync::Arc;

pub struct Session {
    pub starling: Arc<Starling>,
    pub out: Output,
    pub cancel: Cancel,
    consent: Consent,
}

impl Session {
    /// Opens the data folder, listens to what happens, and watches for Ctrl-C.
    pub fn open(out: Output, consent: Consent) -> Result<Session, CliError> {
        let starling = super::open()?;
        if consent.offline {
            starling.settings.force_offline();
        }
        let cancel = Cancel::new();
        interrupt::watch(&cancel);
        starling.fanout.listen(move |task, happening| show(out, task, happening));
        Ok(Session { starling, out, cancel, consent })
    }

    pub fn trust(&self) -> Trust {
        if self.consent.yes { Trust::ThisRun } else { Trust::AsSet }
    }

    /// Carries a task as far as the flags allow and prints how it ended.
    pub fn carry_on(&self, task: &TaskId) -> CliResult {
        let lease =
            Lock::take(&self.starling.folders.leases.join(format!("{task}.lock"))).map_err(CliError::refused)?;
        if lease.is_none() {
            return Err(CliError::refused(format!("another Starling works on task {task}")));
        }
        let mut ports = self.starling.ports_of(task, self.trust()).map_err(CliError::refused)?;
        loop {
            match starling_swarm::drive(&ports, task, &self.policy(), &self.cancel) {
                Ok(state) if state.stage() == Stage::ApprovePlan => {
                    ports = self.ask_about_plan(ports, task, &state)?;
                }
                Ok(state) => return self.finish(&ports, task, &state),
                Err(SwarmError::Cancelled) => {
                    starling_swarm::cancelled(&ports, task).map_err(CliError::refused)?;
                    self.print_end(&json!({ "outcome": Outcome::Cancelled, "task": task }))?;
                    return Err(CliError::Cancelled);
                }
                Err(error) => {
                    let message = error.to_string();
                    self.print_end(&json!({ "outcome": Outcome::Failed, "task": task, "error": message }))?;
                    return Err(
                        super::swarm_error(error).or_hint("the task is kept: `starling resume` goes on with it")
                    );
                }
            }
        }
    }

    fn policy(&self) -> Policy {
        let settings = self.starling.settings.get();
        let offline = self.consent.offline || settings.offline;
        Policy {
            candidates: self.consent.candidates.unwrap_or(settings.candidates).max(1),
            offline,
            auto_approve: self.consent.yes,
            // Without a window nobody has seen the packet, so only the flag lets it leave.
            send: if self.consent.send && !offline { SendPolicy::Always } else { SendPolicy::Never },
            seed: self.consent.seed,
        }
    }

    /// Asks on a terminal; elsewhere prints the plan and leaves the task waiting.
    fn ask_about_plan(&self, ports: Ports, task: &TaskId, state: &TaskState) -> Result<Ports, CliError> {
        let plan = state.plan.clone().ok_or_else(|| CliError::refused("the task waits for a plan it does not have"))?;
        if !self.out.json {
            self.out.say(&report::plan(&plan));
        }
        if !can_ask() {
            let message = format!("the plan of task {task} waits for you");
            let error = CliError::refused(message);
            return Err(error.hint("--yes accepts the plan and lets the project's tests run in the sandbox"));
        }
        if !ask("Accept this plan, and let the project's build and tests run in the sandbox?") {
            return Err(CliError::refused(format!("the plan was not accepted; task {task} waits")));
        }
        starling_swarm::decide_plan(&ports, task, Some(plan)).map_err(CliError::refused)?;
        self.starling.ports_of(task, Trust::ThisRun).map_err(CliError::refused)
    }

    fn finish(&self, ports: &Ports, task: &TaskId, state: &TaskState) -> CliResult {
        // Before landing: that closes the stage the diff comes from.
        let diff = match state.stage() {
            Stage::Decide => ports.workspace.diff(task).map_err(CliError::refused)?,
            _ => String::new(),
        };
        let outcome = state.outcome().unwrap_or(Outcome::NeedsWork);
        let mut state = state.clone();
        if self.consent.land && outcome == Outcome::Ready {
            let hunks = ports.workspace.hunks(task).map_err(CliError::refused)?;
            let hunks: Vec<u32> = hunks.iter().map(|hunk| hunk.index).collect();
            starling_swarm::land(ports, task, &hunks).map_err(CliError::refused)?;
            state = self.starling.state(task).map_err(CliError::refused)?;
        }
        if state.stage() == Stage::Failed {
            ports.workspace.close(task).map_err(CliError::refused)?;
        }
        let receipt = Receipt::of(&state);
        if self.out.json {
            let end = json!({ "outcome": outcome, "task": task, "diff": diff, "receipt": receipt });
            self.print_end(&end)?;
        } else {
            self.out.result(&Value::Null, || report::story(&state, &diff, &receipt))?;
            self.out.note("finished:", &format!("{} (task {task})", outcome.as_str()));
        }
        match outcome {
            Outcome::Ready => Ok(()),
            Outcome::NeedsWork => Err(CliError::refused("not solved: there is no change that is proven and approved")),
            Outcome::Failed => Err(CliError::refused(why_failed(&state))),
            Outcome::Cancelled => Err(CliError::Cancelled),
        }
    }

    fn print_end(&self, end: &Value) -> CliResult {
        if !self.out.json {
            return Ok(());
        }
        self.out.line(&events::merge(json!({ "event": "finished" }), end.clone()))
    }
}

fn why_failed(state: &TaskState) -> String {
    match &state.ended {
        Some(Ended::Failed { stage, message }) => format!("the task failed at the stage {stage}: {message}"),
        Some(Ended::Discarded | Ended::Cancelled) | None => "the task failed".to_owned(),
    }
}

fn show(out: Output, task: &TaskId, happening: Happening<'_>) {
    let shown = match (out.json, happening) {
        (true, Happening::Fact(event)) => out.line(&events::fact(task, event)),
        (true, Happening::Progress(progress)) => {
            events::progress(task, progress).map_or(Ok(()), |line| out.line(&line))
        }
        (false, Happening::Fact(event)) => {
            report::fact(out, event);
            Ok(())
        }
        (false, Happening::Progress(progress)) => {
            report::progress(out, progress);
            Ok(())
        }
    };
    if let Err(error) = shown {
        tracing::warn!(%error, "an event could not be printed");
    }
}
