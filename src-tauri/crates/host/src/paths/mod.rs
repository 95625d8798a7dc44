//! The path gate: the only way to a file of the user's project.
//!
//! A path is opened beneath a root that was opened once, without following links out of it or, for writing, any link at
//! all. Protected names are refused whatever their spelling, denied folders whatever leads to them. Any doubt is a
//! refusal; there is no fallback. Nothing is mapped into memory: a file that another program shortens would kill us.

mod fold;
mod names;
mod open;
mod write;

pub use names::{Protection, protection};
pub use write::{Write, temporary_name};

use open::Denied;
use rustix::fs::{Mode, OFlags};
use starling_core::RelPath;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum PathGateError {
    #[error("{path} is protected: {reason}")]
    Protected { path: RelPath, reason: &'static str },
    #[error("{path} is refused: {reason}")]
    Refused { path: RelPath, reason: String },
    #[error("{path} is not as expected; nothing was written")]
    Changed { path: RelPath },
    #[error("{path} has {bytes} bytes, more than the {limit} that are read")]
    TooLarge { path: RelPath, bytes: u64, limit: u64 },
    /// Another file could not be written, and this one could then not be put back as it was.
    #[error("{path} holds the new text although the change as a whole failed: {reason}")]
    NotUndone { path: RelPath, reason: String },
    #[error("{path}: {source}")]
    Io { path: String, source: std::io::Error },
}

/// A folder that was opened once; everything happens beneath it, wherever its name points later.
pub struct Root {
    folder: OwnedFd,
    path: PathBuf,
    denied: Denied,
}

impl Root {
    /// # Errors
    /// When it is not a folder or cannot be opened.
    pub fn open(path: &Path) -> Result<Root, PathGateError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| of_folder(path, e))?;
        Ok(Root { folder, path: path.to_owned(), denied: Denied::default() })
    }

    /// Refuses from now on whatever lies in these folders, or is one of these files, whichever path leads there.
    ///
    /// # Errors
    /// When one of them cannot be looked at: then nothing could be denied.
    pub fn denying(mut self, places: &[&Path]) -> Result<Root, PathGateError> {
        for place in places {
            self.denied.add(place).map_err(|e| of_folder(place, e))?;
        }
        Ok(self)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A regular file with one name, `None` when it does not exist. Links that stay beneath the root are followed.
    pub fn open_file(&self, path: &RelPath) -> Result<Option<File>, PathGateError> {
        open::file(&self.folder, path, &self.denied)
    }

    /// The bytes of a file, `None` when it does not exist.
    ///
    /// # Errors
    /// `TooLarge` above `limit` bytes, `Refused`, `Io`.
    pub fn read(&self, path: &RelPath, limit: u64) -> Result<Option<Vec<u8>>, PathGateError> {
        self.open_file(path)?.map(|file| read(path, file, limit)).transpose()
    }

    /// Writes a file: a new one when `expected` is `None`, else exactly in place of those bytes.
    ///
    /// # Errors
    /// `Protected`, `Refused`, or `Changed` when the file holds something else; then it is as it was.
    pub fn write(&self, path: &RelPath, expected: Option<&[u8]>, bytes: &[u8]) -> Result<(), PathGateError> {
        let temporary = temporary_name();
        self.write_all(&[Write { path, expected, bytes, temporary: &temporary }])
    }

    /// Writes several files: all of them or, when one fails, none. Everything is on disk before the first name changes.
    pub fn write_all(&self, writes: &[Write<'_>]) -> Result<(), PathGateError> {
        writes.iter().try_for_each(|write| allow(write.path))?;
        write::write_all(&self.folder, &self.denied, writes)
    }

    /// Removes a file that holds exactly `expected`.
    pub fn remove(&self, path: &RelPath, expected: &[u8]) -> Result<(), PathGateError> {
        allow(path)?;
        write::remove(&self.folder, &self.denied, path, expected)
    }

    /// Removes the temporary file that an interrupted `write_all` left beside `path`, if it holds one of `known`. What
    /// holds anything else is someone's work and stays.
    pub fn clear(&self, path: &RelPath, temporary: &str, known: &[&[u8]]) -> Result<(), PathGateError> {
        write::clear(&self.folder, &self.denied, path, temporary, known)
    }
}

fn allow(path: &RelPath) -> Result<(), PathGateError> {
    match protection(path) {
        Protection::Free | Protection::Ask(_) => Ok(()),
        Protection::Never(reason) => Err(PathGateError::Protected { path: path.clone(), reason }),
    }
}

fn of_folder(path: &Path, error: rustix::io::Errno) -> PathGateError {
    PathGateError::Io { path: path.display().to_string(), source: error.into() }
}

fn read(path: &RelPath, file: File, limit: u64) -> Result<Vec<u8>, PathGateError> {
    let io = |source| PathGateError::Io { path: path.to_string(), source };
    let bytes = file.metadata().map_err(io)?.len();
    if bytes > limit {
        return Err(PathGateError::TooLarge { path: path.clone(), bytes, limit });
    }
    let mut content = Vec::new();
    // A file that grows meanwhile is read up to the limit and no further.
    file.take(limit + 1).read_to_end(&mut content).map_err(io)?;
    if content.len() as u64 > limit {
        return Err(PathGateError::TooLarge { path: path.clone(), bytes: content.len() as u64, limit });
    }
    Ok(content)
}

#[cfg(test)]
mod tests;
