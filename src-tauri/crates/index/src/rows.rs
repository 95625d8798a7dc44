//! What the database keeps of one file, and putting it there.

use crate::walk::Stamp;
use crate::{IndexError, words};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use starling_core::RelPath;
use starling_core::code::{Span, Symbol, SymbolKind};
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

pub(crate) struct SymbolRow {
    /// Of the declaration itself, below its decorators and comments. 1-based.
    pub line: u32,
    pub symbol: Symbol,
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
    for row in &content.symbols {
        put_symbol(transaction, id, row)?;
    }
    Ok(())
}

fn put_symbol(transaction: &Transaction<'_>, file: i64, row: &SymbolRow) -> Result<(), IndexError> {
    let Symbol { name, qualified, kind, span, lines, signature, body, doc, is_test } = &row.symbol;
    let holder = qualified.strip_suffix(name.as_str()).unwrap_or("").trim_end_matches('.');
    let number = KINDS.iter().position(|known| known == kind).unwrap_or_default() as i64;
    let name = name_id(transaction, name)?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO symbol (file, name, line, holder, kind, start, end, first, last, body_start, body_end, signature,
         doc, is_test) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    // Files have at most 1 MB, so that every place fits.
    let place = |at: usize| at as i64;
    insert.execute(rusqlite::params![
        file,
        name,
        row.line,
        holder,
        number,
        place(span.start),
        place(span.end),
        lines.0,
        lines.1,
        body.map(|body| place(body.start)),
        body.map(|body| place(body.end)),
        signature,
        doc,
        is_test,
    ])?;
    Ok(())
}

/// The number of a kind is its place here: add at the end only, or count the version of the database up.
const KINDS: [SymbolKind; 12] = [
    SymbolKind::Function,
    SymbolKind::Method,
    SymbolKind::Class,
    SymbolKind::Struct,
    SymbolKind::Enum,
    SymbolKind::Trait,
    SymbolKind::Interface,
    SymbolKind::Module,
    SymbolKind::Constant,
    SymbolKind::Variable,
    SymbolKind::Type,
    SymbolKind::Macro,
];

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
    pub stamp: Stamp,
    pub holder: String,
    pub line: u32,
    pub symbol: Symbol,
}

/// What [`Found::read`] reads, from all symbols.
pub(crate) const FOUND: &str = "SELECT file.path, file.size, file.mtime, file.inode, name.name, symbol.line,
    symbol.holder, symbol.kind, symbol.start, symbol.end, symbol.first, symbol.last, symbol.body_start, symbol.body_end,
    symbol.signature, symbol.doc, symbol.is_test
    FROM name JOIN symbol ON symbol.name = name.id JOIN file ON file.id = symbol.file";

impl Found {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Found> {
        let place = |column: usize| row.get::<_, Option<i64>>(column).map(|at| at.map(|at| at as usize));
        let (name, holder): (String, String) = (row.get(4)?, row.get(6)?);
        let span = place(8)?.zip(place(9)?).map_or(Span::new(0, 0), |(start, end)| Span::new(start, end));
        let symbol = Symbol {
            qualified: if holder.is_empty() { name.clone() } else { format!("{holder}.{name}") },
            name,
            kind: KINDS.get(usize::from(row.get::<_, u8>(7)?)).copied().unwrap_or(SymbolKind::Variable),
            span,
            lines: (row.get(10)?, row.get(11)?),
            body: place(12)?.zip(place(13)?).map(|(start, end)| Span::new(start, end)),
            signature: row.get(14)?,
            doc: row.get(15)?,
            is_test: row.get(16)?,
        };
        Ok(Found { path: row.get(0)?, stamp: stamp(row, 1)?, holder, line: row.get(5)?, symbol })
    }
}
