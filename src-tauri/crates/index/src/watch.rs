//! Following changes. Events are hints: known files are looked at again, for anything else the project is walked. Only
//! folders that are not ignored are watched, each by itself, so that `target` or `node_modules` cost nothing; where the
//! system watches whole trees anyway, one watch has to do.

use crate::IndexError;
use crate::project::{IndexStats, ProjectIndex};
use crate::walk::relative;
use notify_debouncer_full::notify::{self, ErrorKind, EventKind, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};
use starling_core::RelPath;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Whether the system's watches are one a folder, from a small budget, or one a tree.
const ONE_BY_ONE: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// Why following is slower than it could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchNotice {
    /// The system gives no more watches (on Linux `fs.inotify.max_user_watches`): changes are looked for every `seconds`.
    Polling { watched: u32, folders: u32, seconds: u32 },
    /// The last refresh failed; the map is as it was before.
    Stale { message: String },
}

pub(crate) struct Limits {
    /// Folders to watch at most.
    pub folders: usize,
    /// Events of this time become one refresh.
    pub debounce: Duration,
    /// Between two looks when there are too few watches.
    pub poll: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { folders: 50_000, debounce: Duration::from_millis(100), poll: Duration::from_secs(5) }
    }
}

/// Follows changes as long as it lives. Dropping it waits for the thread to end.
#[derive(Debug)]
pub struct WatchGuard {
    to: Sender<Message>,
    thread: Option<JoinHandle<()>>,
    notices: Arc<Mutex<Notices>>,
}

#[derive(Debug, Default)]
struct Notices {
    polling: Option<WatchNotice>,
    stale: Option<WatchNotice>,
}

impl WatchGuard {
    /// What a person should know, if anything; the worse first.
    pub fn notice(&self) -> Option<WatchNotice> {
        let notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        notices.stale.clone().or_else(|| notices.polling.clone())
    }
}

impl Drop for WatchGuard {
    fn drop(&mut self) {
        // The thread is gone only after a panic; then there is nobody to tell.
        let told = self.to.send(Message::Stop).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| told) {
            drop(thread.join());
        }
    }
}

enum Message {
    Events(DebounceEventResult),
    Stop,
}

struct Watcher {
    index: Arc<ProjectIndex>,
    debouncer: Debouncer<RecommendedWatcher, RecommendedCache>,
    limits: Limits,
    watched: HashSet<PathBuf>,
    /// Files that are ignored: a log that is written all the time must not cause a walk each time.
    ignored: HashSet<RelPath>,
    notices: Arc<Mutex<Notices>>,
}

pub(crate) fn start(
    index: Arc<ProjectIndex>,
    limits: Limits,
    refreshed: impl Fn(IndexStats) + Send + 'static,
) -> Result<WatchGuard, IndexError> {
    let failed = |error: notify::Error| IndexError::Watch { message: error.to_string() };
    let (to, from) = mpsc::channel();
    let events_to = to.clone();
    let handler = move |events: DebounceEventResult| {
        // Nobody listens any more while the guard is being dropped.
        drop(events_to.send(Message::Events(events)));
    };
    let debouncer = new_debouncer(limits.debounce, None, handler).map_err(failed)?;
    let notices = Arc::new(Mutex::new(Notices::default()));
    let mut watcher = Watcher {
        index,
        debouncer,
        limits,
        watched: HashSet::new(),
        ignored: HashSet::new(),
        notices: Arc::clone(&notices),
    };
    // Watches first, then one look: what changed in between is seen by one of them.
    let folders = watcher.index.refresh_and_folders()?.1;
    watcher.watch(&folders).map_err(failed)?;
    let folders = watcher.index.refresh_and_folders()?.1;
    watcher.watch(&folders).map_err(failed)?;
    let thread = std::thread::Builder::new().name("starling-index-watch".to_owned());
    let thread = thread.spawn(move || watcher.run(&from, &refreshed));
    let thread = thread.map_err(|error| IndexError::Watch { message: error.to_string() })?;
    Ok(WatchGuard { to, thread: Some(thread), notices })
}

impl Watcher {
    fn run(mut self, from: &Receiver<Message>, refreshed: &dyn Fn(IndexStats)) {
        while let Some(hints) = self.next(from) {
            let result = self.refresh(hints);
            let failed = result.as_ref().err().map(|error| WatchNotice::Stale { message: error.to_string() });
            self.notices().stale = failed;
            if let Ok(Some(stats)) = result {
                refreshed(stats);
            }
        }
        self.debouncer.stop();
    }

