//! What is known about source code: languages, symbols, outlines, references, search hits. Filled by `syntax` and
//! `index`; lines are 1-based, byte ranges are half-open and count from the start of the file.

use crate::ids::RelPath;
use serde::{Deserialize, Serialize};

/// A programming language with an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    Python,
    Rust,
    JavaScript,
    TypeScript,
    Tsx,
    Go,
    Java,
    C,
    Cpp,
}

impl Language {
    pub const ALL: [Language; 9] = [
        Language::Python,
        Language::Rust,
        Language::JavaScript,
        Language::TypeScript,
        Language::Tsx,
        Language::Go,
        Language::Java,
        Language::C,
        Language::Cpp,
    ];

    /// The name used in fences, JSON and the window.
    pub fn as_str(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Rust => "rust",
            Language::JavaScript => "javascript",
            Language::TypeScript => "typescript",
            Language::Tsx => "tsx",
            Language::Go => "go",
            Language::Java => "java",
            Language::C => "c",
            Language::Cpp => "cpp",
        }
    }

    /// By the file's extension; `None` for text that has no outline.
    pub fn of(path: &RelPath) -> Option<Language> {
        Language::of_extension(path.extension())
    }

    pub fn of_extension(extension: &str) -> Option<Language> {
        Some(match extension {
            "py" | "pyi" => Language::Python,
            "rs" => Language::Rust,
            "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
            "ts" | "mts" | "cts" => Language::TypeScript,
            "tsx" => Language::Tsx,
            "go" => Language::Go,
            "java" => Language::Java,
            "c" | "h" => Language::C,
            "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => Language::Cpp,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    Trait,
    Interface,
    Module,
    Constant,
    Variable,
    Type,
    Macro,
}

/// A half-open range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }
    pub fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn overlaps(&self, other: Span) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// One named definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// The last part of the name ("add").
    pub name: String,
    /// The name with its containers, joined by "." in every language ("Cart.add").
    pub qualified: String,
    pub kind: SymbolKind,
    /// The whole definition with decorators, attributes and the doc comment directly above it.
    pub span: Span,
    /// First and last line of `span`, 1-based.
    pub lines: (u32, u32),
    /// The declaration without its body, on one line ("def add(self, item: Item) -> None").
    pub signature: String,
    /// The body alone, where the language has one.
    pub body: Option<Span>,
    /// Doc comment or docstring as plain text, or "".
    pub doc: String,
    /// Whether this is a test by the rules of the language's usual runner (test_*, #[test], ...).
    pub is_test: bool,
}

/// What one file defines and imports. Broken source still yields an outline; `errors` says where it is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    pub language: Option<Language>,
    pub symbols: Vec<Symbol>,
    pub imports: Vec<Import>,
    pub errors: Vec<SyntaxError>,
}

impl Outline {
    /// By qualified name first, then by last part; `None` if no symbol or more than one has the name.
    pub fn unique(&self, name: &str) -> Option<&Symbol> {
        let wanted = name.replace("::", ".");
        let mut exact = self.symbols.iter().filter(|s| s.qualified == wanted);
        if let (Some(found), None) = (exact.next(), exact.next()) {
            return Some(found);
        }
        let mut last = self.symbols.iter().filter(|s| s.name == wanted || s.qualified.ends_with(&format!(".{wanted}")));
        match (last.next(), last.next()) {
            (Some(found), None) => Some(found),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The text of the statement, on one line.
    pub text: String,
    /// The module it names ("shop.cart", "std::fmt", "./util").
    pub module: String,
    /// The names it brings in; empty for a whole module.
    pub names: Vec<String>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyntaxError {
    pub span: Span,
    pub line: u32,
    /// "missing )", "unexpected ..."; lower case, no full stop.
    pub message: String,
}

/// A symbol and the file that defines it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub path: RelPath,
    pub symbol: Symbol,
}

/// A place that uses a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    pub path: RelPath,
    pub line: u32,
    /// The whole line, trimmed.
    pub text: String,
    /// The qualified name of the symbol that encloses the use, or "".
    pub within: String,
}

/// One hit of a full-text or name search, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchHit {
    pub path: RelPath,
    pub line: u32,
    pub text: String,
    pub score: f32,
}

/// One file of the project as the index knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub path: RelPath,
    pub bytes: u64,
    pub language: Option<Language>,
}
