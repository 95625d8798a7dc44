//! Ids and paths as their own types, so that one cannot be passed for another.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);
        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// One task, from the dropped file to the receipt. A UUIDv7 in lower case, so that ids sort by time.
    TaskId
);
text_id!(
    /// One step of a plan, unique inside its plan ("1", "2", "2.1", ...).
    StepId
);
text_id!(
    /// The name of a model as the catalogue, the bindings and the receipts write it ("qwen2.5-coder-1.5b").
    ModelName
);
text_id!(
    /// A lower-case hexadecimal sha256.
    Fingerprint
);

/// Who does a part of the work. Any role can be bound to any model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Parser,
    Planner,
    Executor,
    Tester,
    Reviewer,
}

impl Role {
    pub const ALL: [Role; 5] = [Role::Parser, Role::Planner, Role::Executor, Role::Tester, Role::Reviewer];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Parser => "parser",
            Role::Planner => "planner",
            Role::Executor => "executor",
            Role::Tester => "tester",
            Role::Reviewer => "reviewer",
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A path inside a project: relative, `/`-separated, without empty, `.` or `..` parts. Holding one proves the text rules
/// of the path gate, not that the file exists or may be opened: the host's path gate decides that.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a path inside the project ({reason}): {path:?}")]
pub struct RelPathError {
    pub path: String,
    pub reason: &'static str,
}

impl RelPath {
    /// Checks the text rules; see `docs/safety.md` for the list. Nothing is normalised: a doubtful path is refused.
    pub fn new(text: impl Into<String>) -> Result<Self, RelPathError> {
        let text = text.into();
        match refusal(&text) {
            None => Ok(Self(text)),
            Some(reason) => Err(RelPathError { path: text, reason }),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folder part without a trailing slash; empty at the root.
    pub fn parent(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The text after the last dot of the file name, or "".
    pub fn extension(&self) -> &str {
        match self.file_name().rsplit_once('.') {
            Some((stem, ext)) if !stem.is_empty() => ext,
            _ => "",
        }
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for RelPath {
    type Error = RelPathError;
    fn try_from(text: String) -> Result<Self, RelPathError> {
        RelPath::new(text)
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> String {
        path.0
    }
}

fn refusal(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > 4096 {
        return Some("longer than 4,096 bytes");
    }
    if text.starts_with('/') {
        return Some("it is absolute");
    }
    if text.starts_with('~') {
        return Some("it starts with ~");
    }
    if text.chars().any(char::is_control) {
        return Some("it has a control character");
    }
    if text.contains('\\') {
        return Some("it has a backslash");
    }
    if text.contains(':') {
        return Some("it has a colon");
    }
    let parts: Vec<&str> = text.split('/').collect();
    if parts.len() > 64 {
        return Some("more than 64 folders deep");
    }
    parts.into_iter().find_map(part_refusal)
}

fn part_refusal(part: &str) -> Option<&'static str> {
    if part.is_empty() {
        return Some("it has an empty part");
    }
    if part == "." || part == ".." {
        return Some("it has a . or .. part");
    }
    if part.len() > 255 {
        return Some("a part is longer than 255 bytes");
    }
    if part.ends_with('.') || part.ends_with(' ') {
        return Some("a part ends with a dot or a space");
    }
    let short = part.find('~').is_some_and(|at| part[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    if short {
        return Some("a part looks like an 8.3 short name");
    }
    let stem: String = part.split('.').next().unwrap_or(part).to_uppercase();
    let stem = stem.replace('¹', "1").replace('²', "2").replace('³', "3");
    let numbered = stem.len() == 4
        && (stem.starts_with("COM") || stem.starts_with("LPT"))
        && stem.ends_with(|c: char| c.is_ascii_digit());
    if numbered || matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") {
        return Some("a part is a reserved device name");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Result<(), &str>) {
        let got = RelPath::new(path).map(|_| ()).map_err(|e| e.reason);
        assert_eq!(got, expected, "{path:?}");
    }

    #[test]
    fn refuses_every_kind_of_path_that_leaves_or_tricks() {
        check("src/a.py", Ok(()));
        check("a b/ü 한글.md", Ok(()));
        check(".github/workflows/ci.yml", Ok(()));
        check("", Err("it is empty"));
        check("/etc/passwd", Err("it is absolute"));
        check("~/x", Err("it starts with ~"));
        check("a/../b", Err("it has a . or .. part"));
        check("./a", Err("it has a . or .. part"));
        check("a//b", Err("it has an empty part"));
        check("a\\b", Err("it has a backslash"));
        check("C:/x", Err("it has a colon"));
        check("a\0b", Err("it has a control character"));
        check("git~1/config", Err("a part looks like an 8.3 short name"));
        check("COM¹.txt", Err("a part is a reserved device name"));
        check("aux", Err("a part is a reserved device name"));
        check("x.", Err("a part ends with a dot or a space"));
        check(&"a/".repeat(70), Err("more than 64 folders deep"));
    }
}