    /// Waits for a reason to look; takes what else has arrived meanwhile along. `None` at the end.
    fn next(&mut self, from: &Receiver<Message>) -> Option<Hints> {
        let polling = self.notices().polling.is_some();
        let first = if polling {
            from.recv_timeout(self.limits.poll)
        } else {
            from.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        let mut hints = match first {
            Ok(Message::Events(events)) => self.hints(events),
            Err(RecvTimeoutError::Timeout) => Hints::Everything,
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
        };
        while let Ok(more) = from.try_recv() {
            match more {
                Message::Stop => return None,
                Message::Events(events) => hints = hints.and(self.hints(events)),
            }
        }
        Some(hints)
    }

    fn refresh(&mut self, hints: Hints) -> Result<Option<IndexStats>, IndexError> {
        let paths = match hints {
            Hints::Paths(paths) if paths.is_empty() => return Ok(None),
            Hints::Paths(paths) => {
                let known = self.known()?;
                let news: Vec<RelPath> =
                    paths.iter().filter(|p| !known.contains(*p) && !self.ignored.contains(*p)).cloned().collect();
                if news.is_empty() {
                    let paths: Vec<RelPath> = paths.into_iter().filter(|path| known.contains(path)).collect();
                    return if paths.is_empty() { Ok(None) } else { self.index.refresh_files(&paths).map(Some) };
                }
                news
            }
            Hints::Everything => {
                self.ignored.clear();
                Vec::new()
            }
        };
        let (stats, folders) = self.index.refresh_and_folders()?;
        self.watch(&folders).map_err(|error| IndexError::Watch { message: error.to_string() })?;
        if !paths.is_empty() {
            let known = self.known()?;
            let ignored = paths.into_iter().filter(|p| !known.contains(p) && self.index.root.stamp(p).is_some());
            self.ignored.extend(ignored.take(10_000));
        }
        Ok(Some(stats))
    }

    fn known(&self) -> Result<HashSet<RelPath>, IndexError> {
        self.index.entries().map(|entries| entries.into_iter().map(|entry| entry.path).collect())
    }

    /// Watches the folders that are not watched yet, and forgets those that are gone.
    fn watch(&mut self, folders: &[PathBuf]) -> notify::Result<()> {
        let wanted: HashSet<&PathBuf> = folders.iter().collect();
        self.watched.retain(|folder| wanted.contains(folder));
        let (mode, count) =
            if ONE_BY_ONE { (RecursiveMode::NonRecursive, folders.len()) } else { (RecursiveMode::Recursive, 1) };
        for folder in folders.iter().take(count) {
            if self.watched.contains(folder) {
                continue;
            }
            let full = self.watched.len() >= self.limits.folders;
            match if full {
                Err(notify::Error::new(ErrorKind::MaxFilesWatch))
            } else {
                self.debouncer.watch(folder, mode)
            } {
                Ok(()) => {
                    self.watched.insert(folder.clone());
                }
                Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => {
                    self.notices().polling = Some(WatchNotice::Polling {
                        watched: self.watched.len() as u32,
                        folders: folders.len() as u32,
                        seconds: self.limits.poll.as_secs().max(1) as u32,
                    });
                    return Ok(());
                }
                // It vanished since it was walked, or may not be opened: its parent tells when that changes.
                Err(_) if folder != &self.index.root.path => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn hints(&self, events: DebounceEventResult) -> Hints {
        // Errors mean lost events.
        let Ok(events) = events else { return Hints::Everything };
        let mut paths = Vec::new();
        for event in events {
            match event.kind {
                // Our own reading, among others.
                EventKind::Access(_) => continue,
                EventKind::Any
                | EventKind::Create(_)
                | EventKind::Modify(_)
                | EventKind::Remove(_)
                | EventKind::Other => {}
            }
            if event.need_rescan() {
                return Hints::Everything;
            }
            for path in &event.paths {
                match relative(&self.index.root.path, path) {
                    // git writes there all the time.
                    Some(path) if path.as_str() == ".git" || path.as_str().starts_with(".git/") => {}
                    Some(path) => paths.push(path),
                    None => return Hints::Everything,
                }
            }
        }
        let rules = |path: &RelPath| path.file_name().ends_with("ignore");
        if paths.iter().any(rules) { Hints::Everything } else { Hints::Paths(paths) }
    }

    fn notices(&self) -> MutexGuard<'_, Notices> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What may have changed.
enum Hints {
    Paths(Vec<RelPath>),
    /// Also the rules of what is ignored.
    Everything,
}

impl Hints {
    fn and(self, other: Hints) -> Hints {
        match (self, other) {
            (Hints::Paths(mut paths), Hints::Paths(more)) => {
                paths.extend(more);
                paths.sort();
                paths.dedup();
                Hints::Paths(paths)
            }
            (Hints::Everything, _) | (_, Hints::Everything) => Hints::Everything,
        }
    }
}
