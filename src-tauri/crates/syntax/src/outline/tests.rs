//! Outlines of small files in every language.

use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(language: Language, source: &str, expected: &[&str]) {
    let outline = outline(language, source);
    let line = |s: &Symbol| {
        let test = if s.is_test { " test" } else { "" };
        format!("{:?} {} {}-{}{test}", s.kind, s.qualified, s.lines.0, s.lines.1)
    };
    let got: Vec<String> = outline.symbols.iter().map(line).collect();
    assert_eq!(got, expected, "{:?}", outline.errors);
    assert!(outline.errors.is_empty(), "{:?}", outline.errors);
}

#[test]
fn python() {
    let source = "import os\n\n# About f.\n@cached\ndef f(a,\n      b):\n    \"\"\"Adds.\"\"\"\n    def inner(): pass\n    return a + b\n\n\nclass C(Base):\n    '''A class.'''\n    x = 1\n    async def m(self): ...\n\ndef test_f(): assert f(1, 2)\n";
    check(
        Language::Python,
        source,
        &["Function f 3-9", "Class C 12-15", "Method C.m 15-15", "Function test_f 17-17 test"],
    );
    let outline = outline(Language::Python, source);
    let f = &outline.symbols[0];
    assert_eq!((f.signature.as_str(), f.doc.as_str()), ("def f(a, b)", "Adds."));
    assert_eq!(outline.symbols[1].doc, "A class.");
}

#[test]
fn rust() {
    let source = "//! Crate.\nuse std::{fmt, io as stdio};\n\n/// A point.\n#[derive(Debug)]\npub struct P<T> { x: T }\n\nimpl<T> P<T> {\n    /// New.\n    pub fn new(x: T) -> Self { P { x } }\n}\n\nimpl fmt::Display for P<u8> { fn fmt(&self) {} }\n\npub const MAX: usize = 1;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n";
    check(
        Language::Rust,
        source,
        &[
            "Struct P 4-6",
            "Method P.new 9-10",
            "Method P.fmt 13-13",
            "Constant MAX 15-15",
            "Module tests 17-21",
            "Function tests.works 19-20 test",
        ],
    );
    let outline = outline(Language::Rust, source);
    assert_eq!(outline.symbols[0].doc, "A point.");
    assert_eq!(outline.symbols[1].signature, "pub fn new(x: T) -> Self");
    assert_eq!((outline.imports[0].module.as_str(), outline.imports[0].names.len()), ("std", 2));
}

#[test]
fn javascript_and_typescript() {
    check(
        Language::JavaScript,
        "import { a } from './a.js';\n// Adds.\nexport function add(x) { const y = 1; return x + y; }\nclass K { m() {} }\nexport const f = (x) => { return x; };\nconst LIMIT = 3;\n",
        &["Function add 2-3", "Class K 4-4", "Method K.m 4-4", "Function f 5-5", "Variable LIMIT 6-6"],
    );
    check(
        Language::TypeScript,
        "export interface I { m(): void }\ntype T = string;\nenum E { A }\nabstract class C { abstract a(): void; b(): number { return 1; } }\n",
        &[
            "Interface I 1-1",
            "Method I.m 1-1",
            "Type T 2-2",
            "Enum E 3-3",
            "Class C 4-4",
            "Method C.a 4-4",
            "Method C.b 4-4",
        ],
    );
    check(Language::Tsx, "export function App() { return <div>hi</div>; }\n", &["Function App 1-1"]);
}

#[test]
fn go_java_c_cpp() {
    check(
        Language::Go,
        "package p\n\nimport \"fmt\"\n\n// T is.\ntype T struct{ x int }\n\nfunc (t *T) M() int { return t.x }\n\nfunc TestM(t *testing.T) {}\n",
        &["Type T 5-6", "Method T.M 8-8", "Function TestM 10-10 test"],
    );
    check(
        Language::Java,
        "package p;\nimport java.util.List;\npublic class A {\n  A() {}\n  int m(int x) { return x; }\n}\n",
        &["Class A 3-6", "Method A.A 4-4", "Method A.m 5-5"],
    );
    check(
        Language::C,
        "#include <stdio.h>\n/* Adds. */\nstatic int add(int a, int b) { return a + b; }\nstruct P { int x; };\n",
        &["Function add 2-3", "Struct P 4-4"],
    );
    check(
        Language::Cpp,
        "namespace n { class A { public: int m(); }; }\nint n::A::m() { return 1; }\ntemplate <class T> T id(T x) { return x; }\n",
        &["Module n 1-1", "Class n.A 1-1", "Method n.A.m 2-2", "Function id 3-3"],
    );
}

#[test]
fn imports_say_what_they_bring() {
    let of = |language, source: &str| -> Vec<(String, Vec<String>)> {
        outline(language, source).imports.into_iter().map(|i| (i.module, i.names)).collect()
    };
    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        of(Language::Python, "import a.b\nimport c as d\nfrom e.f import (g,\n  h as i)\n"),
        [("a.b".to_owned(), names(&[])), ("c".to_owned(), names(&["d"])), ("e.f".to_owned(), names(&["g", "i"]))]
    );
    assert_eq!(of(Language::Java, "import java.util.List;\n"), [("java.util".to_owned(), names(&["List"]))]);
    assert_eq!(
        of(Language::TypeScript, "import { a, b as c } from 'x/y';\n"),
        [("x/y".to_owned(), names(&["a", "c"]))]
    );
    assert_eq!(of(Language::C, "#include \"a.h\"\n"), [("a.h".to_owned(), names(&[]))]);
}

#[test]
fn keeps_spans_with_crlf_and_reads_broken_files() {
    let source = "def f():\r\n    return 1\r\n\r\ndef g(:\r\n    pass\r\n";
    let outline = outline(Language::Python, source);
    let f = &outline.symbols[0];
    assert_eq!(&source[f.span.start..f.span.end], "def f():\r\n    return 1");
    assert!(!outline.errors.is_empty());
    assert_eq!(enclosing(&outline, 12).map(|s| s.name.as_str()), Some("f"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn never_panics(text in "[a-z(){}\\[\\]:;,.\"'#/*\\n =<>é한@!&|-]{0,200}", which in 0usize..9) {
        let language = Language::ALL[which];
        let outline = outline(language, &text);
        for symbol in &outline.symbols {
            prop_assert!(text.get(symbol.span.start..symbol.span.end).is_some());
        }
        crate::identifiers(language, &text, None);
        crate::mutants(language, &starling_core::RelPath::new("a").expect("good"), &text, Span::new(0, text.len()));
    }
}
