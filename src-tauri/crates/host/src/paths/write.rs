//! Writing beneath an open folder: new bytes beside the old ones, then an exchange of names that is undone when what comes
//! out is not what was expected. At no moment does half a file bear the name. With several files every byte is on disk
//! before the first name changes, and the old files stay until the last name has changed.

use super::open::{Denied, folder, io, named, unmake};
use super::{PathGateError, read};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use starling_core::RelPath;
use std::io::Write as _;
use std::os::fd::OwnedFd;

/// One file to write.
pub struct Write<'a> {
    pub path: &'a RelPath,
    /// What it must hold now; `None` when it must not exist.
    pub expected: Option<&'a [u8]>,
    pub bytes: &'a [u8],
    /// From [`temporary_name`]. The caller knows it, so that it can look for it after a kill.
    pub temporary: &'a str,
}

/// A name that nobody can foresee.
pub fn temporary_name() -> String {
    format!(".starling-{}.new", uuid::Uuid::now_v7())
}

/// What has happened to a file so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The new bytes lie under the temporary name.
    Prepared,
    /// The new bytes bear the name; nothing else exists.
    Created,
    /// The new bytes bear the name, the old ones the temporary name.
    Exchanged,
}

struct Pending<'a> {
    write: &'a Write<'a>,
    folder: OwnedFd,
    step: Step,
}

pub(super) fn write_all(root: &OwnedFd, denied: &Denied, writes: &[Write<'_>]) -> Result<(), PathGateError> {
    let mut pending = Vec::new();
    let mut made = Vec::new();
    let done = prepare_and_place(root, denied, writes, &mut pending, &mut made);
    if let Err(error) = done {
        // The first file that cannot be put back is what the user must hear of.
        let undone: Vec<_> = pending.iter().rev().map(undo).collect();
        unmake(&made);
        undone.into_iter().collect::<Result<Vec<()>, _>>()?;
        return Err(error);
    }
    for Pending { write, folder, step } in &pending {
        if *step == Step::Exchanged {
            rustix::fs::unlinkat(folder, write.temporary, AtFlags::empty()).map_err(|e| io(write.path, e))?;
        }
        rustix::fs::fsync(folder).map_err(|e| io(write.path, e))?;
    }
    Ok(())
}

fn prepare_and_place<'a>(
    root: &OwnedFd,
    denied: &Denied,
    writes: &'a [Write<'a>],
    pending: &mut Vec<Pending<'a>>,
    made: &mut Vec<(OwnedFd, String)>,
) -> Result<(), PathGateError> {
    for write in writes {
        let made = write.expected.is_none().then_some(&mut *made);
        let folder = folder(root, write.path, denied, made)?;
        let mode = write.expected.map(|_| mode_of(&folder, write.path, denied)).transpose()?;
        let file = create(&folder, write, mode)?;
        pending.push(Pending { write, folder, step: Step::Prepared });
        fill(write, file, mode)?;
    }
    for entry in &mut *pending {
        place(entry)?;
    }
    pending.iter().try_for_each(|Pending { write, folder, .. }| {
        rustix::fs::fsync(folder).map_err(|e| io(write.path, e))?;
        holds(folder, write.path, write.path.file_name(), write.bytes)
    })
}

fn create(folder: &OwnedFd, write: &Write<'_>, mode: Option<Mode>) -> Result<OwnedFd, PathGateError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A new file gets what the user's umask leaves; a replacement is private until it has the old mode.
    let first = if mode.is_some() { 0o600 } else { 0o666 };
    rustix::fs::openat(folder, write.temporary, flags, Mode::from_raw_mode(first)).map_err(|e| io(write.path, e))
}

fn fill(write: &Write<'_>, file: OwnedFd, mode: Option<Mode>) -> Result<(), PathGateError> {
    let failed = |source: std::io::Error| PathGateError::Io { path: write.path.to_string(), source };
    let mut file = std::fs::File::from(file);
    file.write_all(write.bytes).map_err(failed)?;
    if let Some(mode) = mode {
        rustix::fs::fchmod(&file, mode).map_err(|e| failed(e.into()))?;
    }
    file.sync_all().map_err(failed)
}

fn place(entry: &mut Pending<'_>) -> Result<(), PathGateError> {
    let Pending { write: Write { path, expected, temporary, .. }, folder, .. } = entry;
    let flags = if expected.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    match rustix::fs::renameat_with(&*folder, *temporary, &*folder, path.file_name(), flags) {
        Ok(()) => {}
        Err(Errno::EXIST | Errno::NOENT) => return Err(PathGateError::Changed { path: (*path).clone() }),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            let reason = "this file system cannot exchange names, so a safe write is not possible".to_owned();
            return Err(PathGateError::Refused { path: (*path).clone(), reason });
        }
        Err(error) => return Err(io(path, error)),
    }
    match expected {
        None => entry.step = Step::Created,
        Some(expected) => {
            entry.step = Step::Exchanged;
            holds(folder, path, temporary, expected)?;
        }
    }
    Ok(())
}

