//! Reading and writing in folders that a command in the sandbox may fill. It can leave a link or a pipe where a file is
//! expected, and the host, which is not in the sandbox, must neither follow it nor wait for it.
//!
//! Deliberately absent: the rules for names of `paths`. Nothing that is read or written here lands in the user's tree.

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const READING: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);
const WRITING: OFlags =
    OFlags::WRONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::CREATE).union(OFlags::EXCL);

/// A file that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copied {
    pub bytes: Vec<u8>,
    /// Who may read, write and run it; never setuid or setgid.
    pub mode: Mode,
}

/// The mode of a file that nobody runs.
pub(super) const PLAIN: Mode = Mode::from_raw_mode(0o644);

/// The bytes of the regular file `below` in `root`, if there are at most `max`.
pub(super) fn read(root: &Path, below: &Path, max: u64) -> Result<Vec<u8>> {
    read_with_mode(root, below, max).map(|copied| copied.bytes)
}

/// The same, with its mode.
pub(super) fn read_with_mode(root: &Path, below: &Path, max: u64) -> Result<Copied> {
    let folder = walk(root, below.parent(), false)?;
    let file = File::from(rustix::fs::openat(&folder, name(below)?, READING, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(Error::other("it is no regular file"));
    }
    // The owner's own rights are kept whatever the file says, so that the host can read and replace what it wrote.
    let mode = Mode::from_raw_mode(metadata.permissions().mode() & 0o777 | 0o600);
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max { Err(ErrorKind::FileTooLarge.into()) } else { Ok(Copied { bytes, mode }) }
}

/// Puts a new file `below` in `root`, instead of whatever has that name; only a folder is not replaced.
pub(super) fn write(root: &Path, below: &Path, bytes: &[u8], mode: Mode) -> Result<()> {
    let folder = walk(root, below.parent(), true)?;
    let name = name(below)?;
    match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let file = rustix::fs::openat(&folder, name, WRITING, mode)?;
    // Whatever the process's own mask is: a copy that differs is copied again, and what was built of it is lost.
    rustix::fs::fchmod(&file, mode)?;
    File::from(file).write_all(bytes)
}

/// Makes the folder `below` in `root` with all above it.
pub(super) fn make(root: &Path, below: &Path) -> Result<()> {
    walk(root, Some(below), true).map(drop)
}

/// Level by level; no level may be a link. `root` itself cannot be replaced from inside: it is what is mounted there.
fn walk(root: &Path, below: Option<&Path>, making: bool) -> Result<OwnedFd> {
    let mut at = rustix::fs::open(root, FOLDER, Mode::empty())?;
    for part in below.into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else { return Err(ErrorKind::InvalidInput.into()) };
        if making {
            match rustix::fs::mkdirat(&at, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        at = rustix::fs::openat(&at, part, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(at)
}

fn name(below: &Path) -> Result<&std::ffi::OsStr> {
    below.file_name().ok_or_else(|| ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_pipes_are_neither_followed_nor_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        std::fs::create_dir(&root).expect("made");
        std::fs::create_dir(&outside).expect("made");
        std::fs::write(outside.join("f"), "mine").expect("written");
        symlink(outside.join("f"), root.join("link")).expect("linked");
        symlink(&outside, root.join("way")).expect("linked");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("pipe"),
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .expect("made");
        for path in ["link", "way/f", "pipe", "gone", "", "../outside/f"] {
            assert!(read(&root, Path::new(path), 100).is_err(), "{path}");
        }
        assert!(write(&root, Path::new("way/f"), b"new", PLAIN).is_err());
        assert!(make(&root, Path::new("way/new")).is_err() && !outside.join("new").exists());
        for path in ["link", "pipe", "a/b/c"] {
            write(&root, Path::new(path), b"new", PLAIN).expect("written");
            assert_eq!(read(&root, Path::new(path), 3).expect("read"), b"new", "{path}");
            assert!(read(&root, Path::new(path), 2).is_err(), "longer than allowed");
            let copied = read_with_mode(&root, Path::new(path), 3).expect("read");
            write(&root, Path::new(path), b"new", Mode::from_raw_mode(0o777)).expect("written");
            let changed = read_with_mode(&root, Path::new(path), 3).expect("read");
            assert_eq!((copied.mode, changed.mode), (PLAIN, Mode::from_raw_mode(0o777)));
        }
        assert_eq!(std::fs::read(outside.join("f")).expect("there"), b"mine");
    }
}
