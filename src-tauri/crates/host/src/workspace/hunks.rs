//! The difference between base and kept state, hunk by hunk. Lines are compared as bytes; what is not UTF-8 is shown with
//! replacements and still lands byte for byte, because a hunk carries the range of old bytes it replaces.

use super::Stage;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use starling_core::RelPath;
use starling_core::change::{Hunk, HunkLine, LineMark};
use starling_core::code::Span;
use starling_core::port::WorkspaceError;

const CONTEXT: usize = 3;

/// One file's difference, with what landing needs.
pub(super) struct FileHunks {
    pub path: RelPath,
    pub old: Option<Vec<u8>>,
    pub hunks: Vec<ByteHunk>,
}

/// A hunk and the bytes it puts in place of its span.
pub(super) struct ByteHunk {
    pub shown: Hunk,
    pub replacement: Vec<u8>,
}

pub(super) fn all(stage: &Stage) -> Result<Vec<Hunk>, WorkspaceError> {
    Ok(files(stage)?.into_iter().flat_map(|file| file.hunks).map(|hunk| hunk.shown).collect())
}

pub(super) fn files(stage: &Stage) -> Result<Vec<FileHunks>, WorkspaceError> {
    let mut files = Vec::new();
    let mut index = 0;
    for (path, entry) in stage.ledger.entries() {
        if entry.base == entry.kept {
            continue;
        }
        let (old, new) = (stage.ledger.bytes(&entry.base)?, stage.ledger.bytes(&entry.kept)?);
        let hunks = match (&old, new.as_deref()) {
            (None, Some([])) => vec![empty_file(path, &mut index)],
            (old, new) => of_file(path, old.as_deref(), new.unwrap_or(&[]), &mut index),
        };
        files.push(FileHunks { path: path.clone(), old, hunks });
    }
    Ok(files)
}

/// A new file without a line is a hunk all the same, else nobody could accept it.
fn empty_file(path: &RelPath, index: &mut u32) -> ByteHunk {
    let shown = Hunk {
        index: *index,
        path: path.clone(),
        old_span: Span::new(0, 0),
        old_start: 0,
        old_lines: 0,
        new_start: 0,
        new_lines: 0,
        lines: Vec::new(),
        within: String::new(),
        creates_file: true,
    };
    *index += 1;
    ByteHunk { shown, replacement: Vec::new() }
}

/// Lines with their ends; the ends are part of the line, so that a changed line end is a change.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

fn of_file(path: &RelPath, old: Option<&[u8]>, new: &[u8], index: &mut u32) -> Vec<ByteHunk> {
    let (before, after) = (lines(old.unwrap_or(&[])), lines(new));
    let ops = capture_diff_slices(Algorithm::Myers, &before, &after);
    let groups = similar::group_diff_ops(ops, CONTEXT);
    let starts: Vec<usize> = std::iter::once(0)
        .chain(before.iter().scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        }))
        .collect();
    let byte = |line: usize| starts.get(line).copied().unwrap_or(0);
    let mut hunks = Vec::new();
    for group in groups {
        let changed: Vec<&DiffOp> = group.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).collect();
        let (Some(first), Some(last)) = (changed.first(), changed.last()) else { continue };
        let (old_from, old_to) = (first.old_range().start, last.old_range().end);
        let (new_from, new_to) = (first.new_range().start, last.new_range().end);
        let mut shown = Vec::new();
        for op in &group {
            let mark =
                |mark: LineMark, line: &[u8]| HunkLine { mark, text: String::from_utf8_lossy(line).into_owned() };
            if let DiffOp::Equal { .. } = op {
                shown.extend(
                    before.get(op.old_range()).unwrap_or_default().iter().map(|line| mark(LineMark::Same, line)),
                );
            } else {
                shown.extend(
                    before.get(op.old_range()).unwrap_or_default().iter().map(|line| mark(LineMark::Removed, line)),
                );
                shown.extend(
                    after.get(op.new_range()).unwrap_or_default().iter().map(|line| mark(LineMark::Added, line)),
                );
            }
        }
        let (whole_old, whole_new) = (whole(&group, DiffOp::old_range), whole(&group, DiffOp::new_range));
        hunks.push(ByteHunk {
            shown: Hunk {
                index: *index,
                path: path.clone(),
                old_span: Span::new(byte(old_from), byte(old_to)),
                old_start: whole_old.start as u32 + u32::from(!whole_old.is_empty()),
                old_lines: whole_old.len() as u32,
                new_start: whole_new.start as u32 + u32::from(!whole_new.is_empty()),
                new_lines: whole_new.len() as u32,
                lines: shown,
                within: String::new(),
                creates_file: old.is_none(),
            },
            replacement: after.get(new_from..new_to).unwrap_or_default().concat(),
        });
        *index += 1;
    }
    hunks
}

fn whole(group: &[DiffOp], range: fn(&DiffOp) -> std::ops::Range<usize>) -> std::ops::Range<usize> {
    let start = group.first().map_or(0, |op| range(op).start);
    let end = group.last().map_or(start, |op| range(op).end);
    start..end
}

pub(super) fn unified(stage: &Stage) -> Result<String, WorkspaceError> {
    let mut out = String::new();
    for file in files(stage)? {
        if file.hunks.iter().any(|hunk| hunk.shown.lines.is_empty()) {
            out.push_str(&format!("diff --git a/{0} b/{0}\nnew file mode 100644\n", file.path));
            continue;
        }
        let old = if file.old.is_some() { format!("a/{}", file.path) } else { "/dev/null".to_owned() };
        out.push_str(&format!("--- {old}\n+++ b/{}\n", file.path));
        for hunk in &file.hunks {
            let Hunk { old_start, old_lines, new_start, new_lines, lines, .. } = &hunk.shown;
            out.push_str(&format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@\n"));
            for line in lines {
                let mark = match line.mark {
                    LineMark::Same => ' ',
                    LineMark::Added => '+',
                    LineMark::Removed => '-',
                };
                out.push(mark);
                out.push_str(&line.text);
                if !line.text.ends_with('\n') {
                    out.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
    }
    Ok(out)
}
