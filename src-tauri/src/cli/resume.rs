//! `starling resume`: goes on with what was interrupted. Tasks that wait for a person are left alone unless `--yes` can
//! answer for them.

use super::args;
use super::output::{CliError, CliResult, Output};
use super::session::Session;
use starling_core::TaskId;
use starling_core::state::Stage;

pub fn run(args: args::Resume, out: Output) -> CliResult {
    let yes = args.consent.yes;
    let session = Session::open(out, args.consent)?;
    let tasks = match &args.id {
        Some(id) => vec![session.starling.find(id).map_err(CliError::refused)?],
        None => interrupted(&session, yes)?,
    };
    if tasks.is_empty() {
        out.say("no task was interrupted");
    }
    session.each(&tasks, |task| session.carry_on(task))
}

/// Oldest first.
fn interrupted(session: &Session, yes: bool) -> Result<Vec<TaskId>, CliError> {
    let states = session.starling.states().map_err(CliError::refused)?;
    let goes_on = |stage: Stage| !stage.is_final() && (!stage.needs_user() || (yes && stage == Stage::ApprovePlan));
    Ok(states.into_iter().rev().filter(|(_, state)| goes_on(state.stage())).map(|(id, _)| id).collect())
}
