//! A free text as terms that the database can look up and a line can be weighed by.

use crate::IndexError;
use crate::words::{MAX_WORD, Piece, grams, is_word, parts, pieces, runs};
use rusqlite::{Connection, OptionalExtension};

/// More terms make a search slow and no better: the rarest are kept.
const MAX_TERMS: usize = 24;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// As it was written.
    pub written: String,
    /// In lower case.
    pub whole: String,
    /// More than one for a name of several words.
    pub parts: Vec<String>,
    /// A stretch of a language without spaces: it may stand anywhere in a word.
    pub cjk: bool,
    /// How rare it is in this project; at least 0.
    pub weight: f32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pub terms: Vec<Term>,
    /// The whole text in lower case, to reward lines that have it as it stands.
    pub phrase: String,
}

impl Query {
    pub(crate) fn new(connection: &Connection, text: &str) -> Result<Query, IndexError> {
        let mut terms = Vec::new();
        for run in runs(text).filter(|run| run.len() <= MAX_WORD) {
            for term in terms_of(run) {
                if !terms.contains(&term) {
                    terms.push(term);
                }
            }
        }
        let files: f32 = connection.query_row("SELECT count(*) FROM file", [], |row| row.get::<_, u32>(0))? as f32;
        for term in &mut terms {
            term.weight = (1.0 + files / (1.0 + frequency(connection, term)?)).ln();
        }
        terms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        terms.truncate(MAX_TERMS);
        // What stands in most files tells nothing, unless there is nothing else.
        let telling = (1.0f32 + 2.0).ln();
        if files >= 20.0 && terms.first().is_some_and(|term| term.weight > telling) {
            terms.retain(|term| term.weight > telling);
        }
        Ok(Query { terms, phrase: text.trim().to_lowercase() })
    }

    pub(crate) fn weight(&self) -> f32 {
        self.terms.iter().map(|term| term.weight).sum::<f32>().max(f32::MIN_POSITIVE)
    }

    /// Every file that has any of the terms; the ranking prefers those with many.
    pub(crate) fn of_files(&self) -> String {
        self.terms.iter().map(Term::expression).collect::<Vec<_>>().join(" OR ")
    }

    pub(crate) fn of_symbols(&self) -> String {
        let words = self.terms.iter().flat_map(|term| term.parts.iter().chain([&term.whole]));
        let mut words: Vec<String> = words.map(|word| quoted(word)).collect();
        words.sort();
        words.dedup();
        words.join(" OR ")
    }

    /// How well a line fits: 1 when it has every term as a word, up to 2 when it has the text as it stands.
    pub(crate) fn fit(&self, line: &str) -> f32 {
        let line = line.to_lowercase();
        let sum: f32 = self.terms.iter().map(|term| term.weight * term.fit(&line)).sum();
        let phrase = self.terms.len() > 1 && line.contains(&self.phrase);
        sum / self.weight() + if phrase { 1.0 } else { 0.0 }
    }
}

impl Term {
    fn expression(&self) -> String {
        if self.cjk && self.whole.chars().count() == 1 {
            return format!("{}*", quoted(&self.whole));
        }
        if self.parts.len() > 1 {
            let all = self.parts.iter().map(|part| quoted(part)).collect::<Vec<_>>().join(" AND ");
            return format!("({} OR ({all}))", quoted(&self.whole));
        }
        quoted(&self.whole)
    }

    fn fit(&self, line: &str) -> f32 {
        match has(line, &self.whole) {
            Some(whole) if whole || self.cjk => 1.0,
            Some(_) => 0.6,
            None if self.parts.len() > 1 && self.parts.iter().all(|part| line.contains(part.as_str())) => 0.5,
            None => 0.0,
        }
    }

    /// It looks like a name from code, not like a word of a sentence.
    pub(crate) fn is_name(&self) -> bool {
        self.parts.len() > 1 || self.written.contains('_') || self.written.chars().any(|c| c.is_ascii_digit())
    }
}

/// The files that have `name` as a whole, by the same words; the caller looks at the text.
pub(crate) fn of_name(name: &str) -> String {
    let mut words = Vec::new();
    for piece in pieces(name) {
        match piece {
            Piece::Plain(word) => words.push(quoted(&word.to_lowercase())),
            Piece::Cjk(word) if grams(word).is_empty() => words.push(format!("{}*", quoted(word))),
            Piece::Cjk(word) => words.extend(grams(word).into_iter().map(quoted)),
        }
    }
    words.join(" AND ")
}

fn terms_of(run: &str) -> Vec<Term> {
    let mut found = Vec::new();
    for piece in pieces(run) {
        match piece {
            Piece::Plain(word) => found.push(Term {
                written: word.to_owned(),
                whole: word.to_lowercase(),
                parts: parts(word),
                cjk: false,
                weight: 0.0,
            }),
            // Endings of words change in these languages; the pairs that stay the same find the word.
            Piece::Cjk(word) => {
                let pairs = grams(word);
                let pairs = if pairs.is_empty() { vec![word] } else { pairs };
                found.extend(pairs.into_iter().map(|pair| Term {
                    written: pair.to_owned(),
                    whole: pair.to_owned(),
                    parts: Vec::new(),
                    cjk: true,
                    weight: 0.0,
                }));
            }
        }
    }
    found
}

fn frequency(connection: &Connection, term: &Term) -> Result<f32, IndexError> {
    let mut statement = connection.prepare_cached("SELECT doc FROM word_count WHERE term=?1")?;
    let count = statement.query_row([&term.whole], |row| row.get::<_, u32>(0)).optional()?;
    Ok(count.unwrap_or(0) as f32)
}

/// Runs hold no quotes, so that nothing has to be escaped.
fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}

/// Whether `line` has `word`; `Some(true)` when as a word of its own.
fn has(line: &str, word: &str) -> Option<bool> {
    let mut found = None;
    for (at, _) in line.match_indices(word) {
        if is_whole(line, at, word.len()) {
            return Some(true);
        }
        found = Some(false);
    }
    found
}

/// No letter, digit or underscore directly before or after.
pub(crate) fn is_whole(text: &str, at: usize, len: usize) -> bool {
    let before = text.get(..at).and_then(|head| head.chars().next_back());
    let after = text.get(at + len..).and_then(|tail| tail.chars().next());
    !before.is_some_and(is_word) && !after.is_some_and(is_word)
}
