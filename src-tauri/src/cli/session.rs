//! One run of the command line over tasks: consent from flags, events to stdout or stderr, Ctrl-C, and how it ends.

use super::args::Consent;
use super::output::{CliError, CliResult, Output, ask, can_ask};
use super::{events, interrupt, report};
use crate::compose::fanout::Happening;
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

    /// Does `one` for each; goes on after a failure, says every reason, and ends with the first.
    pub fn each<T>(&self, items: impl IntoIterator<Item = T>, one: impl Fn(T) -> CliResult) -> CliResult {
        let mut first = Ok(());
        for item in items {
            match one(item) {
                Ok(()) => {}
                Err(CliError::Cancelled) => return Err(CliError::Cancelled),
                Err(error) if first.is_err() => self.out.error(&error),
                Err(error) => first = Err(error),
            }
        }
        first
    }

    /// Carries a task as far as the flags allow and prints how it ended: with `--json` always as a last line with the same
    /// keys, whatever happened.
    pub fn carry_on(&self, task: &TaskId) -> CliResult {
        let _lease = self.starling.lease(task).map_err(CliError::refused)?;
        let mut diff = String::new();
        let worked = self.work(task, &mut diff);
        let state = self.starling.state(task).map_err(CliError::refused)?;
        let receipt = Receipt::of(&state);
        let (outcome, worked) = match worked {
            Ok(()) => {
                let outcome = state.outcome().unwrap_or(Outcome::NeedsWork);
                (outcome, judged(outcome, &state))
            }
            Err(Stop { outcome, error }) => (outcome, Err(error)),
        };
        if self.out.json {
            let mut end = json!({
                "event": "finished", "outcome": outcome, "task": task, "diff": diff, "receipt": receipt,
            });
            if let Err(error) = &worked {
                end["error"] = json!(error.to_string());
            }
            self.out.line(&end)?;
        } else if state.stage() == Stage::Decide || state.stage().is_final() {
            self.out.result(&Value::Null, || report::story(&state, &diff, &receipt))?;
            self.out.note("finished:", &format!("{} (task {task})", outcome.as_str()));
        }
        worked
    }

    fn work(&self, task: &TaskId, diff: &mut String) -> Result<(), Stop> {
        let mut ports = self.starling.ports_of(task, self.trust()).map_err(Stop::failed)?;
        loop {
            match starling_swarm::drive(&ports, task, &self.policy(), &self.cancel) {
                Ok(state) if state.stage() == Stage::ApprovePlan => {
                    ports = self
                        .ask_about_plan(ports, task, &state)
                        .map_err(|error| Stop { outcome: Outcome::NeedsWork, error })?;
                }
                Ok(state) => return self.settle(&ports, task, &state, diff),
                Err(SwarmError::Cancelled) => {
                    starling_swarm::cancelled(&ports, task).map_err(Stop::failed)?;
                    return Err(Stop { outcome: Outcome::Cancelled, error: CliError::Cancelled });
                }
                Err(error) => {
                    let error =
                        super::swarm_error(error).or_hint("the task is kept: `starling resume` goes on with it");
                    return Err(Stop { outcome: Outcome::Failed, error });
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
            task_micro_usd: settings.budget.task_micro_usd,
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

    /// What is left to do when a task rests: its diff, the landing if it may land, and nothing on disk that nobody needs.
    fn settle(&self, ports: &Ports, task: &TaskId, state: &TaskState, diff: &mut String) -> Result<(), Stop> {
        // Before landing: that closes the stage the diff comes from.
        if state.stage() == Stage::Decide {
            *diff = ports.workspace.diff(task).map_err(Stop::failed)?;
        }
        if self.consent.land && state.outcome() == Some(Outcome::Ready) {
            let hunks = ports.workspace.hunks(task).map_err(Stop::failed)?;
            let hunks: Vec<u32> = hunks.iter().map(|hunk| hunk.index).collect();
            starling_swarm::land(ports, task, &hunks).map_err(Stop::failed)?;
        }
        if state.stage() == Stage::Failed {
            ports.workspace.close(task).map_err(Stop::failed)?;
        }
        Ok(())
    }
}

/// Why a task did not come to rest, and what its last line says.
struct Stop {
    outcome: Outcome,
    error: CliError,
}

impl Stop {
    fn failed(error: impl std::fmt::Display) -> Stop {
        Stop { outcome: Outcome::Failed, error: CliError::refused(error) }
    }
}

fn judged(outcome: Outcome, state: &TaskState) -> CliResult {
    match outcome {
        Outcome::Ready => Ok(()),
        Outcome::NeedsWork => Err(CliError::refused("not solved: there is no change that is proven and approved")),
        Outcome::Failed => Err(CliError::refused(why_failed(state))),
        Outcome::Cancelled => Err(CliError::Cancelled),
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
