//! The command line: one file per command (or per family), each of which parses nothing, opens only what it needs, and
//! leaves the words to `output`.

pub mod args;
mod bench;
mod certify;
mod doctor;
mod events;
mod fix;
mod input;
mod interrupt;
mod ledger;
mod map;
mod models;
mod output;
mod parse;
mod plan;
mod report;
mod resume;
mod review;
mod run;
mod session;
mod tasks;
mod tests;

use crate::compose::{ComposeError, Starling, folders::Folders};
use args::{Args, Command};
use clap::CommandFactory;
use output::{CliError, CliResult, Output};
use starling_core::port::ModelError;
use starling_swarm::SwarmError;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs a command to its end.
pub fn run(command: Command, json: bool) -> ExitCode {
    let out = Output::new(json);
    match dispatch(command, out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            out.error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Says why something cannot be done, in the same form for the window's start.
pub fn complain(error: &dyn std::fmt::Display) {
    Output::new(false).error(&CliError::refused(error));
}

fn dispatch(command: Command, out: Output) -> CliResult {
    match command {
        Command::Run(args) => run::run(args, out),
        Command::Parse(args) => parse::run(args, out),
        Command::Plan(args) => plan::run(args, out),
        Command::Tests(args) => tests::run(args, out),
        Command::Fix(args) => fix::run(args, out),
        Command::Review(args) => review::run(args, out),
        Command::Tasks(args) => tasks::list(args, out),
        Command::Diff(args) => tasks::diff(args, out),
        Command::Land(args) => tasks::land(args, out),
        Command::Discard(args) => tasks::discard(args, out),
        Command::Resume(args) => resume::run(args, out),
        Command::Models(args) => models::run(args, out),
        Command::Bind(args) => models::bind(args, out),
        Command::Index(args) => map::index(args, out),
        Command::Search(args) => map::search(args, out),
        Command::Outline(args) => map::outline(args, out),
        Command::Metrics(args) => ledger::metrics(args, out),
        Command::Receipt(args) => tasks::receipt(args, out),
        Command::Egress => ledger::egress(out),
        Command::Bench(args) => bench::run(args, out),
        Command::Doctor => doctor::run(out),
        // The window needs the context that only main.rs can make; `start` has taken this one out.
        Command::Window(_) => Ok(()),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Args::command(), "starling", &mut std::io::stdout());
            Ok(())
        }
    }
}

fn open() -> Result<Arc<Starling>, CliError> {
    let folders = Folders::of_user().map_err(ComposeError::Folder).map_err(CliError::refused)?;
    Starling::open(folders).map_err(CliError::refused)
}

/// With what to do about it, where that is known.
fn swarm_error(error: SwarmError) -> CliError {
    if error == SwarmError::Cancelled {
        return CliError::Cancelled;
    }
    let hint = match &error {
        SwarmError::Model(ModelError::Load { .. }) => {
            "`starling models list` shows what is there, `starling models get NAME` downloads one"
        }
        SwarmError::Model(ModelError::Memory { .. }) => "bind a smaller model: `starling bind ROLE MODEL`",
        SwarmError::Check(_) => {
            "--yes lets the project's build and tests run in the sandbox; `starling doctor` shows the sandbox"
        }
        SwarmError::Journal(_)
        | SwarmError::Model(_)
        | SwarmError::Map(_)
        | SwarmError::Workspace(_)
        | SwarmError::Redact(_)
        | SwarmError::NoTask(_)
        | SwarmError::WrongStage { .. }
        | SwarmError::NotFound { .. }
        | SwarmError::Cancelled => "",
    };
    CliError::refused(&error).hint(hint)
}
