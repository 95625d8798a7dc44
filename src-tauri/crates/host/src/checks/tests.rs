//! Real interpreters and compilers on small projects, in the real sandbox.

use super::*;
use starling_core::RelPath;
use starling_core::code::Span;
use starling_core::port::{Cancel, CaseOutcome};

mod cargo;
mod jest;
mod node;
mod pytest;

struct Scene {
    folder: tempfile::TempDir,
    checks: ProjectChecks,
    task: TaskId,
}

fn scene(files: &[(&str, &str)], trusted: bool) -> Option<Scene> {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    for (path, text) in files {
        let file = tree.join(path);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("made");
        std::fs::write(file, text).expect("written");
    }
    let scratch = folder.path().join("scratch");
    let checks = ProjectChecks::new(move |_| Some(tree.clone()), scratch, trusted);
    let scene = Scene { folder, checks, task: TaskId::new("t") };
    if trusted && !crate::sandbox::level().works {
        eprintln!("SKIPPED: {}", crate::sandbox::level().detail);
        assert!(matches!(
            scene.checks.build(&scene.task, Runner::Unittest, &Cancel::new()),
            Err(CheckError::NotRun { .. })
        ));
        return None;
    }
    Some(scene)
}

impl Scene {
    fn test(&self, runner: Runner, files: &[&str]) -> TestReport {
        let files = files.iter().map(|file| RelPath::new(*file).expect("a good path")).collect();
        let run = TestRun { runner, files, names: Vec::new(), timeout_seconds: 120 };
        self.checks.test(&self.task, &run, &Cancel::new()).expect("it runs")
    }
    fn mutate(&self, runner: Runner, path: &str, changes: &[(&str, &str)]) -> Vec<MutantResult> {
        let source = std::fs::read_to_string(self.folder.path().join("tree").join(path)).expect("there");
        let mutant = |(from, to): &(&str, &str)| {
            let start = source.find(from).expect("it occurs");
            Mutant {
                path: RelPath::new(path).expect("a good path"),
                id: (*to).to_owned(),
                span: Span::new(start, start + from.len()),
                replacement: (*to).to_owned(),
                line: 1,
                diff: String::new(),
            }
        };
        let mutants: Vec<Mutant> = changes.iter().map(mutant).collect();
        let run = TestRun { runner, files: Vec::new(), names: Vec::new(), timeout_seconds: 60 };
        self.checks.mutate(&self.task, &mutants, &run, &Cancel::new()).expect("it runs")
    }
}

fn outcomes(report: &TestReport) -> Vec<(&str, CaseOutcome)> {
    report.cases.iter().map(|case| (case.name.as_str(), case.outcome)).collect()
}

const CODE: &str = "def add(a, b):\n    return a + b\n\ndef positive(n):\n    return n > 0\n";
const TESTS: &str = "import unittest\nfrom m import add, positive\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n    def test_positive(self):\n        self.assertTrue(positive(3))\n        print('\\x1b[31mnoise')\n";

#[test]
fn unittest_tells_outcomes_apart() {
    let bad = "import unittest\nfrom m import add\n\nclass B(unittest.TestCase):\n    def test_wrong(self):\n        self.assertEqual(add(1, 2), 4)\n    def test_breaks(self):\n        add(1)\n    @unittest.skip('later')\n    def test_skipped(self):\n        pass\n";
    let files = [("m.py", CODE), ("tests/__init__.py", ""), ("tests/test_m.py", TESTS), ("tests/test_bad.py", bad)];
    let Some(scene) = scene(&files, true) else { return };
    let tools = scene.checks.toolchain(&scene.task).expect("found");
    assert_eq!((tools.runners, tools.test_dir.as_str()), (vec![Runner::Unittest], "tests"));
    let good = scene.test(Runner::Unittest, &["tests/test_m.py"]);
    assert!(good.green(), "{good:?}");
    assert_eq!(
        outcomes(&good),
        [("tests.test_m.T.test_add", CaseOutcome::Passed), ("tests.test_m.T.test_positive", CaseOutcome::Passed)]
    );
    let all = scene.test(Runner::Unittest, &[]);
    assert_eq!(all.exit, Some(1));
    assert_eq!(all.outcome("tests.test_bad.B.test_wrong"), Some(CaseOutcome::Failed));
    assert_eq!(all.outcome("tests.test_bad.B.test_breaks"), Some(CaseOutcome::Errored));
    assert_eq!(all.outcome("tests.test_bad.B.test_skipped"), Some(CaseOutcome::Skipped));
    assert!(!all.broken);
}

