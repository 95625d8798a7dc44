//! The outline of a file: what it defines, imports, and where it is broken.

use crate::imports::import;
use crate::names::{is_test_macro, names, type_name};
use crate::parse::{errors, nodes, text, tree};
use crate::tables::{Definition, Table, table};
use starling_core::code::{Language, Outline, Span, Symbol, SymbolKind};
use std::collections::HashSet;
use std::rc::Rc;
use tree_sitter::Node;

/// Never fails: what cannot be parsed at all has an empty outline.
pub fn outline(language: Language, source: &str) -> Outline {
    let mut outline =
        Outline { language: Some(language), symbols: Vec::new(), imports: Vec::new(), errors: Vec::new() };
    let Some(tree) = tree(language, source) else { return outline };
    let table = table(language);
    let mut declared = Vec::new();
    let mut cursor = tree.walk();
    let mut open: Vec<(Node<'_>, Rc<str>, bool)> = vec![(tree.root_node(), "".into(), false)];
    while let Some((node, container, in_test)) = open.pop() {
        let mut inside = Rc::clone(&container);
        let mut test = in_test;
        if table.imports.contains(&node.kind()) {
            outline.imports.push(import(language, node, source));
            continue;
        }
        if let Some(definition) = table.definitions.iter().find(|d| d.kind == node.kind()) {
            if let Some(symbol) = symbol(language, table, definition, node, source, &container, in_test) {
                test = in_test || is_test_module(language, &symbol, node, source);
                let descend = definition.container || holds_members(node);
                if descend {
                    inside = symbol.qualified.as_str().into();
                }
                let list = if is_prototype(node) { &mut declared } else { &mut outline.symbols };
                list.push(symbol);
                // Functions inside functions are no part of the outline: they cannot be named from outside.
                if !descend {
                    continue;
                }
            }
        } else if table.attached.contains(&node.kind()) {
            let owner = node.child_by_field_name("type").map(|owner| type_name(owner, source));
            inside = join(&container, owner.unwrap_or("")).into();
        }
        let first = open.len();
        cursor.reset(node);
        let mut more = cursor.goto_first_child();
        while more {
            if cursor.node().is_named() {
                open.push((cursor.node(), Rc::clone(&inside), test));
            }
            more = cursor.goto_next_sibling();
        }
        open.get_mut(first..).unwrap_or_default().reverse();
    }
    // A prototype beside its definition would make the name ambiguous.
    let defined: HashSet<String> = outline.symbols.iter().map(|symbol| symbol.qualified.clone()).collect();
    outline.symbols.extend(declared.into_iter().filter(|symbol| !defined.contains(&symbol.qualified)));
    outline.symbols.sort_by_key(|symbol| (symbol.span.start, std::cmp::Reverse(symbol.span.end)));
    outline.errors = errors(&tree, source);
    outline
}

/// `const api = { get() {} }`: the members belong to the variable.
fn holds_members(node: Node<'_>) -> bool {
    node.child_by_field_name("value").is_some_and(|value| matches!(value.kind(), "object" | "class"))
}

/// C and C++ declare functions before they define them.
fn is_prototype(node: Node<'_>) -> bool {
    matches!(node.kind(), "declaration" | "field_declaration")
}

/// The innermost symbol around a byte.
pub fn enclosing(outline: &Outline, offset: usize) -> Option<&Symbol> {
    outline.symbols.iter().filter(|s| s.span.start <= offset && offset < s.span.end).min_by_key(|s| s.span.len())
}

fn join(container: &str, name: &str) -> String {
    match (container.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => container.to_owned(),
        (false, false) => format!("{container}.{name}"),
    }
}

fn symbol(
    language: Language,
    table: &Table,
    definition: &Definition,
    node: Node<'_>,
    source: &str,
    container: &str,
    in_test: bool,
) -> Option<Symbol> {
    let (name, owner) = names(language, definition, node, source)?;
    if name.is_empty() || !is_outlined(definition, node, &name) {
        return None;
    }
    let container = match &owner {
        Some(owner) => join(container, owner),
        None => container.to_owned(),
    };
    let outer = wrapper(language, node);
    let first = with_leading(table, outer, source);
    let start = first.start_byte();
    let kind = kind_of(definition.symbol, &container, node);
    let body = node.child_by_field_name("body").or_else(|| value_body(node));
    let head_end = body.map_or(node.end_byte(), |body| body.start_byte());
    let signature = one_line(source.get(node.start_byte()..head_end).unwrap_or(""));
    let signature = signature.trim_end_matches([':', '{', '=', ' ']).to_owned();
    let end = with_semicolon(definition, outer, source);
    let span = Span::new(start, end);
    let head = source.get(start..node.start_byte()).unwrap_or("");
    let doc = if language == Language::Python { docstring(body, source) } else { comment_text(head) };
    // What tells a test: attributes and annotations, or for C the macro that stands for the declaration.
    let marks = match language {
        Language::C | Language::Cpp => signature.as_str(),
        Language::Java => source.get(start..head_end).unwrap_or(""),
        _ => head,
    };
    let is_test = in_test || is_test(language, &name, marks, kind);
    Some(Symbol {
        qualified: join(&container, &name),
        name,
        kind,
        span,
        lines: (first.start_position().row as u32 + 1, last_line(outer)),
        signature,
        body: body.map(crate::parse::span),
        doc,
        is_test,
    })
}

/// Variables count at the top of a file or as functions of a class, assignments where they name a constant or an export,
/// declarations where they declare a function.
fn is_outlined(definition: &Definition, node: Node<'_>, name: &str) -> bool {
    let parent = node.parent().and_then(|parent| parent.parent());
    let at_top = parent.is_none_or(|p| matches!(p.kind(), "module" | "program" | "source_file" | "export_statement"));
    match node.kind() {
        "assignment" => at_top && name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase),
        "variable_declarator" => {
            at_top || parent.is_some_and(|p| p.parent().is_some_and(|p| p.kind() == "internal_module"))
        }
        "field_definition" | "public_field_definition" | "assignment_expression" => is_callable(node),
        "declaration" | "field_declaration" => declares_function(node),
        _ => definition.symbol != SymbolKind::Variable || at_top,
    }
}

