//! pytest, taken from the cache that `scripts/test-pytest.sh` fills, seen by the checks as the environment of a project.

use super::*;
use std::path::PathBuf;

/// A project whose `.venv` holds pytest and whose stage, as always with git, has none.
fn scene(files: &[(&str, &str)]) -> Option<Scene> {
    let mut scene = super::scene(files, true)?;
    let cached = std::env::var_os("STARLING_TEST_PYTEST").map(PathBuf::from).or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        Some(cache.or_else(|| Some(std::env::home_dir()?.join(".cache")))?.join("starling-build/pytest"))
    });
    let project = scene.folder.path().join("project");
    std::fs::create_dir(&project).expect("made");
    if let Some(cached) = cached.filter(|cached| cached.join("lib").is_dir()) {
        std::os::unix::fs::symlink(cached, project.join(".venv")).expect("linked");
    }
    scene.checks = scene.checks.with_packages_of(&project);
    let tools = scene.checks.toolchain(&scene.task).expect("found");
    if tools.runners != [Runner::Pytest] {
        eprintln!("SKIPPED: there is no pytest; run scripts/test-pytest.sh. The tests of pytest prove nothing here");
        return None;
    }
    Some(scene)
}

impl Scene {
    fn pytest(&self, files: &[&str], names: &[&str], seconds: u32) -> TestReport {
        let files = files.iter().map(|file| RelPath::new(*file).expect("a good path")).collect();
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let run = TestRun { runner: Runner::Pytest, files, names, timeout_seconds: seconds };
        self.checks.test(&self.task, &run, &Cancel::new()).expect("it runs")
    }
}

const TESTS: &str = r#"
import pytest, unittest
from m import add

def test_good():
    assert add(1, 2) == 3

def test_wrong():
    assert add(1, 2) == 4, "a < b & \"c\""

def test_breaks():
    add(1)

def test_raises():
    with pytest.raises(ValueError):
        add(1, 2)

@pytest.mark.skip(reason="later")
def test_skipped():
    pass

@pytest.mark.xfail
def test_known():
    assert add(1, 2) == 4

@pytest.mark.xfail(strict=True)
def test_unknown():
    pass

@pytest.mark.parametrize("text", ["a b", "x::y", "[z]", "-k"])
def test_texts(text):
    assert text != "[z]"

class TestOuter:
    class TestInner:
        def test_deep(self):
            assert True

class small(unittest.TestCase):
    def test_method(self):
        self.assertEqual(add(1, 2), 3)
    def test_parts(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1)

@pytest.fixture
def broken():
    raise RuntimeError("setup")

@pytest.fixture
def dirty():
    yield
    raise RuntimeError("teardown")

def test_setup(broken):
    pass

def test_teardown(dirty):
    pass
"#;

#[test]
fn outcomes_and_names_are_those_of_pytest() {
    use CaseOutcome::{Errored, Failed, Passed, Skipped};
    // Options of the project's own that would hide tests.
    let files = [("m.py", CODE), ("tests/test_m.py", TESTS), ("pytest.ini", "[pytest]\naddopts = -x\n")];
    let Some(scene) = scene(&files) else { return };
    let report = scene.pytest(&[], &[], 60);
    assert!(!report.broken && report.exit == Some(1), "{}", report.output);
    let expected = [
        ("test_good", Passed),
        ("test_wrong", Failed),
        ("test_breaks", Errored),
        ("test_raises", Failed),
        ("test_skipped", Skipped),
        ("test_known", Skipped),
        ("test_unknown", Failed),
        ("test_texts[a b]", Passed),
        ("test_texts[x::y]", Passed),
        ("test_texts[[z]]", Failed),
        ("test_texts[-k]", Passed),
        ("TestOuter::TestInner::test_deep", Passed),
        ("small::test_method", Passed),
        ("small::test_parts", Failed),
        ("test_setup", Errored),
        ("test_teardown", Errored),
    ];
    let expected: Vec<(String, CaseOutcome)> =
        expected.map(|(name, outcome)| (format!("tests/test_m.py::{name}"), outcome)).into();
    let got: Vec<(String, CaseOutcome)> = report.cases.iter().map(|case| (case.name.clone(), case.outcome)).collect();
    assert_eq!(got, expected);
    let wrong = &report.cases[1].message;
    assert!(wrong.starts_with("AssertionError: a < b & \"c\"\nassert 3 == 4"), "{wrong}");
    // Tests can be asked for by the names they were reported under.
    let names: Vec<&str> = got.iter().map(|(name, _)| name.as_str()).collect();
    let again = scene.pytest(&["tests/gone.py"], &names[7..14], 60);
    let again: Vec<(String, CaseOutcome)> = again.cases.into_iter().map(|case| (case.name, case.outcome)).collect();
    assert_eq!(again, got[7..14]);
    assert!(scene.pytest(&["tests/test_m.py"], &["tests/test_m.py::test_good"], 60).green());
}

