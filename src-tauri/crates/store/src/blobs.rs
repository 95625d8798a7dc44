//! Large bodies, each in a file named by its sha256. Written before the row that names it, so a row never points to nothing.

use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Two threads may write the same blob at a time, each into its own temporary file.
static NUMBER: AtomicU64 = AtomicU64::new(0);

fn place(folder: &Path, sha: &str) -> PathBuf {
    folder.join(sha.get(..2).unwrap_or("00")).join(sha)
}

pub(crate) fn write(folder: &Path, bytes: &[u8]) -> io::Result<String> {
    let sha: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let target = place(folder, &sha);
    if target.is_file() {
        return Ok(sha);
    }
    let parent = target.parent().unwrap_or(folder);
    if !parent.is_dir() {
        fs::create_dir_all(parent)?;
        // The folder's own name must be durable too.
        File::open(folder)?.sync_all()?;
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = parent.join(format!("{sha}.{}-{number}.new", std::process::id()));
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, &target)?;
    File::open(parent)?.sync_all()?;
    Ok(sha)
}

pub(crate) fn read(folder: &Path, sha: &str) -> io::Result<String> {
    let text = fs::read_to_string(place(folder, sha))?;
    let found: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    if found == sha { Ok(text) } else { Err(io::Error::other(format!("the blob {sha} was changed"))) }
}
