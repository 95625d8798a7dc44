//! What is said to models, one file a role. A prompt is made from typed artefacts, never from another model's words; what
//! stays the same stands first, so that its evaluation can be reused; foreign text is fenced and said to be data.
//!
//! Each template has a name with a version; it goes into every model call of the journal.

mod cases;
mod execute;
mod parse;
mod plan;
mod review;
mod test;

pub use cases::{CASES, cases, cases_schema};
pub use execute::{EXECUTE, ExecuteInput, Snippet, execute};
pub use parse::{PARSE, parse, parse_schema};
pub use plan::{PLAN, PlanTarget, plan, plan_schema};
pub use review::{REVIEW, review_prompt, review_schema, review_system};
pub use test::{TEST, TestInput, test};

/// A fence longer than any run of backticks inside, so that the text cannot close it.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{marks}{language}\n{text}{end}{marks}\n")
}

/// The start of a text that fits `max` characters, cut at a line's end and marked as cut.
pub(crate) fn clipped(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let head: String = text.chars().take(max).collect();
    let end = head.rfind('\n').filter(|at| *at > 0).unwrap_or(head.len());
    format!("{}\n[... cut]", &head[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_cannot_be_closed_from_inside() {
        assert_eq!(fenced("md", "a\n```\nb"), "````md\na\n```\nb\n````\n");
        assert_eq!(fenced("", ""), "```\n```\n");
    }

    #[test]
    fn clips_at_a_line() {
        assert_eq!(clipped("ab\ncd\nef", 5), "ab\n[... cut]");
        assert_eq!(clipped("한글", 2), "한글");
    }
}
