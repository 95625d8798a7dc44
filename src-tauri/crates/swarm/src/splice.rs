//! From a fenced block of whole symbols to a ChangeSet: each symbol of the block replaces the one of its name or is added
//! to its container, imports are added once, and everything else stays byte for byte.
//!
//! Small models return a method bare or inside its class, drop documentation, repeat what they did not change. All of that
//! is read for what it means; what stays ambiguous is refused, never guessed.
//!
//! Longer than 400 lines because replacing, adding and importing work on one pair of outlines.

mod exports;

use crate::javascript;
use starling_core::RelPath;
use starling_core::change::{ChangeSet, FileChange, FileEdit, Splice, fingerprint};
use starling_core::code::{Language, Outline, Span, Symbol, SymbolKind};
use starling_syntax::outline;

/// Why a block is no change of the file. The text is shown to people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpliceFault {
    #[error("the answer holds no code")]
    Empty,
    #[error("the code of the answer does not parse: line {line}, {message}")]
    Broken { line: u32, message: String },
    #[error("the answer defines none of {wanted}")]
    NotWanted { wanted: String },
    #[error("{name} stands more than once in the file")]
    Ambiguous { name: String },
    #[error("the answer repeats the code as it is")]
    NoChange,
    #[error("the file is not UTF-8, so its symbols cannot be replaced")]
    NotText,
}

/// What a step may do to one file.
pub struct Allowed<'a> {
    /// Qualified names that may be replaced.
    pub symbols: &'a [String],
    /// Qualified names that may be added.
    pub new_symbols: &'a [String],
}

/// The change that `block` means for the file with the bytes `old`.
pub fn change_from_block(
    language: Language,
    path: &RelPath,
    old: &[u8],
    block: &str,
    allowed: &Allowed<'_>,
) -> Result<ChangeSet, SpliceFault> {
    let source = std::str::from_utf8(old).map_err(|_| SpliceFault::NotText)?;
    let file = outline(language, source);
    let block = block.replace("\r\n", "\n");
    if block.trim().is_empty() {
        return Err(SpliceFault::Empty);
    }
    let answer = outline(language, &block);
    if let Some(error) = answer.errors.first() {
        return Err(SpliceFault::Broken { line: error.line, message: error.message.clone() });
    }
    let mut edits = Vec::new();
    let ends = Ends::of(source);
    for part in parts(&answer, &file, allowed) {
        if let Some(edit) = edit_of(language, source, &file, &block, part, allowed)? {
            edits.push(edit);
        }
    }
    if edits.is_empty() {
        let replaces = parts(&answer, &file, allowed).next().is_some();
        let wanted = allowed.symbols.iter().chain(allowed.new_symbols).cloned().collect::<Vec<_>>().join(", ");
        return Err(if replaces { SpliceFault::NoChange } else { SpliceFault::NotWanted { wanted } });
    }
    if javascript::is(language) {
        edits = exported(source, &file, allowed, edits);
    }
    edits.extend(imports(language, source, &file, &block, &answer, &edits));
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    if edits.windows(2).any(|pair| matches!(pair, [a, b] if a.0.end > b.0.start)) {
        return Err(SpliceFault::Ambiguous { name: path.to_string() });
    }
    let splices =
        edits.into_iter().map(|(span, text)| Splice { span, bytes: ends.apply(&text).into_bytes() }).collect();
    Ok(ChangeSet {
        files: vec![FileChange { path: path.clone(), edit: FileEdit::Splice { before: fingerprint(old), splices } }],
    })
}

type Edit = (Span, String);

/// Additions at the top level, exported as their neighbours are. An addition is an edit of nothing.
fn exported(source: &str, file: &Outline, allowed: &Allowed<'_>, edits: Vec<Edit>) -> Vec<Edit> {
    let fresh = |name: &&String| !name.contains('.') && file.symbols.iter().all(|s| &s.qualified != *name);
    let mut names: Vec<&String> = allowed.new_symbols.iter().filter(fresh).collect();
    let mut out = Vec::new();
    for (span, text) in edits {
        let defines =
            |name: &&String| outline(Language::TypeScript, &text).symbols.iter().any(|s| &s.qualified == *name);
        match names.iter().position(defines).filter(|_| span.is_empty() || span.end == source.len()) {
            Some(at) => {
                let (gap, body) = text.split_at(text.len() - text.trim_start().len());
                let (body, list) = exports::added(source, names.remove(at), body.to_owned());
                out.push((span, format!("{gap}{body}")));
                out.extend(list);
            }
            None => out.push((span, text)),
        }
    }
    out
}

