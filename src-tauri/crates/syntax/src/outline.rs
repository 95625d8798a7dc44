//! The outline of a file: what it defines, imports, and where it is broken.

use crate::parse::{errors, nodes, span, text, tree};
use crate::tables::{Definition, Table, table};
use starling_core::code::{Import, Language, Outline, Span, Symbol, SymbolKind};
use tree_sitter::Node;

/// Never fails: what cannot be parsed at all has an empty outline.
pub fn outline(language: Language, source: &str) -> Outline {
    let mut outline =
        Outline { language: Some(language), symbols: Vec::new(), imports: Vec::new(), errors: Vec::new() };
    let Some(tree) = tree(language, source) else { return outline };
    let table = table(language);
    let mut open: Vec<(Node<'_>, String, bool)> = vec![(tree.root_node(), String::new(), false)];
    while let Some((node, container, in_test)) = open.pop() {
        let mut inside = container.clone();
        let mut test = in_test;
        if table.imports.contains(&node.kind()) {
            outline.imports.extend(import(language, node, source));
        } else if let Some(definition) = table.definitions.iter().find(|d| d.kind == node.kind()) {
            if let Some(symbol) = symbol(language, table, definition, node, source, &container, in_test) {
                test = in_test || is_test_module(language, &symbol, node, source);
                if definition.container {
                    inside = symbol.qualified.clone();
                }
                let local = !definition.container;
                outline.symbols.push(symbol);
                // Functions inside functions are no part of the outline: they cannot be named from outside.
                if local && !matches!(definition.symbol, SymbolKind::Variable | SymbolKind::Type) {
                    continue;
                }
            }
        } else if table.attached.contains(&node.kind()) {
            let owner = node.child_by_field_name("type").map(|owner| type_name(owner, source));
            inside = join(&container, owner.unwrap_or(""));
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        open.extend(children.into_iter().rev().map(|child| (child, inside.clone(), test)));
    }
    outline.symbols.sort_by_key(|symbol| (symbol.span.start, std::cmp::Reverse(symbol.span.end)));
    outline.errors = errors(&tree, source);
    outline
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

/// The bare name of a type: `Vec` of `Vec<T>`, `a::B` is `B`.
fn type_name<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    let node = node.child_by_field_name("type").unwrap_or(node);
    let name = text(node, source).trim_start_matches(['&', '*']);
    let name = name.split(['<', ' ', '[']).next().unwrap_or(name);
    name.rsplit(['.', ':']).next().unwrap_or(name)
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
    if name.is_empty() || (definition.symbol == SymbolKind::Variable && !is_top_variable(node, container)) {
        return None;
    }
    let container = match &owner {
        Some(owner) => join(container, owner),
        None => container.to_owned(),
    };
    let outer = wrapper(language, node);
    let start = with_leading(table, outer, source);
    let kind = kind_of(definition.symbol, &container, node);
    let body = node.child_by_field_name("body").or_else(|| value_body(node));
    let head_end = body.map_or(node.end_byte(), |body| body.start_byte());
    let signature = one_line(source.get(node.start_byte()..head_end).unwrap_or(""));
    let signature = signature.trim_end_matches([':', '{', '=', ' ']).to_owned();
    let end = with_semicolon(definition, outer, source);
    let span = Span::new(start, end);
    let head = source.get(start..node.start_byte()).unwrap_or("");
    let doc = if language == Language::Python { docstring(body, source) } else { comment_text(head) };
    let is_test = in_test || is_test(language, &name, head, kind);
    Some(Symbol {
        qualified: join(&container, &name),
        name,
        kind,
        span,
        lines: (line_of(source, start), line_of(source, end.saturating_sub(1).max(start))),
        signature,
        body: body.map(crate::parse::span),
        doc,
        is_test,
    })
}

/// The name, and the type it belongs to where the definition itself says so (Go receivers, C++ `Class::method`).
fn names(
    language: Language,
    definition: &Definition,
    node: Node<'_>,
    source: &str,
) -> Option<(String, Option<String>)> {
    match language {
        Language::Go if node.kind() == "method_declaration" => {
            let receiver = node.child_by_field_name("receiver")?;
            let mut cursor = receiver.walk();
            let typed = receiver.named_children(&mut cursor).find_map(|p| p.child_by_field_name("type"));
            let owner = typed.map(|t| type_name(t, source).to_owned());
            Some((text(node.child_by_field_name("name")?, source).to_owned(), owner))
        }
        Language::C | Language::Cpp if matches!(definition.symbol, SymbolKind::Function | SymbolKind::Type) => {
            let mut at = node.child_by_field_name("declarator")?;
            while let Some(inner) = at.child_by_field_name("declarator") {
                at = inner;
            }
            let full = text(at, source);
            let full = full.split('(').next().unwrap_or(full).trim_start_matches(['*', '&']).trim();
            match full.rsplit_once("::") {
                Some((owner, name)) => Some((name.to_owned(), Some(owner.replace("::", ".")))),
                None => Some((full.to_owned(), None)),
            }
        }
        Language::C | Language::Cpp if definition.container && node.child_by_field_name("body").is_none() => None,
        _ => {
            let name = node.child_by_field_name("name").or_else(|| first_name(node))?;
            Some((text(name, source).trim_matches(['"', '\'']).to_owned(), None))
        }
    }
}

fn first_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| child.kind().ends_with("identifier"))
}