#[test]
fn a_module_that_does_not_import_hides_no_other() {
    let bad = "def test_x(\n";
    let files = [
        ("m.py", CODE),
        ("tests/test_a.py", "from m import add\ndef test_a():\n    assert add(1, 1) == 2\n"),
        ("tests/test_gone.py", "import gone\ndef test_b():\n    pass\n"),
        ("tests/test_syntax.py", bad),
    ];
    let Some(scene) = scene(&files) else { return };
    let all = scene.pytest(&[], &[], 60);
    assert!(all.broken && !all.green(), "{}", all.output);
    assert_eq!(
        outcomes(&all),
        [
            ("tests/test_gone.py", CaseOutcome::Errored),
            ("tests/test_syntax.py", CaseOutcome::Errored),
            ("tests/test_a.py::test_a", CaseOutcome::Passed)
        ]
    );
    assert!(all.cases[0].message.contains("No module named 'gone'"), "{}", all.cases[0].message);
    assert!(scene.pytest(&["tests/test_a.py"], &[], 60).green());
    let none = scene.pytest(&["m.py"], &[], 60);
    assert!(none.broken && none.cases.is_empty() && none.exit == Some(5), "{none:?}");
}

#[test]
fn mutants_are_killed_by_name() {
    let tests = "from m import add\ndef test_add():\n    assert add(1, 2) == 3\n";
    let Some(scene) = scene(&[("m.py", CODE), ("test_m.py", tests)]) else { return };
    let results = scene.mutate(Runner::Pytest, "m.py", &[("a + b", "a - b"), ("n > 0", "n >= 0"), ("a + b", "a +")]);
    assert_eq!(results[0], MutantResult { killed_by: vec!["test_m.py::test_add".to_owned()], invalid: false });
    assert_eq!(results[1], MutantResult { killed_by: Vec::new(), invalid: false });
    assert!(results[2].invalid, "{results:?}");
}

/// What a test can do to the report of its own run. It is found in the arguments, so a test that wants to lie can; what is
/// held is that the host neither hangs nor fails, and that the exit code has to agree.
#[test]
fn a_hostile_test_harms_nobody_but_its_own_run() {
    let find = "import os, sys\nreport = [a for a in sys.argv if a.startswith('--junitxml=')][0].split('=', 1)[1]\n";
    let forged = "<testsuites><testsuite><testcase classname='t' name='t' file='t.py'/></testsuite></testsuites>";
    let cases: [(&str, String, u32); 8] = [
        ("hangs", "while True:\n    pass\n".to_owned(), 3),
        ("pipe", "os.mkfifo(report)\n".to_owned(), 3),
        ("folder", "os.mkdir(report)\n".to_owned(), 30),
        ("link", "os.symlink('/etc/passwd', report)\nos._exit(0)\n".to_owned(), 30),
        ("large", "open(report, 'w').write('<' * 40_000_000)\nos._exit(0)\n".to_owned(), 30),
        ("no text", "open(report, 'wb').write(b'\\xff\\xfe<testcase')\nos._exit(0)\n".to_owned(), 30),
        ("forged and failed", format!("open(report, 'w').write(\"{forged}\")\nos._exit(1)\n"), 30),
        ("deep", "open(report, 'w').write('<testcase>' * 100_000)\nos._exit(1)\n".to_owned(), 30),
    ];
    let Some(scene) = scene(&[("m.py", CODE)]) else { return };
    let tree = scene.folder.path().join("tree");
    for (what, body, seconds) in cases {
        let body = body.lines().map(|line| format!("    {line}\n")).collect::<String>();
        std::fs::write(tree.join("test_h.py"), format!("{find}\ndef test_h():\n{body}")).expect("written");
        let report = scene.pytest(&[], &[], seconds);
        assert!(!report.green(), "{what}: {report:?}");
        assert!(report.output.chars().count() <= 8_000);
        if what == "hangs" || what == "pipe" {
            assert!(report.broken && report.output.contains("too long"), "{what}: {report:?}");
        }
    }
    let loud =
        "def test_loud():\n    for _ in range(60):\n        print('x' * 1_000_000)\n    assert 'y' * 100_000 == ''\n";
    std::fs::write(tree.join("test_h.py"), loud).expect("written");
    let report = scene.pytest(&[], &[], 60);
    assert_eq!(outcomes(&report), [("test_h.py::test_loud", CaseOutcome::Failed)], "{}", report.output);
    assert!(report.cases[0].message.chars().count() <= 2_000 && report.output.chars().count() <= 8_000);
    std::fs::write(tree.join("test_h.py"), "def test_good():\n    assert True\n").expect("written");
    assert!(scene.pytest(&[], &[], 60).green(), "nothing an earlier run left behind is in the way");
}
