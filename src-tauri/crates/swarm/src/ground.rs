//! Grounding: which files and symbols of the project the task means. Code only; a name that fits nothing stays ungrounded.

use starling_core::RelPath;
use starling_core::brief::Brief;
use starling_core::port::{CodeMap, MapError};

/// Fills `grounded_files` and `grounded_symbols` of a brief.
pub(crate) fn ground(brief: &mut Brief, map: &dyn CodeMap) -> Result<(), MapError> {
    let files: Vec<RelPath> = map.files()?.into_iter().map(|entry| entry.path).collect();
    let mut found: Vec<RelPath> = Vec::new();
    let traced = brief.trace.iter().rev().map(|frame| frame.path.as_str());
    for written in brief.files.iter().map(String::as_str).chain(traced) {
        if let Some(path) = file_of(written, &files)
            && !found.contains(&path)
        {
            found.push(path);
        }
    }
    let mut symbols: Vec<(RelPath, String)> = Vec::new();
    for name in &brief.symbols {
        for definition in map.definitions(bare(name))? {
            let pair = (definition.path, definition.symbol.qualified);
            if !definition.symbol.is_test && !symbols.contains(&pair) {
                symbols.push(pair);
            }
        }
    }
    brief.grounded_files = found;
    brief.grounded_symbols = symbols;
    Ok(())
}

/// The project's file that a path in a text means: exact, else by a unique end ("/app/src/shop/cart.py" means
/// "src/shop/cart.py", "cart.py" means the only file of that name).
pub(crate) fn file_of(written: &str, files: &[RelPath]) -> Option<RelPath> {
    let written = written.replace('\\', "/");
    let written = written.trim_start_matches("./");
    let written = written
        .split_once(':')
        .map_or(written, |(path, rest)| if rest.starts_with(|c: char| c.is_ascii_digit()) { path } else { written });
    if let Some(exact) = files.iter().find(|path| path.as_str() == written) {
        return Some(exact.clone());
    }
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|head| head.ends_with('/'));
    let mut hits = files.iter().filter(|path| ends(path.as_str(), written) || ends(written, path.as_str()));
    match (hits.next(), hits.next()) {
        (Some(hit), None) => Some(hit.clone()),
        _ => None,
    }
}

/// "Cart.add(item)" -> "Cart.add", "a::b" stays.
pub(crate) fn bare(name: &str) -> &str {
    name.split('(').next().unwrap_or(name).trim_end_matches('!').trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: Option<&str>) {
        let files: Vec<RelPath> = ["src/shop/cart.py", "src/shop/money.py", "tests/money.py", "setup.py"]
            .into_iter()
            .map(|path| RelPath::new(path).expect("a good path"))
            .collect();
        assert_eq!(file_of(written, &files).as_ref().map(RelPath::as_str), expected, "{written}");
    }

    #[test]
    fn finds_the_file_a_text_means() {
        check("src/shop/cart.py", Some("src/shop/cart.py"));
        check("./setup.py", Some("setup.py"));
        check("/app/src/shop/cart.py", Some("src/shop/cart.py"));
        check("cart.py:12", Some("src/shop/cart.py"));
        check("src\\shop\\cart.py", Some("src/shop/cart.py"));
        check("money.py", None);
        check("gone.py", None);
    }
}