#[test]
fn a_test_file_that_cannot_be_imported_is_broken() {
    let files = [("m.py", CODE), ("test_gone.py", "import unittest\nimport gone\n")];
    let Some(scene) = scene(&files, true) else { return };
    let report = scene.test(Runner::Unittest, &["test_gone.py"]);
    assert!(report.broken && !report.green(), "{report:?}");
    let build = scene.checks.build(&scene.task, Runner::Unittest, &Cancel::new()).expect("it runs");
    assert!(build.ok, "{}", build.output);
    std::fs::write(scene.folder.path().join("tree/m.py"), "def f(:\n").expect("written");
    let build = scene.checks.build(&scene.task, Runner::Unittest, &Cancel::new()).expect("it runs");
    assert!(!build.ok && build.output.contains("m.py"), "{}", build.output);
}

#[test]
fn python_mutants_are_told_apart_and_the_stage_stays() {
    let Some(scene) = scene(&[("m.py", CODE), ("test_m.py", TESTS)], true) else { return };
    let results = scene.mutate(
        Runner::Unittest,
        "m.py",
        &[("a + b", "a - b"), ("n > 0", "n >= 0"), ("return n > 0", "while True: pass"), ("return a + b", "return (")],
    );
    assert_eq!(results[0], MutantResult { killed_by: vec!["test_m.T.test_add".to_owned()], invalid: false });
    assert_eq!(results[1], MutantResult { killed_by: Vec::new(), invalid: false });
    assert!(results[2].invalid && results[3].invalid, "{results:?}");
    assert_eq!(std::fs::read_to_string(scene.folder.path().join("tree/m.py")).expect("there"), CODE);
}

#[test]
fn copies_for_mutants_keep_what_can_be_run() {
    use std::os::unix::fs::PermissionsExt;
    let tests = "import subprocess, unittest\nfrom m import add\n\nclass T(unittest.TestCase):\n    def test_run(self):\n        self.assertEqual(subprocess.run(['./tool.sh']).returncode, add(1, 2))\n    def test_plain(self):\n        with self.assertRaises(PermissionError):\n            subprocess.run(['./data.sh'])\n";
    let script = "#!/bin/sh\nexit 3\n";
    let files = [("m.py", CODE), ("test_m.py", tests), ("tool.sh", script), ("data.sh", script)];
    let Some(scene) = scene(&files, true) else { return };
    let tool = scene.folder.path().join("tree/tool.sh");
    // Setuid is no mode of a copy.
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o4755)).expect("set");
    for _ in 0..2 {
        let results = scene.mutate(Runner::Unittest, "m.py", &[("n > 0", "n >= 0"), ("a + b", "a - b")]);
        assert_eq!(results[0].killed_by, Vec::<String>::new(), "both tests pass in the copy as in the stage");
        assert_eq!(results[1].killed_by, ["test_m.T.test_run"]);
        let copy = std::fs::metadata(scene.folder.path().join("scratch/t/mutants-0/tree/tool.sh")).expect("there");
        assert_eq!(copy.permissions().mode() & 0o7777, 0o755);
    }
    // A mutated file keeps its mode as well.
    let results = scene.mutate(Runner::Unittest, "tool.sh", &[("exit 3", "exit 4")]);
    assert_eq!(results[0].killed_by, ["test_m.T.test_run"]);
}

#[test]
fn a_script_records_what_the_code_gives() {
    let Some(scene) = scene(&[("m.py", CODE), ("test_m.py", TESTS)], true) else { return };
    let report =
        scene.checks.script(&scene.task, Runner::Unittest, "import m\nprint(m.add(2, 3))\n", 20).expect("it runs");
    assert_eq!((report.exit, report.stdout.as_str()), (Some(0), "5\n"));
}

