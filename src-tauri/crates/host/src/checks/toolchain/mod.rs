//! What a project is tested with, found by its files; and the tools of this machine, found outside the project.

mod node;
mod python;
mod rust;

pub(crate) use node::Node;
pub(crate) use python::Python;
pub(crate) use rust::Rust;

use super::Site;
use starling_core::port::CheckError;
use starling_core::test_set::Runner;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    pub runners: Vec<Runner>,
    pub test_dir: String,
    pub python: Option<Python>,
    pub rust: Option<Rust>,
    pub node: Option<Node>,
}

/// The programs of test runners that a project installs, below its `node_modules`.
pub(crate) const VITEST: &str = "vitest/vitest.mjs";
pub(crate) const JEST: &str = "jest/bin/jest.js";

/// Runs Python in the sandbox once, to see whether pytest is there. `project` is the user's tree, of which only the
/// installed packages are used.
pub(crate) fn find(site: &Site, project: Option<&Path>) -> Result<Tools, CheckError> {
    let (mut runners, test_dir) = by_files(&site.tree);
    let mut tools = Tools { test_dir, ..Tools::default() };
    if runners.iter().any(|r| matches!(r, Runner::Pytest | Runner::Unittest)) {
        tools.python = python::find(&site.tree, project);
        match &tools.python {
            None => runners.retain(|r| !matches!(r, Runner::Pytest | Runner::Unittest)),
            Some(python) if !python::has_pytest(python, site)? => {
                let had = runners.contains(&Runner::Pytest);
                runners.retain(|r| *r != Runner::Pytest);
                if had && !runners.contains(&Runner::Unittest) && uses(&site.tree, "unittest") {
                    runners.push(Runner::Unittest);
                }
            }
            Some(_) => {}
        }
    }
    if runners.contains(&Runner::CargoTest) {
        tools.rust = rust::find();
        if tools.rust.is_none() {
            runners.retain(|r| *r != Runner::CargoTest);
        }
    }
    if let Some(at) = runners.iter().position(|r| matches!(r, Runner::NodeTest | Runner::Vitest | Runner::Jest)) {
        tools.node = node::find(&site.tree, project, &node::script(&site.tree));
        let installed = |file: &str| tools.node.as_ref().is_some_and(|node| node.package_file(site, file).is_some());
        let runs = match runners.get(at) {
            Some(Runner::Vitest) => installed(VITEST),
            Some(Runner::Jest) => installed(JEST),
            _ => tools.node.is_some(),
        };
        if !runs {
            runners.remove(at);
        }
    }
    tools.runners = runners;
    Ok(tools)
}

/// Runners by manifest and test files, best first, and the folder of the tests. Reads names and the heads of test files.
pub(crate) fn by_files(tree: &Path) -> (Vec<Runner>, String) {
    let has = |name: &str| tree.join(name).is_file();
    let mut runners = Vec::new();
    if has("Cargo.toml") {
        runners.push(Runner::CargoTest);
    }
    let python =
        has("pyproject.toml") || has("setup.py") || has("setup.cfg") || has("requirements.txt") || any_python(tree);
    if python {
        let told = has("pytest.ini")
            || has("conftest.py")
            || has("tests/conftest.py")
            || mentions(tree, "pyproject.toml", "pytest");
        let told = told || mentions(tree, "setup.cfg", "pytest") || mentions(tree, "tox.ini", "pytest");
        let pytest = told || uses(tree, "pytest") || !uses(tree, "unittest");
        runners.push(if pytest { Runner::Pytest } else { Runner::Unittest });
    }
    if node::is_project(tree) {
        runners.extend(node::script(tree).runner);
    }
    let test_dir = ["tests", "test", "__tests__"].into_iter().find(|dir| tree.join(dir).is_dir()).unwrap_or("");
    let usual = match runners.first() {
        Some(Runner::Pytest | Runner::Unittest) => "",
        Some(Runner::NodeTest | Runner::Vitest | Runner::Jest) => "test",
        Some(Runner::CargoTest) | None => "tests",
    };
    let test_dir = if test_dir.is_empty() && !python { usual } else { test_dir };
    (runners, test_dir.to_owned())
}

fn mentions(tree: &Path, file: &str, word: &str) -> bool {
    std::fs::read_to_string(tree.join(file)).is_ok_and(|text| text.contains(word))
}

fn any_python(tree: &Path) -> bool {
    files(tree, 3).iter().any(|path| path.extension().is_some_and(|e| e == "py"))
}

/// Whether a test file imports a module.
fn uses(tree: &Path, module: &str) -> bool {
    let tests = files(tree, 4).into_iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".py") && (name.starts_with("test") || name.ends_with("_test.py"))
    });
    tests.take(40).any(|path| {
        std::fs::read_to_string(path).is_ok_and(|text| {
            text.lines().any(|line| {
                line.starts_with(&format!("import {module}")) || line.starts_with(&format!("from {module}"))
            })
        })
    })
}

/// Files up to a depth, without hidden folders and dependencies; at most 2,000.
fn files(tree: &Path, depth: usize) -> Vec<PathBuf> {
    let mut walk = ignore::WalkBuilder::new(tree);
    walk.max_depth(Some(depth)).git_ignore(false).git_exclude(false).git_global(false).parents(false);
    walk.filter_entry(|entry| {
        !matches!(entry.file_name().to_str(), Some("node_modules" | "target" | "venv" | "__pycache__"))
    });
    walk.build()
        .filter_map(Result::ok)
        .filter(|e| e.file_type().is_some_and(|t| t.is_file()))
        .map(|e| e.into_path())
        .take(2_000)
        .collect()
}

fn on_path(name: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .filter(|file| file.is_file())
        .collect()
}
