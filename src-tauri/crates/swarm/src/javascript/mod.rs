//! JavaScript and TypeScript as a test of them is written: how a target is imported, where its tests lie, what one test looks
//! like. Everything follows what the project does already.

mod names;
mod place;
mod probe;

pub(crate) use names::{invented, stands_alone};
pub(crate) use place::test_path;
pub(crate) use probe::{example, fits, from_answer, renamed_source, title};

use starling_core::RelPath;
use starling_core::code::Language;
use starling_core::test_set::Runner;

pub(crate) fn is(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
}

/// How a file says what it needs from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modules {
    /// `import ... from`
    Import,
    /// `require(...)`
    Require,
}

/// By the name where that decides, else by what the file does itself.
pub(crate) fn modules(path: &RelPath, source: &str) -> Modules {
    let line = |start: &str| source.lines().any(|line| line.starts_with(start));
    match path.extension() {
        "mjs" | "mts" => Modules::Import,
        "cjs" | "cts" => Modules::Require,
        _ if ["export ", "export{", "import ", "import{", "import\""].iter().any(|start| line(start)) => {
            Modules::Import
        }
        "ts" | "tsx" if !source.contains("module.exports") => Modules::Import,
        _ => Modules::Require,
    }
}

/// The line that brings symbols of `target` into the test file `test`. For methods the container is imported.
pub(crate) fn import_line(
    runner: Runner,
    test: &RelPath,
    target: &RelPath,
    source: &str,
    symbols: &[String],
) -> String {
    let mut names: Vec<&str> = symbols.iter().map(|s| s.split('.').next().unwrap_or(s)).collect();
    names.sort_unstable();
    names.dedup();
    let modules = modules(target, source);
    let (whole, parts): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| is_whole(modules, source, name));
    let from = specifier(runner, test, target);
    let list = if parts.is_empty() { String::new() } else { format!("{{ {} }}", parts.join(", ")) };
    match (modules, whole.first()) {
        (Modules::Import, None) => format!("import {list} from '{from}';"),
        (Modules::Import, Some(whole)) if list.is_empty() => format!("import {whole} from '{from}';"),
        (Modules::Import, Some(whole)) => format!("import {whole}, {list} from '{from}';"),
        (Modules::Require, None) => format!("const {list} = require('{from}');"),
        (Modules::Require, Some(whole)) => format!("const {whole} = require('{from}');"),
    }
}

/// Whether a name is the default export of a module, or the whole of what `require` gives.
fn is_whole(modules: Modules, source: &str, name: &str) -> bool {
    let start = match modules {
        Modules::Import => "export default ",
        Modules::Require => "module.exports = ",
    };
    source.lines().filter_map(|line| line.trim_start().strip_prefix(start)).any(|rest| {
        let rest = rest.trim_start_matches("async ").trim_start_matches("function ").trim_start_matches("class ");
        rest.strip_prefix(name)
            .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || "_$.".contains(c)))
    })
}

/// The way from one file to another, as an import writes it.
fn specifier(runner: Runner, test: &RelPath, target: &RelPath) -> String {
    let here: Vec<&str> = test.parent().split('/').filter(|part| !part.is_empty()).collect();
    let there: Vec<&str> = target.as_str().split('/').collect();
    let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let up = here.len() - shared;
    let mut parts: Vec<&str> = if up == 0 { vec!["."] } else { vec![".."; up] };
    parts.extend(there.iter().skip(shared));
    let path = parts.join("/");
    // node wants the real name of a file; the bundling runners know types by the name without its end.
    match (runner, path.rsplit_once('.')) {
        (Runner::Vitest | Runner::Jest, Some((bare, "ts" | "tsx" | "jsx"))) => bare.to_owned(),
        _ => path,
    }
}

/// Whether `file` is what the file `from` means by `module` ("./cart.js", "../lib").
pub(crate) fn is_module(from: &RelPath, module: &str, file: &RelPath) -> bool {
    if !module.starts_with('.') {
        return false;
    }
    let mut parts: Vec<&str> = from.parent().split('/').filter(|part| !part.is_empty()).collect();
    for part in module.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    // An import of types may name the file that they are compiled to.
    let bare = |path: &str| {
        let ends = [".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"];
        let cut = ends.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
        cut.strip_suffix("/index").unwrap_or(cut).to_owned()
    };
    Language::of(file).is_some_and(is) && bare(&parts.join("/")) == bare(file.as_str())
}

