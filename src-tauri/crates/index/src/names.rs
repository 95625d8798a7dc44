//! Definitions by name. The front part of a name may be a type ("Cart.add") or a file or folder ("shop::cart::add").

use crate::IndexError;
use crate::project::ProjectIndex;
use crate::rows::{FOUND, Found};
use starling_core::RelPath;
use starling_core::code::{Definition, Language, Symbol};

/// A name that more symbols share tells nothing.
const MAX_FOUND: i64 = 2000;

/// Those that fit the most of the front part; code before tests, then by path.
pub(crate) fn definitions(index: &ProjectIndex, name: &str) -> Result<Vec<Definition>, IndexError> {
    let wanted = name.trim().trim_end_matches("()").replace("::", ".");
    let mut fronts: Vec<&str> = wanted.split('.').filter(|part| !part.is_empty()).collect();
    let Some(last) = fronts.pop() else { return Ok(Vec::new()) };
    let fronts: Vec<&str> = fronts.into_iter().filter(|part| !matches!(*part, "crate" | "self" | "super")).collect();
    let named = current(index, named(index, last)?, last);
    let ranked = named.into_iter().filter_map(|d| fit(&d, &fronts).map(|rank| (rank, d)));
    let mut ranked: Vec<(usize, Definition)> = ranked.collect();
    // Where a type has that name, files of that name are not meant.
    let best = ranked.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
    ranked.retain(|(rank, _)| *rank == best);
    let mut definitions: Vec<Definition> = ranked.into_iter().map(|(_, definition)| definition).collect();
    definitions.sort_by(|a, b| {
        let key = |d: &Definition| (d.symbol.is_test, d.path.clone(), d.symbol.span.start);
        key(a).cmp(&key(b))
    });
    Ok(definitions)
}

fn named(index: &ProjectIndex, last: &str) -> Result<Vec<Found>, IndexError> {
    let reader = index.reader();
    let mut statement = reader.prepare_cached(&format!("{FOUND} WHERE name.name = ?1 ORDER BY file.path LIMIT ?2"))?;
    let rows = statement.query_map((last, MAX_FOUND), Found::read)?;
    Ok(rows.collect::<Result<Vec<_>, _>>()?)
}

/// The same, but of a file that changed since the last refresh what it defines now.
fn current(index: &ProjectIndex, named: Vec<Found>, last: &str) -> Vec<Definition> {
    let mut definitions: Vec<Definition> = Vec::new();
    let mut looked_at: Option<(RelPath, bool)> = None;
    for found in named {
        let Ok(path) = RelPath::new(found.path) else { continue };
        let fresh = match &looked_at {
            Some((same, fresh)) if *same == path => *fresh,
            _ => {
                let fresh = index.root.stamp(&path) == Some(found.stamp);
                if !fresh {
                    definitions.extend(outlined(index, &path, last));
                }
                fresh
            }
        };
        looked_at = Some((path.clone(), fresh));
        if fresh {
            definitions.push(Definition { path, symbol: found.symbol });
        }
    }
    definitions
}

fn outlined(index: &ProjectIndex, path: &RelPath, last: &str) -> Vec<Definition> {
    let Some(language) = Language::of(path) else { return Vec::new() };
    let Ok((bytes, _)) = index.root.bytes(path) else { return Vec::new() };
    let outline = starling_syntax::outline(language, &String::from_utf8_lossy(&bytes));
    let named = outline.symbols.into_iter().filter(|symbol| symbol.name == last);
    named.map(|symbol| Definition { path: path.clone(), symbol }).collect()
}

/// How many front parts are types; `None` when a front part is neither a type nor the place of the file.
fn fit(definition: &Definition, fronts: &[&str]) -> Option<usize> {
    let Symbol { qualified, .. } = &definition.symbol;
    let mut rest = fronts;
    let mut rank = 0;
    for holder in qualified.split('.').rev().skip(1) {
        match rest.split_last() {
            Some((front, before)) if *front == holder => {
                rest = before;
                rank += 1;
            }
            _ => break,
        }
    }
    // A place counts less than any type.
    let rank = rank * 2;
    let Some((place, _)) = rest.split_last() else { return Some(rank) };
    lies_in(&definition.path, place).then_some(rank + 1)
}

/// The file is called `place`, or it is one of the files that speak for a folder and the folder is.
fn lies_in(path: &RelPath, place: &str) -> bool {
    let place = place.replace('-', "_");
    let is = |part: &str| part.replace('-', "_") == place;
    let stem = path.file_name().split('.').next().unwrap_or("");
    is(stem) || path.parent().split('/').any(is)
}

#[cfg(test)]
mod tests {
    use super::*;
    use starling_core::code::{Span, SymbolKind};

    #[track_caller]
    fn check(path: &str, qualified: &str, fronts: &[&str], expected: Option<usize>) {
        let symbol = Symbol {
            name: qualified.rsplit('.').next().unwrap_or("").to_owned(),
            qualified: qualified.to_owned(),
            kind: SymbolKind::Function,
            span: Span::new(0, 1),
            lines: (1, 1),
            signature: String::new(),
            body: None,
            doc: String::new(),
            is_test: false,
        };
        let definition = Definition { path: RelPath::new(path).expect("a good path"), symbol };
        assert_eq!(fit(&definition, fronts), expected, "{path} {qualified} {fronts:?}");
    }

    #[test]
    fn front_parts_are_types_or_places() {
        check("src/cart.rs", "Cart.add", &[], Some(0));
        check("src/cart.rs", "Cart.add", &["Cart"], Some(2));
        check("src/cart.rs", "Cart.add", &["cart", "Cart"], Some(3));
        check("src/cart.rs", "add", &["cart"], Some(1));
        check("shop-core/src/lib.rs", "add", &["shop_core"], Some(1));
        check("src/cart.rs", "Cart.add", &["Basket"], None);
    }
}
