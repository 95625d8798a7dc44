//! The window: one page, a tray, notifications, and the commands the page may call. It shows what the journal says; the
//! work itself is done by `desktop` and below.

mod board;
mod clipboard;
pub mod commands;
mod desktop;
mod door;
mod face;
mod notices;
mod notify;
mod spool;
mod stream;
mod tray;
mod wire;
mod words;
mod workshop;

pub use tray::missing_library as missing_tray_library;

use crate::cli::args;
use crate::compose::folders::Folders;
use crate::compose::instance::{self, Lock, Note};
use crate::compose::{ComposeError, Starling, inbox, new_task_id};
use desktop::{Ask, Desktop};
use face::Signal;
use starling_core::task_file::TaskFile;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, DragDropEvent, Manager, Runtime, Wry};
use tauri_plugin_dialog::DialogExt;

const WINDOW: &str = "main";

/// Opens the window, or hands the request to the one that is open.
pub fn run(context: tauri::Context<Wry>, args: &args::Window) -> ExitCode {
    let folders = match Folders::of_user() {
        Ok(folders) => folders,
        Err(error) => return fail(&ComposeError::Folder(error)),
    };
    if let Err(error) = leave_note(&folders, args) {
        return fail(&ComposeError::Folder(error));
    }
    let lock = match Lock::take(&folders.window_lock()) {
        Ok(Some(lock)) => lock,
        // The other one finds the note.
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => return fail(&ComposeError::Folder(error)),
    };
    let _log = crate::logging::to_folder(&folders.logs);
    let built = Starling::open(folders).map_err(anyhow::Error::from).and_then(|starling| build(context, starling));
    let code = match built {
        Ok(app) => ExitCode::from(u8::try_from(app.run_return(on_run_event)).unwrap_or(1)),
        Err(error) => fail(&error),
    };
    drop(lock);
    code
}

fn build(context: tauri::Context<Wry>, starling: Arc<Starling>) -> anyhow::Result<tauri::App<Wry>> {
    let specta = crate::specta_builder::<Wry>();
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_notification::init())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_window_state::Builder::default().build())
        .invoke_handler(specta.invoke_handler())
        .on_window_event(on_window_event)
        .setup(move |app| {
            specta.mount_events(app);
            set_up(app.handle(), starling)?;
            Ok(())
        })
        .build(context)?;
    Ok(app)
}

fn set_up(app: &AppHandle, starling: Arc<Starling>) -> anyhow::Result<()> {
    let locale = std::env::var("LC_ALL").or_else(|_| std::env::var("LANG")).unwrap_or_default();
    let (shown, asked) = (app.clone(), app.clone());
    let desktop = Desktop::open(starling, &locale, move |ask| pick(&asked, ask), move |signal| show(&shown, &signal))?;
    let look = desktop.face.look();
    match tray::create(app, &look, desktop.face.words) {
        Ok(tray) => tray.on_menu_event(|app, event| on_menu(app, event.id().as_ref())),
        Err(why) => tracing::warn!(why, "there is no tray; everything in it stands in the window too"),
    }
    app.manage(Arc::clone(&desktop));
    app.manage(spool::watch(app.clone(), Arc::clone(&desktop))?);
    watch_inbox(app, desktop);
    notify::listen(app);
    open_window(app)?;
    Ok(())
}

/// Without the inbox folder everything else still works.
fn watch_inbox(app: &AppHandle, desktop: Arc<Desktop>) {
    let starling = Arc::clone(&desktop.starling);
    let watched = inbox::watch(&starling, move |file| {
        let taken = TaskFile::decode(&file.name, &file.bytes).map_err(ComposeError::from);
        report(&desktop, taken.and_then(|file| desktop.submit(file)).map(drop));
    });
    match watched {
        Ok(guard) => drop(app.manage(Mutex::new(guard))),
        Err(error) => tracing::warn!(%error, "the inbox folder is not watched"),
    }
}

fn open_window(app: &AppHandle) -> anyhow::Result<()> {
    let config = app.config().app.windows.iter().find(|window| window.label == WINDOW);
    let config = config.ok_or_else(|| anyhow::anyhow!("tauri.conf.json has no window \"{WINDOW}\""))?;
    tauri::WebviewWindowBuilder::from_config(app, config)?
        .on_navigation(door::may_navigate)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    Ok(())
}

