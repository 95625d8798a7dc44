//! Single changes of a syntax tree, as replacements of bytes. `mutants` takes those that a good test notices, `edits` takes
//! them all as candidates for a repair.
//!
//! Longer than 400 lines because each operator is a few lines and their order is the order of the mutants.

use crate::parse::{nodes, parser, still_parses, text, tree};
use crate::tables::table;
use starling_core::RelPath;
use starling_core::code::{Language, Span};
use starling_core::test_set::Mutant;
use std::collections::{HashMap, HashSet};
use tree_sitter::{Node, Tree};

/// A replacement that changes the meaning by a little.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// "compare", "arithmetic", ...
    pub family: &'static str,
    pub span: Span,
    pub text: String,
}

pub(crate) fn change(family: &'static str, node: Node<'_>, text: impl Into<String>) -> Change {
    Change { family, span: crate::parse::span(node), text: text.into() }
}

/// The nodes in which changes make sense: no comments, no documentation, no types.
pub(crate) fn live_nodes<'t>(language: Language, root: Node<'t>, within: Span) -> Vec<Node<'t>> {
    let table = table(language);
    let mut dead: Vec<Span> = Vec::new();
    let mut live = Vec::new();
    for node in nodes(root, Some(within)) {
        let inside = within.start <= node.start_byte() && node.end_byte() <= within.end;
        let buried = dead.iter().any(|d| d.start <= node.start_byte() && node.end_byte() <= d.end);
        if buried || table.comments.contains(&node.kind()) {
            continue;
        }
        if is_dead(language, node) {
            dead.push(crate::parse::span(node));
        } else if inside {
            live.push(node);
        }
    }
    live
}

/// Documentation, types, attributes, decorators, imports: changing them changes no behaviour that a unit test sees.
fn is_dead(language: Language, node: Node<'_>) -> bool {
    let kind = node.kind();
    // A docstring, or JavaScript's "use strict".
    let docstring = (language == Language::Python || is_javascript(language))
        && kind == "expression_statement"
        && node.named_child_count() == 1
        && node.named_child(0).is_some_and(|child| child.kind() == "string");
    let field =
        |name: &str| node.parent().and_then(|p| p.child_by_field_name(name)).is_some_and(|n| n.id() == node.id());
    docstring
        || matches!(
            kind,
            "attribute_item"
                | "decorator"
                | "type"
                | "type_annotation"
                | "type_arguments"
                | "type_parameters"
                | "generic_type"
                | "interface_declaration"
                | "type_alias_declaration"
        )
        || kind.contains("import")
        || kind == "use_declaration"
        || field("return_type")
        || (field("type") && kind != "identifier")
}

pub(crate) fn is_javascript(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
}

/// The changes that each make one test fail, if a test looks.
pub(crate) fn small_changes(language: Language, node: Node<'_>, source: &str) -> Vec<Change> {
    let mut found = Vec::new();
    operator(node, source, &mut found);
    literal(language, node, source, &mut found);
    branch(language, node, source, &mut found);
    found.extend(bound(node, source));
    found.extend(result(language, node, source));
    if is_javascript(language) {
        found.extend(javascript(node, source));
    }
    found
}

/// The end of a range or of a slice, one further. Numbers are changed anyway.
fn bound(node: Node<'_>, source: &str) -> Option<Change> {
    let parent = node.parent()?;
    let value = matches!(
        node.kind(),
        "identifier"
            | "call"
            | "attribute"
            | "binary_operator"
            | "call_expression"
            | "field_expression"
            | "selector_expression"
    );
    let of_range = parent.kind() == "argument_list"
        && parent
            .parent()
            .and_then(|call| call.child_by_field_name("function"))
            .is_some_and(|f| text(f, source) == "range");
    let bounds = matches!(parent.kind(), "slice" | "range_expression" | "slice_expression") || of_range;
    let sliced = parent.child_by_field_name("operand").is_some_and(|operand| operand == node);
    (value && bounds && !sliced).then(|| change("bound", node, format!("{} + 1", text(node, source))))
}