/// The symbols of the answer that are taken one by one: functions and methods, and whole types where the file has no such
/// type, or has one without members of its own.
fn parts<'a>(answer: &'a Outline, file: &'a Outline, allowed: &'a Allowed<'_>) -> impl Iterator<Item = &'a Symbol> {
    answer.symbols.iter().filter(move |symbol| {
        let inside = answer.symbols.iter().any(|outer| {
            outer.span != symbol.span
                && outer.span.start <= symbol.span.start
                && symbol.span.end <= outer.span.end
                && taken_whole(outer, answer, file, allowed)
        });
        !inside && (is_leaf(symbol.kind) || taken_whole(symbol, answer, file, allowed))
    })
}

fn is_leaf(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Macro
    )
}

/// A container is replaced as a whole only when the answer repeats every member that the file's has; else its members are
/// taken one by one, so that a class cut short cannot delete methods.
fn taken_whole(symbol: &Symbol, answer: &Outline, file: &Outline, allowed: &Allowed<'_>) -> bool {
    if is_leaf(symbol.kind) {
        return matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method);
    }
    if symbol.kind == SymbolKind::Module {
        return false;
    }
    match file.unique(&symbol.qualified) {
        None => allowed.new_symbols.iter().any(|name| name == &symbol.qualified),
        Some(known) => {
            let wanted = allowed.symbols.iter().any(|name| name == &known.qualified);
            let members = members(file, &known.qualified);
            wanted && members.iter().all(|name| answer.symbols.iter().any(|s| s.qualified == *name))
        }
    }
}

fn members<'a>(outline: &'a Outline, container: &str) -> Vec<&'a str> {
    let prefix = format!("{container}.");
    outline.symbols.iter().map(|s| s.qualified.as_str()).filter(|name| name.starts_with(&prefix)).collect()
}

fn edit_of(
    language: Language,
    source: &str,
    file: &Outline,
    block: &str,
    part: &Symbol,
    allowed: &Allowed<'_>,
) -> Result<Option<Edit>, SpliceFault> {
    let name = qualified_in_file(part, file, allowed);
    let same: Vec<&Symbol> = file.symbols.iter().filter(|s| s.qualified == name).collect();
    match same.as_slice() {
        [] => Ok(addition(language, source, file, block, part, &name, allowed)),
        [known] => {
            if !may_replace(&name, known, allowed) {
                return Ok(None);
            }
            Ok(replacement(language, source, block, part, known))
        }
        _ => Err(SpliceFault::Ambiguous { name }),
    }
}

/// A bare method gets its container from what the step names.
fn qualified_in_file(part: &Symbol, file: &Outline, allowed: &Allowed<'_>) -> String {
    let listed = |names: &[String]| names.iter().any(|name| name == &part.qualified);
    if listed(allowed.symbols)
        || listed(allowed.new_symbols)
        || file.symbols.iter().any(|s| s.qualified == part.qualified)
    {
        return part.qualified.clone();
    }
    let tail = format!(".{}", part.name);
    let mut fits = allowed.symbols.iter().chain(allowed.new_symbols).filter(|name| name.ends_with(&tail));
    match (fits.next(), fits.next()) {
        (Some(name), None) if !part.qualified.contains('.') => name.clone(),
        _ => part.qualified.clone(),
    }
}

/// The step's own symbols, and members of a type that the step may change.
fn may_replace(name: &str, known: &Symbol, allowed: &Allowed<'_>) -> bool {
    let listed = allowed.symbols.iter().any(|allowed| allowed == name || name.starts_with(&format!("{allowed}.")));
    listed && !known.is_test
}

fn replacement(language: Language, source: &str, block: &str, part: &Symbol, known: &Symbol) -> Option<Edit> {
    let old_text = source.get(known.span.start..known.span.end)?;
    let mut text = block.get(part.span.start..part.span.end)?.to_owned();
    if part.doc.is_empty() && !known.doc.is_empty() {
        text = with_old_doc(language, source, known, &text, part, block);
    }
    let text = reindent(&text, column(block, part.span.start), &indent_at(source, known.span.start));
    let text = if javascript::is(language) { exports::kept(old_text, text) } else { text };
    let unchanged = text.replace("\r\n", "\n").trim_end() == old_text.replace("\r\n", "\n").trim_end();
    (!unchanged).then(|| (known.span, text.trim_end().to_owned()))
}

