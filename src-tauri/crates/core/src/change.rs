//! A ChangeSet: edits of bytes, with what they were made from.

use crate::code::Span;
use crate::ids::{Fingerprint, RelPath};
use serde::{Deserialize, Serialize};

/// All edits of one candidate. Applying it to the bytes it names gives exactly the new bytes; anything else is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSet {
    pub files: Vec<FileChange>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: RelPath,
    pub edit: FileEdit,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FileEdit {
    /// Ranges of the old file that become other bytes; ascending, not overlapping.
    Splice {
        /// sha256 of the whole old file.
        before: Fingerprint,
        splices: Vec<Splice>,
    },
    /// A file that must not exist yet.
    Create {
        #[serde(with = "bytes_as_text")]
        bytes: Vec<u8>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    pub span: Span,
    #[serde(with = "bytes_as_text")]
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    #[error("{path} is not the file the change was made from")]
    Stale { path: RelPath },
    #[error("{path} exists already")]
    Exists { path: RelPath },
    #[error("{path} does not exist")]
    Missing { path: RelPath },
    #[error("the splices of {path} overlap or lie outside the file")]
    BadSplice { path: RelPath },
}

impl FileChange {
    /// The new bytes of the file. `old` is `None` when it does not exist; `digest` is the sha256 of bytes, in hex.
    pub fn apply(&self, old: Option<&[u8]>) -> Result<Vec<u8>, ApplyError> {
        let path = || self.path.clone();
        match (&self.edit, old) {
            (FileEdit::Create { bytes }, None) => Ok(bytes.clone()),
            (FileEdit::Create { .. }, Some(_)) => Err(ApplyError::Exists { path: path() }),
            (FileEdit::Splice { .. }, None) => Err(ApplyError::Missing { path: path() }),
            (FileEdit::Splice { before, splices }, Some(old)) => {
                if &fingerprint(old) != before {
                    return Err(ApplyError::Stale { path: path() });
                }
                splice(old, splices).ok_or_else(|| ApplyError::BadSplice { path: path() })
            }
        }
    }
}

/// The sha256 of `bytes`.
pub fn fingerprint(bytes: &[u8]) -> Fingerprint {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(bytes);
    Fingerprint::new(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn splice(old: &[u8], splices: &[Splice]) -> Option<Vec<u8>> {
    let mut new = Vec::with_capacity(old.len());
    let mut at = 0;
    for Splice { span, bytes } in splices {
        if span.start < at || span.end < span.start {
            return None;
        }
        new.extend_from_slice(old.get(at..span.start)?);
        new.extend_from_slice(bytes);
        at = span.end;
    }
    new.extend_from_slice(old.get(at..)?);
    Some(new)
}

/// Bytes are nearly always UTF-8 text; in JSON they stand as a string, else as `{"hex": "..."}`.
mod bytes_as_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Hex { hex: String },
    }

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let form = match std::str::from_utf8(bytes) {
            Ok(text) => Form::Text(text.to_owned()),
            Err(_) => Form::Hex { hex: bytes.iter().map(|b| format!("{b:02x}")).collect() },
        };
        form.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Text(text) => Ok(text.into_bytes()),
            Form::Hex { hex } => (0..hex.len())
                .step_by(2)
                .map(|at| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
                .collect::<Option<Vec<u8>>>()
                .ok_or_else(|| serde::de::Error::custom("not hexadecimal")),
        }
    }
}

/// One hunk of the final difference, as a person accepts or returns it. Lines keep their ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Counts through the whole change, from 0.
    pub index: u32,
    pub path: RelPath,
    /// The range of bytes of the base file that this hunk replaces, without context.
    pub old_span: Span,
    /// 1-based first line in the old and the new file, and the counts of lines, with context.
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    pub lines: Vec<HunkLine>,
    /// The innermost symbol the hunk lies in, or "".
    pub within: String,
    pub creates_file: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkLine {
    pub mark: LineMark,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineMark {
    Same,
    Added,
    Removed,
}

/// The proof that goes with a change: what the host checked after writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteProof {
    pub files: u32,
    /// Bytes outside the hunks are identical to the base.
    pub outside_identical: bool,
    /// Encoding, byte order mark and line ends are as before.
    pub encoding_kept: bool,
}
