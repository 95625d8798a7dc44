//! What must be in the environment before libraries start. Changing a variable of a running process is unsafe once there are
//! threads, and some libraries read theirs before `main`, so the process starts itself again, once, with all of them set,
//! before it has done anything.

use crate::cli::args::Command;

/// WebKitGTK shows an empty window with some graphics drivers unless its DMABUF renderer is off.
const WEBKIT: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// Does nothing when all is set, by an earlier start or by the user, to whatever value.
pub fn once(command: Option<&Command>) {
    let mut missing = Vec::new();
    if opens_window(command) && cfg!(target_os = "linux") && std::env::var_os(WEBKIT).is_none() {
        missing.push((WEBKIT, "1"));
    }
    if opens_window(command) || may_load_a_model(command) {
        missing.extend(starling_engine::short_waits());
    }
    if !missing.is_empty() {
        start_again(&missing);
    }
}

fn opens_window(command: Option<&Command>) -> bool {
    matches!(command, None | Some(Command::Window(_)))
}

fn may_load_a_model(command: Option<&Command>) -> bool {
    command.is_some_and(|command| match command {
        Command::Run(_)
        | Command::Parse(_)
        | Command::Plan(_)
        | Command::Tests(_)
        | Command::Fix(_)
        | Command::Review(_)
        | Command::Resume(_)
        | Command::Models(_)
        | Command::Bench(_) => true,
        Command::Tasks(_)
        | Command::Diff(_)
        | Command::Land(_)
        | Command::Discard(_)
        | Command::Bind(_)
        | Command::Index(_)
        | Command::Search(_)
        | Command::Outline(_)
        | Command::Metrics(_)
        | Command::Receipt(_)
        | Command::Egress
        | Command::Doctor
        | Command::Window(_)
        | Command::Completions { .. } => false,
    })
}

#[cfg(target_os = "linux")]
fn start_again(missing: &[(&str, &str)]) {
    use std::os::unix::process::CommandExt;
    let mut arguments = std::env::args_os();
    let Ok(program) = std::env::current_exe() else { return };
    let mut start = std::process::Command::new(program);
    if let Some(name) = arguments.next() {
        start.arg0(name);
    }
    // On success this never returns: the same process id runs the same program.
    let error = start.args(arguments).envs(missing.iter().copied()).exec();
    tracing::warn!(%error, "the program could not be started again with {missing:?} set");
}

#[cfg(not(target_os = "linux"))]
fn start_again(_: &[(&str, &str)]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_models_and_what_shows_pages_is_told_apart() {
        let command = |words: &[&str]| {
            let line = ["starling"].iter().chain(words);
            <crate::cli::args::Args as clap::Parser>::try_parse_from(line).expect("a command").command
        };
        let check = |words: &[&str], window: bool, model: bool| {
            let command = command(words);
            assert_eq!(
                (opens_window(command.as_ref()), may_load_a_model(command.as_ref())),
                (window, model),
                "{words:?}"
            );
        };
        check(&[], true, false);
        check(&["window"], true, false);
        check(&["run", "t.md"], false, true);
        check(&["review", "--diff", "-"], false, true);
        check(&["outline", "a.py"], false, false);
        check(&["doctor"], false, false);
    }
}
