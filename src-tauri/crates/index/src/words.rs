//! Text to the words it is found by. An identifier is found as a whole and by its parts ("getUserName": getusername, get,
//! user, name). Chinese, Japanese and Korean have no spaces to rely on: they are found by pairs of characters, so that two
//! characters suffice where a trigram index needs three.

use std::collections::HashMap;

/// Longer words are noise: keys, hashes, packed data.
pub(crate) const MAX_WORD: usize = 128;
/// Distinct words of one file; more is a word list, and finding it by its rarest words helps nobody.
const MAX_DISTINCT: usize = 20_000;
/// How often a word counts. Ranking gains nothing from the tenth repetition, and the index gets much smaller.
const MAX_COUNT: u8 = 3;

/// The words of a text, with spaces between, as the database takes them. Each stands there at most three times.
pub(crate) fn of_text(text: &str) -> String {
    let mut counts: HashMap<String, u8> = HashMap::new();
    let mut add = |word: &str| {
        if let Some(count) = counts.get_mut(word) {
            *count = (*count + 1).min(MAX_COUNT);
        } else if counts.len() < MAX_DISTINCT {
            counts.insert(word.to_owned(), 1);
        }
    };
    for run in runs(text) {
        each_word(run, &mut add);
    }
    let mut joined = String::with_capacity(counts.len() * 9);
    for (word, count) in &counts {
        for _ in 0..*count {
            joined.push_str(word);
            joined.push(' ');
        }
    }
    joined
}

/// Stretches of letters, digits and underscores.
pub(crate) fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c)).filter(|run| !run.is_empty())
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn each_word(run: &str, add: &mut impl FnMut(&str)) {
    if run.len() > MAX_WORD {
        return;
    }
    for piece in pieces(run) {
        match piece {
            Piece::Plain(word) => {
                let whole = word.to_lowercase();
                let parts = parts(word);
                // A name of one part is its own part.
                if parts.len() != 1 || parts.first() != Some(&whole) {
                    parts.iter().for_each(|part| add(part));
                }
                add(&whole);
            }
            Piece::Cjk(word) => {
                grams(word).iter().for_each(|gram| add(gram));
                // The last character begins no pair; alone it makes every character findable as a beginning.
                if let Some(last) = word.chars().last() {
                    add(last.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Plain(&'a str),
    Cjk(&'a str),
}

/// Cuts a run where the script changes between those with and without spaces.
pub(crate) fn pieces(run: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let cjk = is_cjk(first);
        let end = rest.find(|c: char| is_cjk(c) != cjk).unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(end);
        found.push(if cjk { Piece::Cjk(piece) } else { Piece::Plain(piece) });
        rest = tail;
    }
    found
}

/// Pairs of neighbours; a single character gives none.
pub(crate) fn grams(word: &str) -> Vec<&str> {
    let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
    starts.windows(3).filter_map(|w| word.get(*w.first()?..*w.last()?)).collect()
}

/// "HTTPServer2_name" -> http, server2, name.
pub(crate) fn parts(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for chunk in word.split('_').filter(|chunk| !chunk.is_empty()) {
        let chars: Vec<(usize, char)> = chunk.char_indices().collect();
        let mut start = 0;
        for window in chars.windows(2) {
            let &[(_, before), (at, now)] = window else { continue };
            let next = chunk.get(at..).and_then(|rest| rest.chars().nth(1));
            let hump = now.is_uppercase() && !before.is_uppercase();
            let end_of_capitals = now.is_uppercase() && before.is_uppercase() && next.is_some_and(char::is_lowercase);
            if hump || end_of_capitals {
                found.extend(chunk.get(start..at).map(str::to_lowercase));
                start = at;
            }
        }
        found.extend(chunk.get(start..).map(str::to_lowercase));
    }
    found
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let words = of_text(text);
        let mut got: Vec<&str> = words.split_whitespace().collect();
        got.sort_unstable();
        assert_eq!(got.join(" "), expected);
    }

    #[test]
    fn finds_names_whole_and_by_part() {
        check("getUserName", "get getusername name user");
        check("HTTPServer2_name x", "http httpserver2_name name server2 x");
        check("cart.add(cart, Cart, cart)", "add cart cart cart");
        check("__init__", "__init__ init");
    }

    #[test]
    fn finds_two_characters_of_a_language_without_spaces() {
        check("장바구니", "구니 니 바구 장바");
        check("値 x計算y", "x y 値 算 計算");
        check("Größe", "größe");
    }

    #[test]
    fn leaves_packed_data_out() {
        check(&"a1".repeat(100), "");
    }
}
