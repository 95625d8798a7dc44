//! One fault as one edit: a text of Rust that is measured and cut in bytes where characters are meant ("byte index is not a
//! char boundary"). Length and slices must change together, so the edit spans the whole function.
//!
//! A scan of the text and no walk of the tree, because slices in macros are only tokens there. Whether the result compiles
//! and is right is for others to say.

use crate::operators::Change;
use starling_core::code::{Language, Span};

/// For each text that is sliced in `within`: the code with that text counted in characters throughout.
pub(crate) fn in_characters(language: Language, source: &str, within: Span) -> Vec<Change> {
    let Some(body) = source.get(within.start..within.end).filter(|_| language == Language::Rust) else {
        return Vec::new();
    };
    let mut names: Vec<&str> = slices(body).into_iter().map(|slice| slice.name).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| Change { family: "unit", span: within, text: rewritten(body, name) }).collect()
}

/// `&name[from..to]`
struct Slice<'a> {
    span: Span,
    name: &'a str,
    from: &'a str,
    to: &'a str,
}

fn slices(text: &str) -> Vec<Slice<'_>> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices('&') {
        let rest = text.get(start + 1..).unwrap_or("");
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(0);
        let (name, rest) = rest.split_at(length);
        let Some(inner) = rest.strip_prefix('[').and_then(|rest| rest.split(']').next()) else { continue };
        let Some((from, to)) = inner.split_once("..").filter(|_| !name.is_empty() && !inner.contains('[')) else {
            continue;
        };
        let span = Span::new(start, start + 1 + length + 1 + inner.len() + 1);
        found.push(Slice { span, name, from: from.trim(), to: to.trim() });
    }
    found
}

fn rewritten(body: &str, name: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for slice in slices(body).into_iter().filter(|slice| slice.name == name) {
        out.push_str(body.get(at..slice.span.start).unwrap_or(""));
        out.push_str(&format!("{name}.chars()"));
        if !slice.from.is_empty() {
            out.push_str(&format!(".skip({})", slice.from));
        }
        match (slice.from, slice.to) {
            (_, "") => {}
            ("", to) => out.push_str(&format!(".take({to})")),
            (from, to) => out.push_str(&format!(".take(({to}) - ({from}))")),
        }
        out.push_str(".collect::<String>()");
        at = slice.span.end;
    }
    out.push_str(body.get(at..).unwrap_or(""));
    out.replace(&format!("{name}.len()"), &format!("{name}.chars().count()"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_a_text_in_characters_throughout() {
        let source = "fn f(t: &str, n: usize) -> String {\n    if t.len() <= n { return t.to_string(); }\n    format!(\"{}{}\", &t[..n - 1], &t[n..])\n}\n";
        let got = in_characters(Language::Rust, source, Span::new(0, source.len()));
        let texts: Vec<&str> = got.iter().map(|c| c.text.as_str()).collect();
        let want = source
            .replace("t.len()", "t.chars().count()")
            .replace("&t[..n - 1]", "t.chars().take(n - 1).collect::<String>()")
            .replace("&t[n..]", "t.chars().skip(n).collect::<String>()");
        assert_eq!(texts, [want.as_str()]);
        assert!(crate::parses(Language::Rust, &want));
        assert!(in_characters(Language::Rust, "fn f() { g(&x, [1..2], &[..]) & }", Span::new(0, 33)).is_empty());
        assert!(in_characters(Language::Python, source, Span::new(0, 10)).is_empty());
    }
}
