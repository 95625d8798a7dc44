//! Kept beginnings on disk: one file llama.cpp writes, and beside it a note of what is in it. The note is written last, so
//! a beginning without one was never finished.
//!
//! Nothing is loaded that is not byte for byte what was written, for exactly this model, this layout of the memory and this
//! version of the engine: llama.cpp compares little more than sizes. Files hold the user's code in another form, so only
//! the user can read them.
#![forbid(unsafe_code)]

use crate::opened::same_file;
use crate::sample::Token;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Larger notes are no notes.
const LARGEST_NOTE: u64 = 4 * 1024 * 1024;
/// Notes read at a start; more are not looked at.
const MOST_NOTES: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    key: String,
    tokens: Vec<Token>,
    bytes: u64,
    sha256: String,
}

/// The folder of one model's beginnings.
pub struct Disk {
    folder: PathBuf,
    key: String,
    /// Bytes of all models' beginnings together.
    quota: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Refused(&'static str),
}

impl Disk {
    /// `key`: everything that decides whether a state can be read back. `root` holds a folder for each key.
    pub fn open(root: &Path, key: &str, quota: u64) -> io::Result<Disk> {
        let folder = root.join(name_of(key.as_bytes()));
        fs::create_dir_all(&folder)?;
        private(root, 0o700)?;
        private(&folder, 0o700)?;
        Ok(Disk { folder, key: key.to_owned(), quota })
    }

    /// What is there, by its tokens, used last first. Whatever cannot be read is removed.
    pub fn known(&self) -> Vec<Vec<Token>> {
        let mut notes: Vec<(SystemTime, PathBuf)> = notes_in(&self.folder);
        notes.sort_by(|a, b| b.cmp(a));
        let mut found = Vec::new();
        for (_, path) in notes.into_iter().take(MOST_NOTES) {
            match read_note(&path).filter(|note| note.key == self.key && self.note_of(&note.tokens) == path) {
                Some(note) => found.push(note.tokens),
                None => remove(&path),
            }
        }
        found
    }

    /// Lets `save` write a new file, then notes what is in it. Old beginnings go when the quota is passed.
    pub fn write<E: From<io::Error>>(
        &self,
        tokens: &[Token],
        save: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let note = self.note_of(tokens);
        let state = state_of(&note);
        let unfinished = state.with_extension(format!("new-{}", std::process::id()));
        let written = save(&unfinished).and_then(|()| Ok(sum(&File::open(&unfinished)?)?));
        let (bytes, sha256) = written.inspect_err(|_| drop(fs::remove_file(&unfinished)))?;
        private(&unfinished, 0o600)?;
        fs::rename(&unfinished, &state)?;
        let body = Note { key: self.key.clone(), tokens: tokens.to_vec(), bytes, sha256 };
        let text = serde_json::to_vec(&body).map_err(io::Error::other)?;
        let draft = note.with_extension(format!("new-{}", std::process::id()));
        fs::write(&draft, text)?;
        private(&draft, 0o600)?;
        fs::rename(&draft, &note)?;
        self.keep_quota(&note);
        Ok(())
    }

    /// Gives the file of these tokens to `load`, when it is what was written; else removes it.
    pub fn read<E: From<DiskError>>(
        &self,
        tokens: &[Token],
        load: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = self.note_of(tokens);
        let result = self.checked(&path, tokens).map_err(E::from).and_then(|(open, state)| {
            let result = load(&same_file(&open, &state));
            drop(open);
            result
        });
        match &result {
            // Used now: the last to be removed.
            Ok(()) => drop(File::options().append(true).open(&path).and_then(|f| f.set_modified(SystemTime::now()))),
            Err(_) => remove(&path),
        }
        result
    }

    fn checked(&self, path: &Path, tokens: &[Token]) -> Result<(File, PathBuf), DiskError> {
        let note = read_note(path).ok_or(DiskError::Refused("there is no note of it"))?;
        if note.key != self.key {
            return Err(DiskError::Refused("it was made by another model or engine"));
        }
        if note.tokens != tokens {
            return Err(DiskError::Refused("it is the beginning of another prompt"));
        }
        let state = state_of(path);
        let open = File::open(&state)?;
        if open.metadata()?.len() != note.bytes || sum(&open)?.1 != note.sha256 {
            return Err(DiskError::Refused("it is not what was written"));
        }
        Ok((open, state))
    }

    fn note_of(&self, tokens: &[Token]) -> PathBuf {
        let bytes: Vec<u8> = tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
        self.folder.join(format!("{}.json", name_of(&bytes)))
    }

    /// Removes what was used longest ago, of any model, until the rest fits; never `newest`.
    fn keep_quota(&self, newest: &Path) {
        let root = self.folder.parent().unwrap_or(&self.folder);
        let folders = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut notes: Vec<(SystemTime, PathBuf)> = folders.flat_map(|folder| notes_in(&folder)).collect();
        notes.sort_by(|a, b| b.cmp(a));
        let mut total = 0;
        for (_, note) in notes {
            total += fs::metadata(state_of(&note)).map_or(0, |meta| meta.len());
            if total > self.quota && note != newest {
                remove(&note);
            }
        }
    }
}

fn notes_in(folder: &Path) -> Vec<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let note = |entry: fs::DirEntry| {
        let path = entry.path();
        let is_note = path.extension().is_some_and(|ext| ext == "json");
        let used = entry.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        is_note.then_some((used, path))
    };
    entries.filter_map(note).collect()
}

