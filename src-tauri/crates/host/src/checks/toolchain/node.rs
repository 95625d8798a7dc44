//! The node of this machine with the packages of the project, what the project tests with, and how it is run in the sandbox.

use super::{files, on_path};
use crate::checks::Site;
use crate::sandbox::{Cell, Output, run};
use serde_json::Value;
use starling_core::port::{Cancel, CheckError};
use starling_core::test_set::Runner;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The first version whose test runner can be told everything that is needed here.
const OLDEST: (u32, u32) = (20, 0);

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub program: PathBuf,
    pub version: (u32, u32),
    /// The user's `node_modules`, where the stage has none.
    modules: Option<PathBuf>,
    /// What the project's own test script passes to node before the tests ("--import tsx").
    pub flags: Vec<String>,
    /// Folders or files that the test script names; everything when empty.
    pub places: Vec<String>,
}

/// What a project's `package.json` says about its tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    pub runner: Option<Runner>,
    flags: Vec<String>,
    places: Vec<String>,
}

/// The first node on the path that is new enough and not inside the project. It says itself where it lives.
pub(super) fn find(tree: &Path, project: Option<&Path>, script: &Script) -> Option<Node> {
    let roots: Vec<&Path> = std::iter::once(tree).chain(project).collect();
    let outside = |path: &PathBuf| !roots.iter().any(|root| path.starts_with(root));
    on_path("node").into_iter().filter(outside).find_map(|candidate| {
        let mut command = Command::new(candidate);
        command.args(["-p", "process.execPath + '\\n' + process.versions.node"]).current_dir("/");
        let output = command.env_remove("NODE_OPTIONS").output().ok().filter(|output| output.status.success())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (program, version) = text.trim().split_once('\n')?;
        let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
        let version = (numbers.next()?, numbers.next()?);
        let program = PathBuf::from(program);
        let modules = roots.iter().find_map(|root| installed(root)).filter(|path| !path.starts_with(tree));
        let (flags, places) = (script.flags.clone(), script.places.clone());
        (version >= OLDEST).then_some(Node { program, version, modules, flags, places })
    })
}

/// Where the packages of a tree really lie; what is shown must not be chosen by a link of the project's.
fn installed(root: &Path) -> Option<PathBuf> {
    let modules = root.join("node_modules").canonicalize().ok().filter(|path| path.ends_with("node_modules"))?;
    let some = std::fs::read_dir(&modules).is_ok_and(|mut entries| entries.next().is_some());
    some.then_some(modules)
}

/// Whether the folder is a JavaScript project.
pub(super) fn is_project(tree: &Path) -> bool {
    tree.join("package.json").is_file()
        || files(tree, 3).iter().any(|path| path.extension().is_some_and(|e| e == "mjs" || e == "cjs" || e == "js"))
}

