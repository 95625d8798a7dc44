//! Where things stand: test files, imports of a module in a test, and the part of a file a role is shown.
//!
//! The Tester always writes a file of its own. It never edits a test file that exists, so no test can be weakened.

use crate::javascript;
use starling_core::RelPath;
use starling_core::code::{FileEntry, Language};
use starling_core::port::Toolchain;
use starling_core::test_set::Runner;

/// Whether a path is a test file by the usual conventions.
pub(crate) fn is_test_path(path: &RelPath) -> bool {
    let name = path.file_name();
    let folder = path.parent().split('/').any(|part| matches!(part, "tests" | "test" | "__tests__" | "spec"));
    let marked = ["_test.", ".test.", ".spec.", "-test."].iter().any(|mark| name.contains(mark));
    folder || marked || name.starts_with("test_") || name == "conftest.py"
}

/// The path of a new test file for a symbol, free in the project.
pub(crate) fn test_path(
    runner: Runner,
    test_dir: &str,
    target: &RelPath,
    symbol: &str,
    files: &[FileEntry],
) -> Option<RelPath> {
    let stem = target.file_name().rsplit_once('.').map_or(target.file_name(), |(stem, _)| stem);
    let stem = if matches!(stem, "lib" | "main" | "mod" | "__init__") { "module" } else { stem };
    let symbol = snake(symbol.rsplit('.').next().unwrap_or(symbol));
    let base = match runner {
        Runner::Pytest | Runner::Unittest => format!("test_{stem}"),
        Runner::CargoTest => stem.to_owned(),
        Runner::NodeTest | Runner::Vitest | Runner::Jest => {
            return javascript::test_path(test_dir, target, &symbol, files);
        }
    };
    let dir = match runner {
        Runner::CargoTest => "tests",
        Runner::Pytest | Runner::Unittest | Runner::NodeTest | Runner::Vitest | Runner::Jest => test_dir,
    };
    let extension = if runner == Runner::CargoTest { "rs" } else { "py" };
    let names = std::iter::once(base.clone())
        .chain(std::iter::once(format!("{base}_{symbol}")))
        .chain((2..100).map(|n| format!("{base}_{symbol}_{n}")));
    let path = |name: String| {
        let file = format!("{name}.{extension}");
        RelPath::new(if dir.is_empty() { file } else { format!("{dir}/{file}") }).ok()
    };
    names.filter_map(path).find(|path| !files.iter().any(|entry| &entry.path == path))
}

/// The runner of the language of a file, if the project has one.
pub(crate) fn runner_for(tools: &Toolchain, path: &RelPath) -> Option<Runner> {
    let language = Language::of(path)?;
    tools.runners.iter().copied().find(|runner| runner.languages().contains(&language))
}

/// A name as file and function names write it.
pub(crate) fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut lower = false;
    for c in name.chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && lower {
                out.push('_');
            }
            lower = c.is_lowercase() || c.is_ascii_digit();
            out.extend(c.to_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
            lower = false;
        }
    }
    out.trim_matches('_').to_owned()
}

/// The module a Python file is imported as ("src/shop/cart.py" -> "shop.cart").
pub(crate) fn python_module(path: &RelPath) -> String {
    let path = path.as_str().strip_prefix("src/").unwrap_or(path.as_str());
    let path = path.trim_end_matches(".py").trim_end_matches("/__init__");
    path.replace('/', ".")
}

/// The path a Rust integration test uses for a file ("src/count.rs" of wordkit -> "wordkit::count"); `None` outside `src`.
pub(crate) fn rust_module(package: &str, path: &RelPath) -> Option<String> {
    let inside = path.as_str().strip_prefix("src/")?.strip_suffix(".rs")?;
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    let root = package.replace('-', "_");
    Some(match inside {
        "lib" | "main" => root,
        module => format!("{root}::{}", module.replace('/', "::")),
    })
}

/// The import line that brings the names of a target into a test. For methods the container is imported.
pub(crate) fn import_line(language: Language, module: &str, symbols: &[String]) -> String {
    let mut names: Vec<&str> = symbols.iter().map(|s| s.split('.').next().unwrap_or(s)).collect();
    names.sort_unstable();
    names.dedup();
    match language {
        Language::Python => format!("from {module} import {}", names.join(", ")),
        Language::Rust if names.len() == 1 => format!("use {module}::{};", names.join("")),
        Language::Rust => format!("use {module}::{{{}}};", names.join(", ")),
        Language::JavaScript
        | Language::TypeScript
        | Language::Tsx
        | Language::Go
        | Language::Java
        | Language::C
        | Language::Cpp => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rel(path: &str) -> RelPath {
        RelPath::new(path).expect("a good path")
    }

    #[test]
    fn places_tests_beside_the_others() {
        let files = vec![FileEntry { path: rel("tests/test_money.py"), bytes: 1, language: None }];
        let at = |runner, path: &str, symbol: &str| {
            test_path(runner, "tests", &rel(path), symbol, &files).map(|p| p.to_string()).unwrap_or_default()
        };
        assert_eq!(at(Runner::Pytest, "shop/cart.py", "Cart.add"), "tests/test_cart.py");
        assert_eq!(at(Runner::Unittest, "shop/money.py", "parseAmount"), "tests/test_money_parse_amount.py");
        assert_eq!(at(Runner::CargoTest, "src/count.rs", "WordCount.top"), "tests/count.rs");
    }

    #[test]
    fn names_modules() {
        assert_eq!(python_module(&rel("src/shop/cart.py")), "shop.cart");
        assert_eq!(python_module(&rel("tally/__init__.py")), "tally");
        assert_eq!(rust_module("word-kit", &rel("src/a/mod.rs")).as_deref(), Some("word_kit::a"));
        assert_eq!(rust_module("wordkit", &rel("src/lib.rs")).as_deref(), Some("wordkit"));
        assert_eq!(rust_module("wordkit", &rel("build.rs")), None);
    }

    #[test]
    fn imports_the_container_of_a_method() {
        let symbols = ["Invoice.total".to_owned(), "Invoice.tax".to_owned()];
        assert_eq!(import_line(Language::Python, "tally.invoice", &symbols), "from tally.invoice import Invoice");
        assert_eq!(import_line(Language::Rust, "w::cut", &["a".into(), "b".into()]), "use w::cut::{a, b};");
    }

    #[test]
    fn knows_test_paths() {
        for path in ["tests/a.py", "a/test_b.py", "src/x.test.ts", "src/x.spec.js", "pkg/a_test.go", "conftest.py"] {
            assert!(is_test_path(&rel(path)), "{path}");
        }
        for path in ["src/testing.py", "attest.py", "contest/a.rs"] {
            assert!(!is_test_path(&rel(path)), "{path}");
        }
    }
}