fn read_note(path: &Path) -> Option<Note> {
    let mut text = Vec::new();
    let file = File::open(path).ok()?;
    file.take(LARGEST_NOTE + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= LARGEST_NOTE).then(|| serde_json::from_slice(&text).ok()).flatten()
}

fn state_of(note: &Path) -> PathBuf {
    note.with_extension("state")
}

fn remove(note: &Path) {
    // The note first: a state without one is never read.
    for path in [note.to_owned(), state_of(note)] {
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!("a kept beginning could not be removed: {error}");
        }
    }
}

/// Length and SHA-256 of a file.
fn sum(file: &File) -> io::Result<(u64, String)> {
    let (mut file, mut hasher, mut bytes) = (file, Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer)?;
        let Some(piece @ [_, ..]) = buffer.get(..read) else { return Ok((bytes, hex(&hasher.finalize()))) };
        hasher.update(piece);
        bytes += read as u64;
    }
}

fn name_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)).chars().take(32).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(unix)]
fn private(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn private(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(root: &Path, key: &str, quota: u64) -> Disk {
        Disk::open(root, key, quota).unwrap()
    }

    fn put(disk: &Disk, tokens: &[Token], body: &[u8]) {
        disk.write(tokens, |path| fs::write(path, body)).unwrap();
    }

    fn get(disk: &Disk, tokens: &[Token]) -> Result<Vec<u8>, String> {
        let mut read = Vec::new();
        let loaded = disk.read(tokens, |path| {
            read = fs::read(path)?;
            Ok::<(), DiskError>(())
        });
        loaded.map(|()| read).map_err(|error| error.to_string())
    }

    fn files(root: &Path) -> usize {
        fs::read_dir(root).unwrap().flatten().map(|folder| fs::read_dir(folder.path()).unwrap().count()).sum()
    }

    #[test]
    fn reads_back_what_was_written_by_the_same_model_only() {
        let root = tempfile::tempdir().unwrap();
        let one = disk(root.path(), "model a, f16", 1_000);
        put(&one, &[1, 2, 3], b"state");
        assert_eq!(get(&one, &[1, 2, 3]), Ok(b"state".to_vec()));
        assert_eq!(one.known(), [vec![1, 2, 3]]);
        for other in ["model b, f16", "model a, q8_0", "model a, f16, version 2"] {
            let other = disk(root.path(), other, 1_000);
            assert_eq!(other.known(), Vec::<Vec<Token>>::new());
            assert_eq!(get(&other, &[1, 2, 3]), Err("there is no note of it".into()));
        }
        // Even when its files are moved under the other's name.
        let two = disk(root.path(), "model b, f16", 1_000);
        for entry in fs::read_dir(&one.folder).unwrap().flatten() {
            fs::copy(entry.path(), two.folder.join(entry.file_name())).unwrap();
        }
        assert_eq!(get(&two, &[1, 2, 3]), Err("it was made by another model or engine".into()));
        assert_eq!(two.known(), Vec::<Vec<Token>>::new());
        assert_eq!(fs::read_dir(&two.folder).unwrap().count(), 0, "what is refused is removed");
        assert_eq!(get(&one, &[1, 2, 3]), Ok(b"state".to_vec()));
    }

    #[test]
    fn a_damaged_file_is_dropped_and_can_be_written_anew() {
        let root = tempfile::tempdir().unwrap();
        let disk = disk(root.path(), "m", 1_000);
        type Damage = fn(&Path);
        let damages: [Damage; 5] = [
            |note| fs::write(state_of(note), b"stats").unwrap(),
            |note| fs::write(state_of(note), b"stat").unwrap(),
            |note| fs::remove_file(state_of(note)).unwrap(),
            |note| fs::write(note, b"{").unwrap(),
            |note| fs::write(note, fs::read_to_string(note).unwrap().replace("[7]", "[8]")).unwrap(),
        ];
        for damage in damages {
            put(&disk, &[7], b"state");
            damage(&disk.note_of(&[7]));
            assert!(get(&disk, &[7]).is_err());
            assert_eq!(files(root.path()), 0);
            put(&disk, &[7], b"state");
            assert_eq!(get(&disk, &[7]), Ok(b"state".to_vec()));
        }
        // A write that fails leaves nothing.
        disk.write(&[9], |_| Err(io::Error::other("no room"))).unwrap_err();
        assert_eq!(disk.known(), [vec![7]]);
    }

    #[test]
    fn the_quota_takes_what_was_used_longest_ago() {
        let root = tempfile::tempdir().unwrap();
        let (one, two) = (disk(root.path(), "one", 25), disk(root.path(), "two", 25));
        let wait = || std::thread::sleep(std::time::Duration::from_millis(20));
        put(&one, &[1], &[0; 10]);
        wait();
        put(&two, &[2], &[0; 10]);
        wait();
        get(&one, &[1]).unwrap();
        wait();
        put(&one, &[3], &[0; 10]);
        assert_eq!((one.known(), two.known().len()), (vec![vec![3], vec![1]], 0));
        put(&one, &[4], &[0; 100]);
        assert_eq!(one.known(), [vec![4]], "the newest stays even when it is too large");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let disk = disk(root.path(), "m", 1_000);
        put(&disk, &[1], b"state");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&disk.folder), 0o700);
        assert!(fs::read_dir(&disk.folder).unwrap().flatten().all(|entry| mode(&entry.path()) == 0o600));
    }
}