fn is_callable(node: Node<'_>) -> bool {
    let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("right"));
    value.is_some_and(|value| matches!(value.kind(), "arrow_function" | "function_expression" | "function"))
}

fn declares_function(node: Node<'_>) -> bool {
    let mut at = node.child_by_field_name("declarator");
    while let Some(declarator) = at {
        match declarator.kind() {
            "function_declarator" => return true,
            "pointer_declarator" => at = declarator.child_by_field_name("declarator"),
            "reference_declarator" => at = declarator.named_child(0),
            _ => return false,
        }
    }
    false
}

/// `const f = () => { ... }`: the body of the function is the body of the symbol.
fn value_body(node: Node<'_>) -> Option<Node<'_>> {
    let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("right"));
    value?.child_by_field_name("body")
}

fn kind_of(kind: SymbolKind, container: &str, node: Node<'_>) -> SymbolKind {
    let of_type = node.child_by_field_name("type").map(|inner| inner.kind());
    match kind {
        SymbolKind::Variable if is_callable(node) && container.is_empty() => SymbolKind::Function,
        SymbolKind::Variable if is_callable(node) => SymbolKind::Method,
        SymbolKind::Type if of_type == Some("struct_type") => SymbolKind::Struct,
        SymbolKind::Type if of_type == Some("interface_type") => SymbolKind::Interface,
        SymbolKind::Function if !container.is_empty() && !in_module(node) => SymbolKind::Method,
        other => other,
    }
}

/// A function whose nearest holder is a module is no method.
fn in_module(node: Node<'_>) -> bool {
    let mut parent = node.parent();
    while let Some(at) = parent {
        match at.kind() {
            "mod_item" | "namespace_definition" | "internal_module" => return true,
            "impl_item" | "trait_item" | "class_definition" | "class_specifier" | "struct_specifier" | "class_body" => {
                return false;
            }
            _ => parent = at.parent(),
        }
    }
    false
}

/// The node that carries decorators, `export` or `const` around a definition.
fn wrapper(language: Language, node: Node<'_>) -> Node<'_> {
    let mut outer = node;
    while let Some(parent) = outer.parent() {
        let wraps = match language {
            Language::Python => parent.kind() == "decorated_definition",
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                matches!(
                    parent.kind(),
                    "export_statement" | "lexical_declaration" | "variable_declaration" | "ambient_declaration"
                )
            }
            Language::Go => matches!(parent.kind(), "type_declaration" | "const_declaration" | "var_declaration"),
            Language::Cpp => parent.kind() == "template_declaration",
            Language::Rust | Language::Java | Language::C => false,
        };
        if !wraps
            || parent.named_child_count() > 1
                && !matches!(parent.kind(), "decorated_definition" | "template_declaration")
        {
            return outer;
        }
        outer = parent;
    }
    outer
}

