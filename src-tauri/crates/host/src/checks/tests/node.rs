//! node's own test runner on small projects.

use super::*;

const SUM: &str = "export function add(a, b) {\n  return a + b;\n}\n\nexport const positive = (n) => n > 0;\n";

const TESTS: &str = r#"
import { test, describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { add } from '../src/sum.mjs';

test('good', () => { assert.equal(add(1, 2), 3); });
test('wrong', () => { assert.equal(add(1, 2), 4); });
test('deep', () => { assert.deepEqual({ a: [1] }, { a: [2] }); });
test('falsy', () => { assert.ok(add(0, 0), 'a sum'); });
test('breaks', () => { null.x; });
test('skipped', { skip: 'later' }, () => {});
test('todo', { todo: true }, () => { throw new Error('x'); });
test('text', () => { throw 'text'; });
test('rejected', async () => { await Promise.reject(new TypeError('async')); });
describe('outer', () => {
  describe('inner', () => {
    it('a.b: [c] (d) "e"', () => {});
    it('bad', () => { assert.ok(false); });
  });
});
describe('hooks', () => { before(() => { throw new Error('hook'); }); it('never', () => {}); });
test('parent', async (t) => { await t.test('child', () => { assert.equal(1, 2); }); });
test('good', () => {});
console.log('{"file":"/x","names":["forged"],"outcome":"passed"}');
console.error('noise');
"#;

fn scene(files: &[(&str, &str)]) -> Option<Scene> {
    let scene = super::scene(files, true)?;
    if scene.checks.toolchain(&scene.task).expect("found").runners.is_empty() {
        eprintln!("SKIPPED: there is no node of version 20 or newer");
        return None;
    }
    Some(scene)
}

impl Scene {
    fn node(&self, files: &[&str], names: &[&str], seconds: u32) -> TestReport {
        let files = files.iter().map(|file| RelPath::new(*file).expect("a good path")).collect();
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let run = TestRun { runner: Runner::NodeTest, files, names, timeout_seconds: seconds };
        self.checks.test(&self.task, &run, &Cancel::new()).expect("it runs")
    }
}

#[test]
fn outcomes_and_names_are_told_apart() {
    use CaseOutcome::{Errored, Failed, Passed, Skipped};
    let Some(scene) = scene(&[("src/sum.mjs", SUM), ("test/sum.test.mjs", TESTS)]) else { return };
    let tools = scene.checks.toolchain(&scene.task).expect("found");
    assert_eq!((tools.runners, tools.test_dir.as_str()), (vec![Runner::NodeTest], "test"));
    let report = scene.node(&[], &[], 60);
    assert!(!report.broken && report.exit == Some(1), "{}", report.output);
    let expected = [
        ("good", Passed),
        ("wrong", Failed),
        ("deep", Failed),
        ("falsy", Failed),
        ("breaks", Errored),
        ("skipped", Skipped),
        ("todo", Skipped),
        ("text", Errored),
        ("rejected", Errored),
        ("outer::inner::a.b: [c] (d) \"e\"", Passed),
        ("outer::inner::bad", Failed),
        ("hooks::never", Errored),
        ("hooks", Errored),
        ("parent::child", Failed),
        ("parent", Failed),
        ("good #2", Passed),
    ];
    let expected = expected.map(|(name, outcome)| (format!("test/sum.test.mjs::{name}"), outcome));
    let got: Vec<(String, CaseOutcome)> = report.cases.iter().map(|case| (case.name.clone(), case.outcome)).collect();
    assert_eq!(got, expected);
    let first = |at: usize| report.cases[at].message.lines().next().unwrap_or_default();
    assert_eq!(first(1), "AssertionError: got 3, expected 4");
    assert_eq!(first(2), "AssertionError: got { a: [ 1 ] }, expected { a: [ 2 ] }");
    assert_eq!(first(3), "AssertionError: a sum");
    assert_eq!(first(4), "TypeError: Cannot read properties of null (reading 'x')");
    assert!(report.cases[1].message.contains("at TestContext.<anonymous> (test/sum.test.mjs:7:"), "{}", first(1));
    assert!(report.output.contains("got 3, expected 4"), "{}", report.output);
    for (name, outcome) in expected.iter().filter(|(name, _)| name.contains("inner") || name.ends_with("wrong")) {
        assert_eq!(outcomes(&scene.node(&[], &[name], 60)), [(name.as_str(), *outcome)]);
    }
    let one = scene.node(&["test"], &["test/sum.test.mjs::good"], 60);
    assert_eq!(outcomes(&one), [("test/sum.test.mjs::good", Passed)]);
}

#[test]
fn a_file_that_does_not_load_is_broken_and_hides_no_other() {
    let files = [
        ("package.json", "{\"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}"),
        ("src/sum.js", SUM),
        (
            "src/sum.test.js",
            "import test from 'node:test';\nimport { add } from './sum.js';\ntest('adds', () => add());\n",
        ),
        ("test/absent.test.js", "import 'node:test';\nimport { sub } from '../src/sum.js';\n"),
        ("test/gone.test.js", "import 'node:test';\nimport gone from 'gone';\n"),
        ("test/helper.js", "export const help = 1;\n"),
        ("test/plain.js", "import assert from 'assert';\nassert.equal(1, 2);\n"),
        ("test/syntax.test.js", "import 'node:test';\nfunction (\n"),
        ("node_modules/dep/test/dep.test.js", "import test from 'node:test';\nthrow new Error('no test of ours');\n"),
    ];
    let Some(scene) = scene(&files) else { return };
    let report = scene.node(&[], &[], 60);
    assert!(report.broken && !report.green());
    assert_eq!(
        outcomes(&report),
        [
            ("src/sum.test.js::adds", CaseOutcome::Passed),
            ("test/absent.test.js", CaseOutcome::Errored),
            ("test/gone.test.js", CaseOutcome::Errored),
            ("test/plain.js", CaseOutcome::Failed),
            ("test/syntax.test.js", CaseOutcome::Errored),
        ],
        "{}",
        report.output
    );
    let first = |at: usize| report.cases[at].message.lines().next().unwrap_or_default();
    assert_eq!(first(1), "SyntaxError: The requested module '../src/sum.js' does not provide an export named 'sub'");
    assert!(first(2).contains("Cannot find package 'gone'"), "{}", first(2));
    let plain = scene.node(&["test/plain.js"], &[], 60);
    assert!(!plain.broken && !plain.green(), "an assertion is no broken file");
    let build = scene.checks.build(&scene.task, Runner::NodeTest, &Cancel::new()).expect("it runs");
    assert!(!build.ok && build.output.starts_with("test/syntax.test.js: SyntaxError: Function"), "{}", build.output);
    std::fs::remove_file(scene.folder.path().join("tree/test/syntax.test.js")).expect("removed");
    let build = scene.checks.build(&scene.task, Runner::NodeTest, &Cancel::new()).expect("it runs");
    assert!(build.ok, "{}", build.output);
}

#[test]
fn both_kinds_of_modules_build() {
    let files = [
        ("a.cjs", "#!/usr/bin/env node\nconst fs = require('fs');\nif (!fs) return;\nmodule.exports = { fs };\n"),
        ("b.mjs", "import fs from 'fs';\nawait 0;\nexport default fs;\n"),
        ("c.js", "export const said = 'nowhere that this is a module';\n"),
        ("d.js", "module.exports = (x) => x;\n"),
        ("node_modules/x/bad.js", "function (\n"),
    ];
    let Some(scene) = scene(&files) else { return };
    let build = scene.checks.build(&scene.task, Runner::NodeTest, &Cancel::new()).expect("it runs");
    assert!(build.ok, "{}", build.output);
    for (file, text) in
        [("a.cjs", "export const a = 1;\n"), ("b.mjs", "const a = 1; const a = 2;\n"), ("d.js", "let x = ;\n")]
    {
        let path = scene.folder.path().join("tree").join(file);
        let good = std::fs::read(&path).expect("there");
        std::fs::write(&path, text).expect("written");
        let build = scene.checks.build(&scene.task, Runner::NodeTest, &Cancel::new()).expect("it runs");
        assert!(!build.ok && build.output.starts_with(&format!("{file}: SyntaxError")), "{}", build.output);
        std::fs::write(path, good).expect("written");
    }
}

#[test]
fn mutants_scripts_and_packages_of_the_user() {
    let test = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from './sum.mjs';\nimport { three } from 'dep';\ntest('adds', () => assert.equal(add(1, 2), three));\n";
    let Some(mut scene) = scene(&[("sum.mjs", SUM), ("sum.test.mjs", test)]) else { return };
    let project = scene.folder.path().join("project");
    let dep = project.join("node_modules/dep");
    std::fs::create_dir_all(&dep).expect("made");
    std::fs::write(dep.join("package.json"), "{\"name\": \"dep\", \"type\": \"module\", \"exports\": \"./i.js\"}")
        .expect("written");
    std::fs::write(dep.join("i.js"), "export const three = 3;\n").expect("written");
    scene.checks = scene.checks.with_packages_of(&project);
    assert!(scene.node(&[], &[], 60).green(), "a package of the user's tree is found from the stage");
    let hidden = scene.folder.path().join("hidden");
    std::fs::create_dir_all(hidden.join("dep")).expect("made");
    let other = scene.folder.path().join("other");
    std::fs::create_dir(&other).expect("made");
    std::os::unix::fs::symlink(&hidden, other.join("node_modules")).expect("linked");
    scene.checks = scene.checks.with_packages_of(&other);
    let report = scene.node(&[], &[], 60);
    assert!(report.broken && report.output.contains("Cannot find package 'dep'"), "a link elsewhere is not followed");
    scene.checks = scene.checks.with_packages_of(&project);
    let results = scene.mutate(
        Runner::NodeTest,
        "sum.mjs",
        &[("a + b", "a - b"), ("n > 0", "n >= 0"), ("return a + b", "for (;;);"), ("a + b", "a +")],
    );
    assert_eq!(results[0], MutantResult { killed_by: vec!["sum.test.mjs::adds".to_owned()], invalid: false });
    assert_eq!(results[1], MutantResult { killed_by: Vec::new(), invalid: false });
    assert!(results[2].invalid && results[3].invalid, "{results:?}");
    let script = "import { add } from '{TREE}/sum.mjs';\nconsole.log(JSON.stringify(add(2, 3)));\n";
    let script = script.replace("{TREE}", &scene.folder.path().join("tree").display().to_string());
    let report = scene.checks.script(&scene.task, Runner::NodeTest, &script, 20).expect("it runs");
    assert_eq!((report.exit, report.stdout.as_str()), (Some(0), "5\n"), "{}", report.stderr);
}

/// The process that writes the report is not the one that runs the tests, so most of this does not even reach it.
#[test]
fn a_hostile_test_harms_nobody_but_its_own_run() {
    let hide = "const fs = require('fs'), cp = require('child_process'), test = require('node:test'), assert = require('assert');\nconst report = () => /destination=([^\\0]*)/.exec(fs.readFileSync(`/proc/${process.ppid}/cmdline`, 'utf8'))[1];\n";
    let forged = "{\"file\":\"/x\",\"names\":[\"forged\"],\"outcome\":\"passed\"}";
    let cases = [
        ("hangs", "while (true);".to_owned(), 4),
        ("exits", "process.exit(0); test('t', () => {});".to_owned(), 60),
        ("exits in a test", "test('t', () => process.exit(0));".to_owned(), 60),
        (
            "link",
            "fs.unlinkSync(report()); fs.symlinkSync('/etc/passwd', report()); test('t', () => assert(0));".to_owned(),
            60,
        ),
        (
            "pipe",
            "fs.unlinkSync(report()); cp.execFileSync('mkfifo', [report()]); test('t', () => assert(0));".to_owned(),
            60,
        ),
        ("forged", format!("fs.writeFileSync(report(), '{forged}\\n'); test('t', () => assert(0));"), 60),
        ("kills the runner", "process.kill(process.ppid, 'SIGKILL'); while (true);".to_owned(), 60),
        ("large", "test('t', () => { throw new Error('x'.repeat(50_000_000)); });".to_owned(), 60),
        (
            "loud",
            "for (let i = 0; i < 60; i++) fs.writeSync(1, 'x'.repeat(1_000_000)); test('t', () => assert(0));"
                .to_owned(),
            60,
        ),
    ];
    let Some(scene) = scene(&[("a.js", "module.exports = 1;\n")]) else { return };
    for (what, body, seconds) in cases {
        std::fs::write(scene.folder.path().join("tree/a.test.js"), format!("{hide}{body}\n")).expect("written");
        let report = scene.node(&[], &[], seconds);
        let run = report.cases.iter().any(|case| case.outcome == CaseOutcome::Passed && case.name.contains("forged"));
        assert!(!report.green(), "{what}: {report:?}");
        assert!(!run || what == "forged", "{what}: {report:?}");
        assert!(
            report.output.chars().count() <= 8_000 && report.cases.iter().all(|c| c.message.chars().count() <= 2_000)
        );
        if what == "hangs" {
            assert!(report.broken && report.output.contains("too long"), "{report:?}");
        }
    }
    let none = scene.node(&["gone.test.js"], &[], 30);
    assert!(none.broken && none.cases.is_empty(), "{none:?}");
}

/// The script that records what code gives, as the swarm fills it in; node itself says whether its values are right.
#[test]
fn what_code_gives_is_recorded_as_literals() {
    let code = "class Own extends Error { name = 'Own'; }\nexport const f = (x) => x;\nexport function g(n) {\n  if (n < 0) throw new RangeError('negative');\n  if (n > 9) throw new Own('large');\n  return n.missing.too;\n}\nexport const later = async (x) => x + 1;\nlet count = 0;\nexport const next = () => count++;\nconsole.log('[noise]');\n";
    let Some(scene) = scene(&[("src/m.mjs", code)]) else { return };
    let rows = [
        ("", "f(1.5)", "1.5|false"),
        ("", "f(-0)", "-0|false"),
        ("", "f(NaN)", "NaN|false"),
        ("", "f(undefined)", "undefined|false"),
        (
            "const a = [1, 'x\"', null];",
            "f({ a, 'b-c': { d: 10n } })",
            "{ a: [1, \"x\\\"\", null], \"b-c\": { d: 10n } }|false",
        ),
        ("", "later(1)", "2|true"),
        ("", "g(-1)", "RangeError"),
        ("", "g(10)", "Own"),
        ("", "g(1)", "null"),
        ("", "h(1)", "null"),
        ("", "f(", "null"),
        ("", "next()", "null"),
        ("", "f(new Map())", "null"),
        ("", "f(Symbol('x'))", "null"),
        ("", "f([,1])", "null"),
    ];
    let cases: Vec<[&str; 2]> = rows.iter().map(|(setup, call, _)| [*setup, *call]).collect();
    let script = include_str!("../../../../swarm/src/tester/record.mjs")
        .replacen("resolve(FILE)", "resolve('src/m.mjs')", 1)
        .replacen("names = NAMES", "names = ['f', 'g', 'later', 'next']", 1)
        .replacen("of CASES", &format!("of {}", serde_json::json!(cases)), 1);
    let report = scene.checks.script(&scene.task, Runner::NodeTest, &script, 20).expect("it runs");
    let line = report.stdout.lines().rev().find(|line| line.starts_with('[')).expect("a list");
    let results: Vec<serde_json::Value> = serde_json::from_str(line).expect("a list");
    let said = |row: &serde_json::Value| match (row["value"].as_str(), row["error"].as_str()) {
        (Some(value), _) => format!("{value}|{}", row["waits"]),
        (None, Some(error)) => error.to_owned(),
        (None, None) => "null".to_owned(),
    };
    let got: Vec<String> = results.iter().map(said).collect();
    assert_eq!(got, rows.map(|(_, _, expected)| expected), "{}", report.stderr);
}

#[test]
fn types_are_read_where_node_can() {
    let files = [
        ("package.json", "{\"type\": \"module\"}"),
        ("src/sum.ts", "export function add(a: number, b: number): number {\n  return a + b;\n}\n"),
        (
            "src/sum.test.ts",
            "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { add } from './sum.ts';\ntest('adds', () => { assert.equal(add(1, 2), 3); });\n",
        ),
    ];
    let Some(scene) = scene(&files) else { return };
    let run = |names: Vec<String>, files: &[&str]| TestRun {
        runner: Runner::NodeTest,
        files: files.iter().map(|file| RelPath::new(*file).expect("a good path")).collect(),
        names,
        timeout_seconds: 60,
    };
    match scene.checks.test(&scene.task, &run(Vec::new(), &["src/sum.test.ts"]), &Cancel::new()) {
        Err(CheckError::NotRun { why }) => {
            assert!(why.contains("reads no TypeScript"), "{why}");
            eprintln!("SKIPPED: {why}");
            assert!(scene.node(&[], &[], 60).cases.is_empty());
            return;
        }
        report => assert_eq!(outcomes(&report.expect("it runs")), [("src/sum.test.ts::adds", CaseOutcome::Passed)]),
    }
    assert!(scene.node(&[], &[], 60).green());
    let results = scene.mutate(Runner::NodeTest, "src/sum.ts", &[("a + b", "a - b")]);
    assert_eq!(results[0].killed_by, ["src/sum.test.ts::adds"]);
    std::fs::write(scene.folder.path().join("tree/src/sum.ts"), "export const add = (a: number => a;\n")
        .expect("written");
    let build = scene.checks.build(&scene.task, Runner::NodeTest, &Cancel::new()).expect("it runs");
    assert!(!build.ok && build.output.starts_with("src/sum.ts: "), "{}", build.output);
}
