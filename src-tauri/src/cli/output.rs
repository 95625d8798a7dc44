//! Where the command line's words go: results to stdout, everything for people to stderr. A closed pipe ends quietly.

use serde::Serialize;
use std::borrow::Cow;
use std::io::{IsTerminal, Write};

/// How this run talks.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    pub json: bool,
    color: bool,
}

/// Why a command did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Not solved, or refused for a reason (exit code 1).
    #[error("{message}")]
    Refused { message: String, hint: String },
    /// The words of the command make no sense (exit code 2).
    #[error("{message}")]
    Usage { message: String },
    /// Ctrl-C (exit code 130).
    #[error("cancelled")]
    Cancelled,
}

pub type CliResult = Result<(), CliError>;

impl CliError {
    pub fn refused(error: impl std::fmt::Display) -> CliError {
        CliError::Refused { message: error.to_string(), hint: String::new() }
    }

    pub fn usage(error: impl std::fmt::Display) -> CliError {
        CliError::Usage { message: error.to_string() }
    }

    #[must_use]
    pub fn hint(self, hint: &str) -> CliError {
        match self {
            CliError::Refused { message, .. } => CliError::Refused { message, hint: hint.to_owned() },
            CliError::Usage { .. } | CliError::Cancelled => self,
        }
    }

    /// The hint, unless there is a better one already.
    #[must_use]
    pub fn or_hint(self, other: &str) -> CliError {
        match &self {
            CliError::Refused { hint, .. } if hint.is_empty() => self.hint(other),
            CliError::Refused { .. } | CliError::Usage { .. } | CliError::Cancelled => self,
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            CliError::Refused { .. } => 1,
            CliError::Usage { .. } => 2,
            CliError::Cancelled => 130,
        }
    }
}

impl Output {
    pub fn new(json: bool) -> Output {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Output { json, color: !no_color && std::io::stderr().is_terminal() }
    }

    /// One JSON value on one line of stdout.
    pub fn line(&self, value: &impl Serialize) -> CliResult {
        let text = serde_json::to_string(value).map_err(CliError::refused)?;
        print(&text)
    }

    /// The result: JSON if asked for, else text.
    pub fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> CliResult {
        if self.json { self.line(value) } else { print(clean(text().trim_end()).as_ref()) }
    }

    /// Bytes as they are for a pipe (a diff must apply); made harmless on a terminal.
    pub fn raw(&self, text: &str) -> CliResult {
        let text = text.strip_suffix('\n').unwrap_or(text);
        if std::io::stdout().is_terminal() { print(&clean(text)) } else { print(text) }
    }

    /// For people; on stderr.
    pub fn say(&self, text: &str) {
        write_stderr(&clean(text));
    }

    /// For people, with a state word before it (bold on a terminal).
    pub fn note(&self, word: &str, text: &str) {
        let word = if self.color { format!("\x1b[1m{word}\x1b[0m") } else { word.to_owned() };
        write_stderr(&format!("{word} {}", clean(text)));
    }

    pub fn error(&self, error: &CliError) {
        self.note("error:", &error.to_string());
        if let CliError::Refused { hint, .. } = error
            && !hint.is_empty()
        {
            self.note("hint:", hint);
        }
    }
}

/// Whether a person can be asked.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// A question that is answered with y or n; no is the safe answer and the default.
pub fn ask(question: &str) -> bool {
    if !can_ask() {
        return false;
    }
    let mut stderr = std::io::stderr();
    if write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush()).is_err() {
        return false;
    }
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn print(text: &str) -> CliResult {
    let mut stdout = std::io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(CliError::refused(e)),
        // Whoever reads has seen enough ("| head"); that is no failure.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Text of models, tests and projects may hold control sequences that would repaint the terminal or forge a prompt.
fn clean(text: &str) -> Cow<'_, str> {
    let bad = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(bad) { Cow::Owned(text.replace(bad, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

fn write_stderr(text: &str) {
    // There is nowhere left to report that stderr cannot be written.
    writeln!(std::io::stderr(), "{text}").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\r\u{9b}c\td\n"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}c\td\n");
        assert!(matches!(clean("plain 한글"), Cow::Borrowed(_)));
    }
}
