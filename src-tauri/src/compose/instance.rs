//! One window per data folder, and one worker per task: file locks, which the system releases when a process dies. A second
//! start leaves a note in the spool folder for the first and ends. Nothing listens on a socket.

use super::settings::write_atomic;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Held while it lives; the lock goes with the file handle.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// `None` when another process holds it.
    pub fn take(path: &Path) -> io::Result<Option<Lock>> {
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(e),
        }
    }
}

/// What a second start asks of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Note {
    Show,
    /// Show a project, if one is named, and take these task files in.
    Open {
        project: Option<PathBuf>,
        paths: Vec<PathBuf>,
    },
}

/// Leaves `note` for the running window; `name` must not be used twice.
pub fn leave(spool: &Path, name: &str, note: &Note) -> io::Result<()> {
    write_atomic(&spool.join(format!("{name}.json")), &serde_json::to_vec(note)?)
}

/// Takes all notes out of the spool, oldest name first. A note that cannot be read is removed and skipped.
pub fn collect(spool: &Path) -> io::Result<Vec<Note>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(spool)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    let mut notes = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file)?;
        std::fs::remove_file(&file)?;
        match serde_json::from_slice(&bytes) {
            Ok(note) => notes.push(note),
            Err(e) => tracing::warn!(file = %file.display(), error = %e, "a spool note cannot be read"),
        }
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_holds_the_lock() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("window.lock");
        let first = Lock::take(&path).expect("can be locked");
        assert!(first.is_some());
        assert!(Lock::take(&path).expect("can be asked").is_none());
        drop(first);
        assert!(Lock::take(&path).expect("can be asked").is_some());
    }

    #[test]
    fn notes_arrive_once_and_in_order() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let open = Note::Open { project: None, paths: vec![PathBuf::from("a.md")] };
        leave(dir.path(), "2", &open).expect("written");
        leave(dir.path(), "1", &Note::Show).expect("written");
        std::fs::write(dir.path().join("0.json"), "{").expect("written");
        assert_eq!(collect(dir.path()).expect("read"), [Note::Show, open]);
        assert_eq!(collect(dir.path()).expect("read"), []);
    }
}
