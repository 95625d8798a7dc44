//! Where a new test file of JavaScript goes, by the habit of the tests that are there.

use crate::placing::{is_test_path, snake};
use starling_core::RelPath;
use starling_core::code::{FileEntry, Language};
use std::collections::BTreeMap;

/// How the names of tests are made from the names of what they test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Naming {
    /// "cart.test.js"
    Test,
    Spec,
    /// "cart-test.js"
    Dash,
    Underscore,
    /// "test-cart.js"
    Before,
    /// "test/cart.js"
    Plain,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Beside,
    /// In a folder "__tests__" beside it.
    Under,
    Folder(String),
}

/// The path of a new test file for a symbol, free in the project.
pub(crate) fn test_path(test_dir: &str, target: &RelPath, symbol: &str, files: &[FileEntry]) -> Option<RelPath> {
    let code = |path: &RelPath| Language::of(path).is_some_and(super::is);
    let tests: Vec<&RelPath> = files.iter().map(|f| &f.path).filter(|path| code(path) && is_test_path(path)).collect();
    let naming = most(tests.iter().filter_map(|path| naming(path))).unwrap_or(Naming::Test);
    let usual = Place::Folder(if test_dir.is_empty() { "test" } else { test_dir }.to_owned());
    let place = most(tests.iter().filter(|path| self::naming(path).is_some()).map(|path| place(path))).unwrap_or(usual);
    let here = target.parent();
    let dir = match &place {
        Place::Beside => here.to_owned(),
        Place::Under if here.is_empty() => "__tests__".to_owned(),
        Place::Under => format!("{here}/__tests__"),
        Place::Folder(folder) => folder.clone(),
    };
    // Beside what it tests, a plain name would be the name of the target.
    let naming = if place == Place::Beside && naming == Naming::Plain { Naming::Test } else { naming };
    let (stem, end) = target.file_name().rsplit_once('.')?;
    let end = if end == "jsx" { "js" } else { end };
    let symbol = snake(symbol.rsplit('.').next().unwrap_or(symbol)).replace('_', "-");
    let stems = [stem.to_owned(), format!("{stem}-{symbol}")].into_iter();
    let stems = stems.chain((2..100).map(|n| format!("{stem}-{symbol}-{n}")));
    let path = |stem: String| {
        let name = match naming {
            Naming::Test => format!("{stem}.test"),
            Naming::Spec => format!("{stem}.spec"),
            Naming::Dash => format!("{stem}-test"),
            Naming::Underscore => format!("{stem}_test"),
            Naming::Before => format!("test-{stem}"),
            Naming::Plain => stem,
        };
        RelPath::new(if dir.is_empty() { format!("{name}.{end}") } else { format!("{dir}/{name}.{end}") }).ok()
    };
    stems.filter_map(path).find(|path| !files.iter().any(|entry| &entry.path == path))
}

/// `None` for what lies with tests and is none by its name.
fn naming(path: &RelPath) -> Option<Naming> {
    let stem = path.file_name().rsplit_once('.').map_or("", |(stem, _)| stem);
    let ends =
        [(".test", Naming::Test), (".spec", Naming::Spec), ("-test", Naming::Dash), ("_test", Naming::Underscore)];
    if let Some((_, naming)) = ends.into_iter().find(|(end, _)| stem.ends_with(end)) {
        return Some(naming);
    }
    if stem.starts_with("test-") || stem.starts_with("test_") {
        return Some(Naming::Before);
    }
    (!["helper", "util", "setup", "fixture", "mock", "index", "common"].iter().any(|word| stem.contains(word)))
        .then_some(Naming::Plain)
}

fn place(path: &RelPath) -> Place {
    let parts: Vec<&str> = path.parent().split('/').collect();
    match parts.iter().position(|part| matches!(*part, "test" | "tests" | "spec")) {
        Some(_) => Place::Folder(path.parent().to_owned()),
        None if parts.first() == Some(&"__tests__") => Place::Folder(path.parent().to_owned()),
        None if parts.contains(&"__tests__") => Place::Under,
        None => Place::Beside,
    }
}

/// What occurs most; of several the first in their order.
fn most<T: Ord>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    let mut best: Option<(T, usize)> = None;
    for (item, count) in counts {
        if best.as_ref().is_none_or(|(_, most)| count > *most) {
            best = Some((item, count));
        }
    }
    best.map(|(item, _)| item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[&str], target: &str, expected: &str) {
        let rel = |path: &str| RelPath::new(path).expect("a good path");
        let files: Vec<FileEntry> =
            files.iter().map(|path| FileEntry { path: rel(path), bytes: 1, language: None }).collect();
        let got = test_path("", &rel(target), "Cart.addAll", &files).map(|path| path.to_string());
        assert_eq!(got.as_deref(), Some(expected));
    }

    #[test]
    fn follows_the_habit_of_the_project() {
        check(&[], "src/cart.js", "test/cart.test.js");
        check(&[], "cart.mjs", "test/cart.test.mjs");
        check(&["src/a.test.ts", "src/b.ts"], "src/x/cart.ts", "src/x/cart.test.ts");
        check(&["tests/a.spec.js", "tests/helpers.js"], "src/cart.js", "tests/cart.spec.js");
        check(&["test/unit/a-test.js"], "lib/cart.cjs", "test/unit/cart-test.cjs");
        check(&["test/a.js", "test/b.js"], "lib/cart.js", "test/cart.js");
        check(&["src/__tests__/a.test.jsx"], "src/cart.jsx", "src/__tests__/cart.test.js");
        check(&["test/test-a.js"], "cart.js", "test/test-cart.js");
        check(&["test/cart.test.js", "test/cart-add-all.test.js"], "cart.js", "test/cart-add-all-2.test.js");
        check(&["tests/test_a.py"], "cart.js", "test/cart.test.js");
    }
}