/// Carries a signal to the page, the tray or the notification daemon.
fn show(app: &AppHandle, signal: &Signal<'_>) {
    // Before the desktop is there, nobody looks yet: a fresh page asks for everything.
    let Some(desktop) = app.try_state::<Arc<Desktop>>() else { return };
    for event in wire::events(&desktop, signal) {
        wire::emit(app, event);
    }
    match signal {
        Signal::Look(look) => {
            let (handle, look, words) = (app.clone(), (*look).clone(), desktop.face.words);
            // Menus belong to the main thread.
            let update = move || {
                if let Err(error) = tray::update(&handle, &look, words) {
                    tracing::warn!(%error, "the tray cannot be changed");
                }
            };
            run_on_main(app, update);
        }
        Signal::Notice(notice) => notify::send(app, notice),
        Signal::Task(..) | Signal::Row(_) | Signal::Progress(..) | Signal::Download(_) | Signal::Changed => {}
    }
}

/// A native dialog; must not run on the main thread, which it needs.
fn pick(app: &AppHandle, ask: Ask) -> Vec<PathBuf> {
    let dialog = app.dialog().file();
    let picked = match ask {
        Ask::Folder => dialog.blocking_pick_folder().into_iter().collect(),
        Ask::Files => dialog.blocking_pick_files().unwrap_or_default(),
    };
    picked.into_iter().filter_map(|file| file.into_path().ok()).collect()
}

fn run_on_main(app: &AppHandle, work: impl FnOnce() + Send + 'static) {
    if let Err(error) = app.run_on_main_thread(work) {
        tracing::warn!(%error, "the main thread is gone");
    }
}

fn on_menu(app: &AppHandle, id: &str) {
    let desktop = Arc::clone(&app.state::<Arc<Desktop>>());
    match id {
        tray::OPEN => raise(app),
        tray::PAUSE => desktop.toggle_pause(),
        tray::QUIT => app.exit(0),
        tray::PASTE => {
            if let Some(text) = clipboard::text() {
                spool::in_background("paste", move || report(&desktop, desktop.submit_text("pasted", &text).map(drop)));
            }
            raise(app);
        }
        other => {
            if let Some(task) = other.strip_prefix(tray::TASK) {
                wire::show_task(app, task);
                raise(app);
            }
        }
    }
}

fn report(desktop: &Desktop, result: Result<(), ComposeError>) {
    if let Err(error) = result {
        desktop.face.trouble(&error.to_string());
    }
}

/// Shows the window and asks for attention; Wayland lets nobody steal the focus.
fn raise<R: Runtime>(app: &AppHandle<R>) {
    let Some(window) = app.get_webview_window(WINDOW) else { return };
    let raised = window.show().and_then(|()| window.unminimize()).and_then(|()| window.set_focus());
    if let Err(error) = raised {
        tracing::warn!(%error, "the window cannot be raised");
    }
}

fn on_window_event(window: &tauri::Window, event: &tauri::WindowEvent) {
    match event {
        // With a tray the work goes on; without one, closing is quitting.
        tauri::WindowEvent::CloseRequested { api, .. } if tray::is_shown(window.app_handle()) => {
            api.prevent_close();
            if let Err(error) = window.hide() {
                tracing::warn!(%error, "the window cannot be hidden");
            }
        }
        tauri::WindowEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
            let desktop = Arc::clone(&window.state::<Arc<Desktop>>());
            let paths = paths.clone();
            spool::in_background("drop", move || {
                for path in &paths {
                    report(&desktop, take_in(&desktop, path));
                }
            });
        }
        _ => {}
    }
}

/// A dropped folder becomes the project, a dropped file a task.
fn take_in(desktop: &Desktop, path: &Path) -> Result<(), ComposeError> {
    if path.is_dir() {
        desktop.open_project(path)?;
        desktop.face.show(Signal::Changed);
        return Ok(());
    }
    desktop.submit_path(path).map(drop)
}

fn on_run_event(app: &AppHandle, event: tauri::RunEvent) {
    if let tauri::RunEvent::Exit = event
        && let Some(desktop) = app.try_state::<Arc<Desktop>>()
    {
        desktop.close();
    }
}

fn leave_note(folders: &Folders, args: &args::Window) -> std::io::Result<()> {
    let paths = args.files.iter().chain(&args.task).map(std::fs::canonicalize).collect::<Result<Vec<_>, _>>()?;
    let project = args.project.as_ref().map(std::fs::canonicalize).transpose()?;
    let note = if paths.is_empty() && project.is_none() { Note::Show } else { Note::Open { project, paths } };
    instance::leave(&folders.spool, new_task_id().as_str(), &note)
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    tracing::error!(%error, "Starling cannot start");
    crate::cli::complain(error);
    ExitCode::FAILURE
}
