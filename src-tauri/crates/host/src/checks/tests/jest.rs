//! Vitest as this repository's own page has it installed, Jest from a folder that `STARLING_TEST_JEST` names. Neither is
//! fetched for these tests.

use super::*;
use std::path::{Path, PathBuf};

/// A stage without packages, and the user's tree with them. Links, because nothing is written there.
fn scene(runner: Runner, packages: Option<PathBuf>, files: &[(&str, &str)]) -> Option<Scene> {
    let mut scene = super::scene(files, true)?;
    let project = scene.folder.path().join("project");
    std::fs::create_dir(&project).expect("made");
    if let Some(packages) = packages.filter(|packages| packages.is_dir()) {
        let packages = packages.canonicalize().expect("there");
        std::os::unix::fs::symlink(packages, project.join("node_modules")).expect("linked");
    }
    scene.checks = scene.checks.with_packages_of(&project);
    if scene.checks.toolchain(&scene.task).expect("found").runners != [runner] {
        eprintln!("SKIPPED: {} is not installed, so its test proves nothing here", runner.as_str());
        return None;
    }
    Some(scene)
}

const TESTS: &str = r#"
describe('outer', () => {
  test('good', () => { expect(add(1, 2)).toBe(3); });
  test('wrong', () => { expect(add(1, 2)).toBe(4); });
});
test('asserts', () => { assert.equal(add(1, 2), 4); });
test('breaks', () => { null.x; });
test.skip('skipped', () => {});
"#;

fn check(scene: &Scene, runner: Runner, end: &str) {
    use CaseOutcome::{Errored, Failed, Passed, Skipped};
    let name = |name: &str| format!("test/sum.test.{end}::{name}");
    let report = scene.test(runner, &[]);
    let mut got: Vec<(String, CaseOutcome)> = report.cases.iter().map(|c| (c.name.clone(), c.outcome)).collect();
    got.sort_by(|a, b| a.0.cmp(&b.0));
    let mut expected = vec![
        (name("asserts"), Failed),
        (name("breaks"), Errored),
        (name("outer::good"), Passed),
        (name("outer::wrong"), Failed),
        (name("skipped"), Skipped),
        (format!("test/gone.test.{end}"), Errored),
    ];
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(got, expected, "{}", report.output);
    let wrong = report.cases.iter().find(|case| case.name == name("outer::wrong")).expect("it ran");
    assert!(wrong.message.lines().next().is_some_and(|line| line.contains('3') && line.contains('4')), "{wrong:?}");
    assert!(report.broken, "one file could not be loaded");
    let one = scene.test(runner, &[&format!("test/sum.test.{end}")]);
    assert!(!one.broken && one.exit == Some(1) && one.cases.len() == 5, "{}", one.output);
    let run = TestRun { runner, files: Vec::new(), names: vec![name("outer::good")], timeout_seconds: 60 };
    let good = scene.checks.test(&scene.task, &run, &Cancel::new()).expect("it runs");
    assert_eq!(outcomes(&good), [(name("outer::good").as_str(), Passed)], "{}", good.output);
    assert!(good.green());
    let file = if end == "ts" { "src/sum.ts" } else { "src/sum.js" };
    let results = scene.mutate(runner, file, &[("a + b", "a - b")]);
    assert!(results[0].killed_by.contains(&name("outer::good")), "{results:?}");
}

#[test]
fn vitest_with_types() {
    let tests = format!(
        "import {{ describe, expect, test }} from 'vitest';\nimport assert from 'node:assert/strict';\nimport {{ add }} from '../src/sum';\n{TESTS}"
    );
    let files = [
        ("package.json", "{\"type\": \"module\", \"scripts\": {\"test\": \"vitest run\"}}"),
        ("src/sum.ts", "export function add(a: number, b: number): number {\n  return a + b;\n}\n"),
        ("test/sum.test.ts", tests.as_str()),
        ("test/gone.test.ts", "import gone from './gone';\n"),
    ];
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/node_modules");
    let Some(scene) = scene(Runner::Vitest, Some(packages), &files) else { return };
    check(&scene, Runner::Vitest, "ts");
}

#[test]
fn jest_with_require() {
    let tests =
        format!("const assert = require('node:assert/strict');\nconst {{ add }} = require('../src/sum');\n{TESTS}");
    let files = [
        ("package.json", "{\"scripts\": {\"test\": \"jest\"}}"),
        ("src/sum.js", "exports.add = (a, b) => a + b;\n"),
        ("test/sum.test.js", tests.as_str()),
        ("test/gone.test.js", "require('./gone');\n"),
    ];
    let packages = std::env::var_os("STARLING_TEST_JEST").map(PathBuf::from);
    let Some(scene) = scene(Runner::Jest, packages, &files) else { return };
    check(&scene, Runner::Jest, "js");
}
