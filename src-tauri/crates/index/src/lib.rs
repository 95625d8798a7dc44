//! The code map of a project: walks it, keeps its symbols and words searchable in a database of its own, follows changes.
//!
//! The database is a cache. It holds which words a file has and what it defines, never the text: lines are read from the
//! project when they are shown, so a hit always shows what is there. A database that is broken, of another version or of
//! another project is thrown away and made anew.
//!
//! Deliberately absent: writing to the project, following symlinks out of it, and reading what it ignores.
#![forbid(unsafe_code)]

mod database;
mod error;
mod map;
mod names;
mod project;
mod query;
mod read;
mod references;
mod refresh;
mod rows;
mod search;
mod walk;
mod watch;
mod words;

pub use error::IndexError;
pub use project::{IndexStats, ProjectIndex};
pub use read::MAX_BYTES;
pub use watch::{WatchGuard, WatchNotice};

#[cfg(test)]
mod tests;