/// The first lines of a test file: what it tests with, then its target.
pub(crate) fn head(runner: Runner, import: &str) -> String {
    let imports = import.starts_with("import");
    let runner = match (runner, imports) {
        (Runner::Vitest, _) => "import { test } from 'vitest';\n",
        // Jest gives its functions to every file.
        (Runner::Jest, _) => "",
        (_, true) => "import { test } from 'node:test';\n",
        (_, false) => "const { test } = require('node:test');\n",
    };
    let assert = if imports || runner.contains("vitest") {
        "import assert from 'node:assert/strict';"
    } else {
        "const assert = require('node:assert/strict');"
    };
    format!("{runner}{assert}\n{import}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rel(path: &str) -> RelPath {
        RelPath::new(path).expect("a good path")
    }

    #[track_caller]
    fn check(runner: Runner, test: &str, target: &str, source: &str, symbols: &[&str], expected: &str) {
        let symbols: Vec<String> = symbols.iter().map(|s| (*s).to_owned()).collect();
        assert_eq!(import_line(runner, &rel(test), &rel(target), source, &symbols), expected);
    }

    #[test]
    fn imports_as_the_project_does() {
        let node = Runner::NodeTest;
        let esm = "export function add(a, b) { return a + b; }\nexport default class Cart {}\n";
        check(node, "test/a.test.js", "src/a.js", esm, &["add"], "import { add } from '../src/a.js';");
        check(node, "src/a.test.js", "src/a.js", esm, &["Cart.add", "add"], "import Cart, { add } from './a.js';");
        check(node, "a.test.js", "lib/x/a.js", esm, &["Cart"], "import Cart from './lib/x/a.js';");
        let cjs = "function add() {}\nmodule.exports = { add, addAll };\n";
        check(
            node,
            "test/u/a.test.js",
            "a.js",
            cjs,
            &["addAll", "add"],
            "const { add, addAll } = require('../../a.js');",
        );
        let whole = "class Cart {}\nmodule.exports = Cart;\n";
        check(node, "test/a.test.js", "a.js", whole, &["Cart.add"], "const Cart = require('../a.js');");
        check(node, "test/a.test.js", "a.js", whole, &["Car"], "const { Car } = require('../a.js');");
        let types = "export const add = (a: number) => a;\n";
        check(node, "test/a.test.ts", "src/a.ts", types, &["add"], "import { add } from '../src/a.ts';");
        check(Runner::Vitest, "src/a.test.ts", "src/a.ts", types, &["add"], "import { add } from './a';");
    }

    #[test]
    fn finds_the_file_of_an_import() {
        let check = |module: &str, file: &str, expected: bool| {
            assert_eq!(is_module(&rel("src/shop/cart.ts"), module, &rel(file)), expected, "{module} {file}");
        };
        check("./tax.js", "src/shop/tax.ts", true);
        check("../money", "src/money.ts", true);
        check("../lib", "src/lib/index.js", true);
        check("../money", "money.ts", false);
        check("money", "src/shop/money.ts", false);
        check("../../data.json", "data.json", false);
    }

    #[test]
    fn begins_a_test_file() {
        assert_eq!(
            head(Runner::NodeTest, "const { a } = require('./a.js');"),
            "const { test } = require('node:test');\nconst assert = require('node:assert/strict');\nconst { a } = require('./a.js');\n"
        );
        assert_eq!(
            head(Runner::Vitest, "import { a } from './a';"),
            "import { test } from 'vitest';\nimport assert from 'node:assert/strict';\nimport { a } from './a';\n"
        );
        assert_eq!(modules(&rel("a.js"), "const x = 1;\n"), Modules::Require);
        assert_eq!(modules(&rel("a.ts"), "const x = 1;\n"), Modules::Import);
    }
}
