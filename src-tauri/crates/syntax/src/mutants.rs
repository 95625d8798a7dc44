//! Mutation operators for Python, Rust, JavaScript, TypeScript and Go.

use crate::operators::{Change, finish, live_nodes, parsed, small_changes};
use starling_core::RelPath;
use starling_core::code::{Language, Span};
use starling_core::test_set::Mutant;

/// All mutants of the code in `within`, in the order of the source. Each parses and differs from the source.
pub fn mutants(language: Language, path: &RelPath, source: &str, within: Span) -> Vec<Mutant> {
    let Some(tree) = parsed(language, source) else { return Vec::new() };
    let nodes = live_nodes(language, tree.root_node(), within);
    let mut changes: Vec<Change> = nodes.into_iter().flat_map(|node| small_changes(language, node, source)).collect();
    changes.sort_by_key(|change| change.span.start);
    finish(language, &tree, path, source, changes, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(language: Language, source: &str, expected: &[&str]) {
        let path = RelPath::new("a").expect("a good path");
        let all = mutants(language, &path, source, Span::new(0, source.len()));
        let got: Vec<&str> = all.iter().map(|m| m.id.as_str()).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn mutates_python() {
        check(
            Language::Python,
            "def f(a: int = 1):\n    \"\"\"Doc 1 < 2.\"\"\"\n    # 1 < 2\n    if a < 10 and not a:\n        a.go('x')\n    return a + 1\n",
            &[
                "number: 1 -> 2 @1",
                "number: 1 -> 0 @1",
                "condition: a < 10 and not a -> not (a < 10 and not a) @4",
                "compare: < -> <= @4",
                "compare: < -> > @4",
                "number: 10 -> 11 @4",
                "number: 10 -> 9 @4",
                "logic: and -> or @4",
                "condition: not a -> a @4",
                "remove: a.go('x') -> pass @5",
                "text: 'x' -> '' @5",
                "result: return a + 1 -> return None @6",
                "arithmetic: + -> - @6",
                "number: 1 -> 2 @6",
                "number: 1 -> 0 @6",
            ],
        );
    }

    #[test]
    fn mutates_rust() {
        check(
            Language::Rust,
            "#[inline]\nfn f(a: &[u8]) -> usize {\n    if a.len() >= 2 { return 0; }\n    log(a);\n    (0..3).max().min(7)\n}\n",
            &[
                "condition: a.len() >= 2 -> !(a.len() >= 2) @3",
                "compare: >= -> > @3",
                "compare: >= -> <= @3",
                "number: 2 -> 3 @3",
                "number: 2 -> 1 @3",
                "number: 0 -> 1 @3",
                "remove: log(a); -> {} @4",
                "result: (0..3).max().min(7) -> 0 @5",
                "number: 0 -> 1 @5",
                "bound: .. -> ..= @5",
                "number: 3 -> 4 @5",
                "number: 3 -> 2 @5",
                "bound: max -> min @5",
                "bound: min -> max @5",
                "number: 7 -> 8 @5",
                "number: 7 -> 6 @5",
            ],
        );
    }

    #[test]
    fn mutates_javascript() {
        check(
            Language::JavaScript,
            "'use strict';\nconst f = (a) => a ?? 0.5;\nfunction g(list, n) {\n  if (n === 1) throw new Error('x');\n  for (let i = 0; i < n; i++) list.push(i);\n  n++;\n  return n > 2 ? Math.min(n, 3) : list;\n}\n",
            &[
                "result: a ?? 0.5 -> undefined @2",
                "logic: ?? -> && @2",
                "number: 0.5 -> 1.5 @2",
                "number: 0.5 -> 0.0 @2",
                "condition: (n === 1) -> (!(n === 1)) @4",
                "compare: === -> !== @4",
                "number: 1 -> 2 @4",
                "number: 1 -> 0 @4",
                "remove: throw new Error('x'); -> ; @4",
                "text: 'x' -> '' @4",
                "number: 0 -> 1 @5",
                "compare: < -> <= @5",
                "compare: < -> > @5",
                "remove: list.push(i); -> ; @5",
                "remove: n++; -> ; @6",
                "arithmetic: n++ -> n-- @6",
                "result: n > 2 ? Math.min(n, 3) : list -> undefined @7",
                "condition: n > 2 -> (!(n > 2)) @7",
                "compare: > -> >= @7",
                "compare: > -> < @7",
                "number: 2 -> 3 @7",
                "number: 2 -> 1 @7",
                "bound: min -> max @7",
                "number: 3 -> 4 @7",
                "number: 3 -> 2 @7",
            ],
        );
        check(
            Language::TypeScript,
            "type N = 1 | 2;\nconst f = (a: N): boolean => !a;\n",
            &["result: !a -> undefined @2", "condition: !a -> a @2"],
        );
    }

    #[test]
    fn shows_the_change_as_a_hunk() {
        let path = RelPath::new("a.py").expect("a good path");
        let all = mutants(Language::Python, &path, "x = 0\ny = x < 5\n", Span::new(6, 15));
        let compare = all.iter().find(|m| m.id.starts_with("compare")).expect("a comparison");
        assert_eq!(compare.diff, "@@ -2,1 +2,1 @@\n-y = x < 5\n+y = x <= 5\n");
        assert_eq!(compare.line, 2);
    }

    #[test]
    fn mutates_results_and_bounds() {
        check(
            Language::Rust,
            "fn f(a: &str) -> Option<u8> { let x = || { a }; if a.is_empty() { return Some(1); } g(x) }",
            &[
                "condition: a.is_empty() -> !(a.is_empty()) @1",
                "result: Some(1) -> None @1",
                "number: 1 -> 2 @1",
                "number: 1 -> 0 @1",
                "result: g(x) -> None @1",
            ],
        );
        check(
            Language::Python,
            "for i in range(n): a[i:m] = 0.5\n",
            &[
                "bound: n -> n + 1 @1",
                "remove: a[i:m] = 0.5 -> pass @1",
                "bound: i -> i + 1 @1",
                "bound: m -> m + 1 @1",
                "number: 0.5 -> 1.5 @1",
                "number: 0.5 -> 0.0 @1",
            ],
        );
    }

    #[test]
    fn numbers_alike_changes_of_a_line() {
        check(
            Language::Go,
            "package p\nvar a = b < c && d < e\n",
            &[
                "compare: < -> <= @2",
                "compare: < -> > @2",
                "logic: && -> || @2",
                "compare: < -> <= @2#2",
                "compare: < -> > @2#2",
            ],
        );
    }

    #[test]
    fn mutants_of_real_code_parse_by_themselves() {
        for (language, source) in crate::outline::FIXTURES {
            let path = RelPath::new("a").expect("a good path");
            let all = mutants(language, &path, source, Span::new(0, source.len()));
            let wider = crate::edits(language, &path, source, Span::new(0, source.len()));
            assert!(all.len() >= 5 && wider.len() > all.len(), "{language:?} {} {}", all.len(), wider.len());
            let mut ids: Vec<&str> = all.iter().map(|mutant| mutant.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), all.len(), "{language:?}: ids are unique");
            for mutant in all.iter().chain(&wider) {
                let mut changed = source.to_owned();
                changed.replace_range(mutant.span.start..mutant.span.end, &mutant.replacement);
                assert!(crate::parses(language, &changed), "{language:?} {}\n{}", mutant.id, mutant.diff);
                assert_ne!(changed, source);
            }
        }
    }

    proptest! {
        #[test]
        fn every_mutant_parses_and_differs(a in 0i64..100, op in "[-+*/<>]", word in "[a-z]{1,5}") {
            let source = format!("def f({word}):\n    if {word} {op} {a}:\n        return \"{word}\"\n    return [{a}, {word}]\n");
            let path = RelPath::new("a.py").expect("a good path");
            for mutant in mutants(Language::Python, &path, &source, Span::new(0, source.len())) {
                let mut changed = source.clone();
                changed.replace_range(mutant.span.start..mutant.span.end, &mutant.replacement);
                prop_assert!(crate::parses(Language::Python, &changed));
                prop_assert_ne!(&changed, &source);
            }
        }
    }
}
