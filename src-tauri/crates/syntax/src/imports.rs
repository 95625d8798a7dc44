//! What a file brings in from elsewhere.

use crate::outline::one_line;
use crate::parse::{span, text};
use starling_core::code::{Import, Language};
use tree_sitter::Node;

pub(crate) fn import(language: Language, node: Node<'_>, source: &str) -> Import {
    let line = one_line(text(node, source));
    let bare = line.trim_end_matches(';').trim_end();
    let (module, names) = match language {
        Language::Python => python(bare),
        Language::Rust => rust(node, source),
        Language::Go => go(node, source),
        Language::C | Language::Cpp => c(bare),
        Language::Java => java(bare),
        Language::JavaScript | Language::TypeScript | Language::Tsx => javascript(node, bare, source),
    };
    Import { module, names, span: span(node), text: line }
}

fn python(line: &str) -> (String, Vec<String>) {
    if let Some((module, names)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        return (module.trim().to_owned(), list(names));
    }
    let rest = line.strip_prefix("import ").unwrap_or(line).trim();
    match rest.split_once(" as ") {
        Some((module, alias)) => (module.trim().to_owned(), vec![alias.trim().to_owned()]),
        None => (rest.to_owned(), Vec::new()),
    }
}

/// `use a::{b, c::{d as e, self}};` brings b, e, c from "a".
fn rust(node: Node<'_>, source: &str) -> (String, Vec<String>) {
    let Some(tree) = node.child_by_field_name("argument").or_else(|| node.child_by_field_name("name")) else {
        return (String::new(), Vec::new());
    };
    let whole = text(tree, source);
    let path = whole.split(['{', '*']).next().unwrap_or(whole).split(" as ").next().unwrap_or(whole).trim();
    let module = match tree.kind() {
        "scoped_use_list" | "use_wildcard" | "use_list" => path.trim_end_matches(':'),
        _ => path.rsplit_once("::").map_or("", |(module, _)| module),
    };
    let mut names = Vec::new();
    rust_names(tree, module, source, &mut names, 0);
    (module.to_owned(), names)
}

fn rust_names(node: Node<'_>, parent: &str, source: &str, names: &mut Vec<String>, depth: usize) {
    let last = |path: &str| path.rsplit("::").next().unwrap_or(path).to_owned();
    if depth > 20 {
        return;
    }
    match node.kind() {
        "use_as_clause" => names.extend(node.child_by_field_name("alias").map(|alias| text(alias, source).to_owned())),
        "self" => names.push(last(parent)),
        "use_wildcard" => names.push("*".to_owned()),
        "scoped_use_list" | "use_list" => {
            let parent = node.child_by_field_name("path").map_or(parent, |path| text(path, source));
            let list = node.child_by_field_name("list").unwrap_or(node);
            let mut cursor = list.walk();
            for child in list.named_children(&mut cursor) {
                rust_names(child, parent, source, names, depth + 1);
            }
        }
        _ => names.push(last(text(node, source))),
    }
}

fn go(node: Node<'_>, source: &str) -> (String, Vec<String>) {
    let module = node.child_by_field_name("path").map_or("", |path| text(path, source)).trim_matches(['"', '`']);
    let alias = node.child_by_field_name("name").map(|name| text(name, source).to_owned());
    (module.to_owned(), alias.into_iter().collect())
}

fn c(line: &str) -> (String, Vec<String>) {
    let module = line.trim_start_matches('#').trim_start().trim_start_matches("include").trim_start_matches("using");
    let module = module.trim().trim_start_matches("namespace ").trim_matches(['"', '<', '>', ' ']);
    (module.to_owned(), Vec::new())
}

fn java(line: &str) -> (String, Vec<String>) {
    let path = line.trim_start_matches("import").trim_start().trim_start_matches("static ").trim();
    match path.rsplit_once('.') {
        Some((module, name)) => (module.to_owned(), vec![name.to_owned()]),
        None => (path.to_owned(), Vec::new()),
    }
}

fn javascript(node: Node<'_>, line: &str, source: &str) -> (String, Vec<String>) {
    let module = node.child_by_field_name("source").map_or("", |module| text(module, source));
    let clause = line.rsplit_once(" from ").map_or("", |(clause, _)| clause);
    let clause = clause.trim_start_matches("import").trim_start();
    let names = list(clause).into_iter().map(|name| name.trim_start_matches("type ").trim().to_owned());
    (
        module.trim_matches(['"', '\'', '`']).to_owned(),
        names.filter(|name| !name.is_empty() && name != "type").collect(),
    )
}

/// "(a, b as c)" -> a, c
fn list(names: &str) -> Vec<String> {
    let parts = names.split([',', '(', ')', '{', '}']).map(str::trim).filter(|name| !name.is_empty());
    parts.map(|name| name.rsplit(" as ").next().unwrap_or(name).trim().to_owned()).collect()
}
