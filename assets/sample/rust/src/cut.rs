//! Cutting texts to a length.

/// Cuts `text` to at most `max` characters; a cut text ends with "…", which counts as one of them.
pub fn truncate(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_string();
    }
    format!("{}…", &text[..max - 1])
}

/// The first line of a text without its line end.
pub fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}
