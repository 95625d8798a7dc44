//! How definitions are called: their own name, and the type they belong to where they say so themselves.

use crate::parse::text;
use crate::tables::Definition;
use starling_core::code::{Language, SymbolKind};
use tree_sitter::Node;

/// The name, and the type it belongs to where the definition itself says so (Go receivers, C++ `Class::method`).
pub(crate) fn names(
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
            c_names(node, source)
        }
        Language::C | Language::Cpp if definition.container && node.child_by_field_name("body").is_none() => None,
        Language::Python if node.kind() == "assignment" => {
            let left = node.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
            Some((text(left, source).to_owned(), None))
        }
        // `exports.name = function ...`
        _ if node.kind() == "assignment_expression" => {
            let left = text(node.child_by_field_name("left")?, source);
            let (object, name) = left.rsplit_once('.')?;
            matches!(object, "exports" | "module.exports").then(|| (name.to_owned(), None))
        }
        _ => {
            let named = node.child_by_field_name("name").or_else(|| node.child_by_field_name("property"));
            let name = named.or_else(|| first_name(node))?;
            Some((text(name, source).trim_matches(['"', '\'']).to_owned(), None))
        }
    }
}

fn c_names(node: Node<'_>, source: &str) -> Option<(String, Option<String>)> {
    let mut at = node.child_by_field_name("declarator")?;
    let mut parameters = None;
    loop {
        parameters = at.child_by_field_name("parameters").or(parameters);
        let inner = at.child_by_field_name("declarator");
        match inner.or_else(|| (at.kind() == "reference_declarator").then(|| at.named_child(0)).flatten()) {
            Some(inner) => at = inner,
            None => break,
        }
    }
    let full = text(at, source);
    let full = full.split('(').next().unwrap_or(full).trim_start_matches(['*', '&']).trim();
    // Test macros look like functions: TEST(Suite, name) { ... }
    if let Some(inside) = parameters.filter(|_| is_test_macro(full)) {
        let both = text(inside, source).trim_matches(['(', ')']);
        let (suite, name) = both.split_once(',').unwrap_or(("", both));
        let suite = Some(suite.trim().to_owned()).filter(|suite| !suite.is_empty());
        return Some((name.trim().trim_matches('"').to_owned(), suite));
    }
    match full.rsplit_once("::") {
        Some((owner, name)) => Some((name.to_owned(), Some(owner.replace("::", ".")))),
        None => Some((full.to_owned(), None)),
    }
}

pub(crate) fn is_test_macro(name: &str) -> bool {
    matches!(name, "TEST" | "TEST_F" | "TEST_P" | "TEST_CASE" | "TYPED_TEST")
}

fn first_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| child.kind().ends_with("identifier"))
}

/// The bare name of a type: `Vec` of `Vec<T>`, `a::B` is `B`.
pub(crate) fn type_name<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    let node = node.child_by_field_name("type").unwrap_or(node);
    let name = text(node, source).trim_start_matches(['&', '*']);
    let name = name.split(['<', ' ', '[']).next().unwrap_or(name);
    name.rsplit(['.', ':']).next().unwrap_or(name)
}
