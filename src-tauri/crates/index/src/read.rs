//! Opening a file of the project, and nothing but the project: a link that leads outside is refused by the kernel where it
//! can, else by comparing the resolved path.

use crate::walk::Stamp;
use starling_core::RelPath;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Larger files are in the list of files and can be read, but have no words and no symbols.
pub const MAX_BYTES: u64 = 1024 * 1024;
/// More is no text that anyone reads.
const MAX_TEXT: u64 = 16 * 1024 * 1024;

/// The folder of a project, canonical.
#[derive(Debug)]
pub(crate) struct Root {
    pub path: PathBuf,
    #[cfg(target_os = "linux")]
    folder: File,
}

impl Root {
    pub(crate) fn open(project: &Path) -> io::Result<Root> {
        let path = project.canonicalize()?;
        if !path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        #[cfg(target_os = "linux")]
        let folder = File::open(&path)?;
        Ok(Root {
            path,
            #[cfg(target_os = "linux")]
            folder,
        })
    }

    /// The bytes of a regular file of at most 16 MB, with the stamp it had when it was opened.
    pub(crate) fn bytes(&self, path: &RelPath) -> io::Result<(Vec<u8>, Stamp)> {
        let file = self.file(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        if metadata.len() > MAX_TEXT {
            return Err(io::Error::other("it is larger than 16 MB"));
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        file.take(MAX_TEXT).read_to_end(&mut bytes)?;
        Ok((bytes, Stamp::of(&metadata)))
    }

    /// Without following a link, so that a link is a change like any other.
    pub(crate) fn stamp(&self, path: &RelPath) -> Option<Stamp> {
        let metadata = self.path.join(path.as_str()).symlink_metadata().ok()?;
        metadata.is_file().then(|| Stamp::of(&metadata))
    }

    #[cfg(target_os = "linux")]
    fn file(&self, path: &RelPath) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        // Not blocking: opening a pipe without a writer would wait for one.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.folder, path.as_str(), flags, Mode::empty(), resolve) {
            Ok(file) => Ok(File::from(file)),
            // Kernels before 5.6, and sandboxes that do not know the call.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => self.resolved(path),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn file(&self, path: &RelPath) -> io::Result<File> {
        self.resolved(path)
    }

    fn resolved(&self, path: &RelPath) -> io::Result<File> {
        let real = self.path.join(path.as_str()).canonicalize()?;
        if !real.starts_with(&self.path) {
            return Err(io::Error::other("it lies outside the project"));
        }
        if !real.metadata()?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        File::open(real)
    }
}

/// Programs, pictures, UTF-16: nothing to search in.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(8 * 1024).any(|byte| *byte == 0)
}
