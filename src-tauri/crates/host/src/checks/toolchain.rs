//! What a project is tested with, found by its files; and the tools of this machine, found outside the project.

use super::{Site, io, wary};
use crate::sandbox::{Cell, Output, run};
use starling_core::port::{Cancel, CheckError};
use starling_core::test_set::Runner;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    pub runners: Vec<Runner>,
    pub test_dir: String,
    pub python: Option<Python>,
    pub rust: Option<Rust>,
}

#[derive(Clone, Debug)]
pub(crate) struct Python {
    pub program: PathBuf,
    /// Folders of the interpreter that lie in a hidden home.
    pub readable: Vec<PathBuf>,
    /// `site-packages` of the project's own environment.
    pub packages: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub(crate) struct Rust {
    /// `bin` of the toolchain itself, not of rustup's proxies, which need a home.
    pub bin: PathBuf,
    pub sysroot: PathBuf,
    /// Cargo's own home, of which only the package caches are shown.
    pub home: Option<PathBuf>,
}

/// Runs Python in the sandbox once, to see whether pytest is there.
pub(crate) fn find(site: &Site) -> Result<Tools, CheckError> {
    let (mut runners, test_dir) = by_files(&site.tree);
    let mut tools = Tools { test_dir, ..Tools::default() };
    if runners.iter().any(|r| matches!(r, Runner::Pytest | Runner::Unittest)) {
        tools.python = python(&site.tree);
        match &tools.python {
            None => runners.retain(|r| *r == Runner::CargoTest),
            Some(python) if !has_pytest(python, site)? => {
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
        tools.rust = rust();
        if tools.rust.is_none() {
            runners.retain(|r| *r != Runner::CargoTest);
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
    let test_dir = ["tests", "test"].into_iter().find(|dir| tree.join(dir).is_dir()).unwrap_or("");
    let test_dir = if test_dir.is_empty() && !python { "tests" } else { test_dir };
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

/// The first Python 3 on the path that is not inside the project. It says itself where it lives.
fn python(tree: &Path) -> Option<Python> {
    const ASK: &str = "import sys, site; print(sys.executable); print(sys.prefix); print(sys.base_prefix); print(site.getusersitepackages())";
    for candidate in on_path("python3").into_iter().filter(|path| !path.starts_with(tree)) {
        let mut command = Command::new(&candidate);
        command.args(["-I", "-c", ASK]).current_dir("/");
        let Ok(output) = command.output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines().map(PathBuf::from);
        if let (true, Some(program)) = (output.status.success(), lines.next()) {
            let mut readable: Vec<PathBuf> = lines.filter(|path| path.is_dir() && !path.starts_with("/usr")).collect();
            readable.dedup();
            return Some(Python { program, readable, packages: project_packages(tree) });
        }
    }
    None
}

/// Packages of the project's own environment are used, its interpreter is not: it is a file of the project. The stage of a
/// git project lies elsewhere, so this finds an environment only where it is part of the tree.
fn project_packages(tree: &Path) -> Option<PathBuf> {
    [".venv", "venv"].into_iter().find_map(|name| {
        let lib = std::fs::read_dir(tree.join(name).join("lib")).ok()?;
        lib.filter_map(Result::ok).map(|entry| entry.path().join("site-packages")).find(|path| path.is_dir())
    })
}

fn has_pytest(python: &Python, site: &Site) -> Result<bool, CheckError> {
    let code = "import importlib.util, sys; sys.exit(0 if importlib.util.find_spec('pytest') else 3)";
    let output = python.run(site, &["-c".into(), code.into()], Duration::from_secs(30), &Cancel::new())?;
    Ok(output.ended.code() == Some(0))
}

impl Python {
    /// Runs the interpreter in the sandbox; the project's root and `src` are importable.
    pub fn run(&self, site: &Site, args: &[OsString], limit: Duration, cancel: &Cancel) -> Result<Output, CheckError> {
        let mut path = OsString::from(&site.tree);
        path.push(":");
        path.push(site.tree.join("src"));
        if let Some(packages) = &self.packages {
            path.push(":");
            path.push(packages);
        }
        let env = [("PYTHONPATH", path), ("PYTHONDONTWRITEBYTECODE", "1".into()), ("PYTHONHASHSEED", "0".into())];
        let cell = Cell {
            tree: site.tree.clone(),
            private: site.private.clone(),
            readable: self.readable.iter().map(|path| (path.clone(), path.clone())).collect(),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        };
        let mut argv = vec![OsString::from(&self.program)];
        argv.extend(args.iter().cloned());
        run(&cell, &argv, limit, cancel)
    }
}

/// The toolchain behind the cargo on the path: `rustc` says where it lives.
fn rust() -> Option<Rust> {
    let rustc = on_path("rustc").into_iter().next()?;
    let output = Command::new(rustc).args(["--print", "sysroot"]).current_dir("/").output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let bin = sysroot.join("bin");
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    bin.join("cargo").is_file().then_some(Rust { bin, sysroot, home: home.filter(|home| home.is_dir()) })
}

impl Rust {
    /// Runs cargo in the sandbox: offline, with a target folder in the private one, and the package caches read-only.
    pub fn run(&self, site: &Site, args: &[OsString], limit: Duration, cancel: &Cancel) -> Result<Output, CheckError> {
        let home = site.private.join("cargo");
        for part in ["cargo/registry", "cargo/git"] {
            wary::make(&site.private, Path::new(part)).map_err(|e| io(&home, e))?;
        }
        let mut readable = vec![(self.sysroot.clone(), self.sysroot.clone())];
        if let Some(own) = &self.home {
            readable.extend(["registry", "git"].map(|part| (own.join(part), PathBuf::from("/tmp/cargo").join(part))));
        }
        let mut path = OsString::from(&self.bin);
        path.push(":/usr/bin:/bin");
        let env = [
            ("PATH", path),
            ("CARGO_HOME", "/tmp/cargo".into()),
            ("CARGO_TARGET_DIR", "/tmp/target".into()),
            ("CARGO_NET_OFFLINE", "true".into()),
            ("CARGO_TERM_COLOR", "never".into()),
            ("CARGO_INCREMENTAL", "1".into()),
        ];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let cell = Cell { tree: site.tree.clone(), private: site.private.clone(), readable, env };
        let mut argv = vec![OsString::from(self.bin.join("cargo"))];
        argv.extend(args.iter().cloned());
        run(&cell, &argv, limit, cancel)
    }
}

fn on_path(name: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .filter(|file| file.is_file())
        .collect()
}
