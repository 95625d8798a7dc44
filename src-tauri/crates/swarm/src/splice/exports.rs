//! Exports of JavaScript: what is replaced stays exported, and what is new is exported as its neighbours are. A small model
//! returns the bare function, and a function that nobody can import is no use to its test.

use super::Edit;
use starling_core::code::Span;

/// "export ", "export default " or "" before a definition that may have comments above it.
fn export_of(text: &str) -> &'static str {
    let head = text.lines().map(str::trim_start).find(|line| !is_comment(line)).unwrap_or("");
    ["export default ", "export "].into_iter().find(|start| head.starts_with(start)).unwrap_or("")
}

fn is_comment(line: &str) -> bool {
    line.is_empty() || ["//", "/*", "*", "@"].iter().any(|mark| line.starts_with(mark))
}

/// The new text of a definition, exported as the old one was.
pub(super) fn kept(old: &str, new: String) -> String {
    match (export_of(old), export_of(&new)) {
        ("", _) => new,
        (before, "") => with_prefix(&new, before),
        (_, _) => new,
    }
}

fn with_prefix(text: &str, prefix: &str) -> String {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !is_comment(line.trim()) {
            let indent = line.len() - line.trim_start().len();
            let (head, rest) = text.split_at(at + indent);
            return format!("{head}{prefix}{rest}");
        }
        at += line.len();
    }
    text.to_owned()
}

/// The text of a new top-level definition, and the edit that names it in the file's list of exports, if it has one.
pub(super) fn added(source: &str, name: &str, text: String) -> (String, Option<Edit>) {
    let begins = |start: &str| source.lines().any(|line| line.starts_with(start));
    if !export_of(&text).is_empty() || text.contains("module.exports") || text.contains(&format!("exports.{name}")) {
        return (text, None);
    }
    if let Some(edit) = ["module.exports = {", "export {"].iter().find_map(|list| into_list(source, list, name)) {
        return (text, Some(edit));
    }
    let ways = ["function", "const", "async function", "class"];
    if ways.iter().any(|way| begins(&format!("export {way} "))) {
        return (with_prefix(&text, "export "), None);
    }
    let way = ["module.exports", "exports"].into_iter().find(|way| begins(&format!("{way}.")));
    match way {
        Some(way) => (format!("{}\n\n{way}.{name} = {name};", text.trim_end()), None),
        None => (text, None),
    }
}

/// Before the brace that closes the list, in the form of the list.
fn into_list(source: &str, start: &str, name: &str) -> Option<Edit> {
    let from = source.lines().scan(0, |at, line| {
        let here = *at;
        *at += line.len() + 1;
        Some((here, line))
    });
    let at = from.into_iter().find(|(_, line)| line.starts_with(start)).map(|(at, _)| at + start.len())?;
    let end = at + source.get(at..)?.find('}')?;
    let inner = source.get(at..end)?;
    // Values with braces of their own, or other files' exports, are another form.
    if inner.contains('{') || source.get(end + 1..)?.trim_start().starts_with("from") {
        return None;
    }
    let bare = inner.trim_end();
    let place = at + bare.len();
    let comma = if bare.trim().is_empty() || bare.ends_with(',') { "" } else { "," };
    let text = match bare.rsplit_once('\n') {
        Some((_, last)) => {
            let indent: String = last.chars().take_while(|c| c.is_whitespace()).collect();
            format!("{comma}\n{indent}{name},")
        }
        None if bare.trim().is_empty() && inner.is_empty() => format!(" {name} "),
        None => format!("{comma} {name}"),
    };
    Some((Span::new(place, place), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_stays_exported() {
        let check = |old: &str, new: &str, expected: &str| assert_eq!(kept(old, new.to_owned()), expected);
        check("export function f() {}", "function f() { return 1; }", "export function f() { return 1; }");
        check(
            "/** Doc. */\nexport const f = 1;",
            "/** New. */\nfunction f() {}",
            "/** New. */\nexport function f() {}",
        );
        check("export default class A {}", "class A {\n}", "export default class A {\n}");
        check("export default function f() {}", "export function f() {}", "export function f() {}");
        check("function f() {}", "function f() { g(); }", "function f() { g(); }");
    }

    #[test]
    fn what_is_new_is_exported_like_its_neighbours() {
        let check = |source: &str, expected: &str| {
            let (text, edit) = added(source, "g", "function g() {}".to_owned());
            let mut out = source.to_owned();
            if let Some((span, text)) = edit {
                out.replace_range(span.start..span.end, &text);
            }
            assert_eq!(format!("{out}|{text}"), expected);
        };
        check("export function f() {}\n", "export function f() {}\n|export function g() {}");
        check("function f() {}\nexport { f };\n", "function f() {}\nexport { f, g };\n|function g() {}");
        check("module.exports = { f };\n", "module.exports = { f, g };\n|function g() {}");
        check("module.exports = {};\n", "module.exports = { g };\n|function g() {}");
        check("module.exports = {\n  a,\n  b\n};\n", "module.exports = {\n  a,\n  b,\n  g,\n};\n|function g() {}");
        check("module.exports = {\n  a,\n};\n", "module.exports = {\n  a,\n  g,\n};\n|function g() {}");
        check("exports.f = f;\n", "exports.f = f;\n|function g() {}\n\nexports.g = g;");
        check("export { f } from './f.js';\n", "export { f } from './f.js';\n|function g() {}");
        check("function f() {}\n", "function f() {}\n|function g() {}");
    }
}