/// What runs in the sandbox can put a link where the host writes next, and the host is not in the sandbox.
#[test]
fn a_link_left_behind_does_not_lead_the_host_out() {
    let swap = "import os, unittest\n\nclass S(unittest.TestCase):\n    def test_swap(self):\n        if 'a - b' in open('m.py').read():\n            os.remove('m.py')\n            os.symlink(open('where').read(), 'm.py')\n";
    let files = [("m.py", CODE), ("test_m.py", TESTS), ("test_swap.py", swap)];
    let Some(scene) = scene(&files, true) else { return };
    let outside = scene.folder.path().join("outside");
    std::fs::write(&outside, "mine").expect("written");
    let mine = || std::fs::read_to_string(&outside).expect("there");
    std::fs::write(scene.folder.path().join("tree/where"), outside.display().to_string()).expect("written");
    for _ in 0..2 {
        let results = scene.mutate(Runner::Unittest, "m.py", &[("a + b", "a - b")]);
        assert_eq!(mine(), "mine", "restoring a mutated file must not write through a link");
        assert_eq!(results[0].killed_by, ["test_m.T.test_add"]);
    }
    let script = |source: &str| scene.checks.script(&scene.task, Runner::Unittest, source, 20).expect("it runs").stdout;
    let plant =
        "import os\nos.remove(__file__)\nos.symlink(open('where').read(), __file__)\nprint(os.path.islink(__file__))\n";
    assert_eq!((script(plant).as_str(), script("print(1)\n").as_str()), ("True\n", "1\n"));
    assert_eq!(mine(), "mine", "a script must not be written through a link");
}

#[test]
fn a_pipe_in_place_of_the_report_is_not_waited_for() {
    let pipe = "import os, sys\nos.mkfifo(sys.argv[1])\nos._exit(0)\n";
    let Some(scene) = scene(&[("m.py", CODE), ("test_pipe.py", &format!("import unittest\n{pipe}"))], true) else {
        return;
    };
    let report = scene.test(Runner::Unittest, &["test_pipe.py"]);
    assert!(report.broken && !report.green() && report.cases.is_empty(), "{report:?}");
}

#[test]
fn nothing_of_an_untrusted_project_runs() {
    let Some(scene) = scene(&[("m.py", CODE), ("test_m.py", TESTS)], false) else { return };
    let error = scene.checks.build(&scene.task, Runner::Unittest, &Cancel::new()).expect_err("refused");
    assert!(error.to_string().contains("not trusted"), "{error}");
    assert_eq!(scene.checks.toolchain(&scene.task).expect("by files").runners, [Runner::Unittest]);
}

#[test]
fn rust_is_built_tested_and_mutated() {
    let lib = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\npub fn first(v: &[i32]) -> i32 {\n    v[0]\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn inner() {}\n}\n";
    let tests = "use k::{add, first};\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\n#[test]\nfn wrong() {\n    assert_eq!(add(1, 2), 4);\n}\n\n#[test]\nfn panics() {\n    first(&[]);\n}\n";
    let manifest = "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", lib), ("tests/t.rs", tests)];
    let Some(scene) = scene(&files, true) else { return };
    if scene.checks.toolchain(&scene.task).expect("found").runners.is_empty() {
        eprintln!("SKIPPED: there is no Rust toolchain");
        return;
    }
    let report = scene.test(Runner::CargoTest, &[]);
    assert_eq!(report.outcome("tests/t.rs::adds"), Some(CaseOutcome::Passed), "{}", report.output);
    assert_eq!(report.outcome("tests/t.rs::wrong"), Some(CaseOutcome::Failed));
    assert_eq!(report.outcome("tests/t.rs::panics"), Some(CaseOutcome::Errored));
    let names = vec!["src/lib.rs::tests::inner".to_owned()];
    let one = TestRun { runner: Runner::CargoTest, files: Vec::new(), names, timeout_seconds: 120 };
    let one = scene.checks.test(&scene.task, &one, &Cancel::new()).expect("it runs");
    assert_eq!(outcomes(&one), [("src/lib.rs::tests::inner", CaseOutcome::Passed)], "{}", one.output);
    let results = scene.mutate(Runner::CargoTest, "src/lib.rs", &[("a + b", "a - b"), ("a + b", "a + c")]);
    assert!(results[0].killed_by.contains(&"tests/t.rs::adds".to_owned()), "{results:?}");
    assert!(results[1].invalid, "{results:?}");
    std::fs::write(scene.folder.path().join("tree/src/lib.rs"), "pub fn add(a: i32) -> i32 { a + missing }\n")
        .expect("written");
    let build = scene.checks.build(&scene.task, Runner::CargoTest, &Cancel::new()).expect("it runs");
    assert!(!build.ok && build.unknown_names.contains(&"missing".to_owned()), "{build:?}");
}
