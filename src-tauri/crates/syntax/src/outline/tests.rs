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
        &["Struct T 5-6", "Method T.M 8-8", "Function TestM 10-10 test"],
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
fn python_constants_and_nested_places() {
    check(
        Language::Python,
        "MAX_SIZE = 3\nsize = 4\nclass A:\n    LIMIT = 1\n    class B:\n        @property\n        def b(self): return 1\ntry:\n    def g(): pass\nexcept E:\n    pass\n",
        &["Constant MAX_SIZE 1-1", "Class A 3-7", "Class A.B 5-7", "Method A.B.b 6-7", "Function g 9-9"],
    );
}

#[test]
fn javascript_ways_to_make_a_function() {
    check(
        Language::JavaScript,
        "exports.run = function (a) { return a; };\nmodule.exports.go = () => 1;\nconst api = { get(x) { return x; } };\nconst outer = () => { function inner() {} return inner; };\nclass K { handle = () => 1; size = 2; }\n",
        &[
            "Function run 1-1",
            "Function go 2-2",
            "Variable api 3-3",
            "Method api.get 3-3",
            "Function outer 4-4",
            "Class K 5-5",
            "Method K.handle 5-5",
        ],
    );
}

#[test]
fn go_groups_and_interfaces() {
    check(
        Language::Go,
        "package p\n\nconst (\n\tA = 1\n\tB = 2\n)\n\ntype R interface {\n\tRead() int\n}\n\nfunc (s *Stack[T]) Push(v T) {}\n",
        &["Constant A 4-4", "Constant B 5-5", "Interface R 8-10", "Method Stack.Push 12-12"],
    );
}

#[test]
fn java_members_and_tests() {
    check(
        Language::Java,
        "class A {\n  /** Runs. */\n  @Override\n  public void run() {}\n  @Test\n  void adds() {}\n  enum E { X }\n}\ninterface I { int f(); }\n",
        &[
            "Class A 1-8",
            "Method A.run 2-4",
            "Method A.adds 5-6 test",
            "Enum A.E 7-7",
            "Interface I 9-9",
            "Method I.f 9-9",
        ],
    );
}

