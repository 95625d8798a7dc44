//! Ranked search: a symbol of that very name, then symbols whose names have all the words, then lines.

use crate::IndexError;
use crate::project::ProjectIndex;
use crate::query::{Query, Term};
use crate::rows::{FOUND, Found};
use rusqlite::Connection;
use starling_core::RelPath;
use starling_core::code::SearchHit;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Scores: symbols of the very name have 3 to 4, symbols with all the words 2 to 3, lines and the rest at most 2.
const EXACT: f32 = 3.0;
const ALL_WORDS: f32 = 2.0;
/// A test that mentions a thing is rarely what is looked for.
const TEST_DISCOUNT: f32 = 0.2;
const LINES_OF_A_FILE: usize = 3;
const MAX_LINE: usize = 400;
/// Names that share a word with the query, best first, and the symbols of those names.
const MAX_NAMES: i64 = 100;
const MAX_SYMBOLS: i64 = 400;

pub(crate) fn search(index: &ProjectIndex, text: &str, limit: usize) -> Result<Vec<SearchHit>, IndexError> {
    let (mut hits, query, files) = {
        let reader = index.reader();
        let query = Query::new(&reader, text)?;
        if query.terms.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let mut hits = exact(&reader, &query, limit)?;
        hits.extend(by_words(&reader, &query)?);
        let files = files(&reader, &query, limit)?;
        (hits, query, files)
    };
    for path in files {
        // A file that vanished since has no lines.
        if let Ok((bytes, _)) = index.root.bytes(&path) {
            hits.extend(lines(&query, &path, &String::from_utf8_lossy(&bytes)));
        }
    }
    let mut hits = best_of_each_line(hits);
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)).then(a.line.cmp(&b.line)));
    hits.truncate(limit);
    Ok(hits)
}

/// In a sentence only words that look like names count as names.
fn exact(reader: &Connection, query: &Query, limit: usize) -> Result<Vec<SearchHit>, IndexError> {
    let mut statement = reader.prepare_cached(&format!("{FOUND} WHERE name.name = ?1 COLLATE NOCASE LIMIT ?2"))?;
    let few = query.terms.len() <= 3;
    let mut hits = Vec::new();
    for term in query.terms.iter().filter(|term| !term.cjk && (few || term.is_name())) {
        let rows = statement.query_map((&term.written, limit.max(100) as i64), Found::read)?;
        for row in rows {
            let found = row?;
            let same_case = if found.symbol.name == term.written { 0.4 } else { 0.0 };
            let holders = found.holder.split('.');
            let held = holders.filter(|holder| query.terms.iter().any(|term| term.written == **holder)).count();
            hits.extend(symbol_hit(found, EXACT + same_case + 0.2 * (held.min(2) as f32)));
        }
    }
    Ok(hits)
}

fn by_words(reader: &Connection, query: &Query) -> Result<Vec<SearchHit>, IndexError> {
    let mut statement = reader.prepare_cached(&format!(
        "{FOUND} WHERE name.id IN (SELECT rowid FROM part WHERE part MATCH ?1 ORDER BY rank LIMIT ?2) LIMIT ?3"
    ))?;
    let rows = statement.query_map((query.of_symbols(), MAX_NAMES, MAX_SYMBOLS), Found::read)?;
    let mut hits = Vec::new();
    for row in rows {
        let found = row?;
        let words = crate::words::of_text(&found.symbol.qualified);
        let words: Vec<&str> = words.split_whitespace().collect();
        let has = |term: &Term| {
            words.contains(&term.whole.as_str())
                || !term.parts.is_empty() && term.parts.iter().all(|part| words.contains(&part.as_str()))
        };
        let matched: Vec<&Term> = query.terms.iter().filter(|term| has(term)).collect();
        let share = matched.iter().map(|term| term.weight).sum::<f32>() / query.weight();
        // Short names that are all match come before long ones.
        let dense = matched.len() as f32 / words.len().max(matched.len()) as f32;
        let score = if matched.len() == query.terms.len() { ALL_WORDS + 0.9 * dense } else { share + 0.1 * dense };
        hits.extend(symbol_hit(found, score));
    }
    Ok(hits)
}

fn symbol_hit(found: Found, score: f32) -> Option<SearchHit> {
    let path = RelPath::new(found.path).ok()?;
    let score = if found.symbol.is_test { score - TEST_DISCOUNT } else { score };
    Some(SearchHit { path, line: found.line, text: shortened(&found.symbol.signature), score })
}

fn files(reader: &Connection, query: &Query, limit: usize) -> Result<Vec<RelPath>, IndexError> {
    let sql = "SELECT file.path FROM word JOIN file ON file.id = word.rowid WHERE word MATCH ?1
               ORDER BY word.rank LIMIT ?2";
    let mut statement = reader.prepare_cached(sql)?;
    let rows = statement.query_map((query.of_files(), limit.clamp(40, 200) as i64), |row| row.get::<_, String>(0))?;
    let mut paths = Vec::new();
    for row in rows {
        paths.extend(RelPath::new(row?).ok());
    }
    Ok(paths)
}

fn lines(query: &Query, path: &RelPath, text: &str) -> Vec<SearchHit> {
    let fitting = text.lines().zip(1..).filter_map(|(line, number)| {
        let score = query.fit(line);
        (score > 0.0).then(|| SearchHit { path: path.clone(), line: number, text: shortened(line.trim()), score })
    });
    let mut hits: Vec<SearchHit> = fitting.collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.line.cmp(&b.line)));
    hits.truncate(LINES_OF_A_FILE);
    hits
}

pub(crate) fn shortened(line: &str) -> String {
    line.chars().take(MAX_LINE).collect()
}

fn best_of_each_line(hits: Vec<SearchHit>) -> Vec<SearchHit> {
    let mut best: HashMap<(RelPath, u32), SearchHit> = HashMap::new();
    for hit in hits {
        match best.entry((hit.path.clone(), hit.line)) {
            Entry::Occupied(mut known) if known.get().score < hit.score => {
                known.insert(hit);
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(free) => {
                free.insert(hit);
            }
        }
    }
    best.into_values().collect()
}
