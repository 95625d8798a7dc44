//! Landing: the accepted hunks, into the user's files, if every one of them is still as the task found it.

use super::hunks::{ByteHunk, FileHunks, files};
use super::{MAX_FILE, Stage, gate, put};
use crate::paths::Root;
use starling_core::RelPath;
use starling_core::change::{ByteProof, fingerprint};
use starling_core::port::WorkspaceError;

struct Write {
    path: RelPath,
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

pub(super) fn land(user: &Root, stage: &Stage, wanted: &[u32]) -> Result<ByteProof, WorkspaceError> {
    let files = files(stage)?;
    let known: Vec<u32> = files.iter().flat_map(|f| &f.hunks).map(|h| h.shown.index).collect();
    if let Some(missing) = wanted.iter().find(|index| !known.contains(index)) {
        return Err(WorkspaceError::Refused {
            path: format!("hunk {missing}"),
            reason: "the change has no such hunk".to_owned(),
        });
    }
    let mut writes = Vec::new();
    for file in &files {
        let chosen: Vec<&ByteHunk> = file.hunks.iter().filter(|hunk| wanted.contains(&hunk.shown.index)).collect();
        if chosen.is_empty() {
            continue;
        }
        let now = user.read(&file.path, MAX_FILE).map_err(gate)?;
        if now != file.old {
            return Err(WorkspaceError::NotClean { path: file.path.to_string() });
        }
        let new = splice(file, &chosen);
        writes.push(Write { path: file.path.clone(), old: now, new });
    }
    for (at, write) in writes.iter().enumerate() {
        if let Err(error) = user.write(&write.path, write.old.as_deref(), &write.new) {
            // What was written a moment ago is taken back; each step checks that nobody else wrote meanwhile.
            for done in writes.iter().take(at) {
                put(user, &done.path, Some(&done.new), done.old.as_deref())?;
            }
            return Err(gate(error));
        }
    }
    prove(user, &files, &writes, wanted)
}

fn splice(file: &FileHunks, chosen: &[&ByteHunk]) -> Vec<u8> {
    let old = file.old.as_deref().unwrap_or(&[]);
    let mut new = Vec::with_capacity(old.len());
    let mut at = 0;
    for hunk in chosen {
        let span = hunk.shown.old_span;
        new.extend_from_slice(old.get(at..span.start).unwrap_or_default());
        new.extend_from_slice(&hunk.replacement);
        at = span.end;
    }
    new.extend_from_slice(old.get(at..).unwrap_or_default());
    new
}

/// Reads every file back and compares what lies outside the hunks with the base.
fn prove(user: &Root, files: &[FileHunks], writes: &[Write], wanted: &[u32]) -> Result<ByteProof, WorkspaceError> {
    let mut outside = true;
    let mut encoding = true;
    for write in writes {
        let now = user.read(&write.path, MAX_FILE).map_err(gate)?.unwrap_or_default();
        let Some(file) = files.iter().find(|file| file.path == write.path) else { continue };
        let chosen = file.hunks.iter().filter(|hunk| wanted.contains(&hunk.shown.index));
        outside &= outside_of(&now, write.old.as_deref().unwrap_or(&[]), chosen);
        encoding &= write.old.as_ref().is_none_or(|old| same_encoding(old, &now));
    }
    Ok(ByteProof { files: writes.len() as u32, outside_identical: outside, encoding_kept: encoding })
}

fn outside_of<'a>(now: &[u8], old: &[u8], chosen: impl Iterator<Item = &'a ByteHunk>) -> bool {
    let (mut at_old, mut at_new) = (0, 0);
    for hunk in chosen {
        let span = hunk.shown.old_span;
        let before = old.get(at_old..span.start).unwrap_or_default();
        let same = now.get(at_new..at_new + before.len());
        if same.map(fingerprint) != Some(fingerprint(before)) {
            return false;
        }
        at_new += before.len() + hunk.replacement.len();
        at_old = span.end;
    }
    now.get(at_new..).map(fingerprint) == old.get(at_old..).map(fingerprint)
}

/// Byte order mark, validity as UTF-8, and the kinds of line ends are as before.
fn same_encoding(old: &[u8], new: &[u8]) -> bool {
    let mark = |bytes: &[u8]| bytes.starts_with(b"\xEF\xBB\xBF");
    let ends = |bytes: &[u8]| {
        let crlf = bytes.windows(2).any(|pair| pair == b"\r\n");
        let lf = bytes.iter().enumerate().any(|(at, b)| *b == b'\n' && (at == 0 || bytes.get(at - 1) != Some(&b'\r')));
        (crlf, lf)
    };
    let (old_ends, new_ends) = (ends(old), ends(new));
    let no_new_kind = (!new_ends.0 || old_ends.0 || !old_ends.1) && (!new_ends.1 || old_ends.1 || !old_ends.0);
    mark(old) == mark(new) && std::str::from_utf8(old).is_ok() == std::str::from_utf8(new).is_ok() && no_new_kind
}
