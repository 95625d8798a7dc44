//! Files that arrive without the page: notes of a second start, and the watched inbox folder. One named thread looks; short
//! work that must not block the main thread runs on threads of its own.

use super::desktop::Desktop;
use crate::compose::instance::{self, Note};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tauri::AppHandle;

const PAUSE: Duration = Duration::from_millis(400);

/// Ends the thread when dropped.
pub struct Watch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

pub fn watch(app: AppHandle, desktop: Arc<Desktop>) -> std::io::Result<Watch> {
    let (stop, stopped) = channel::<()>();
    let look = move || {
        while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
            match instance::collect(&desktop.starling.folders.spool) {
                Ok(notes) => notes.into_iter().for_each(|note| follow(&app, &desktop, note)),
                Err(error) => tracing::warn!(%error, "the spool folder cannot be read"),
            }
        }
    };
    let thread = std::thread::Builder::new().name("spool".into()).spawn(look)?;
    Ok(Watch { stop: Some(stop), thread: Some(thread) })
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the spool thread panicked");
        }
    }
}

fn follow(app: &AppHandle, desktop: &Arc<Desktop>, note: Note) {
    if let Note::Open { project, paths } = note {
        for path in project.iter().chain(&paths) {
            super::report(desktop, super::take_in(desktop, path));
        }
    }
    super::raise(app);
}

/// Runs short blocking work off the main thread.
pub fn in_background(name: &str, work: impl FnOnce() + Send + 'static) {
    if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(work) {
        tracing::error!(%error, "a thread cannot be started");
    }
}