/// Puts a file back as it was found. When somebody wrote to it after us, theirs stays.
fn undo(entry: &Pending<'_>) -> Result<(), PathGateError> {
    let Pending { write: Write { path, bytes, temporary, .. }, folder, step } = entry;
    let name = path.file_name();
    let failed =
        |e: Errno| PathGateError::NotUndone { path: (*path).clone(), reason: std::io::Error::from(e).to_string() };
    let exchange = || rustix::fs::renameat_with(folder, *temporary, folder, name, RenameFlags::EXCHANGE);
    match step {
        Step::Prepared => {}
        Step::Created => {
            match rustix::fs::renameat_with(folder, name, folder, *temporary, RenameFlags::NOREPLACE) {
                Err(Errno::NOENT) => return Ok(()),
                other => other.map_err(failed)?,
            }
            if holds(folder, path, temporary, bytes).is_err() {
                return rustix::fs::renameat_with(folder, *temporary, folder, name, RenameFlags::NOREPLACE)
                    .map_err(failed);
            }
        }
        Step::Exchanged => {
            exchange().map_err(failed)?;
            if holds(folder, path, temporary, bytes).is_err() {
                exchange().map_err(failed)?;
                // Theirs bears the name; what lies aside is what we took out, and it stays for a person to see.
                return Ok(());
            }
        }
    }
    rustix::fs::unlinkat(folder, *temporary, AtFlags::empty()).map_err(failed)?;
    rustix::fs::fsync(folder).map_err(failed)
}

/// Fails with `Changed` unless the file holds exactly these bytes.
fn holds(folder: &OwnedFd, path: &RelPath, name: &str, bytes: &[u8]) -> Result<(), PathGateError> {
    let file = named(folder, path, name)?;
    match read(path, file, bytes.len() as u64) {
        Ok(found) if found == bytes => Ok(()),
        Ok(_) | Err(PathGateError::TooLarge { .. }) => Err(PathGateError::Changed { path: path.clone() }),
        Err(error) => Err(error),
    }
}

/// Takes the name away first and looks then, so that nobody can change what was looked at.
pub(super) fn remove(root: &OwnedFd, denied: &Denied, path: &RelPath, expected: &[u8]) -> Result<(), PathGateError> {
    let folder = folder(root, path, denied, None)?;
    let (name, aside) = (path.file_name(), temporary_name());
    holds(&folder, path, name, expected)?;
    denied.check(path, named(&folder, path, name)?)?;
    rustix::fs::renameat_with(&folder, name, &folder, aside.as_str(), RenameFlags::NOREPLACE)
        .map_err(|e| io(path, e))?;
    if let Err(error) = holds(&folder, path, &aside, expected) {
        rustix::fs::renameat_with(&folder, aside.as_str(), &folder, name, RenameFlags::NOREPLACE).map_err(|e| {
            PathGateError::NotUndone { path: path.clone(), reason: std::io::Error::from(e).to_string() }
        })?;
        return Err(error);
    }
    rustix::fs::unlinkat(&folder, aside.as_str(), AtFlags::empty()).map_err(|e| io(path, e))?;
    rustix::fs::fsync(&folder).map_err(|e| io(path, e))
}

pub(super) fn clear(
    root: &OwnedFd,
    denied: &Denied,
    path: &RelPath,
    temporary: &str,
    known: &[&[u8]],
) -> Result<(), PathGateError> {
    let folder = match folder(root, path, denied, None) {
        Ok(folder) => folder,
        Err(PathGateError::Changed { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let longest = known.iter().map(|bytes| bytes.len()).max().unwrap_or(0);
    match named(&folder, path, temporary).and_then(|file| read(path, file, longest as u64)) {
        // The beginning of bytes that we know, when the kill came in the middle of writing.
        Ok(found) if known.iter().any(|bytes| bytes.starts_with(&found)) => {
            rustix::fs::unlinkat(&folder, temporary, AtFlags::empty()).map_err(|e| io(path, e))
        }
        Ok(_) | Err(PathGateError::Changed { .. } | PathGateError::TooLarge { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The mode of the old file without set-id bits.
fn mode_of(folder: &OwnedFd, path: &RelPath, denied: &Denied) -> Result<Mode, PathGateError> {
    let file = named(folder, path, path.file_name())?;
    denied.check(path, &file)?;
    let stat = rustix::fs::fstat(&file).map_err(|e| io(path, e))?;
    Ok(Mode::from_raw_mode(stat.st_mode & 0o777))
}