/// Constants and functions held by top-level variables; not the variables of function bodies.
fn is_top_variable(node: Node<'_>, container: &str) -> bool {
    let mut parent = node.parent();
    while let Some(at) = parent {
        if matches!(
            at.kind(),
            "statement_block" | "function_declaration" | "arrow_function" | "method_definition" | "block"
        ) {
            return false;
        }
        parent = at.parent();
    }
    container.is_empty() || !node.kind().ends_with("declarator")
}

/// `const f = () => { ... }`: the body of the function is the body of the symbol.
fn value_body(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("value")?.child_by_field_name("body")
}

fn kind_of(kind: SymbolKind, container: &str, node: Node<'_>) -> SymbolKind {
    let callable =
        node.child_by_field_name("value").is_some_and(|v| matches!(v.kind(), "arrow_function" | "function_expression"));
    match kind {
        SymbolKind::Variable if callable => SymbolKind::Function,
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
fn with_leading(table: &Table, node: Node<'_>, source: &str) -> usize {
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
    start.start_byte()
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

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(" )", ")")
}

fn line_of(source: &str, at: usize) -> u32 {
    let head = source.as_bytes().get(..at).unwrap_or(source.as_bytes());
    head.iter().filter(|byte| **byte == b'\n').count() as u32 + 1
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
            Language::C | Language::Cpp => name == "TEST" || name == "TEST_F" || name == "TEST_CASE",
        }
}

fn is_test_module(language: Language, symbol: &Symbol, node: Node<'_>, source: &str) -> bool {
    let head = source.get(symbol.span.start..node.start_byte()).unwrap_or("");
    language == Language::Rust && symbol.kind == SymbolKind::Module && head.contains("cfg(test)")
}

fn import(language: Language, node: Node<'_>, source: &str) -> Option<Import> {
    let raw = text(node, source);
    let line = one_line(raw.trim_end_matches(';'));
    let (module, names) = match language {
        Language::Python => python_import(&line),
        Language::Rust => rust_import(&line),
        Language::Go | Language::C | Language::Cpp => {
            let module = line.trim_start_matches("#include").trim_start_matches("using");
            let module = module.rsplit_once(' ').map_or(module, |(_, path)| path);
            (module.trim_matches(['"', '<', '>', ' ', '`']).to_owned(), Vec::new())
        }
        Language::Java => {
            let path = line.trim_start_matches("import").trim_start().trim_start_matches("static ").to_owned();
            let name = path.rsplit('.').next().unwrap_or("").to_owned();
            (path.rsplit_once('.').map_or(path.clone(), |(module, _)| module.to_owned()), vec![name])
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let module =
                node.child_by_field_name("source").map(|s| text(s, source).trim_matches(['"', '\'', '`']).to_owned());
            let clause = line.split(" from ").next().unwrap_or("").trim_start_matches("import");
            (module.unwrap_or_default(), list(clause))
        }
    };
    let text =
        if language == Language::Rust || language == Language::JavaScript { raw.trim().to_owned() } else { line };
    let text = if language == Language::Rust { one_line(&text) } else { text };
    Some(Import { text, module, names, span: span(node) })
}

fn python_import(line: &str) -> (String, Vec<String>) {
    match line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        Some((module, names)) => (module.trim().to_owned(), list(names)),
        None => {
            let rest = line.strip_prefix("import ").unwrap_or(line);
            match rest.split_once(" as ") {
                Some((module, alias)) => (module.trim().to_owned(), vec![alias.trim().to_owned()]),
                None => (rest.trim().to_owned(), Vec::new()),
            }
        }
    }
}

fn rust_import(line: &str) -> (String, Vec<String>) {
    let path = line.split_once("use ").map_or(line, |(_, path)| path).trim();
    match path.split_once('{') {
        Some((module, names)) => (module.trim_end_matches(':').to_owned(), list(names)),
        None => {
            let (path, alias) = path.split_once(" as ").map_or((path, None), |(path, alias)| (path, Some(alias)));
            let (module, name) = path.rsplit_once("::").unwrap_or(("", path));
            (module.to_owned(), vec![alias.unwrap_or(name).to_owned()])
        }
    }
}

/// "(a, b as c)" -> a, c
fn list(names: &str) -> Vec<String> {
    let parts = names.split([',', '(', ')', '{', '}']).map(str::trim).filter(|name| !name.is_empty());
    parts.map(|name| name.rsplit(" as ").next().unwrap_or(name).trim().to_owned()).collect()
}

/// Used by tests and by mutants: every node of a kind.
pub(crate) fn of_kind<'t>(root: Node<'t>, kinds: &[&str], within: Option<Span>) -> Vec<Node<'t>> {
    nodes(root, within).into_iter().filter(|node| kinds.contains(&node.kind())).collect()
}

#[cfg(test)]
mod tests;
