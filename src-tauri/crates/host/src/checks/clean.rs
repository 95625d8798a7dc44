//! What a runner prints, made fit to be shown: no control characters, no escape sequences, no machine paths, bounded.

use std::path::Path;

/// The last `max` characters as text.
pub(crate) fn tail(bytes: &[u8], max: usize) -> String {
    let text = plain(bytes);
    let skip = text.chars().count().saturating_sub(max);
    text.chars().skip(skip).collect()
}

/// The first `max` characters as text.
pub(crate) fn head(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

/// UTF-8 with replacements, without escape sequences and control characters but line ends and tabs.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            skip_escape(&mut chars);
        } else if c == '\n' || c == '\t' || !(c.is_control() || is_hidden(c)) {
            out.push(c);
        }
    }
    out
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
        Some(']') => while chars.next().is_some_and(|c| c != '\u{7}' && c != '\u{1b}') {},
        _ => {}
    }
}

/// Characters that change what a person sees without being seen.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// Paths of the stage become relative, so that a message reads the same on every machine.
pub(crate) fn relative(text: &str, tree: &Path) -> String {
    text.replace(&format!("{}/", tree.display()), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_out_what_should_not_be_shown() {
        assert_eq!(plain(b"\x1b[31mred\x1b[0m \x1b]0;title\x07ok\x08\r\n\xff"), "red ok\n\u{fffd}");
        assert_eq!(plain("a\u{202e}b\u{e0041}c 한글\t".as_bytes()), "abc 한글\t");
        assert_eq!(tail(b"abcdef", 2), "ef");
    }
}
