//! The watched inbox folder: a file that lies there and no longer changes is taken, once.
//!
//! Events are only hints; the scan is the truth. A file is claimed by renaming it into `taken`, so it cannot be taken twice.

use notify::{RecursiveMode, Watcher};
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

/// Larger files are left where they are.
pub const MAX_BYTES: u64 = 1024 * 1024;
const LOOK: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
#[error("the inbox folder {} cannot be watched: {message}", folder.display())]
pub struct InboxError {
    pub folder: PathBuf,
    pub message: String,
}

/// Watches while it lives; dropping it ends the thread.
pub struct InboxGuard {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for InboxGuard {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was the caller's own function; there is nothing left to end.
            thread.join().ok();
        }
    }
}

/// Files that lie in `folder` and stay unchanged for `stable` are handed to `on_file`, oldest name first.
pub fn watch(
    folder: &Path,
    stable: Duration,
    on_file: impl Fn(InboxFile) + Send + 'static,
) -> Result<InboxGuard, InboxError> {
    let fail = |message: String| InboxError { folder: folder.to_owned(), message };
    fs::create_dir_all(folder.join("taken")).map_err(|e| fail(e.to_string()))?;
    let (stop, stopped) = channel::<()>();
    let (hint, hinted) = channel::<()>();
    let watcher = notify::recommended_watcher(move |_| {
        // Nobody listens any more once the guard is gone.
        hint.send(()).ok();
    });
    let mut watcher = watcher.ok();
    if let Some(watcher) = watcher.as_mut() {
        // Without a watch (none left in the system) the regular look still finds everything.
        watcher.watch(folder, RecursiveMode::NonRecursive).ok();
    }
    let owned = folder.to_owned();
    let work = move || {
        let _watcher = watcher;
        let mut seen = BTreeMap::new();
        loop {
            match stopped.recv_timeout(Duration::from_millis(1)) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
            scan(&owned, stable, &mut seen, &on_file);
            hinted.recv_timeout(LOOK).ok();
            while hinted.try_recv().is_ok() {}
        }
    };
    let thread = std::thread::Builder::new().name("starling-inbox".to_owned()).spawn(work);
    Ok(InboxGuard { stop: Some(stop), thread: Some(thread.map_err(|e| fail(e.to_string()))?) })
}

type Seen = BTreeMap<PathBuf, (u64, SystemTime, std::time::Instant)>;

fn scan(folder: &Path, stable: Duration, seen: &mut Seen, on_file: &impl Fn(InboxFile)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    seen.retain(|path, _| paths.contains(path));
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        // `symlink_metadata` does not follow: a link in the inbox could point anywhere.
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if hidden || !meta.is_file() || meta.len() > MAX_BYTES || meta.len() == 0 {
            continue;
        }
        let state = (meta.len(), meta.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        let entry = seen.entry(path.clone()).or_insert((state.0, state.1, std::time::Instant::now()));
        if (entry.0, entry.1) != state {
            *entry = (state.0, state.1, std::time::Instant::now());
        } else if entry.2.elapsed() >= stable
            && let Some(file) = take(folder, &path)
        {
            seen.remove(&path);
            on_file(file);
        }
    }
}

/// Claims a file by its rename and reads it there.
fn take(folder: &Path, path: &Path) -> Option<InboxFile> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let claimed = folder.join("taken").join(format!("{}-{name}", uuid::Uuid::now_v7()));
    fs::rename(path, &claimed).ok()?;
    // Since the look it may have become a link, a pipe or a larger file.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(&claimed, flags, Mode::empty()).ok()?);
    let mut bytes = Vec::new();
    if !file.metadata().ok()?.is_file() || file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()? as u64 > MAX_BYTES {
        return None;
    }
    Some(InboxFile { name, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_each_good_file_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let (send, got) = channel();
        fs::write(folder.path().join("a.md"), "fix a").expect("written");
        fs::write(folder.path().join(".hidden"), "no").expect("written");
        fs::write(folder.path().join("empty"), "").expect("written");
        fs::write(folder.path().join("large"), vec![b'x'; MAX_BYTES as usize + 1]).expect("written");
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link")).expect("linked");
        let guard = watch(folder.path(), Duration::from_millis(50), move |file| send.send(file).expect("listened to"));
        let guard = guard.expect("it watches");
        let first = got.recv_timeout(Duration::from_secs(10)).expect("a file");
        assert_eq!(first, InboxFile { name: "a.md".to_owned(), bytes: b"fix a".to_vec() });
        fs::write(folder.path().join("b.md"), "fix b").expect("written");
        assert_eq!(got.recv_timeout(Duration::from_secs(10)).expect("a file").name, "b.md");
        assert!(got.recv_timeout(Duration::from_millis(300)).is_err(), "nothing else is taken");
        drop(guard);
        assert!(folder.path().join("large").exists() && folder.path().join("link").exists());
    }

    /// Between the look and the claim someone may have put a link in its place.
    #[test]
    fn a_claimed_link_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("taken")).expect("made");
        fs::write(folder.path().join("secret"), "mine").expect("written");
        let link = folder.path().join("a.md");
        std::os::unix::fs::symlink(folder.path().join("secret"), &link).expect("linked");
        assert_eq!(take(folder.path(), &link), None);
        let plain = take(folder.path(), &folder.path().join("secret")).expect("a file");
        assert_eq!(plain.bytes, b"mine");
    }
}