/// Documentation that the model dropped comes back: a doc comment before the item, a docstring as its first statement.
fn with_old_doc(language: Language, source: &str, known: &Symbol, text: &str, part: &Symbol, block: &str) -> String {
    if language == Language::Python {
        let (Some(old_body), Some(new_body)) = (known.body, part.body) else { return text.to_owned() };
        let Some(raw) = source.get(old_body.start..old_body.end).and_then(docstring) else { return text.to_owned() };
        let at = new_body.start.saturating_sub(part.span.start);
        let pad = " ".repeat(column(block, new_body.start));
        let old_pad = indent_at(source, old_body.start);
        let raw = reindent(raw, old_pad.chars().count(), &pad);
        return match (text.get(..at), text.get(at..)) {
            (Some(head), Some(rest)) => format!("{head}{raw}\n{pad}{rest}"),
            _ => text.to_owned(),
        };
    }
    let old = source.get(known.span.start..known.span.end).unwrap_or("");
    let doc: Vec<&str> = old.lines().take_while(|line| is_doc_line(line)).collect();
    if doc.is_empty() {
        return text.to_owned();
    }
    let pad = " ".repeat(column(block, part.span.start));
    let doc: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    format!("{}\n{pad}{text}", doc.join(&format!("\n{pad}")))
}

fn is_doc_line(line: &str) -> bool {
    let line = line.trim();
    ["///", "/**", "*", "//", "#["].iter().any(|mark| line.starts_with(mark))
}

/// The raw text of a docstring that a body begins with.
fn docstring(body: &str) -> Option<&str> {
    let quote = ["\"\"\"", "'''"].into_iter().find(|q| body.starts_with(q))?;
    let end = body.get(3..)?.find(quote)? + 6;
    body.get(..end)
}

fn addition(
    language: Language,
    source: &str,
    file: &Outline,
    block: &str,
    part: &Symbol,
    name: &str,
    allowed: &Allowed<'_>,
) -> Option<Edit> {
    let text = block.get(part.span.start..part.span.end)?;
    let from = column(block, part.span.start);
    if let Some((container, _)) = name.rsplit_once('.') {
        let owner = file.unique(container)?;
        let touches = |names: &[String]| {
            names.iter().any(|n| n == name || n == container || n.starts_with(&format!("{container}.")))
        };
        if !touches(allowed.symbols) && !touches(allowed.new_symbols) {
            return None;
        }
        let last = file.symbols.iter().filter(|s| s.qualified.rsplit_once('.').map(|(c, _)| c) == Some(container));
        return match last.max_by_key(|s| s.span.end) {
            Some(sibling) => {
                let pad = indent_at(source, sibling.span.start);
                Some((
                    Span::new(sibling.span.end, sibling.span.end),
                    format!("\n\n{pad}{}", reindent(text, from, &pad).trim_end()),
                ))
            }
            None => into_empty(language, source, owner, text, from),
        };
    }
    let wanted = allowed.new_symbols.iter().any(|n| n == name);
    let related = !allowed.symbols.is_empty() && is_leaf(part.kind);
    if !wanted && !related {
        return None;
    }
    let text = reindent(text, from, "");
    let anchor = anchor(file, allowed);
    let gap = if language == Language::Python { "\n\n\n" } else { "\n\n" };
    Some(match anchor {
        Some(symbol) => (Span::new(symbol.span.end, symbol.span.end), format!("{gap}{}", text.trim_end())),
        None => {
            let end = source.trim_end().len();
            let before = if end == 0 { "" } else { gap };
            (Span::new(end, source.len()), format!("{before}{}\n", text.trim_end()))
        }
    })
}

/// Into a container without members: after its last line, one level in.
fn into_empty(language: Language, source: &str, owner: &Symbol, text: &str, from: usize) -> Option<Edit> {
    let pad = format!("{}    ", indent_at(source, owner.span.start));
    let text = reindent(text, from, &pad);
    if language == Language::Python {
        return Some((Span::new(owner.span.end, owner.span.end), format!("\n\n{pad}{}", text.trim_end())));
    }
    if language == Language::Rust {
        let name = owner.name.as_str();
        let block = format!("\n\nimpl {name} {{\n{pad}{}\n}}", text.trim_end());
        return Some((Span::new(owner.span.end, owner.span.end), block));
    }
    let close = source.get(owner.span.start..owner.span.end)?.rfind('}')? + owner.span.start;
    Some((Span::new(close, close), format!("{pad}{}\n", text.trim_end())))
}

