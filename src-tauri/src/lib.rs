//! The app: composes every crate into the window, the tray and the command line. `start` decides which of the two it is
//! before anything heavy happens. Deliberately absent: decisions about tasks (swarm) and wire types (contract).

pub mod cli;
pub mod compose;
mod logging;
mod restart;
pub mod window;

use clap::Parser;
use cli::args::{Args, Command};
use std::process::ExitCode;

/// The whole program. `context` is made only when a window opens.
pub fn start(context: impl FnOnce() -> tauri::Context<tauri::Wry>) -> ExitCode {
    let args = Args::parse();
    restart::once(args.command.as_ref());
    starling_engine::prepare_process();
    match args.command {
        None => open_window(context, &cli::args::Window::default()),
        Some(Command::Window(window)) => open_window(context, &window),
        Some(command) => {
            logging::to_stderr();
            cli::run(command, args.json)
        }
    }
}

fn open_window(context: impl FnOnce() -> tauri::Context<tauri::Wry>, args: &cli::args::Window) -> ExitCode {
    window::run(context(), args)
}

/// Commands and events of the page, once for the app and for the export of their types.
pub fn specta_builder<R: tauri::Runtime>() -> tauri_specta::Builder<R> {
    window::commands::builder()
}
