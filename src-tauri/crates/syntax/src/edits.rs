//! Single edits as candidates for a repair. The fix of a small fault is often the inverse of a mutant, an off-by-one, the
//! wrong variable, or two arguments the wrong way round.

use crate::operators::{Change, change, finish, live_nodes, parsed, small_changes};
use crate::parse::text;
use starling_core::RelPath;
use starling_core::code::{Language, Span};
use starling_core::test_set::Mutant;
use tree_sitter::Node;

/// Edits of one span at most.
const LIMIT: usize = 400;

/// Edits of the code in `within`, most plausible family first.
pub fn edits(language: Language, path: &RelPath, source: &str, within: Span) -> Vec<Mutant> {
    let Some(tree) = parsed(language, source) else { return Vec::new() };
    let nodes = live_nodes(language, tree.root_node(), within);
    let mut changes: Vec<(u8, Change)> = Vec::new();
    changes.extend(crate::units::in_characters(language, source, within).into_iter().map(|c| (0, c)));
    for node in &nodes {
        changes.extend(small_changes(language, *node, source).into_iter().map(|c| (rank(c.family), c)));
        changes.extend(off_by_one(*node, source).into_iter().map(|c| (1, c)));
        changes.extend(wider_operators(*node).into_iter().map(|c| (2, c)));
        changes.extend(swapped(*node, source).map(|c| (3, c)));
        changes.extend(other_unit(language, *node, source).map(|c| (0, c)));
        changes.extend(one_less(*node, source).map(|c| (1, c)));
        changes.extend(moved_return(language, *node, source).into_iter().map(|c| (2, c)));
    }
    changes.extend(other_members(language, tree.root_node(), &nodes, source).into_iter().map(|c| (4, c)));
    changes.extend(other_variables(language, &nodes, source, within).into_iter().map(|c| (4, c)));
    changes.sort_by_key(|(rank, _)| *rank);
    finish(language, &tree, path, source, changes.into_iter().map(|(_, c)| c).collect(), LIMIT)
}

/// What people get wrong most comes first.
fn rank(family: &str) -> u8 {
    match family {
        "unit" | "compare" | "bound" | "condition" => 0,
        "number" | "arithmetic" | "logic" | "boolean" => 1,
        "loop" | "result" | "remove" => 3,
        _ => 5,
    }
}

/// `x` becomes `x + 1` and `x - 1` where it is a bound, an index, an argument or one side of a comparison.
fn off_by_one(node: Node<'_>, source: &str) -> Vec<Change> {
    let Some(parent) = node.parent() else { return Vec::new() };
    let place = matches!(
        parent.kind(),
        "comparison_operator"
            | "binary_expression"
            | "slice"
            | "subscript"
            | "index_expression"
            | "argument_list"
            | "arguments"
            | "range_expression"
            | "return_statement"
    );
    let value = matches!(
        node.kind(),
        "identifier" | "call" | "call_expression" | "binary_operator" | "attribute" | "subscript"
    );
    let callee =
        parent.child_by_field_name("value").is_some_and(|n| n.id() == node.id()) && parent.kind() == "subscript";
    if !place || !value || callee {
        return Vec::new();
    }
    let raw = text(node, source);
    vec![change("off by one", node, format!("{raw} + 1")), change("off by one", node, format!("{raw} - 1"))]
}

fn wider_operators(node: Node<'_>) -> Vec<Change> {
    let binary = node
        .parent()
        .is_some_and(|p| matches!(p.kind(), "comparison_operator" | "binary_operator" | "binary_expression"));
    if !binary || node.is_named() {
        return Vec::new();
    }
    let all: &[&str] = match node.kind() {
        "<" | "<=" | ">" | ">=" | "==" | "!=" => &["<", "<=", ">", ">=", "==", "!="],
        "===" | "!==" => &["===", "!==", "<", "<=", ">", ">="],
        "+" | "-" | "*" | "/" | "%" => &["+", "-", "*", "/", "%"],
        "//" => &["/", "%", "-"],
        "&" | "|" | "^" => &["&", "|", "^"],
        "<<" => &[">>"],
        ">>" => &["<<"],
        _ => &[],
    };
    all.iter().map(|other| change("operator", node, *other)).collect()
}

