//! A task file: the bytes as they came, and the text they mean.

use serde::{Deserialize, Serialize};

/// How the bytes were encoded; kept so that a view of the file can say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextEncoding {
    Utf8,
    Utf8Bom,
    Utf16Le,
    Utf16Be,
    /// Korean Windows (CP949, a superset of EUC-KR).
    Cp949,
    /// Nothing fitted: bytes that are not text were replaced.
    Lossy,
}

/// Larger task files are refused: no task needs more, and every stage reads it whole.
pub const MAX_TASK_BYTES: usize = 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFile {
    /// The file's name without folders, or "pasted" / "typed".
    pub name: String,
    /// The decoded text, line ends as they came, without a byte order mark.
    pub text: String,
    pub encoding: TextEncoding,
    /// Whether the bytes were binary (NUL bytes in what is not UTF-16): then `text` is empty.
    pub binary: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskFileError {
    #[error("the task file has {bytes} bytes, more than the {MAX_TASK_BYTES} that are read")]
    TooLarge { bytes: usize },
}

impl TaskFile {
    /// Decodes once, here; every later stage sees text. Never fails on content: what is not text is said to be binary.
    pub fn decode(name: &str, bytes: &[u8]) -> Result<TaskFile, TaskFileError> {
        if bytes.len() > MAX_TASK_BYTES {
            return Err(TaskFileError::TooLarge { bytes: bytes.len() });
        }
        let (text, encoding) = text_of(bytes);
        let binary = text.contains('\0');
        let text = if binary { String::new() } else { text };
        Ok(TaskFile { name: name.to_owned(), text, encoding, binary })
    }
}

fn text_of(bytes: &[u8]) -> (String, TextEncoding) {
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") {
        return (String::from_utf8_lossy(rest).into_owned(), TextEncoding::Utf8Bom);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE") {
        return (encoding_rs::UTF_16LE.decode_without_bom_handling(rest).0.into_owned(), TextEncoding::Utf16Le);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFE\xFF") {
        return (encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned(), TextEncoding::Utf16Be);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.to_owned(), TextEncoding::Utf8);
    }
    let (text, _, broken) = encoding_rs::EUC_KR.decode(bytes);
    if !broken && text.chars().any(|c| ('\u{ac00}'..='\u{d7a3}').contains(&c)) {
        return (text.into_owned(), TextEncoding::Cp949);
    }
    (String::from_utf8_lossy(bytes).into_owned(), TextEncoding::Lossy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str, encoding: TextEncoding, binary: bool) {
        let got = TaskFile::decode("t.md", bytes).expect("small enough");
        assert_eq!((got.text.as_str(), got.encoding, got.binary), (text, encoding, binary));
    }

    #[test]
    fn decodes_what_people_save() {
        check(b"fix it\r\n", "fix it\r\n", TextEncoding::Utf8, false);
        check(b"\xEF\xBB\xBFfix", "fix", TextEncoding::Utf8Bom, false);
        check(b"\xFF\xFEf\0i\0", "fi", TextEncoding::Utf16Le, false);
        check(b"\xFE\xFF\0f\0i", "fi", TextEncoding::Utf16Be, false);
        check(&encoding_rs::EUC_KR.encode("반올림 수정").0, "반올림 수정", TextEncoding::Cp949, false);
        check(b"\x7fELF\0\0\x01", "", TextEncoding::Utf8, true);
        check(b"", "", TextEncoding::Utf8, false);
        assert!(TaskFile::decode("t", &vec![b'a'; MAX_TASK_BYTES + 1]).is_err());
    }
}