#[test]
fn c_prototypes_and_test_macros() {
    check(
        Language::C,
        "int later(int a);\nchar *name(void);\nint later(int a) { return a; }\nint counter;\n#define SQUARE(x) ((x) * (x))\n",
        &["Function name 2-2", "Function later 3-3", "Macro SQUARE 5-5"],
    );
    check(
        Language::Cpp,
        "struct S { int m(); S &self(); ~S(); int x; };\nint S::m() { return x; }\nTEST(Cart, Adds) { int a = 1; }\n",
        &["Struct S 1-1", "Method S.self 1-1", "Method S.~S 1-1", "Method S.m 2-2", "Method Cart.Adds 3-3 test"],
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
    assert_eq!(
        of(
            Language::TypeScript,
            "import React, { type A } from 'r';\nimport type { B } from \"./b\";\nimport './side';\nimport * as ns from 'n';\n"
        ),
        [
            ("r".to_owned(), names(&["React", "A"])),
            ("./b".to_owned(), names(&["B"])),
            ("./side".to_owned(), names(&[])),
            ("n".to_owned(), names(&["ns"]))
        ]
    );
    assert_eq!(
        of(Language::Rust, "use a::{b, c::{d as e, self}};\nuse x::y::*;\nuse std::fmt;\nuse z as w;\n"),
        [
            ("a".to_owned(), names(&["b", "e", "c"])),
            ("x::y".to_owned(), names(&["*"])),
            ("std".to_owned(), names(&["fmt"])),
            ("".to_owned(), names(&["w"]))
        ]
    );
    assert_eq!(
        of(Language::Go, "package p\nimport (\n\t\"fmt\"\n\tj \"encoding/json\"\n)\n"),
        [("fmt".to_owned(), names(&[])), ("encoding/json".to_owned(), names(&["j"]))]
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

/// Real code of every language, to be cut and spoiled.
pub(crate) const FIXTURES: [(Language, &str); 9] = [
    (Language::Python, include_str!("../../fixtures/sample.py")),
    (Language::Rust, include_str!("../../fixtures/sample.rs")),
    (Language::JavaScript, include_str!("../../fixtures/sample.js")),
    (Language::TypeScript, include_str!("../../fixtures/sample.ts")),
    (Language::Tsx, include_str!("../../fixtures/sample.tsx")),
    (Language::Go, include_str!("../../fixtures/sample.go")),
    (Language::Java, include_str!("../../fixtures/Sample.java")),
    (Language::C, include_str!("../../fixtures/sample.c")),
    (Language::Cpp, include_str!("../../fixtures/sample.cpp")),
];

/// Everything of this crate over a text; what comes back must lie inside it.
fn read_all(language: Language, text: &str) -> Result<(), TestCaseError> {
    let outline = outline(language, text);
    for symbol in &outline.symbols {
        prop_assert!(text.get(symbol.span.start..symbol.span.end).is_some());
        prop_assert!(symbol.lines.0 <= symbol.lines.1);
        prop_assert!(symbol.body.is_none_or(|b| symbol.span.start <= b.start && b.end <= symbol.span.end));
    }
    for name in crate::identifiers(language, text, None) {
        prop_assert_eq!(text.get(name.span.start..name.span.end), Some(name.name.as_str()));
    }
    crate::calls_of(language, text, "add");
    let path = starling_core::RelPath::new("a").expect("good");
    let all = Span::new(0, text.len());
    for edit in crate::mutants(language, &path, text, all).into_iter().chain(crate::edits(language, &path, text, all)) {
        let mut changed = text.to_owned();
        changed.replace_range(edit.span.start..edit.span.end, &edit.replacement);
        prop_assert_ne!(changed, text);
    }
    Ok(())
}

#[test]
fn reads_real_code_whole() {
    for (language, source) in FIXTURES {
        let whole = outline(language, source);
        assert!(whole.errors.is_empty(), "{language:?} {:?}", whole.errors);
        assert!(whole.symbols.len() >= 3, "{language:?}");
        let crlf = source.replace('\n', "\r\n");
        let again = outline(language, &crlf);
        let names = |o: &Outline| {
            o.symbols.iter().map(|s| (s.qualified.clone(), s.lines, s.signature.clone())).collect::<Vec<_>>()
        };
        assert_eq!(names(&whole), names(&again), "{language:?}");
        for (unix, dos) in whole.symbols.iter().zip(&again.symbols) {
            let of = |text: &str, span: Span| text[span.start..span.end].replace("\r\n", "\n");
            assert_eq!(of(source, unix.span).trim_end(), of(&crlf, dos.span).trim_end(), "{language:?}");
            assert_eq!(unix.doc, dos.doc);
        }
    }
}

#[test]
fn gives_up_on_what_is_too_large_or_hangs_a_grammar() {
    let large = format!("def f(): pass\n#{}", "x".repeat(crate::MAX_BYTES));
    assert!(outline(Language::Python, &large).symbols.is_empty());
    for language in Language::ALL {
        outline(language, &"(".repeat(50_000));
        outline(language, &"{[(".repeat(10_000));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn never_panics_on_spoiled_code(which in 0usize..9, from in 0.0f64..1.0, to in 0.0f64..1.0, at in 0.0f64..1.0, junk in "[(){}\\[\\];:,\"'`#/\\\\\n é한=<>]{0,4}") {
        let (language, source) = FIXTURES[which];
        let place = |share: f64| source.floor_char_boundary((source.len() as f64 * share) as usize);
        let (from, to) = (place(from.min(to)), place(from.max(to)));
        read_all(language, &source[from..to])?;
        let mut spoiled = source.to_owned();
        spoiled.insert_str(place(at), &junk);
        read_all(language, &spoiled)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn never_panics(text in "[a-z(){}\\[\\]:;,.\"'#/*\\n =<>é한@!&|-]{0,200}", which in 0usize..9) {
        let language = Language::ALL[which];
        read_all(language, &text)?;
    }
}
