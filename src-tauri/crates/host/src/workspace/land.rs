//! Landing: the accepted hunks, into the user's files, if every one of them is still as the task found it.
//!
//! What is going to be written is noted beside the stage first. After a kill the same landing can be asked for again: files
//! that already hold the new bytes count as done, files that hold the old ones are written, anything else stops it.

use super::hunks::{ByteHunk, FileHunks, files};
use super::ledger::{read_json, write_json};
use super::{MAX_FILE, Stage, gate};
use crate::paths::{Root, Write, temporary_name};
use serde_json::{Value, json};
use starling_core::RelPath;
use starling_core::change::{ByteProof, fingerprint};
use starling_core::port::WorkspaceError;

struct Landing<'a> {
    file: &'a FileHunks,
    chosen: Vec<&'a ByteHunk>,
    new: Vec<u8>,
    temporary: String,
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
    let landings: Vec<Landing<'_>> = files.iter().filter_map(|file| landing(file, wanted)).collect();
    let note = stage.home.join("landing.json");
    let resumed = resume(user, &landings, read_json(&note)?.unwrap_or_default())?;
    let mut writes = Vec::new();
    for landing in &landings {
        let (path, old) = (&landing.file.path, &landing.file.old);
        let now = user.read(path, MAX_FILE).map_err(gate)?;
        if now == *old {
            let temporary = landing.temporary.as_str();
            writes.push(Write { path, expected: old.as_deref(), bytes: &landing.new, temporary });
        } else if !resumed || now.as_ref() != Some(&landing.new) {
            return Err(WorkspaceError::NotClean { path: path.to_string() });
        }
    }
    if !resumed || !writes.is_empty() {
        write_json(&note, &noted(&landings))?;
    }
    user.write_all(&writes).map_err(gate)?;
    prove(user, &landings)
}

fn landing<'a>(file: &'a FileHunks, wanted: &[u32]) -> Option<Landing<'a>> {
    let chosen: Vec<&ByteHunk> = file.hunks.iter().filter(|hunk| wanted.contains(&hunk.shown.index)).collect();
    let new = splice(file, &chosen);
    (!chosen.is_empty()).then(|| Landing { file, chosen, new, temporary: temporary_name() })
}

fn noted(landings: &[Landing<'_>]) -> Value {
    let rows = landings.iter().map(|landing| {
        let Landing { file, new, temporary, .. } = landing;
        (file.path.to_string(), json!({ "new": fingerprint(new), "temporary": temporary }))
    });
    Value::Object(rows.collect())
}

/// Whether this very landing was begun before. What an interrupted write left beside the files is removed.
fn resume(user: &Root, landings: &[Landing<'_>], note: Value) -> Result<bool, WorkspaceError> {
    let same = note.as_object().is_some_and(|rows| rows.len() == landings.len())
        && landings.iter().all(|landing| note[landing.file.path.as_str()]["new"] == json!(fingerprint(&landing.new)));
    for (path, row) in note.as_object().into_iter().flatten() {
        let (Ok(path), Some(temporary)) = (RelPath::new(path.clone()), row["temporary"].as_str()) else { continue };
        if let Some(landing) = landings.iter().find(|landing| landing.file.path == path) {
            let known = [landing.new.as_slice(), landing.file.old.as_deref().unwrap_or(&[])];
            user.clear(&path, temporary, &known).map_err(gate)?;
        }
    }
    Ok(same && !landings.is_empty())
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
fn prove(user: &Root, landings: &[Landing<'_>]) -> Result<ByteProof, WorkspaceError> {
    let mut outside = true;
    let mut encoding = true;
    for landing in landings {
        let now = user.read(&landing.file.path, MAX_FILE).map_err(gate)?.unwrap_or_default();
        let old = landing.file.old.as_deref();
        outside &= outside_of(&now, old.unwrap_or(&[]), &landing.chosen);
        encoding &= old.is_none_or(|old| same_encoding(old, &now));
    }
    Ok(ByteProof { files: landings.len() as u32, outside_identical: outside, encoding_kept: encoding })
}

fn outside_of(now: &[u8], old: &[u8], chosen: &[&ByteHunk]) -> bool {
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
    let mark = |bytes: &[u8]| {
        let marks: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF"];
        marks.into_iter().find(|mark| bytes.starts_with(mark))
    };
    let ends = |bytes: &[u8]| {
        let crlf = bytes.windows(2).any(|pair| pair == b"\r\n");
        let lf = bytes.iter().enumerate().any(|(at, b)| *b == b'\n' && (at == 0 || bytes.get(at - 1) != Some(&b'\r')));
        (crlf, lf)
    };
    let (old_ends, new_ends) = (ends(old), ends(new));
    let no_new_kind = (!new_ends.0 || old_ends.0 || !old_ends.1) && (!new_ends.1 || old_ends.1 || !old_ends.0);
    mark(old) == mark(new) && std::str::from_utf8(old).is_ok() == std::str::from_utf8(new).is_ok() && no_new_kind
}