/// What the test script of `package.json` runs. Without one, node's own runner; of a runner that is not known here, none.
pub(super) fn script(tree: &Path) -> Script {
    let text = std::fs::read_to_string(tree.join("package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let command = manifest["scripts"]["test"].as_str().unwrap_or("");
    let depends = |name: &str| ["dependencies", "devDependencies"].iter().any(|key| manifest[*key][name].is_string());
    read_script(command, depends)
}

fn read_script(command: &str, depends: impl Fn(&str) -> bool) -> Script {
    let words: Vec<&str> = command.split_whitespace().collect();
    let says = |word: &str| words.iter().any(|w| *w == word || w.ends_with(&format!("/{word}")));
    let of = |runner: Runner| Script { runner: Some(runner), ..Script::default() };
    if words.contains(&"--test") {
        return of_node(&words);
    }
    for (word, runner) in [("vitest", Runner::Vitest), ("jest", Runner::Jest)] {
        if says(word) {
            return of(runner);
        }
    }
    const OTHERS: [&str; 9] = ["mocha", "ava", "tap", "jasmine", "karma", "cypress", "playwright", "bun", "deno"];
    if OTHERS.iter().any(|other| says(other)) {
        return Script::default();
    }
    match (depends("vitest"), depends("jest"), depends("mocha")) {
        (true, _, _) => of(Runner::Vitest),
        (false, true, _) => of(Runner::Jest),
        (false, false, true) => Script::default(),
        (false, false, false) => of(Runner::NodeTest),
    }
}

/// The words of "node --import tsx --test src/**/*.test.ts" that matter here. A command is never run as it stands: only
/// options that say how files are loaded are taken over.
fn of_node(words: &[&str]) -> Script {
    const WITH_VALUE: [&str; 6] = ["--import", "--require", "-r", "--loader", "--conditions", "-C"];
    let mut script = Script { runner: Some(Runner::NodeTest), ..Script::default() };
    // Only up to the next command of a chain.
    let mut words = words.iter().skip_while(|word| !matches!(**word, "node" | "tsx" | "ts-node")).copied();
    if words.next() == Some("tsx") {
        script.flags.extend(["--import".to_owned(), "tsx".to_owned()]);
    }
    while let Some(word) = words.next() {
        if ["&&", "||", "|", ";", ">"].contains(&word) {
            break;
        }
        if WITH_VALUE.contains(&word) {
            script.flags.push(word.to_owned());
            script.flags.extend(words.next().map(str::to_owned));
        } else if word.starts_with("--experimental-") || WITH_VALUE.iter().any(|f| word.starts_with(&format!("{f}="))) {
            script.flags.push(word.to_owned());
        } else if !word.starts_with('-') {
            let word = word.trim_matches(['"', '\'']).trim_start_matches("./");
            // A pattern counts by the folder before its first star.
            let fixed = word.split(['*', '{', '[', '?']).next().unwrap_or("");
            let place =
                if fixed.len() == word.len() { word } else { fixed.rsplit_once('/').map_or("", |(dir, _)| dir) };
            script.places.push(place.trim_end_matches('/').to_owned());
        }
    }
    if script.places.iter().any(String::is_empty) {
        script.places.clear();
    }
    script
}

impl Node {
    /// Whether files of TypeScript can be loaded: by node itself, or by what the project's test script loads first.
    pub fn reads_types(&self) -> bool {
        let loader = self.flags.iter().any(|flag| ["tsx", "ts-node", "swc", "types"].iter().any(|w| flag.contains(w)));
        loader || self.version >= (22, 6)
    }

    /// Flags for every run: the project's, and the one that older versions want for types.
    pub fn loading(&self) -> Vec<OsString> {
        let mut flags: Vec<OsString> = self.flags.iter().map(OsString::from).collect();
        if self.flags.is_empty() && self.version >= (22, 6) && self.version < (23, 6) {
            flags.push("--experimental-strip-types".into());
        }
        flags
    }

    /// The file of an installed package, as the sandbox sees it.
    pub fn package_file(&self, site: &Site, file: &str) -> Option<PathBuf> {
        let inside = site.tree.join("node_modules").join(file);
        let outside = self.modules.as_ref().map_or_else(|| inside.clone(), |modules| modules.join(file));
        outside.is_file().then_some(inside)
    }

    /// Runs node in the sandbox. Packages installed in the user's tree appear in the stage, read-only.
    pub fn run(&self, site: &Site, args: &[OsString], limit: Duration, cancel: &Cancel) -> Result<Output, CheckError> {
        // The program alone: what came with it is not needed, and its folder may be a home.
        let own = Some(&self.program).filter(|program| !program.starts_with("/usr"));
        let mut readable: Vec<(PathBuf, PathBuf)> = own.map(|path| (path.clone(), path.clone())).into_iter().collect();
        readable.extend(self.modules.iter().map(|path| (path.clone(), site.tree.join("node_modules"))));
        let mut path = OsString::from(self.program.parent().unwrap_or(Path::new("/usr/bin")));
        path.push(":/usr/bin:/bin");
        // "CI" keeps runners from watching, and from writing snapshots into the project.
        let env = [("PATH", path), ("NO_COLOR", "1".into()), ("CI", "true".into()), ("NODE_NO_WARNINGS", "1".into())];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let cell = Cell { tree: site.tree.clone(), private: site.private.clone(), readable, env, limits: site.limits };
        let mut argv = vec![OsString::from(&self.program)];
        argv.extend(args.iter().cloned());
        run(&cell, &argv, limit, cancel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, packages: &[&str], runner: Option<Runner>, flags: &str, places: &str) {
        let got = read_script(command, |name| packages.contains(&name));
        assert_eq!((got.runner, got.flags.join(" ").as_str(), got.places.join(" ").as_str()), (runner, flags, places));
    }

    #[test]
    fn reads_what_a_project_tests_with() {
        let node = Some(Runner::NodeTest);
        check("", &[], node, "", "");
        check("echo \"Error: no test specified\" && exit 1", &[], node, "", "");
        check("node --test", &["vitest"], node, "", "");
        check("node --test test/ && eslint .", &[], node, "", "test");
        check("NODE_ENV=test node --import tsx --test 'src/**/*.test.ts'", &[], node, "--import tsx", "src");
        check("tsx --test", &[], node, "--import tsx", "");
        check("node --test --experimental-strip-types **/*.test.ts", &[], node, "--experimental-strip-types", "");
        check("node --eval x --test --inspect", &[], node, "", "x");
        check("vitest run --coverage", &[], Some(Runner::Vitest), "", "");
        check("tsc && ./node_modules/.bin/jest", &[], Some(Runner::Jest), "", "");
        check("npm run unit", &["jest"], Some(Runner::Jest), "", "");
        check("mocha", &[], None, "", "");
        check("", &["mocha"], None, "", "");
    }
}
