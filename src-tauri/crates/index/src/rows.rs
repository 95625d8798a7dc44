//! What the database keeps of one file, and putting it there.

use crate::walk::Stamp;
use crate::{IndexError, words};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use starling_core::RelPath;
use std::collections::HashMap;

/// A file as it was read.
pub(crate) struct Parsed {
    pub path: RelPath,
    pub stamp: Stamp,
    /// sha256 of the bytes; empty for files that were not read.
    pub hash: Vec<u8>,
    /// Empty when the bytes are those that are known already: only the stamp is new.
    pub content: Option<Content>,
}

#[derive(Default)]
pub(crate) struct Content {
    pub words: String,
    pub symbols: Vec<SymbolRow>,
}

/// What a search shows of a symbol. The rest is in the outline of the file, and that is made when it is asked for.
pub(crate) struct SymbolRow {
    pub name: String,
    /// The qualified name without the name, or "".
    pub holder: String,
    /// Of the declaration itself, below its decorators and comments. 1-based.
    pub line: u32,
    pub signature: String,
    pub is_test: bool,
}

pub(crate) struct Known {
    pub stamp: Stamp,
    pub hash: Vec<u8>,
}

/// All files of the database.
pub(crate) fn known(connection: &Connection) -> Result<HashMap<RelPath, Known>, IndexError> {
    let mut statement = connection.prepare_cached("SELECT path, size, mtime, inode, hash FROM file")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, stamp(row, 1)?, row.get(4)?)))?;
    let mut all = HashMap::new();
    for row in rows {
        let (path, stamp, hash) = row?;
        // A path that breaks the rules was not written by us; it is removed with the next change of its file.
        if let Ok(path) = RelPath::new(path) {
            all.insert(path, Known { stamp, hash });
        }
    }
    Ok(all)
}

/// Three columns from `first`. SQLite has no unsigned numbers; they go there and back by their bits.
pub(crate) fn stamp(row: &Row<'_>, first: usize) -> rusqlite::Result<Stamp> {
    let (size, mtime, inode): (i64, i64, i64) = (row.get(first)?, row.get(first + 1)?, row.get(first + 2)?);
    Ok(Stamp { size: size.cast_unsigned(), mtime, inode: inode.cast_unsigned() })
}

pub(crate) fn put(transaction: &Transaction<'_>, file: &Parsed) -> Result<(), IndexError> {
    let (path, stamp) = (file.path.as_str(), file.stamp);
    let Some(content) = &file.content else {
        let mut touch = transaction.prepare_cached("UPDATE file SET size=?2, mtime=?3, inode=?4 WHERE path=?1")?;
        touch.execute((path, stamp.size.cast_signed(), stamp.mtime, stamp.inode.cast_signed()))?;
        return Ok(());
    };
    remove(transaction, path)?;
    let mut insert =
        transaction.prepare_cached("INSERT INTO file (path, size, mtime, inode, hash) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    insert.execute((path, stamp.size.cast_signed(), stamp.mtime, stamp.inode.cast_signed(), &file.hash))?;
    let id = transaction.last_insert_rowid();
    if !content.words.is_empty() {
        let mut words = transaction.prepare_cached("INSERT INTO word (rowid, words) VALUES (?1, ?2)")?;
        words.execute((id, &content.words))?;
    }
    let mut symbol = transaction.prepare_cached(
        "INSERT INTO symbol (file, name, line, holder, signature, is_test) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for row in &content.symbols {
        let name = name_id(transaction, &row.name)?;
        symbol.execute((id, name, row.line, &row.holder, &row.signature, row.is_test))?;
    }
    Ok(())
}

fn name_id(transaction: &Transaction<'_>, name: &str) -> Result<i64, IndexError> {
    let mut find = transaction.prepare_cached("SELECT id FROM name WHERE name=?1")?;
    if let Some(id) = find.query_row([name], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    transaction.prepare_cached("INSERT INTO name (name) VALUES (?1)")?.execute([name])?;
    let id = transaction.last_insert_rowid();
    transaction
        .prepare_cached("INSERT INTO part (rowid, words) VALUES (?1, ?2)")?
        .execute((id, words::of_text(name)))?;
    Ok(id)
}

pub(crate) fn remove(transaction: &Transaction<'_>, path: &str) -> Result<(), IndexError> {
    let mut find = transaction.prepare_cached("SELECT id FROM file WHERE path=?1")?;
    let Some(id) = find.query_row([path], |row| row.get::<_, i64>(0)).optional()? else { return Ok(()) };
    for statement in
        ["DELETE FROM word WHERE rowid=?1", "DELETE FROM symbol WHERE file=?1", "DELETE FROM file WHERE id=?1"]
    {
        transaction.prepare_cached(statement)?.execute([id])?;
    }
    Ok(())
}

/// A symbol as it stands in the database.
pub(crate) struct Found {
    pub path: String,
    pub symbol: SymbolRow,
}

impl Found {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Found> {
        let name: String = row.get(1)?;
        let (holder, line, signature, is_test) = (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
        Ok(Found { path: row.get(0)?, symbol: SymbolRow { name, holder, line, signature, is_test } })
    }
}

/// What [`Found::read`] reads, from all symbols.
pub(crate) const FOUND: &str =
    "SELECT file.path, name.name, symbol.holder, symbol.line, symbol.signature, symbol.is_test
    FROM name JOIN symbol ON symbol.name = name.id JOIN file ON file.id = symbol.file";
