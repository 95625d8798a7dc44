//! Parsing with a budget, and syntax errors.

use starling_core::code::{Language, Span, SyntaxError};
use std::ops::ControlFlow;
use tree_sitter::{InputEdit, Node, ParseOptions, Parser, Point, Tree};

/// Larger sources have no outline.
pub const MAX_BYTES: usize = 1024 * 1024;

/// tree-sitter reports progress about every hundred operations. A sane file of 1 MB needs under two million of them; some
/// grammars hang on nested brackets, so more than this many reports end the parse. A count and not a clock: the same source
/// always gives the same answer.
const MAX_REPORTS: usize = 60_000;

pub(crate) fn grammar(language: Language) -> tree_sitter::Language {
    match language {
        Language::Python => tree_sitter_python::LANGUAGE.into(),
        Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        Language::Go => tree_sitter_go::LANGUAGE.into(),
        Language::Java => tree_sitter_java::LANGUAGE.into(),
        Language::C => tree_sitter_c::LANGUAGE.into(),
        Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
    }
}

/// `None` when the source is too large or too tangled.
pub(crate) fn tree(language: Language, source: &str) -> Option<Tree> {
    parse(&mut parser(language)?, source, None)
}

pub(crate) fn parser(language: Language) -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&grammar(language)).ok()?;
    Some(parser)
}

fn parse(parser: &mut Parser, source: &str, old: Option<&Tree>) -> Option<Tree> {
    if source.len() > MAX_BYTES {
        return None;
    }
    let mut reports = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > MAX_REPORTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = source.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or(&[]);
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut read, old, Some(options));
    if tree.is_none() {
        // Else the next parse would go on with this source.
        parser.reset();
    }
    tree
}

/// Whether `changed`, which is the source of `tree` with `span` replaced by `len` bytes, still parses. Only the changed part
/// is parsed again, which makes hundreds of mutants of a large file cheap.
pub(crate) fn still_parses(parser: &mut Parser, tree: &Tree, changed: &str, span: Span, len: usize) -> bool {
    let point = |at: usize| {
        let head = changed.get(..at).unwrap_or(changed);
        let column = head.len() - head.rfind('\n').map_or(0, |line| line + 1);
        Point::new(head.bytes().filter(|byte| *byte == b'\n').count(), column)
    };
    let node = tree.root_node().descendant_for_byte_range(span.end, span.end);
    let old_end = match node {
        Some(node) if node.end_byte() == span.end => node.end_position(),
        Some(node) if node.start_byte() == span.end => node.start_position(),
        // Rows and columns only matter to those who ask the tree for them, and this tree is thrown away.
        _ => point(span.start),
    };
    let mut edited = tree.clone();
    edited.edit(&InputEdit {
        start_byte: span.start,
        old_end_byte: span.end,
        new_end_byte: span.start + len,
        start_position: point(span.start),
        old_end_position: old_end,
        new_end_position: point(span.start + len),
    });
    parse(parser, changed, Some(&edited)).is_some_and(|tree| !tree.root_node().has_error())
}

/// Whether the whole source parses.
pub fn parses(language: Language, source: &str) -> bool {
    tree(language, source).is_some_and(|tree| !tree.root_node().has_error())
}

/// Errors of `after` that `before` does not have: as many as it has more, by message, later ones first to be blamed.
pub fn new_errors(language: Language, before: &str, after: &str) -> Vec<SyntaxError> {
    let old = tree(language, before).map(|tree| errors(&tree, before)).unwrap_or_default();
    let Some(new) = tree(language, after).map(|tree| errors(&tree, after)) else {
        let span = Span::new(0, after.len());
        return vec![SyntaxError { span, line: 1, message: "too large or too tangled to parse".to_owned() }];
    };
    let mut known: Vec<String> = old.into_iter().map(|error| error.message).collect();
    let mut fresh = Vec::new();
    for error in new {
        match known.iter().position(|message| *message == error.message) {
            Some(at) => {
                known.swap_remove(at);
            }
            None => fresh.push(error),
        }
    }
    fresh
}

/// Outermost broken and missing nodes, in order.
pub(crate) fn errors(tree: &Tree, source: &str) -> Vec<SyntaxError> {
    let mut found = Vec::new();
    let root = tree.root_node();
    if root.has_error() {
        collect(root, source, &mut found, 0);
    }
    found
}

fn collect(node: Node<'_>, source: &str, found: &mut Vec<SyntaxError>, depth: usize) {
    if found.len() >= 50 || depth > 500 {
        return;
    }
    let line = node.start_position().row as u32 + 1;
    let span = Span::new(node.start_byte(), node.end_byte());
    if node.is_missing() {
        found.push(SyntaxError { span, line, message: format!("missing {}", node.kind()) });
    } else if node.is_error() {
        let text = text(node, source);
        let start: String = text.split_whitespace().next().unwrap_or("end of text").chars().take(24).collect();
        found.push(SyntaxError { span, line, message: format!("unexpected {start}") });
    } else {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).filter(Node::has_error) {
            collect(child, source, found, depth + 1);
        }
    }
}

pub(crate) fn text<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.start_byte()..node.end_byte()).unwrap_or("")
}

pub(crate) fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// All nodes below and including `node` that lie at least partly in `within`, outer ones first. Iterative, because source
/// can nest deeper than a stack.
pub(crate) fn nodes<'t>(node: Node<'t>, within: Option<Span>) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if within.is_some_and(|w| !(node.start_byte() < w.end && w.start < node.end_byte())) {
            continue;
        }
        found.push(node);
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        open.extend(children.into_iter().rev());
    }
    found
}
