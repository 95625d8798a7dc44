//! The path gate: the only way to a file of the user's project.
//!
//! A path is opened beneath a root that was opened once, without following links out of it or, for writing, any link at
//! all. Protected names are refused whatever their spelling. Any doubt is a refusal; there is no fallback.

mod names;
mod write;

pub use names::{Protection, protection};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
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
    #[error("{path}: {source}")]
    Io { path: String, source: std::io::Error },
}

/// A folder that was opened once; everything happens beneath it, wherever its name points later.
pub struct Root {
    folder: OwnedFd,
    path: PathBuf,
}

impl Root {
    /// # Errors
    /// When it is not a folder or cannot be opened.
    pub fn open(path: &Path) -> Result<Root, PathGateError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty());
        let folder = folder.map_err(|e| PathGateError::Io { path: path.display().to_string(), source: e.into() })?;
        Ok(Root { folder, path: path.to_owned() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of a regular file, `None` when it does not exist. Links that stay beneath the root are followed.
    pub fn read(&self, path: &RelPath, limit: u64) -> Result<Option<Vec<u8>>, PathGateError> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
        let file = match rustix::fs::openat2(&self.folder, path.as_str(), flags, Mode::empty(), beneath) {
            Ok(file) => file,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(refused(path, error)),
        };
        read_regular(path, file, limit).map(Some)
    }

    /// Writes a file: a new one when `expected` is `None`, else exactly in place of those bytes.
    ///
    /// # Errors
    /// `Protected`, `Refused`, or `Changed` when the file holds something else; then it is as it was.
    pub fn write(&self, path: &RelPath, expected: Option<&[u8]>, bytes: &[u8]) -> Result<(), PathGateError> {
        allow(path)?;
        write::write(&self.folder, path, expected, bytes)
    }

    /// Removes a file that holds exactly `expected`.
    pub fn remove(&self, path: &RelPath, expected: &[u8]) -> Result<(), PathGateError> {
        allow(path)?;
        write::remove(&self.folder, path, expected)
    }
}

fn allow(path: &RelPath) -> Result<(), PathGateError> {
    match protection(path) {
        Protection::Free | Protection::Ask(_) => Ok(()),
        Protection::Never(reason) => Err(PathGateError::Protected { path: path.clone(), reason }),
    }
}

fn refused(path: &RelPath, error: rustix::io::Errno) -> PathGateError {
    use rustix::io::Errno;
    let reason = match error {
        Errno::LOOP => "it is a link, or leads through one".to_owned(),
        Errno::XDEV => "it leads out of the project".to_owned(),
        Errno::NOTDIR => "a part of it is no folder".to_owned(),
        other => return PathGateError::Io { path: path.to_string(), source: other.into() },
    };
    PathGateError::Refused { path: path.clone(), reason }
}

fn read_regular(path: &RelPath, file: OwnedFd, limit: u64) -> Result<Vec<u8>, PathGateError> {
    let stat = rustix::fs::fstat(&file).map_err(|e| PathGateError::Io { path: path.to_string(), source: e.into() })?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(PathGateError::Refused { path: path.clone(), reason: "it is no regular file".to_owned() });
    }
    let bytes = stat.st_size.unsigned_abs();
    if bytes > limit {
        return Err(PathGateError::TooLarge { path: path.clone(), bytes, limit });
    }
    let mut content = Vec::new();
    // A file that grows meanwhile is read up to the limit and no further.
    let read = File::from(file).take(limit + 1).read_to_end(&mut content);
    read.map_err(|source| PathGateError::Io { path: path.to_string(), source })?;
    Ok(content)
}

#[cfg(test)]
mod tests;
