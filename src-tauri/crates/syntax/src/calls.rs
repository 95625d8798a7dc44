//! Calls of a name, with their arguments as text.

use crate::outline::of_kind;
use crate::parse::{span, text, tree};
use crate::tables::table;
use starling_core::code::{Language, Span};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    pub span: Span,
    /// The whole call.
    pub text: String,
    pub arguments: Vec<String>,
}

/// All calls whose callee is `name`, bare. Calls through an object or a module are another thing and are left out.
pub fn calls_of(language: Language, source: &str, name: &str) -> Vec<CallSite> {
    let Some(tree) = tree(language, source) else { return Vec::new() };
    let calls = of_kind(tree.root_node(), table(language).calls, None);
    let mut found = Vec::new();
    for call in calls {
        let callee = call.child_by_field_name("function").or_else(|| call.child_by_field_name("name"));
        if callee.is_none_or(|callee| text(callee, source) != name) {
            continue;
        }
        let mut arguments = Vec::new();
        if let Some(list) = call.child_by_field_name("arguments") {
            let mut cursor = list.walk();
            arguments.extend(list.named_children(&mut cursor).map(|a| text(a, source).to_owned()));
        }
        found.push(CallSite { span: span(call), text: text(call, source).to_owned(), arguments });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_bare_calls() {
        let calls = calls_of(Language::Python, "x = f(1, [2, 3])\ny.f(4)\ng(f('a'))\n", "f");
        let got: Vec<(&str, usize)> = calls.iter().map(|c| (c.text.as_str(), c.arguments.len())).collect();
        assert_eq!(got, [("f(1, [2, 3])", 2), ("f('a')", 1)]);
        let rust = calls_of(Language::Rust, "fn t() { assert_eq!(f(1), 2); let x = f(2); }", "f");
        assert_eq!(rust.len(), 1, "inside a macro there are only tokens");
    }
}
