//! The part file: what was fetched so far, its running sha256, and a note beside it that says where it came from. It gets
//! the model's name only when size and sum fit.

use super::DownloadError;
use super::pull::Puller;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

pub(super) const BLOCK: usize = 256 * 1024;

pub(super) fn io(path: &Path) -> impl Fn(std::io::Error) -> DownloadError {
    let path = path.to_owned();
    move |error| DownloadError::Io { path: path.clone(), message: error.to_string() }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Wheels,
    Hub,
}

impl Kind {
    /// The part and its note.
    fn files(self, target: &Path) -> (PathBuf, PathBuf) {
        let name = match self {
            Kind::Wheels => "wheels",
            Kind::Hub => "hub",
        };
        (target.with_extension(format!("gguf.{name}.part")), target.with_extension(format!("gguf.{name}.note")))
    }
}

pub(super) struct Part {
    target: PathBuf,
    path: PathBuf,
    note: PathBuf,
    origin: String,
    file: File,
    hasher: Sha256,
    length: u64,
    pieces: usize,
}

impl Part {
    /// Goes on with what is there if it came from the same place; starts anew otherwise. Each kind of source has its own
    /// file, so that trying the next one does not throw away what came from the first.
    pub fn open(target: &Path, kind: Kind, origin: &str) -> Result<Part, DownloadError> {
        let (path, note) = kind.files(target);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(io(folder))?;
        }
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io(&path))?;
        let found = file.metadata().map_err(io(&path))?.len();
        let (pieces, length) = match read_note(&note, origin) {
            // Without a noted length, everything that is there counts.
            Some((pieces, None)) => (pieces, found),
            Some((pieces, Some(noted))) if noted <= found => (pieces, noted),
            Some(_) | None => (0, 0),
        };
        file.set_len(length).map_err(io(&path))?;
        let (target, origin) = (target.to_owned(), origin.to_owned());
        let mut part = Part { target, path, note, origin, file, hasher: Sha256::new(), length: 0, pieces };
        part.read_old(length)?;
        Ok(part)
    }

    fn read_old(&mut self, length: u64) -> Result<(), DownloadError> {
        let mut buffer = vec![0; BLOCK];
        while self.length < length {
            let read = self.file.read(&mut buffer).map_err(io(&self.path))?;
            if read == 0 {
                break;
            }
            self.hasher.update(buffer.get(..read).unwrap_or_default());
            self.length += read as u64;
        }
        Ok(())
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// A file of this name beside it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.target.with_file_name(name)
    }

    /// Whole pieces that are in it.
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), DownloadError> {
        self.file.write_all(bytes).map_err(io(&self.path))?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Notes that `pieces` whole pieces are durable; a break after this returns here.
    pub fn note(&mut self, pieces: usize) -> Result<(), DownloadError> {
        self.file.sync_data().map_err(io(&self.path))?;
        self.pieces = pieces;
        write_note(&self.note, &format!("{} {pieces} {}", self.origin, self.length))
    }

    /// Notes only where it comes from: whatever is on disk counts when it goes on.
    pub fn note_origin(&self) -> Result<(), DownloadError> {
        write_note(&self.note, &format!("{} 0 -", self.origin))
    }

    pub fn restart(&mut self) -> Result<(), DownloadError> {
        self.file.set_len(0).map_err(io(&self.path))?;
        self.file.rewind().map_err(io(&self.path))?;
        (self.hasher, self.length, self.pieces) = (Sha256::new(), 0, 0);
        Ok(())
    }

    /// Checks, makes it durable and read-only, and gives it its name. A wrong file is removed: nothing of it is of use.
    pub fn finish(self, bytes: u64, sha256: &str) -> Result<(), DownloadError> {
        let found = hex(self.hasher.finalize().as_slice());
        if self.length != bytes || found != sha256 {
            remove(&self.path)?;
            remove(&self.note)?;
            let message = format!("{} bytes with sha256 {found}, expected {bytes} with {sha256}", self.length);
            return Err(DownloadError::Wrong { message });
        }
        self.file.sync_all().map_err(io(&self.path))?;
        set_read_only(&self.path)?;
        fs::rename(&self.path, &self.target).map_err(io(&self.target))?;
        if let Some(folder) = self.target.parent() {
            sync_folder(folder)?;
        }
        for (part, note) in [Kind::Wheels, Kind::Hub].map(|kind| kind.files(&self.target)) {
            remove(&part)?;
            remove(&note)?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn set_read_only(path: &Path) -> Result<(), DownloadError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o444)).map_err(io(path))
}

#[cfg(not(unix))]
fn set_read_only(path: &Path) -> Result<(), DownloadError> {
    let mut permissions = fs::metadata(path).map_err(io(path))?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions).map_err(io(path))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> Result<(), DownloadError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io(folder))
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> Result<(), DownloadError> {
    Ok(())
}

/// "origin pieces length"; the length is "-" when it is not noted.
fn read_note(note: &Path, origin: &str) -> Option<(usize, Option<u64>)> {
    let text = fs::read_to_string(note).ok()?;
    let mut words = text.trim().rsplitn(3, ' ');
    let (length, pieces, found) = (words.next()?, words.next()?, words.next()?);
    if found != origin {
        return None;
    }
    let length = if length == "-" { None } else { Some(length.parse().ok()?) };
    Some((pieces.parse().ok()?, length))
}

fn write_note(note: &Path, text: &str) -> Result<(), DownloadError> {
    let new = note.with_extension("note.new");
    fs::write(&new, text).and_then(|()| fs::rename(&new, note)).map_err(io(note))
}

pub(super) fn remove(path: &Path) -> Result<(), DownloadError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The finished file is there with this size and sum.
pub(super) fn fits(path: &Path, bytes: u64, sha256: &str, puller: &Puller<'_>) -> Result<bool, DownloadError> {
    if !fs::metadata(path).is_ok_and(|meta| meta.len() == bytes) {
        return Ok(false);
    }
    Ok(sum(path, puller)? == sha256)
}

pub(super) fn sum(path: &Path, puller: &Puller<'_>) -> Result<String, DownloadError> {
    let mut file = File::open(path).map_err(io(path))?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; BLOCK]);
    loop {
        let read = file.read(&mut buffer).map_err(io(path))?;
        if read == 0 {
            return Ok(hex(hasher.finalize().as_slice()));
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
        puller.check()?;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(unix)]
pub(super) fn check_space(target: &Path, need: u64) -> Result<(), DownloadError> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let state = rustix::fs::statvfs(folder).map_err(|error| io(folder)(error.into()))?;
    let (have, need) = (state.f_bavail.saturating_mul(state.f_frsize), need.saturating_add(64 * 1024 * 1024));
    if have < need { Err(DownloadError::Space { need_mb: need >> 20, have_mb: have >> 20 }) } else { Ok(()) }
}

/// Writing reports a full disk there, and the part file is kept.
#[cfg(not(unix))]
pub(super) fn check_space(_target: &Path, _need: u64) -> Result<(), DownloadError> {
    Ok(())
}