/// Bytes counted as characters, and the other way round.
fn other_unit(language: Language, node: Node<'_>, source: &str) -> Option<Change> {
    if language != Language::Rust || node.kind() != "call_expression" {
        return None;
    }
    let raw = text(node, source);
    let other = match (raw.strip_suffix(".chars().count()"), raw.strip_suffix(".len()")) {
        (Some(value), _) => format!("{value}.len()"),
        (None, Some(value)) => format!("{value}.chars().count()"),
        (None, None) => return None,
    };
    Some(change("unit", node, other))
}

/// Two arguments the other way round.
fn swapped(node: Node<'_>, source: &str) -> Option<Change> {
    if !matches!(node.kind(), "argument_list" | "arguments") || node.named_child_count() != 2 {
        return None;
    }
    let (first, second) = (node.named_child(0)?, node.named_child(1)?);
    let between = source.get(first.end_byte()..second.start_byte())?;
    let span = Span::new(first.start_byte(), second.end_byte());
    Some(Change { family: "swap", span, text: format!("{}{between}{}", text(second, source), text(first, source)) })
}

/// `x + 1` and `x - 1` become `x`; `a - b` becomes `b - a`.
fn one_less(node: Node<'_>, source: &str) -> Option<Change> {
    if !matches!(node.kind(), "binary_operator" | "binary_expression") {
        return None;
    }
    let (left, right) = (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
    let operator = source.get(left.end_byte()..right.start_byte())?;
    match operator.trim() {
        "+" | "-" if text(right, source) == "1" => Some(change("off by one", node, text(left, source))),
        "-" | "/" | "//" | "%" | "<<" | ">>" => {
            Some(change("swap", node, format!("{}{operator}{}", text(right, source), text(left, source))))
        }
        _ => None,
    }
}

/// Python: a `return` that ends the body of a loop moves behind the loop, and one behind a loop moves into it.
fn moved_return(language: Language, node: Node<'_>, source: &str) -> Vec<Change> {
    if language != Language::Python || node.kind() != "return_statement" {
        return Vec::new();
    }
    let mut found = Vec::new();
    let indent = |node: Node<'_>| " ".repeat(node.start_position().column);
    let is_loop = |node: Node<'_>| matches!(node.kind(), "for_statement" | "while_statement");
    let text = text(node, source);
    // Out of a loop that has other statements before it; the line with its indentation is replaced.
    let outer = node.parent().filter(|body| body.kind() == "block").and_then(|body| body.parent());
    if let Some(outer) = outer
        .filter(|outer| node.next_named_sibling().is_none() && node.prev_named_sibling().is_some() && is_loop(*outer))
    {
        let span = Span::new(node.start_byte() - node.start_position().column, node.end_byte());
        found.push(Change { family: "move", span, text: format!("{}{text}", indent(outer)) });
    }
    if let Some(before) = node.prev_named_sibling().filter(|before| is_loop(*before)) {
        let inside = before.child_by_field_name("body").and_then(|body| body.named_child(0));
        if let Some(inside) = inside.filter(|inside| inside.start_position().row > before.start_position().row) {
            let span = Span::new(node.start_byte() - node.start_position().column, node.end_byte());
            found.push(Change { family: "move", span, text: format!("{}{text}", indent(inside)) });
        }
    }
    // The bytes before the statement must be nothing but its indentation.
    found.retain(|c| source.get(c.span.start..node.start_byte()).is_some_and(|head| head.bytes().all(|b| b == b' ')));
    found
}

/// A member of an object becomes another member that the file uses on an object of the same name.
fn other_members(language: Language, root: Node<'_>, nodes: &[Node<'_>], source: &str) -> Vec<Change> {
    fn split<'a>(node: Node<'a>) -> Option<(Node<'a>, Node<'a>)> {
        let (object, member) = match node.kind() {
            "attribute" => ("object", "attribute"),
            "field_expression" => ("value", "field"),
            "member_expression" => ("object", "property"),
            "selector_expression" => ("operand", "field"),
            _ => return None,
        };
        Some((node.child_by_field_name(object)?, node.child_by_field_name(member)?))
    }
    // A method is only another method's stand-in, a value another value's.
    let called =
        |node: Node<'_>| node.parent().and_then(|p| p.child_by_field_name("function")).is_some_and(|f| f == node);
    let mut known: Vec<(&str, &str, bool)> = Vec::new();
    for node in crate::parse::nodes(root, None) {
        if let Some((object, member)) = split(node) {
            known.push((text(object, source), text(member, source), called(node)));
        }
    }
    let own = if language == Language::Python || language == Language::Rust { "self" } else { "this" };
    let methods =
        crate::outline(language, source).symbols.into_iter().filter(|s| s.qualified.contains('.')).map(|s| s.name);
    let methods: Vec<String> = methods.filter(|name| !name.starts_with("__")).collect();
    known.extend(methods.iter().map(|name| (own, name.as_str(), true)));
    known.sort_unstable();
    known.dedup();
    let mut found = Vec::new();
    for node in nodes {
        let Some((object, member)) = split(*node) else { continue };
        let (object, name) = (text(object, source), text(member, source));
        let alike = known.iter().filter(|(of, other, call)| *of == object && *other != name && *call == called(*node));
        found.extend(alike.take(6).map(|(_, other, _)| change("member", member, *other)));
    }
    found
}

