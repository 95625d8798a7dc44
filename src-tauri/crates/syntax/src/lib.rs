//! Source text to outlines, names, mutants and single edits, with tree-sitter. Nothing here fails: broken source gives what
//! can be read, and source that is too large or too tangled gives nothing.
//!
//! Deliberately absent: types and name resolution. Whoever needs them asks a compiler.
#![forbid(unsafe_code)]

mod calls;
mod edits;
mod identifiers;
mod imports;
mod mutants;
mod names;
mod operators;
mod outline;
mod parse;
mod roles;
mod tables;
mod units;

pub use calls::{CallSite, calls_of};
pub use edits::edits;
pub use identifiers::{Identifier, IdentifierRole, identifiers, locals};
pub use mutants::mutants;
pub use outline::{enclosing, outline};
pub use parse::{MAX_BYTES, new_errors, parses};