/// The start with attributes and the comment block directly above.
fn with_leading<'t>(table: &Table, node: Node<'t>, source: &str) -> Node<'t> {
    let mut start = node;
    while let Some(before) = start.prev_sibling() {
        let leads = table.comments.contains(&before.kind()) || matches!(before.kind(), "attribute_item" | "decorator");
        let gap = source.get(before.end_byte()..start.start_byte()).unwrap_or("");
        // Rust's line comments hold their line end. A comment after code on the same line belongs to that code.
        let near = gap.matches('\n').count() <= usize::from(!text(before, source).ends_with('\n'));
        if !leads || !near || !begins_line(source, before.start_byte()) || text(before, source).starts_with("//!") {
            break;
        }
        start = before;
    }
    start
}

fn begins_line(source: &str, at: usize) -> bool {
    let head = source.get(..at).unwrap_or("");
    let line = head.rsplit('\n').next().unwrap_or("");
    line.trim().is_empty()
}

/// C++ classes end with a semicolon that stands outside their node.
fn with_semicolon(definition: &Definition, node: Node<'_>, source: &str) -> usize {
    let end = node.end_byte();
    let ends = definition.container && source.get(end..).is_some_and(|rest| rest.starts_with(';'));
    if ends { end + 1 } else { end }
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(" )", ")")
}

/// 1-based. Some nodes end with their line end, that is, at the start of the next line.
fn last_line(node: Node<'_>) -> u32 {
    let end = node.end_position();
    let before = u32::from(end.column == 0 && end.row > node.start_position().row);
    end.row as u32 + 1 - before
}

fn docstring(body: Option<Node<'_>>, source: &str) -> String {
    let first = body.and_then(|body| body.named_child(0)).filter(|first| first.kind() == "expression_statement");
    let string = first.and_then(|first| first.named_child(0)).filter(|node| node.kind() == "string");
    string
        .map(|node| clean(text(node, source).trim_start_matches(['r', 'R', 'u', 'b']).trim_matches(['"', '\''])))
        .unwrap_or_default()
}

fn comment_text(head: &str) -> String {
    let lines = head.lines().map(str::trim).filter(|line| {
        ["///", "//", "/*", "*", "#"].iter().any(|mark| line.starts_with(mark)) && !line.starts_with("#[")
    });
    let bare = |line: &str| {
        let line = line.trim_start_matches(['/', '*', '#', '!']).trim_end_matches('/').trim_end_matches('*');
        line.trim().to_owned()
    };
    clean(&lines.map(bare).collect::<Vec<_>>().join("\n"))
}

fn clean(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn is_test(language: Language, name: &str, head: &str, kind: SymbolKind) -> bool {
    let callable = matches!(kind, SymbolKind::Function | SymbolKind::Method);
    callable
        && match language {
            Language::Python => name.starts_with("test"),
            Language::Rust => ["#[test]", "::test]", "::test(", "#[rstest"].iter().any(|mark| head.contains(mark)),
            Language::Go => name.starts_with("Test") || name.starts_with("Benchmark") || name.starts_with("Fuzz"),
            Language::Java => head.contains("@Test"),
            Language::JavaScript | Language::TypeScript | Language::Tsx => matches!(name, "test" | "it" | "describe"),
            Language::C | Language::Cpp => {
                let bare = head.trim_start();
                !bare.is_empty() && is_test_macro(bare.split('(').next().unwrap_or(bare).trim())
            }
        }
}

fn is_test_module(language: Language, symbol: &Symbol, node: Node<'_>, source: &str) -> bool {
    let head = source.get(symbol.span.start..node.start_byte()).unwrap_or("");
    language == Language::Rust && symbol.kind == SymbolKind::Module && head.contains("cfg(test)")
}

/// Used by tests and by mutants: every node of a kind.
pub(crate) fn of_kind<'t>(root: Node<'t>, kinds: &[&str], within: Option<Span>) -> Vec<Node<'t>> {
    nodes(root, within).into_iter().filter(|node| kinds.contains(&node.kind())).collect()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::FIXTURES;
