//! The change, hunk by hunk, and what the host proved after landing.

use crate::mirror::LineMark;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::change::{ByteProof, Hunk, HunkLine};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HunkView {
    /// Counts through the whole change, from 0; what `land_hunks` takes.
    pub index: u32,
    pub path: String,
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    pub lines: Vec<LineView>,
    /// The innermost symbol it lies in, or "".
    pub within: String,
    pub creates_file: bool,
    pub added: u32,
    pub removed: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LineView {
    pub mark: LineMark,
    /// Without its line end.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LandedView {
    pub hunks: Vec<u32>,
    pub proof: ProofView,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ProofView {
    pub files: u32,
    pub outside_identical: bool,
    pub encoding_kept: bool,
}

impl From<&Hunk> for HunkView {
    fn from(hunk: &Hunk) -> HunkView {
        let Hunk { index, path, old_span: _, old_start, old_lines, new_start, new_lines, lines, within, creates_file } =
            hunk;
        let lines: Vec<LineView> = lines.iter().map(LineView::from).collect();
        let marked = |mark: LineMark| super::row::count(lines.iter().filter(|line| line.mark == mark).count());
        HunkView {
            index: *index,
            path: path.to_string(),
            old_start: *old_start,
            old_lines: *old_lines,
            new_start: *new_start,
            new_lines: *new_lines,
            added: marked(LineMark::Added),
            removed: marked(LineMark::Removed),
            lines,
            within: within.clone(),
            creates_file: *creates_file,
        }
    }
}

impl From<&HunkLine> for LineView {
    fn from(HunkLine { mark, text }: &HunkLine) -> LineView {
        let text = text.strip_suffix('\n').unwrap_or(text);
        LineView { mark: (*mark).into(), text: text.strip_suffix('\r').unwrap_or(text).to_owned() }
    }
}

impl LandedView {
    pub fn of(hunks: &[u32], proof: &ByteProof) -> LandedView {
        LandedView { hunks: hunks.to_vec(), proof: proof.into() }
    }
}

impl From<&ByteProof> for ProofView {
    fn from(ByteProof { files, outside_identical, encoding_kept }: &ByteProof) -> ProofView {
        ProofView { files: *files, outside_identical: *outside_identical, encoding_kept: *encoding_kept }
    }
}
