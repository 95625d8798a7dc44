//! Opening beneath a folder, and who a file really is: links out, special files, files with a second name and denied
//! folders are refused by what was opened, never by how it was spelled.

use super::PathGateError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use starling_core::RelPath;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_XDEV);
/// For everything that writes.
pub(super) const STRICT: ResolveFlags = BENEATH.union(ResolveFlags::NO_SYMLINKS);
const READING: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
const LOOKING: OFlags = OFlags::PATH.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// Files and folders that nothing may lead to, by identity.
#[derive(Default)]
pub(super) struct Denied(HashSet<(u64, u64)>);

impl Denied {
    pub fn add(&mut self, place: &Path) -> Result<(), Errno> {
        let stat = rustix::fs::stat(place)?;
        self.0.insert(identity(&stat));
        Ok(())
    }

    pub fn check(&self, path: &RelPath, found: impl AsFd) -> Result<(), PathGateError> {
        if self.0.is_empty() {
            return Ok(());
        }
        let stat = rustix::fs::fstat(found).map_err(|e| io(path, e))?;
        if self.0.contains(&identity(&stat)) {
            Err(no(path, "it lies in a folder that is not to be touched"))
        } else {
            Ok(())
        }
    }
}

// The types of these fields differ between platforms.
#[allow(clippy::unnecessary_cast)]
fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// A regular file with one name.
pub(super) fn file(root: &OwnedFd, path: &RelPath, denied: &Denied) -> Result<Option<File>, PathGateError> {
    let found = match beneath(root, path.as_str(), READING, BENEATH) {
        Ok(found) => found,
        Err(Errno::NOENT) => return absent(root, path),
        Err(error) => return Err(refused(path, error)),
    };
    regular(path, &found)?;
    if !denied.0.is_empty() {
        undenied(root, path, &found, denied)?;
    }
    Ok(Some(File::from(found)))
}

/// The same, strictly by this name in an open folder. A missing file is one that changed.
pub(super) fn named(folder: &OwnedFd, path: &RelPath, name: &str) -> Result<File, PathGateError> {
    let found = beneath(folder, name, READING | OFlags::NOFOLLOW, STRICT).map_err(|error| match error {
        Errno::NOENT => PathGateError::Changed { path: path.clone() },
        other => refused(path, other),
    })?;
    regular(path, &found)?;
    Ok(File::from(found))
}

/// `openat2` says "again" when something is renamed meanwhile, because it cannot be sure then.
pub(super) fn beneath(root: &OwnedFd, path: &str, flags: OFlags, how: ResolveFlags) -> Result<OwnedFd, Errno> {
    for _ in 0..16 {
        match rustix::fs::openat2(root, path, flags, Mode::empty(), how) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

/// Nothing there, or a link to nothing? The second is a refusal.
fn absent(root: &OwnedFd, path: &RelPath) -> Result<Option<File>, PathGateError> {
    match beneath(root, path.as_str(), LOOKING, BENEATH) {
        Err(Errno::NOENT) => Ok(None),
        Ok(_) => Err(no(path, "it is a link to nothing")),
        Err(error) => Err(refused(path, error)),
    }
}

fn regular(path: &RelPath, found: &OwnedFd) -> Result<(), PathGateError> {
    let stat = rustix::fs::fstat(found).map_err(|e| io(path, e))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(no(path, "it is no regular file"));
    }
    // The other name may lie anywhere, in a folder of keys too.
    if stat.st_nlink != 1 { Err(no(path, "it has a second name (a hard link)")) } else { Ok(()) }
}

/// Walks to the file again by its real place, link-free, and looks at every folder on the way.
fn undenied(root: &OwnedFd, path: &RelPath, found: &OwnedFd, denied: &Denied) -> Result<(), PathGateError> {
    denied.check(path, found)?;
    let (top, real) = (place_of(path, root)?, place_of(path, found)?);
    let inside = real.strip_prefix(&top).map_err(|_| no(path, "it leads out of the project"))?;
    let mut at = rustix::io::fcntl_dupfd_cloexec(root, 0).map_err(|e| io(path, e))?;
    for part in inside.components() {
        let Component::Normal(name) = part else { return Err(no(path, "its real place is unclear")) };
        let next = rustix::fs::openat(&at, name, LOOKING, Mode::empty()).map_err(|e| refused(path, e))?;
        denied.check(path, &next)?;
        at = next;
    }
    let walked = rustix::fs::fstat(&at).map_err(|e| io(path, e))?;
    let opened = rustix::fs::fstat(found).map_err(|e| io(path, e))?;
    if identity(&walked) == identity(&opened) { Ok(()) } else { Err(no(path, "its real place is unclear")) }
}

fn place_of(path: &RelPath, open: &OwnedFd) -> Result<PathBuf, PathGateError> {
    let link = format!("/proc/self/fd/{}", open.as_raw_fd());
    let place = rustix::fs::readlink(link, Vec::new()).map_err(|e| io(path, e))?;
    Ok(PathBuf::from(OsStr::from_bytes(place.as_bytes())))
}

/// The folder of a path; made level by level when `made` is given, each level opened again without following links.
/// What was made is noted there: (the folder above, the name).
pub(super) fn folder(
    root: &OwnedFd,
    path: &RelPath,
    denied: &Denied,
    mut made: Option<&mut Vec<(OwnedFd, String)>>,
) -> Result<OwnedFd, PathGateError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = rustix::io::fcntl_dupfd_cloexec(root, 0).map_err(|e| io(path, e))?;
    for part in path.parent().split('/').filter(|part| !part.is_empty()) {
        let next = match (beneath(&at, part, flags, STRICT), made.as_deref_mut()) {
            (Err(Errno::NOENT), Some(made)) => {
                match rustix::fs::mkdirat(&at, part, Mode::from_raw_mode(0o777)) {
                    Ok(()) => {
                        made.push((rustix::io::fcntl_dupfd_cloexec(&at, 0).map_err(|e| io(path, e))?, part.to_owned()))
                    }
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(io(path, error)),
                }
                rustix::fs::fsync(&at).map_err(|e| io(path, e))?;
                beneath(&at, part, flags, STRICT)
            }
            (Err(Errno::NOENT), None) => return Err(PathGateError::Changed { path: path.clone() }),
            (other, _) => other,
        };
        at = next.map_err(|error| refused(path, error))?;
        denied.check(path, &at)?;
    }
    Ok(at)
}

/// Removes folders that were made for nothing; one that is no longer empty is someone else's by now.
pub(super) fn unmake(made: &[(OwnedFd, String)]) {
    for (above, name) in made.iter().rev() {
        rustix::fs::unlinkat(above, name.as_str(), AtFlags::REMOVEDIR).ok();
    }
}

pub(super) fn io(path: &RelPath, error: Errno) -> PathGateError {
    PathGateError::Io { path: path.to_string(), source: error.into() }
}

fn no(path: &RelPath, reason: &str) -> PathGateError {
    PathGateError::Refused { path: path.clone(), reason: reason.to_owned() }
}

pub(super) fn refused(path: &RelPath, error: Errno) -> PathGateError {
    match error {
        Errno::LOOP => no(path, "it is a link, or leads through one"),
        Errno::XDEV => no(path, "it leads out of the project"),
        Errno::NOTDIR => no(path, "a part of it is no folder"),
        Errno::ACCESS | Errno::PERM => no(path, "it may not be opened"),
        other => io(path, other),
    }
}
