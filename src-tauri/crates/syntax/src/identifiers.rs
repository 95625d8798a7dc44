//! Names in source text and the part they play. A guess from the shape of the tree, not a resolution.

use crate::parse::{span, text, tree};
use crate::roles::{Says, says};
use crate::tables::{Table, table};
use starling_core::code::{Language, Span};
use tree_sitter::{Node, Tree};

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
    let placed = placed(&tree, table, within);
    let mut found = Vec::new();
    for place in &placed {
        let node = place.node;
        // Some grammars nest a name in a name of the same text; the inner one counts.
        if table.names.contains(&node.kind()) && node.named_child_count() == 0 {
            let name = text(node, source).to_owned();
            let role = role(language, &placed, place, &name);
            found.push(Identifier { name, span: span(node), role });
        }
    }
    found
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

/// A node with what lies above it, which a node alone can only find by searching from the root.
struct Place<'t> {
    node: Node<'t>,
    /// The field of the parent it stands in, or "".
    field: &'t str,
    parent: Option<usize>,
    in_import: bool,
}

/// All named nodes that lie at least partly in `within`, parents before children.
fn placed<'t>(tree: &'t Tree, table: &Table, within: Option<Span>) -> Vec<Place<'t>> {
    let root = Place { node: tree.root_node(), field: "", parent: None, in_import: false };
    let mut found: Vec<Place<'t>> = Vec::new();
    let mut open = vec![root];
    let mut cursor = tree.walk();
    while let Some(place) = open.pop() {
        let (node, number) = (place.node, found.len());
        let in_import = place.in_import || table.imports.contains(&node.kind());
        found.push(place);
        let first = open.len();
        cursor.reset(node);
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            let outside = within.is_some_and(|w| child.end_byte() <= w.start || w.end <= child.start_byte());
            if child.is_named() && !outside {
                let field = cursor.field_name().unwrap_or("");
                open.push(Place { node: child, field, parent: Some(number), in_import });
            }
            more = cursor.goto_next_sibling();
        }
        open.get_mut(first..).unwrap_or_default().reverse();
    }
    found
}

