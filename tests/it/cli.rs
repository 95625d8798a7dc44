//! The command line from outside: exit codes, where words go, and the JSON of the commands that need no model. Every test
//! has a home of its own and an empty environment.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// A home, a project, and the program between them.
struct Bench {
    home: TempDir,
    project: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let new = || tempfile::tempdir().expect("a temporary folder");
        let bench = Bench { home: new(), project: new() };
        bench.write("shop/cart.py", CART);
        bench.write("notes.md", "Money is rounded half even.\n");
        bench
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.project.path().join(path);
        fs::create_dir_all(path.parent().expect("inside the project")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    fn command(&self, args: &[&str]) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_starling"));
        command.args(args).current_dir(self.project.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home.path()).env("STARLING_HOME", self.home.path().join("data"));
        // An empty folder: the weights of whoever runs the tests must not decide them.
        command.env("STARLING_MODELS", self.home.path());
        command
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{args:?} printed no JSON ({e}): {}", String::from_utf8_lossy(&output.stdout)))
    }

    #[track_caller]
    fn check_exit(&self, args: &[&str], code: i32, stderr: &str) {
        let output = self.run(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(stderr), "{args:?} said {said:?}, not {stderr:?}");
    }
}

const CART: &str = "class Cart:\n    \"\"\"Holds items.\"\"\"\n\n    def total(self, rate: float) -> int:\n        return round(sum(self.items) * rate)\n\n\ndef empty():\n    return Cart()\n";

#[test]
fn wrong_usage_ends_with_2_and_help_with_0() {
    let bench = Bench::new();
    bench.check_exit(&["frobnicate"], 2, "unrecognized subcommand");
    bench.check_exit(&["run"], 2, "required");
    bench.check_exit(&["bind", "poet", "x"], 2, "invalid value");
    bench.check_exit(&["run", "x", "--send", "--offline"], 2, "cannot be used with");
    bench.check_exit(&["tests", "no-symbol.py", "--project", "."], 2, "FILE::SYMBOL");
    for args in [&["--help"][..], &["run", "--help"], &["models", "get", "--help"], &["--version"]] {
        let output = bench.run(args);
        assert!(output.status.success() && !output.stdout.is_empty(), "{args:?}");
    }
    assert!(!bench.home.path().join("data").exists(), "help and usage errors must not touch the data folder");
}

#[test]
fn every_command_has_help_with_an_example() {
    let bench = Bench::new();
    let words = "run parse plan tests fix review tasks diff land discard resume models bind index search outline metrics \
                 receipt egress bench doctor window completions";
    for command in words.split_whitespace() {
        let output = bench.run(&[command, "--help"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("Example: "), "{command}: {text}");
    }
}

#[test]
fn outline_lists_symbols_without_a_data_folder() {
    let bench = Bench::new();
    let outline = bench.json(&["outline", "shop/cart.py", "--json"]);
    let names: Vec<&str> =
        outline["symbols"].as_array().expect("symbols").iter().filter_map(|s| s["qualified"].as_str()).collect();
    assert_eq!(names, ["Cart", "Cart.total", "empty"]);
    assert_eq!(outline["language"], "python");
    assert!(!bench.home.path().join("data").exists(), "outline is light: it opens no data folder");
    bench.check_exit(&["outline", "missing.py"], 1, "missing.py");
}

#[test]
fn index_and_search_find_code_and_prose() {
    let bench = Bench::new();
    let index = bench.json(&["index", ".", "--json"]);
    assert_eq!(index["files"], 2, "{index}");
    let found = bench.json(&["search", "half even", "--project", ".", "--json"]);
    let hits = found["hits"].as_array().expect("hits");
    assert!(hits.iter().any(|hit| hit["path"] == "notes.md" && hit["line"] == 1), "{found}");
    let found = bench.json(&["search", "total", "--project", ".", "--json"]);
    assert!(found["hits"].as_array().expect("hits").iter().any(|hit| hit["path"] == "shop/cart.py"), "{found}");
    bench.check_exit(&["search", "x", "--project", "nowhere"], 1, "nowhere");
}

#[test]
fn commands_without_a_model_say_what_to_do() {
    let bench = Bench::new();
    bench.write("task.md", "# Fix rounding\n\nRound half even in `Cart.total`.\n");
    bench.check_exit(&["plan", "task.md", "--project", ".", "--json"], 1, "starling models get");
    bench.check_exit(&["run", "missing.md", "--project", "."], 1, "missing.md");
}

#[test]
fn parse_reads_any_bytes() {
    let bench = Bench::new();
    bench.write("big.md", &"a".repeat(1024 * 1024 + 1));
    bench.check_exit(&["parse", "missing.md", "--json"], 1, "missing.md");
    bench.check_exit(&["parse", "big.md", "--json"], 1, "1048577 bytes");
}

#[test]
fn the_inbox_is_empty_at_first() {
    let bench = Bench::new();
    assert_eq!(bench.json(&["tasks", "--json"])["tasks"], serde_json::json!([]));
    assert_eq!(bench.json(&["egress", "--json"])["entries"], serde_json::json!([]));
    bench.check_exit(&["diff", "0198"], 1, "no task");
    bench.check_exit(&["receipt", "0198"], 1, "no task");
    bench.check_exit(&["land", "0198"], 1, "no task");
}

#[test]
fn bindings_are_kept_and_unknown_models_refused() {
    let bench = Bench::new();
    bench.check_exit(&["bind", "tester", "no-such-model"], 1, "no-such-model");
    let models = bench.json(&["models", "list", "--json"]);
    let first = models["models"][0]["name"].as_str().expect("the catalogue has models").to_owned();
    bench.json(&["bind", "tester", &first, "--json"]);
    let roles = bench.json(&["models", "list", "--json"])["roles"].clone();
    assert!(roles.as_array().expect("roles").iter().any(|r| r["role"] == "tester" && r["model"] == *first), "{roles}");
}

#[test]
fn a_file_that_is_no_model_is_not_imported() {
    let bench = Bench::new();
    bench.check_exit(&["models", "import", "notes.md"], 1, "GGUF");
    bench.check_exit(&["models", "get", "no-such-model"], 1, "no-such-model");
    bench.check_exit(&["models", "remove", "no-such-model"], 1, "no-such-model");
}

#[test]
fn doctor_reports_without_harm() {
    let bench = Bench::new();
    let report = bench.json(&["doctor", "--json"]);
    for field in ["version", "sandbox", "kernels", "database", "tray", "notifications", "keychain"] {
        assert!(!report[field].is_null(), "{field} is missing: {report}");
    }
}

#[test]
fn nothing_is_written_into_the_project() {
    let bench = Bench::new();
    let before = listing(bench.project.path());
    bench.json(&["index", ".", "--json"]);
    bench.json(&["outline", "shop/cart.py", "--json"]);
    bench.json(&["doctor", "--json"]);
    assert_eq!(listing(bench.project.path()), before);
}

fn listing(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            all.extend(listing(&path));
        }
        all.push(path.to_string_lossy().into_owned());
    }
    all.sort();
    all
}
