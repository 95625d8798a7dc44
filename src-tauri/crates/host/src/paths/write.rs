//! Writing beneath an open folder: a new file beside the old one, then an exchange that is undone when the old one is not
//! what was expected. At no moment does half a file bear the name.

use super::{PathGateError, read_regular, refused};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags};
use starling_core::RelPath;
use std::io::Write;
use std::os::fd::OwnedFd;

const STRICT: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV)
    .union(ResolveFlags::NO_SYMLINKS);

pub(super) fn write(
    root: &OwnedFd,
    path: &RelPath,
    expected: Option<&[u8]>,
    bytes: &[u8],
) -> Result<(), PathGateError> {
    let io = |error: rustix::io::Errno| PathGateError::Io { path: path.to_string(), source: error.into() };
    let folder = folder(root, path, expected.is_none())?;
    let name = path.file_name();
    let mode = match expected {
        None => Mode::from_raw_mode(0o644),
        Some(_) => mode_of(&folder, path)?,
    };
    let temporary = format!(".starling-{}.new", uuid::Uuid::now_v7());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, &temporary, flags, Mode::from_raw_mode(0o600)).map_err(io)?;
    let placed = fill(path, file, bytes, mode).and_then(|()| place(&folder, path, &temporary, name, expected));
    if placed.is_err() {
        // The old file bears its name again; the temporary one is ours.
        rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty()).ok();
    }
    placed?;
    rustix::fs::fsync(&folder).map_err(io)?;
    let back = open(&folder, path, name)?;
    let written = read_regular(path, back, bytes.len() as u64)?;
    if written == bytes { Ok(()) } else { Err(PathGateError::Changed { path: path.clone() }) }
}

fn fill(path: &RelPath, file: OwnedFd, bytes: &[u8], mode: Mode) -> Result<(), PathGateError> {
    let io = |source: std::io::Error| PathGateError::Io { path: path.to_string(), source };
    rustix::fs::fchmod(&file, mode).map_err(|e| io(e.into()))?;
    let mut file = std::fs::File::from(file);
    file.write_all(bytes).map_err(io)?;
    file.sync_all().map_err(io)
}

fn place(
    folder: &OwnedFd,
    path: &RelPath,
    temporary: &str,
    name: &str,
    expected: Option<&[u8]>,
) -> Result<(), PathGateError> {
    let io = |error: rustix::io::Errno| PathGateError::Io { path: path.to_string(), source: error.into() };
    let Some(expected) = expected else {
        return match rustix::fs::renameat_with(folder, temporary, folder, name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::EXIST) => Err(PathGateError::Changed { path: path.clone() }),
            Err(error) => Err(io(error)),
        };
    };
    let exchange = || rustix::fs::renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE).map_err(io);
    exchange()?;
    let old = open(folder, path, temporary).and_then(|file| read_regular(path, file, expected.len() as u64));
    match old {
        Ok(old) if old == expected => rustix::fs::unlinkat(folder, temporary, AtFlags::empty()).map_err(io),
        Ok(_) | Err(PathGateError::TooLarge { .. }) => {
            exchange()?;
            Err(PathGateError::Changed { path: path.clone() })
        }
        Err(error) => {
            exchange()?;
            Err(error)
        }
    }
}

pub(super) fn remove(root: &OwnedFd, path: &RelPath, expected: &[u8]) -> Result<(), PathGateError> {
    let folder = folder(root, path, false)?;
    let found = open(&folder, path, path.file_name()).and_then(|file| read_regular(path, file, expected.len() as u64));
    match found {
        Ok(bytes) if bytes == expected => {}
        Ok(_) | Err(PathGateError::TooLarge { .. }) => return Err(PathGateError::Changed { path: path.clone() }),
        Err(error) => return Err(error),
    }
    rustix::fs::unlinkat(&folder, path.file_name(), AtFlags::empty())
        .map_err(|e| PathGateError::Io { path: path.to_string(), source: e.into() })
}

/// The folder of a path; made level by level when `make` says so, each level opened again without following links.
fn folder(root: &OwnedFd, path: &RelPath, make: bool) -> Result<OwnedFd, PathGateError> {
    let io = |error: rustix::io::Errno| PathGateError::Io { path: path.to_string(), source: error.into() };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = rustix::io::fcntl_dupfd_cloexec(root, 0).map_err(io)?;
    for part in path.parent().split('/').filter(|part| !part.is_empty()) {
        let next = match rustix::fs::openat2(&at, part, flags, Mode::empty(), STRICT) {
            Err(rustix::io::Errno::NOENT) if make => {
                match rustix::fs::mkdirat(&at, part, Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => return Err(io(error)),
                }
                rustix::fs::openat2(&at, part, flags, Mode::empty(), STRICT)
            }
            other => other,
        };
        at = next.map_err(|error| refused(path, error))?;
    }
    Ok(at)
}

fn open(folder: &OwnedFd, path: &RelPath, name: &str) -> Result<OwnedFd, PathGateError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat2(folder, name, flags, Mode::empty(), STRICT).map_err(|error| match error {
        rustix::io::Errno::NOENT => PathGateError::Changed { path: path.clone() },
        other => refused(path, other),
    })
}

/// The mode of the old file without set-id bits. A file with a second name is refused: the other name may lie anywhere.
fn mode_of(folder: &OwnedFd, path: &RelPath) -> Result<Mode, PathGateError> {
    let file = open(folder, path, path.file_name())?;
    let stat = rustix::fs::fstat(&file).map_err(|e| PathGateError::Io { path: path.to_string(), source: e.into() })?;
    if stat.st_nlink != 1 {
        return Err(PathGateError::Refused {
            path: path.clone(),
            reason: "it has a second name (a hard link)".to_owned(),
        });
    }
    Ok(Mode::from_raw_mode(stat.st_mode & 0o777))
}
