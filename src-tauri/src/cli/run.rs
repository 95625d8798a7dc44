//! `starling run`: the whole way of one or several tasks, one after the other.

use super::output::{CliError, CliResult, Output};
use super::session::Session;
use super::{args, input};
use crate::compose::new_task_id;
use starling_core::task_file::TaskFile;
use std::path::Path;

pub fn run(args: args::Run, out: Output) -> CliResult {
    let project = input::project(&args.project)?;
    let files: Vec<TaskFile> = args.tasks.iter().map(|word| input::task(word)).collect::<Result<_, _>>()?;
    let session = Session::open(out, args.consent)?;
    session.each(files, |file| submit(&session, file, &project))
}

/// Submits a task and carries it on.
pub fn submit(session: &Session, file: TaskFile, project: &Path) -> CliResult {
    let ports = session.starling.ports(project, session.trust()).map_err(CliError::refused)?;
    let task = new_task_id();
    starling_swarm::submit(&ports, &task, file, &project.to_string_lossy()).map_err(CliError::refused)?;
    session.carry_on(&task)
}