/// New functions stand after the step's symbol, else after the last one that is no test.
fn anchor<'a>(file: &'a Outline, allowed: &Allowed<'_>) -> Option<&'a Symbol> {
    let top = |s: &&Symbol| !s.qualified.contains('.') && !s.is_test && s.kind != SymbolKind::Module;
    let named =
        file.symbols.iter().filter(top).filter(|s| allowed.symbols.contains(&s.qualified)).max_by_key(|s| s.span.end);
    // A method's container end is no place inside the file's outline for Rust impl blocks; the last top symbol is.
    named.or_else(|| {
        file.symbols.iter().filter(top).filter(|s| s.kind == SymbolKind::Function).max_by_key(|s| s.span.end)
    })
}

/// Imports of the answer that the file lacks and the new text uses.
fn imports(
    language: Language,
    source: &str,
    file: &Outline,
    block: &str,
    answer: &Outline,
    edits: &[Edit],
) -> Vec<Edit> {
    let new_text: String = edits.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
    let mut lines = Vec::new();
    for import in &answer.imports {
        let names: Vec<&str> = if import.names.is_empty() {
            import.module.rsplit(['.', ':', '/']).take(1).collect()
        } else {
            import.names.iter().map(String::as_str).collect()
        };
        let known = |name: &str| {
            file.imports
                .iter()
                .any(|i| i.names.iter().any(|n| n == name) || (i.names.is_empty() && i.module == import.module))
                || file.symbols.iter().any(|s| s.qualified == name)
        };
        let used =
            |name: &&str| starling_syntax::identifiers(language, &new_text, None).iter().any(|i| i.name == **name);
        let wanted = names.iter().any(|name| used(name) && !known(name));
        let text = block.get(import.span.start..import.span.end).unwrap_or(&import.text).trim();
        if wanted && !file.imports.iter().any(|i| i.text.trim() == text) {
            lines.push(text.to_owned());
        }
    }
    if lines.is_empty() {
        return Vec::new();
    }
    vec![match file.imports.iter().filter(|i| is_top_level(source, i.span.start)).max_by_key(|i| i.span.end) {
        Some(last) => {
            let end = last.span.end;
            (Span::new(end, end), format!("\n{}", lines.join("\n")))
        }
        None => {
            let at = head_end(language, source);
            (Span::new(at, at), format!("{}\n\n", lines.join("\n")))
        }
    }]
}

fn is_top_level(source: &str, at: usize) -> bool {
    column(source, at) == 0
}

/// The end of a file's leading comments and docstring, at the start of a line.
fn head_end(language: Language, source: &str) -> usize {
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let text = line.trim();
        let comment = match language {
            Language::Python => text.starts_with('#'),
            _ => text.starts_with("//") || text.starts_with("#!") || text.starts_with("/*") || text.starts_with('*'),
        };
        if !(comment || text.is_empty()) {
            break;
        }
        at += line.len();
    }
    if language == Language::Python
        && let Some(raw) = source.get(at..).and_then(docstring)
    {
        let end = at + raw.len();
        let rest = source.get(end..).unwrap_or("");
        let blank: usize = rest.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
        return end + blank;
    }
    at
}

/// Columns in characters from the start of the line.
fn column(source: &str, at: usize) -> usize {
    let start = source.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |n| n + 1);
    source.get(start..at).map_or(0, |head| head.chars().count())
}

/// The white space a line begins with, as the file writes it.
fn indent_at(source: &str, at: usize) -> String {
    let start = source.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |n| n + 1);
    source.get(start..at).unwrap_or("").chars().take_while(|c| c.is_whitespace()).collect()
}

/// Moves all lines but the first from `from` columns to the indent `to`. Lines with less stay as far out as they are.
fn reindent(text: &str, from: usize, to: &str) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or("").to_owned();
    for line in lines {
        out.push('\n');
        if line.trim().is_empty() {
            continue;
        }
        let lead = line.chars().take_while(|c| c.is_whitespace()).count();
        out.push_str(to);
        out.extend(line.chars().skip(lead.min(from)));
    }
    out
}

/// The line end a file uses most.
struct Ends {
    crlf: bool,
}

impl Ends {
    fn of(source: &str) -> Ends {
        let crlf = source.matches("\r\n").count();
        Ends { crlf: crlf * 2 > source.matches('\n').count() }
    }
    fn apply(&self, text: &str) -> String {
        let plain = text.replace("\r\n", "\n");
        if self.crlf { plain.replace('\n', "\r\n") } else { plain }
    }
}

#[cfg(test)]
mod tests;