fn role(language: Language, placed: &[Place<'_>], place: &Place<'_>, name: &str) -> IdentifierRole {
    if place.in_import {
        return IdentifierRole::Import;
    }
    // `Point { x, y }` in a pattern: the name of the field is the variable.
    let shorthand = place.node.kind() == "shorthand_field_identifier";
    let mut at = place;
    while let Some(above) = at.parent.and_then(|parent| placed.get(parent)) {
        let field = if shorthand && above.node.kind() == "field_pattern" { "" } else { at.field };
        // `case P() as name`: the name has no field, only its place behind the pattern.
        let behind = above.node.kind() == "as_pattern" && above.node.named_child(0).is_some_and(|n| n != at.node);
        let field = match (above.node.kind(), at.node.kind()) {
            ("as_pattern", _) if behind => "alias",
            ("keyword_pattern", "dotted_name") => "value",
            _ => field,
        };
        match says(above.node.kind(), field) {
            Some(Says::Climb) => at = above,
            Some(Says::Is(role)) => return settled(language, above.node, role, name),
            None => return IdentifierRole::Use,
        }
    }
    IdentifierRole::Use
}

/// What the table cannot say.
fn settled(language: Language, parent: Node<'_>, role: IdentifierRole, name: &str) -> IdentifierRole {
    let capital = name.chars().next().is_some_and(char::is_uppercase);
    match role {
        // `None` and `MAX` in a pattern are compared with, not bound.
        IdentifierRole::Definition if language == Language::Rust && parent.kind() == "match_pattern" && capital => {
            IdentifierRole::Use
        }
        IdentifierRole::Call if language == Language::Java && parent.child_by_field_name("object").is_some() => {
            IdentifierRole::Attribute
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_in(language: Language, source: &str, role: IdentifierRole, expected: &[&str]) {
        let all = identifiers(language, source, None);
        let got: Vec<&str> = all.iter().filter(|i| i.role == role).map(|i| i.name.as_str()).collect();
        assert_eq!(got, expected, "{language:?} {role:?}");
    }

    #[track_caller]
    fn check(source: &str, role: IdentifierRole, expected: &[&str]) {
        check_in(Language::Python, source, role, expected);
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

    #[test]
    fn knows_what_newer_python_binds() {
        let source = "def f[T](x: list[T]):\n    match x:\n        case [first, *rest]: return first\n        case P(a=1, b=c) as whole: pass\n        case other: pass\n    g = lambda q, *r: q\n";
        check(source, IdentifierRole::Definition, &["f", "T", "first", "rest", "c", "whole", "other", "g"]);
        check(source, IdentifierRole::Parameter, &["x", "q", "r"]);
        check(source, IdentifierRole::Keyword, &["a", "b"]);
        check(source, IdentifierRole::Use, &["list", "T", "x", "first", "P", "q"]);
    }

    #[test]
    fn tells_bindings_in_every_language() {
        let all: [(Language, &str, &[&str], &[&str]); 7] = [
            (
                Language::Rust,
                "fn f<T>(a: T, (b, c): P) { let (d, mut e) = a; if let Some(g) = h { } for i in 0..j {} match k { Q { l, m: n } => 1, MAX => 2, o => 3 }; |p, &r| p.s(r::t()); }",
                &["f", "T", "d", "e", "g", "i", "l", "n", "o"],
                &["a", "b", "c", "p", "r"],
            ),
            (
                Language::JavaScript,
                "function f(a, { b, c: d }, [e] = [], ...g) { const { h, i: j = 1 } = a; let k = x => x.y; for (const l of m) {} try {} catch (n) {} o = 1; }",
                &["f", "h", "j", "k", "l", "n", "o"],
                &["a", "b", "d", "e", "g", "x"],
            ),
            (
                Language::TypeScript,
                "function f<T>(a: A, b?: B): T { const c = (d: D) => d; return c(a); }\ninterface I { m(x: X): void }",
                &["f", "T", "c", "I", "m"],
                &["a", "b", "d", "x"],
            ),
            (
                Language::Go,
                "package p\nfunc (r *R) f(a, b int, c ...T) (d int) { e, g := a, b; for i, h := range c {}; var j int; k = 1; return }",
                &["f", "e", "g", "i", "h", "j", "k"],
                &["r", "a", "b", "c", "d"],
            ),
            (
                Language::Java,
                "class C<T> { int f(int a, T... b) { int c = a; for (T d : b) {} try {} catch (E e) {} g.h(x -> x); return k(c); } }",
                &["C", "f", "b", "c", "d"],
                &["a", "e", "x"],
            ),
            (
                Language::C,
                "#define M(q) q\nint *f(const char *a, int b[3]) { int c = 1, *d; for (int i = 0; i < c; i++) a->e = g(b); return d; }",
                &["M", "f", "c", "d", "i"],
                &["q", "a", "b"],
            ),
            (
                Language::Cpp,
                "template <class T> int N::f(const T &a, int b = 1) { auto [c, d] = a; for (auto &e : a) {} auto g = [&](int h) { return h; }; return 0; }",
                &["T", "c", "d", "e", "g"],
                &["a", "b", "h"],
            ),
        ];
        for (language, source, bound, parameters) in all {
            check_in(language, source, IdentifierRole::Definition, bound);
            check_in(language, source, IdentifierRole::Parameter, parameters);
        }
        check_in(
            Language::Rust,
            "use a::{b, c as d};\nfn f() { g(); h::i(); j!(); k.l(m); }",
            IdentifierRole::Import,
            &["a", "b", "c", "d"],
        );
        check_in(Language::Rust, "fn f() { g(); h::i(); j!(); k.l(m); }", IdentifierRole::Call, &["g", "j"]);
        check_in(
            Language::JavaScript,
            "import { a as b } from 'c';\nd.e(f({ g: h, i }));",
            IdentifierRole::Use,
            &["d", "h", "i"],
        );
    }
}
