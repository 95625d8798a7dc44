//! Bringing the database up to what is on disk: several threads read and parse, one writes. What has the same size, time
//! and number is not read; what has the same bytes is not parsed.

use crate::read::{MAX_BYTES, Root, is_binary};
use crate::rows::{Content, Known, Parsed, SymbolRow};
use crate::walk::{DiskFile, Walked};
use crate::{IndexError, rows, words};
use rusqlite::Connection;
use starling_core::RelPath;
use starling_core::code::{Language, Symbol};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Files of one transaction: enough to be fast, few enough that others may read the first before the last is parsed.
const BATCH: usize = 512;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    pub reused: u32,
    pub changed: u32,
}

/// Makes the database say what `walked` found. With `whole`, files that were not found are removed.
pub(crate) fn apply(
    connection: &mut Connection,
    root: &Root,
    walked: &Walked,
    whole: bool,
) -> Result<Applied, IndexError> {
    let known = rows::known(connection)?;
    let mut applied = Applied::default();
    if whole {
        let here: std::collections::HashSet<&RelPath> = walked.files.iter().map(|file| &file.path).collect();
        let gone: Vec<&RelPath> = known.keys().filter(|path| !here.contains(path)).collect();
        remove(connection, &gone)?;
    }
    let stale = |file: &&DiskFile| known.get(&file.path).is_none_or(|known| known.stamp != file.stamp);
    let changed: Vec<&DiskFile> = walked.files.iter().filter(stale).collect();
    applied.reused = (walked.files.len() - changed.len()) as u32;
    applied.changed = parse_all(connection, root, &changed, &known)?;
    Ok(applied)
}

pub(crate) fn remove(connection: &mut Connection, gone: &[&RelPath]) -> Result<(), IndexError> {
    if gone.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for path in gone {
        rows::remove(&transaction, path.as_str())?;
    }
    transaction.commit()?;
    Ok(())
}

/// The number of files written.
fn parse_all(
    connection: &mut Connection,
    root: &Root,
    files: &[&DiskFile],
    known: &HashMap<RelPath, Known>,
) -> Result<u32, IndexError> {
    if files.is_empty() {
        return Ok(0);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let next = AtomicUsize::new(0);
    let (to, from) = mpsc::sync_channel::<Parsed>(BATCH);
    std::thread::scope(|scope| {
        for number in 0..threads {
            let (to, next) = (to.clone(), &next);
            let work = move || {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // A file that vanished or cannot be read is left out; it is tried again with the next walk.
                    let Some(parsed) = parse(root, file, known.get(&file.path)) else { continue };
                    if to.send(parsed).is_err() {
                        return;
                    }
                }
            };
            let builder = std::thread::Builder::new().name(format!("starling-index-{number}"));
            if let Err(error) = builder.spawn_scoped(scope, work) {
                return Err(IndexError::Database { message: format!("no thread: {error}") });
            }
        }
        drop(to);
        write_all(connection, &from)
    })
}

fn write_all(connection: &mut Connection, from: &mpsc::Receiver<Parsed>) -> Result<u32, IndexError> {
    let mut written = 0;
    while let Ok(first) = from.recv() {
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        rows::put(&transaction, &first)?;
        written += 1;
        for parsed in from.iter().take(BATCH) {
            rows::put(&transaction, &parsed)?;
            written += 1;
        }
        transaction.commit()?;
    }
    Ok(written)
}

fn parse(root: &Root, file: &DiskFile, known: Option<&Known>) -> Option<Parsed> {
    let path = file.path.clone();
    if file.stamp.size > MAX_BYTES {
        return Some(Parsed { path, stamp: file.stamp, hash: Vec::new(), content: Some(Content::default()) });
    }
    let (bytes, stamp) = root.bytes(&file.path).ok()?;
    let hash = sha256(&bytes);
    let same = known.is_some_and(|known| known.hash == hash);
    let content = (!same).then(|| if is_binary(&bytes) { Content::default() } else { content(&file.path, &bytes) });
    Some(Parsed { path, stamp, hash, content })
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).to_vec()
}

fn content(path: &RelPath, bytes: &[u8]) -> Content {
    let text = String::from_utf8_lossy(bytes);
    let outline = Language::of(path).map(|language| starling_syntax::outline(language, &text));
    let symbols = outline.map(|outline| outline.symbols).unwrap_or_default();
    let lines = Lines::of(&text);
    Content {
        words: words::of_text(&text),
        symbols: symbols.into_iter().map(|symbol| symbol_row(symbol, &text, &lines)).collect(),
    }
}

fn symbol_row(symbol: Symbol, text: &str, lines: &Lines) -> SymbolRow {
    SymbolRow { line: lines.at(declared_at(&symbol, text)), symbol }
}

/// Where the name stands in the declaration, below decorators, attributes and comments.
pub(crate) fn declared_at(symbol: &Symbol, text: &str) -> usize {
    let head = text.get(symbol.span.start..symbol.span.end).unwrap_or("");
    let mut at = 0;
    let mut in_comment = false;
    for line in head.split_inclusive('\n') {
        let bare = line.trim_start();
        in_comment |= bare.starts_with("/*");
        let leads = in_comment || ["#", "//", "@", "["].iter().any(|mark| bare.starts_with(mark));
        in_comment &= !line.contains("*/");
        // Macros of C begin with "#" too.
        let names = (!leads || bare.starts_with("#define")).then(|| line.find(&symbol.name)).flatten();
        if let Some(column) = names {
            return symbol.span.start + at + column;
        }
        at += line.len();
    }
    symbol.span.start
}

/// Where lines begin, to turn bytes into line numbers.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Lines {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines([0].into_iter().chain(breaks).collect())
    }
    /// 1-based.
    pub(crate) fn at(&self, offset: usize) -> u32 {
        self.0.partition_point(|start| *start <= offset) as u32
    }
}
