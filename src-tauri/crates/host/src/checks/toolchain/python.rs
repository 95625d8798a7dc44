//! The Python of this machine with the packages of the project, and how it is run in the sandbox.

use super::on_path;
use crate::checks::Site;
use crate::sandbox::{Cell, Output, run};
use starling_core::port::{Cancel, CheckError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Python {
    pub program: PathBuf,
    /// Folders of the interpreter that lie in a hidden home.
    pub readable: Vec<PathBuf>,
    /// `site-packages` of the project's own environment.
    pub packages: Option<PathBuf>,
}

/// The first Python 3 on the path that is not inside the project, of the version that the project's environment was made
/// for if there is one: compiled packages fit no other. It says itself where it lives.
pub(super) fn find(tree: &Path, project: Option<&Path>) -> Option<Python> {
    const ASK: &str = "import sys, site; print(sys.executable); print(sys.prefix); print(sys.base_prefix); print(site.getusersitepackages())";
    let roots: Vec<&Path> = std::iter::once(tree).chain(project).collect();
    let packages = roots.iter().find_map(|root| project_packages(root));
    // ".../lib/python3.11/site-packages"
    let version = packages.as_deref().and_then(Path::parent).and_then(Path::file_name).and_then(|name| name.to_str());
    let mut candidates: Vec<PathBuf> = version.into_iter().flat_map(on_path).collect();
    candidates.extend(on_path("python3"));
    for candidate in candidates.into_iter().filter(|path| !roots.iter().any(|root| path.starts_with(root))) {
        let mut command = Command::new(&candidate);
        command.args(["-I", "-c", ASK]).current_dir("/");
        let Ok(output) = command.output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines().map(PathBuf::from);
        if let (true, Some(program)) = (output.status.success(), lines.next()) {
            let mut readable: Vec<PathBuf> = lines.filter(|path| path.is_dir() && !path.starts_with("/usr")).collect();
            // In the stage too: a copy for mutants lies elsewhere.
            readable.extend(packages.clone());
            readable.dedup();
            return Some(Python { program, readable, packages });
        }
    }
    None
}

/// Packages of the project's own environment are used, its interpreter is not: it is a file of the project. They are
/// looked for in the stage and then in the user's tree, because an environment is rarely part of what git keeps.
fn project_packages(root: &Path) -> Option<PathBuf> {
    [".venv", "venv"].into_iter().find_map(|name| {
        let lib = std::fs::read_dir(root.join(name).join("lib")).ok()?;
        let found =
            lib.filter_map(Result::ok).map(|entry| entry.path().join("site-packages")).find(|path| path.is_dir());
        // Where it really lies, because a link would lead nowhere in the sandbox; and what is shown must not be chosen by
        // a link of the project's.
        found.and_then(|path| path.canonicalize().ok()).filter(|path| path.ends_with("site-packages"))
    })
}

pub(super) fn has_pytest(python: &Python, site: &Site) -> Result<bool, CheckError> {
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
            limits: site.limits,
        };
        let mut argv = vec![OsString::from(&self.program)];
        argv.extend(args.iter().cloned());
        run(&cell, &argv, limit, cancel)
    }
}
