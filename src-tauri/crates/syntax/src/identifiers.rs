//! Names in source text and the part they play. A guess from the shape of the tree, not a resolution.

use crate::parse::{nodes, span, text, tree};
use crate::tables::table;
use starling_core::code::{Language, Span};
use tree_sitter::Node;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentifierRole {
    /// Read as a variable.
    Use,
    /// Called by its bare name.
    Call,
    /// Bound here: defined, assigned, a loop variable, an alias.
    Definition,
    /// After a dot.
    Attribute,
    Parameter,
    Import,
    /// The name of an argument in a call.
    Keyword,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier {
    pub name: String,
    pub span: Span,
    pub role: IdentifierRole,
}

/// All names in order; only those in `within` if it is given.
pub fn identifiers(language: Language, source: &str, within: Option<Span>) -> Vec<Identifier> {
    let Some(tree) = tree(language, source) else { return Vec::new() };
    let table = table(language);
    let names = nodes(tree.root_node(), within).into_iter().filter(|node| table.names.contains(&node.kind()));
    names.map(|node| Identifier { name: text(node, source).to_owned(), span: span(node), role: role(node) }).collect()
}

/// Names that are bound in `within`, sorted: parameters, assignments, loops, comprehensions, handlers, patterns.
pub fn locals(language: Language, source: &str, within: Option<Span>) -> Vec<String> {
    let all = identifiers(language, source, within);
    let bound = all.into_iter().filter(|i| matches!(i.role, IdentifierRole::Definition | IdentifierRole::Parameter));
    let mut names: Vec<String> = bound.map(|i| i.name).collect();
    names.sort();
    names.dedup();
    names
}

fn role(node: Node<'_>) -> IdentifierRole {
    let mut at = node;
    while let Some(parent) = at.parent() {
        let field = field_of(parent, at);
        match (parent.kind(), field) {
            ("attribute", Some("attribute"))
            | ("field_expression" | "member_expression" | "selector_expression", Some("field" | "property")) => {
                return IdentifierRole::Attribute;
            }
            ("call" | "call_expression" | "method_invocation", Some("function" | "name")) => {
                return IdentifierRole::Call;
            }
            ("keyword_argument", Some("name")) => return IdentifierRole::Keyword,
            (
                "function_definition"
                | "class_definition"
                | "function_item"
                | "struct_item"
                | "enum_item"
                | "function_declaration",
                Some("name"),
            ) => {
                return IdentifierRole::Definition;
            }
            (
                "aliased_import"
                | "dotted_name"
                | "import_statement"
                | "import_from_statement"
                | "use_declaration"
                | "import_specifier",
                _,
            ) => {
                return if inside_import(parent) { IdentifierRole::Import } else { IdentifierRole::Use };
            }
            ("parameters" | "lambda_parameters" | "formal_parameters" | "closure_parameters", _) => {
                return IdentifierRole::Parameter;
            }
            ("default_parameter" | "typed_default_parameter", Some("value"))
            | ("typed_parameter" | "typed_default_parameter", Some("type")) => {
                return IdentifierRole::Use;
            }
            (
                "default_parameter"
                | "typed_default_parameter"
                | "typed_parameter"
                | "list_splat_pattern"
                | "dictionary_splat_pattern"
                | "parameter",
                _,
            ) => {
                at = parent;
                continue;
            }
            (
                "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" | "named_expression",
                Some("left" | "name"),
            ) => {
                return IdentifierRole::Definition;
            }
            ("with_item" | "except_clause" | "as_pattern", Some("alias")) | ("as_pattern_target", _) => {
                return IdentifierRole::Definition;
            }
            ("let_declaration" | "for_expression" | "match_pattern", Some("pattern")) => {
                return IdentifierRole::Definition;
            }
            ("variable_declarator", Some("name")) => return IdentifierRole::Definition,
            ("global_statement" | "nonlocal_statement" | "case_pattern", _) => return IdentifierRole::Definition,
            ("pattern_list" | "tuple_pattern" | "list_pattern" | "tuple" | "expression_list", _) => {
                at = parent;
                continue;
            }
            _ => return IdentifierRole::Use,
        }
    }
    IdentifierRole::Use
}

fn inside_import(node: Node<'_>) -> bool {
    let mut at = Some(node);
    while let Some(node) = at {
        if node.kind().contains("import") || node.kind() == "use_declaration" {
            return true;
        }
        at = node.parent();
    }
    false
}

fn field_of<'t>(parent: Node<'t>, child: Node<'t>) -> Option<&'t str> {
    let mut cursor = parent.walk();
    if !cursor.goto_first_child() {
        return None;
    }
    loop {
        if cursor.node().id() == child.id() {
            return cursor.field_name();
        }
        if !cursor.goto_next_sibling() {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, role: IdentifierRole, expected: &[&str]) {
        let all = identifiers(Language::Python, source, None);
        let got: Vec<&str> = all.iter().filter(|i| i.role == role).map(|i| i.name.as_str()).collect();
        assert_eq!(got, expected);
    }

    const SOURCE: &str = "import os.path as p\nfrom a import b, c as d\ndef f(x, y=z, *args, k: int = 3, **kw):\n    t, u = g(x)\n    for i, j in h: o.attr(i, key=j)\n    with open(x) as fh: pass\n    try: pass\n    except E as err: pass\n    return [q for q in t if (w := q)]\n";

    #[test]
    fn tells_what_a_name_is_for() {
        check(SOURCE, IdentifierRole::Import, &["os", "path", "p", "a", "b", "c", "d"]);
        check(SOURCE, IdentifierRole::Call, &["g", "open"]);
        check(SOURCE, IdentifierRole::Parameter, &["x", "y", "args", "k", "kw"]);
        check(SOURCE, IdentifierRole::Definition, &["f", "t", "u", "i", "j", "fh", "err", "q", "w"]);
        check(SOURCE, IdentifierRole::Attribute, &["attr"]);
        check(SOURCE, IdentifierRole::Keyword, &["key"]);
        check(SOURCE, IdentifierRole::Use, &["z", "int", "x", "h", "o", "i", "j", "x", "E", "q", "t", "q"]);
    }
}
