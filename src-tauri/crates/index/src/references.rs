//! Uses of a name: whole words outside the head of its own definition, comments and documents included.

use crate::IndexError;
use crate::project::ProjectIndex;
use crate::query::{is_whole, of_name};
use crate::refresh::declared_at;
use crate::search::shortened;
use crate::words::{MAX_WORD, is_word};
use starling_core::RelPath;
use starling_core::code::{Language, Outline, Reference, Span, Symbol};

/// By path and line; of a dotted name, the last part.
pub(crate) fn references(index: &ProjectIndex, name: &str, limit: usize) -> Result<Vec<Reference>, IndexError> {
    let name = name.trim().trim_end_matches("()");
    let name = name.rsplit(['.', ':']).next().unwrap_or(name);
    if name.is_empty() || name.len() > MAX_WORD || !name.chars().all(is_word) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for path in files(index, name)? {
        if found.len() >= limit {
            break;
        }
        // A file that vanished since has no uses.
        if let Ok((bytes, _)) = index.root.bytes(&path) {
            found.extend(of_file(&path, &String::from_utf8_lossy(&bytes), name));
        }
    }
    found.truncate(limit);
    Ok(found)
}

fn files(index: &ProjectIndex, name: &str) -> Result<Vec<RelPath>, IndexError> {
    let reader = index.reader();
    let sql = "SELECT file.path FROM word JOIN file ON file.id = word.rowid WHERE word MATCH ?1 ORDER BY file.path";
    let mut statement = reader.prepare_cached(sql)?;
    let rows = statement.query_map([of_name(name)], |row| row.get::<_, String>(0))?;
    let mut paths = Vec::new();
    for row in rows {
        paths.extend(RelPath::new(row?).ok());
    }
    Ok(paths)
}

fn of_file(path: &RelPath, text: &str, name: &str) -> Vec<Reference> {
    // Most candidates have the name in another case only; those need no outline.
    if !text.match_indices(name).any(|(at, _)| is_whole(text, at, name.len())) {
        return Vec::new();
    }
    let outline = Language::of(path).map(|language| starling_syntax::outline(language, text));
    let heads: Vec<Span> =
        outline.iter().flat_map(|o| &o.symbols).filter(|s| s.name == name).map(|s| head(s, text)).collect();
    let mut found = Vec::new();
    let mut start = 0;
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let use_of = |(at, _): &(usize, &str)| {
            is_whole(line, *at, name.len()) && !heads.iter().any(|h| h.start <= start + at && start + at < h.end)
        };
        if let Some((at, _)) = line.match_indices(name).find(use_of) {
            let within = outline.as_ref().map(|outline| within(outline, start + at)).unwrap_or_default();
            found.push(Reference { path: path.clone(), line: number, text: shortened(line.trim()), within });
        }
        start += line.len();
    }
    found
}

/// Where a definition says its own name. Its documentation belongs to it; its body may use the name again.
fn head(symbol: &Symbol, text: &str) -> Span {
    let declared = declared_at(symbol, text) + symbol.name.len();
    Span::new(symbol.span.start, declared)
}

fn within(outline: &Outline, at: usize) -> String {
    starling_syntax::enclosing(outline, at).map(|symbol| symbol.qualified.clone()).unwrap_or_default()
}