/// What only JavaScript has: values that become undefined, statements that fall away, methods with a counterpart.
fn javascript(node: Node<'_>, source: &str) -> Vec<Change> {
    let raw = text(node, source);
    let undefined =
        |value: Node<'_>| (text(value, source) != "undefined").then(|| change("result", value, "undefined"));
    match node.kind() {
        "return_statement" => node.named_child(0).and_then(undefined).into_iter().collect(),
        "arrow_function" => {
            let body = node.child_by_field_name("body").filter(|body| body.kind() != "statement_block");
            body.and_then(undefined).into_iter().collect()
        }
        "expression_statement" | "throw_statement" => vec![change("remove", node, ";")],
        // The step of a loop would only make it endless.
        "update_expression" if node.parent().is_none_or(|parent| parent.kind() != "for_statement") => {
            let other = if raw.contains("++") { raw.replace("++", "--") } else { raw.replace("--", "++") };
            vec![change("arithmetic", node, other)]
        }
        "property_identifier" => {
            const PAIRS: [(&str, &str, &str); 4] = [
                ("bound", "min", "max"),
                ("logic", "some", "every"),
                ("number", "floor", "ceil"),
                ("bound", "shift", "pop"),
            ];
            let pair = PAIRS.into_iter().find(|(_, one, other)| raw == *one || raw == *other);
            pair.map(|(family, one, other)| change(family, node, if raw == one { other } else { one }))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The value of a Rust function becomes the default of its type, where the type surely has one.
fn result(language: Language, node: Node<'_>, source: &str) -> Option<Change> {
    let returned = node.kind() == "return_expression";
    if language != Language::Rust || !(returned || node.kind() == "block") {
        return None;
    }
    let mut function = node.parent()?;
    while function.kind() != "function_item" {
        let inner = matches!(function.kind(), "closure_expression" | "async_block");
        // Only the body itself has a last value that is the function's.
        if inner || !returned {
            return None;
        }
        function = function.parent()?;
    }
    let kind = text(function.child_by_field_name("return_type")?, source);
    let value = match kind {
        "bool" => "false",
        "String" | "&str" | "&'static str" => "Default::default()",
        "f32" | "f64" => "0.0",
        _ if kind.starts_with("Option<") => "None",
        _ if ["Vec<", "HashMap<", "BTreeMap<", "HashSet<", "BTreeSet<"].iter().any(|t| kind.starts_with(t)) => {
            "Default::default()"
        }
        _ if kind.len() <= 5
            && kind.starts_with(['u', 'i'])
            && (kind.ends_with(char::is_numeric) || kind.ends_with("size")) =>
        {
            "0"
        }
        _ => return None,
    };
    let last = if returned { node.named_child(0)? } else { last_value(node)? };
    (text(last, source) != value).then(|| change("result", last, value))
}

/// The expression at the end of a block, unless it is a statement that yields nothing.
fn last_value(block: Node<'_>) -> Option<Node<'_>> {
    let last = block.named_child(u32::try_from(block.named_child_count()).ok()?.checked_sub(1)?)?;
    let no_value =
        last.kind().ends_with("_item") || last.kind().ends_with("_statement") || last.kind().ends_with("declaration");
    (!no_value && !last.kind().ends_with("comment")).then_some(last)
}

fn operator(node: Node<'_>, source: &str, found: &mut Vec<Change>) {
    let Some(parent) = node.parent() else { return };
    let binary = matches!(
        parent.kind(),
        "comparison_operator"
            | "binary_operator"
            | "binary_expression"
            | "boolean_operator"
            | "augmented_assignment"
            | "compound_assignment_expr"
            | "augmented_assignment_expression"
            | "assignment_statement"
            | "range_expression"
    );
    if !binary || node.is_named() {
        return;
    }
    let (family, others): (&'static str, &[&str]) = match node.kind() {
        "<" => ("compare", &["<=", ">"]),
        "<=" => ("compare", &["<", ">="]),
        ">" => ("compare", &[">=", "<"]),
        ">=" => ("compare", &[">", "<="]),
        "==" => ("compare", &["!="]),
        "!=" => ("compare", &["=="]),
        "in" if parent.kind() == "comparison_operator" => ("compare", &["not in"]),
        "not in" => ("compare", &["in"]),
        "is" => ("compare", &["is not"]),
        "is not" => ("compare", &["is"]),
        "===" => ("compare", &["!=="]),
        "!==" => ("compare", &["==="]),
        "+" => ("arithmetic", &["-"]),
        "-" => ("arithmetic", &["+"]),
        "*" => ("arithmetic", &["+"]),
        "/" => ("arithmetic", &["*"]),
        "//" => ("arithmetic", &["*"]),
        "%" => ("arithmetic", &["*"]),
        "**" => ("arithmetic", &["*"]),
        "+=" => ("arithmetic", &["-="]),
        "-=" => ("arithmetic", &["+="]),
        "*=" => ("arithmetic", &["+="]),
        "and" => ("logic", &["or"]),
        "or" => ("logic", &["and"]),
        "&&" => ("logic", &["||"]),
        "||" => ("logic", &["&&"]),
        "??" => ("logic", &["&&"]),
        ".." if parent.kind() == "range_expression" => ("bound", &["..="]),
        "..=" => ("bound", &[".."]),
        _ => return,
    };
    // "a" + "b" minus means nothing; a mutant that cannot run proves nothing.
    let of_strings =
        family == "arithmetic" && parent.named_child(0).is_some_and(|left| text(left, source).starts_with(['"', '\'']));
    if !of_strings {
        found.extend(others.iter().map(|other| change(family, node, *other)));
    }
}

fn literal(language: Language, node: Node<'_>, source: &str, found: &mut Vec<Change>) {
    let raw = text(node, source);
    match node.kind() {
        "integer" | "integer_literal" | "int_literal" | "number" => {
            if let Ok(value) = raw.parse::<i64>() {
                let near = [value + 1, value - 1].into_iter().filter(|v| *v >= 0);
                found.extend(near.map(|v| change("number", node, v.to_string())));
            } else {
                float(node, raw, found);
            }
        }
        "float" | "float_literal" => float(node, raw, found),
        "true" => found.push(change("boolean", node, if raw == "True" { "False" } else { "false" })),
        "false" => found.push(change("boolean", node, if raw == "False" { "True" } else { "true" })),
        "boolean_literal" => found.push(change("boolean", node, if raw == "true" { "false" } else { "true" })),
        "string" | "string_literal" | "interpreted_string_literal" => {
            let plain = raw.len() >= 2 && raw.starts_with(['"', '\'']) && !raw.starts_with("\"\"\"");
            if plain && language != Language::C {
                let quote = &raw[..1];
                let other = if raw.len() == 2 { format!("{quote}x{quote}") } else { format!("{quote}{quote}") };
                found.push(change("text", node, other));
            }
        }
        "char_literal" if raw.chars().count() == 3 => {
            found.push(change("text", node, if raw == "'x'" { "'y'" } else { "'x'" }));
        }
        _ => {}
    }
}

fn float(node: Node<'_>, raw: &str, found: &mut Vec<Change>) {
    if let (Ok(value), Some((whole, rest))) = (raw.parse::<f64>(), raw.split_once('.')) {
        let more = whole.parse::<u32>().ok().and_then(|whole| whole.checked_add(1));
        found.extend(more.map(|whole| change("number", node, format!("{whole}.{rest}"))));
        if value != 0.0 {
            found.push(change("number", node, "0.0"));
        }
    }
}

fn branch(language: Language, node: Node<'_>, source: &str, found: &mut Vec<Change>) {
    let raw = text(node, source);
    match node.kind() {
        "if_statement"
        | "while_statement"
        | "elif_clause"
        | "if_expression"
        | "while_expression"
        | "conditional_expression"
        | "ternary_expression" => {
            let condition = node
                .child_by_field_name("condition")
                .or_else(|| (node.kind() == "conditional_expression").then(|| node.named_child(1)).flatten());
            if let Some(condition) = condition.filter(|c| !c.kind().starts_with("let_")) {
                let inner = text(condition, source);
                let bare = inner.strip_prefix('(').and_then(|i| i.strip_suffix(')')).unwrap_or(inner);
                let negated = match language {
                    Language::Python => format!("not ({bare})"),
                    Language::Rust | Language::Go => format!("!({bare})"),
                    _ => format!("(!({bare}))"),
                };
                found.push(change("condition", condition, negated));
            }
        }
        "not_operator" => {
            if let Some(argument) = node.child_by_field_name("argument") {
                found.push(change("condition", node, text(argument, source)));
            }
        }
        "unary_expression" if raw.starts_with('!') => {
            found.push(change("condition", node, raw.trim_start_matches('!')))
        }
        "return_statement" if language == Language::Python && node.named_child_count() == 1 => {
            let value = node.named_child(0).map_or("", |value| text(value, source));
            if value != "None" {
                found.push(change("result", node, "return None"));
            }
        }
        "expression_statement" | "delete_statement" | "raise_statement" if language == Language::Python => {
            found.push(change("remove", node, "pass"));
        }
        "expression_statement" if language == Language::Rust && raw.ends_with(';') && !raw.starts_with("return") => {
            found.push(change("remove", node, "{}"));
        }
        "break_statement" => found.push(change("loop", node, "continue")),
        "continue_statement" => found.push(change("loop", node, "break")),
        "break_expression" if raw == "break" => found.push(change("loop", node, "continue")),
        "continue_expression" => found.push(change("loop", node, "break")),
        "identifier" | "field_identifier" if matches!(raw, "min" | "max") => {
            found.push(change("bound", node, if raw == "min" { "max" } else { "min" }));
        }
        "identifier" if matches!(raw, "any" | "all") => {
            found.push(change("logic", node, if raw == "any" { "all" } else { "any" }));
        }
        _ => {}
    }
}

/// Turns changes into mutants: those that parse, differ, and say something new. Order is kept.
pub(crate) fn finish(
    language: Language,
    tree: &Tree,
    path: &RelPath,
    source: &str,
    changes: Vec<Change>,
    limit: usize,
) -> Vec<Mutant> {
    let mut seen: HashSet<(Span, String)> = HashSet::new();
    let mut ids: HashMap<String, u32> = HashMap::new();
    let mut found = Vec::new();
    // In a file that is broken already, nothing that is changed parses.
    let Some(mut parser) = parser(language).filter(|_| !tree.root_node().has_error()) else { return found };
    for change in changes {
        let old = source.get(change.span.start..change.span.end).unwrap_or("");
        let key = (change.span, change.text.clone());
        if found.len() >= limit {
            break;
        }
        if old == change.text || !seen.insert(key) {
            continue;
        }
        let mutated = format!(
            "{}{}{}",
            source.get(..change.span.start).unwrap_or(""),
            change.text,
            source.get(change.span.end..).unwrap_or("")
        );
        if !still_parses(&mut parser, tree, &mutated, change.span, change.text.len()) {
            continue;
        }
        let line = source.get(..change.span.start).unwrap_or("").matches('\n').count() as u32 + 1;
        // Two changes of one line may read alike; the later ones are counted.
        let short =
            |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(32).collect::<String>();
        let id = format!("{}: {} -> {} @{line}", change.family, short(old), short(&change.text));
        let count = ids.entry(id.clone()).or_insert(0u32);
        *count += 1;
        found.push(Mutant {
            path: path.clone(),
            id: if *count == 1 { id } else { format!("{id}#{count}") },
            span: change.span,
            replacement: change.text.clone(),
            line,
            diff: diff(source, &mutated, change.span, &change.text, line),
        });
    }
    found
}

/// The changed lines as one hunk.
fn diff(source: &str, mutated: &str, span: Span, text: &str, line: u32) -> String {
    let start = source.get(..span.start).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
    let old_end = source.get(span.end..).and_then(|rest| rest.find('\n')).map_or(source.len(), |at| span.end + at);
    let after = span.start + text.len();
    let new_end = mutated.get(after..).and_then(|rest| rest.find('\n')).map_or(mutated.len(), |at| after + at);
    let (old, new) = (source.get(start..old_end).unwrap_or(""), mutated.get(start..new_end).unwrap_or(""));
    let mark =
        |sign: &str, text: &str| text.lines().map(|line| format!("{sign}{}\n", line.trim_end())).collect::<String>();
    let (count_old, count_new) = (old.lines().count(), new.lines().count());
    format!("@@ -{line},{count_old} +{line},{count_new} @@\n{}{}", mark("-", old), mark("+", new))
}

pub(crate) fn parsed(language: Language, source: &str) -> Option<Tree> {
    tree(language, source)
}