/// A variable read becomes another one bound in the same span.
fn other_variables(language: Language, nodes: &[Node<'_>], source: &str, within: Span) -> Vec<Change> {
    let locals = crate::locals(language, source, Some(within));
    let names = crate::identifiers(language, source, Some(within));
    let reads = nodes.iter().filter(|node| {
        node.kind() == "identifier"
            && locals.iter().any(|name| name == text(**node, source))
            && names.iter().any(|i| i.span == crate::parse::span(**node) && i.role == crate::IdentifierRole::Use)
    });
    let changes = reads.flat_map(|node| {
        let own = text(*node, source);
        let others = locals.iter().filter(move |name| name.as_str() != own && name.as_str() != "self").take(5);
        others.map(|name| change("variable", *node, name.as_str())).collect::<Vec<_>>()
    });
    changes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, wanted: &str) {
        let path = RelPath::new("a.py").expect("a good path");
        let all = edits(Language::Python, &path, source, Span::new(0, source.len()));
        let fixed = all.iter().any(|edit| {
            let mut changed = source.to_owned();
            changed.replace_range(edit.span.start..edit.span.end, &edit.replacement);
            changed == wanted
        });
        assert!(fixed, "no edit gives {wanted:?} among {}", all.len());
        assert!(all.len() <= LIMIT);
    }

    #[test]
    fn reaches_the_fixes_of_common_faults() {
        check("def f(n):\n    return range(n)\n", "def f(n):\n    return range(n + 1)\n");
        check("def f(a, b):\n    return g(b, a)\n", "def f(a, b):\n    return g(a, b)\n");
        check("def f(a, b):\n    return a - a\n", "def f(a, b):\n    return a - b\n");
        check("def f(a):\n    while a > 0:\n        pass\n", "def f(a):\n    while a != 0:\n        pass\n");
        check("def f(a):\n    return a[len(a)]\n", "def f(a):\n    return a[len(a) - 1]\n");
    }

    #[test]
    fn reaches_the_fixes_of_structure() {
        check("def f(a, b):\n    return a + 1\n", "def f(a, b):\n    return a\n");
        check("def f(a, b):\n    return b - a\n", "def f(a, b):\n    return a - b\n");
        check(
            "def f(a):\n    s = 0\n    for x in a:\n        s += x\n        return s\n",
            "def f(a):\n    s = 0\n    for x in a:\n        s += x\n    return s\n",
        );
        check(
            "def f(a):\n    for x in a:\n        g(x)\n    return x\n",
            "def f(a):\n    for x in a:\n        g(x)\n        return x\n",
        );
        check(
            "class C:\n    def low(self): return self.a\n    def high(self): return self.b\n    def go(self): return self.low()\n",
            "class C:\n    def low(self): return self.a\n    def high(self): return self.b\n    def go(self): return self.high()\n",
        );
        check(
            "class C:\n    def low(self): return self.a\n    def high(self): return self.b\n",
            "class C:\n    def low(self): return self.b\n    def high(self): return self.b\n",
        );
        check("def f(a, n):\n    return a[:n]\n", "def f(a, n):\n    return a[:n + 1]\n");
    }
}
