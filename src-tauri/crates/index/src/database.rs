//! The database file: its schema, and throwing it away when it is not what this version wrote for this project. No
//! migrations: making the map anew takes seconds.

use crate::IndexError;
use rusqlite::{Connection, OptionalExtension};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Counts up with every change of the schema, of the words, or of what an outline says.
const VERSION: i64 = 1;

/// `word` has the words of files by `file.id`, `part` those of names by `name.id`; neither keeps its text. Names have a
/// table of their own because most are defined many times; one that is no longer used stays and does no harm.
const SCHEMA: &str = "
CREATE TABLE origin (version INTEGER NOT NULL, project TEXT NOT NULL);
CREATE TABLE file (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
  inode INTEGER NOT NULL, hash BLOB NOT NULL);
CREATE TABLE name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE INDEX name_in_any_case ON name (name COLLATE NOCASE);
CREATE TABLE symbol (
  id INTEGER PRIMARY KEY, file INTEGER NOT NULL, name INTEGER NOT NULL, line INTEGER NOT NULL,
  holder TEXT NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, first INTEGER NOT NULL,
  last INTEGER NOT NULL, body_start INTEGER, body_end INTEGER, signature TEXT NOT NULL, doc TEXT NOT NULL,
  is_test INTEGER NOT NULL);
CREATE INDEX symbol_by_name ON symbol (name);
CREATE INDEX symbol_by_file ON symbol (file);
CREATE VIRTUAL TABLE word USING fts5 (words, content='', contentless_delete=1, tokenize=\"ascii tokenchars '_'\");
CREATE VIRTUAL TABLE part USING fts5 (words, content='', tokenize=\"ascii tokenchars '_'\");
CREATE VIRTUAL TABLE word_count USING fts5vocab (word, 'row');
";

/// Opens the database of `project`, new if there is none or what is there cannot be used.
pub(crate) fn open(file: &Path, project: &Path) -> Result<Connection, IndexError> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| IndexError::Database { message: error.to_string() })?;
    }
    match usable(file, project) {
        Ok(Some(connection)) => return Ok(connection),
        Ok(None) | Err(IndexError::Damaged { .. }) => {}
        Err(other) => return Err(other),
    }
    remove(file)?;
    let connection = connect(file)?;
    let whole = format!("BEGIN IMMEDIATE; {SCHEMA} COMMIT;");
    connection.execute_batch(&whole)?;
    let origin = "INSERT INTO origin (version, project) VALUES (?1, ?2)";
    connection.execute(origin, (VERSION, project.to_string_lossy()))?;
    Ok(connection)
}

/// A second connection, so that reading goes on while the map is refreshed.
pub(crate) fn connect(file: &Path) -> Result<Connection, IndexError> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.set_prepared_statement_cache_capacity(64);
    // It is a cache: after a power cut it may be made anew.
    connection.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA cache_size=-32768; PRAGMA temp_store=MEMORY;
         PRAGMA journal_size_limit=67108864; PRAGMA wal_autocheckpoint=16384;",
    )?;
    Ok(connection)
}

fn usable(file: &Path, project: &Path) -> Result<Option<Connection>, IndexError> {
    if !file.exists() {
        return Ok(None);
    }
    let connection = connect(file)?;
    let tables =
        "SELECT count(*) FROM sqlite_master WHERE name IN ('origin', 'file', 'name', 'symbol', 'word', 'part')";
    if connection.query_row(tables, [], |row| row.get::<_, i64>(0))? != 6 {
        return Ok(None);
    }
    let origin = "SELECT version, project FROM origin";
    let origin = connection.query_row(origin, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)));
    let fits = origin.optional()?.is_some_and(|(version, of)| version == VERSION && of == project.to_string_lossy());
    Ok(fits.then_some(connection))
}

pub(crate) fn remove(file: &Path) -> Result<(), IndexError> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(PathBuf::from(name)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(IndexError::Database { message: error.to_string() }),
        }
    }
    Ok(())
}
