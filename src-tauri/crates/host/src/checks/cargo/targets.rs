//! Which of a workspace's targets a file belongs to. Cargo itself says what there is, because names, paths and the
//! discovery of targets can all be set in a manifest.

use serde_json::Value;
use starling_core::RelPath;
use std::ffi::OsString;
use std::path::Path;

/// The packages of a workspace as `cargo metadata --no-deps` tells them; paths are relative to the stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Workspace {
    packages: Vec<Package>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Package {
    name: String,
    /// "" for the root, else with a "/" at its end.
    folder: String,
    targets: Vec<Target>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    kind: Kind,
    name: String,
    source: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lib,
    Bin,
    Test,
    Example,
    Bench,
}

impl Workspace {
    /// What cannot be read is left out; without any package every run is a run of everything.
    pub fn read(metadata: &[u8], tree: &Path) -> Workspace {
        let value: Value = serde_json::from_slice(metadata).unwrap_or_default();
        let packages = value["packages"].as_array().into_iter().flatten();
        Workspace { packages: packages.filter_map(|package| read_package(package, tree)).collect() }
    }

    /// The arguments that choose the targets of some files or folders, without doubles.
    pub fn arguments(&self, files: &[RelPath]) -> Vec<OsString> {
        let mut packages: Vec<&Package> = Vec::new();
        let mut chosen: Vec<[&str; 2]> = Vec::new();
        for file in files {
            let Some((package, targets)) = self.targets_of(file.as_str()) else { return everything() };
            packages.push(package);
            chosen.extend(targets.into_iter().map(Target::argument));
        }
        if chosen.is_empty() {
            return everything();
        }
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        packages.dedup();
        chosen.sort_unstable();
        chosen.dedup();
        let packages = packages.into_iter().flat_map(|package| ["-p", package.name.as_str()]);
        packages.chain(chosen.into_iter().flatten()).filter(|word| !word.is_empty()).map(OsString::from).collect()
    }

    /// "src/lib.rs" as cargo names it, of the program "shop-1a2b", with the folder of its package before it.
    pub fn full_path(&self, source: &str, program: &str) -> String {
        let crate_name = program.rsplit_once('-').map_or(program, |(name, _)| name);
        let owner = self.packages.iter().find(|package| {
            let path = format!("{}{source}", package.folder);
            package.targets.iter().any(|t| t.source == path && t.name.replace('-', "_") == crate_name)
        });
        format!("{}{source}", owner.map_or("", |package| package.folder.as_str()))
    }

    fn targets_of(&self, path: &str) -> Option<(&Package, Vec<&Target>)> {
        let below = format!("{path}/");
        let inside = self.packages.iter().filter(|package| below.starts_with(&package.folder));
        let package = inside.max_by_key(|package| package.folder.len())?;
        if let Some(target) = package.targets.iter().find(|target| target.source == path) {
            return Some((package, vec![target]));
        }
        let folder: Vec<&Target> = package.targets.iter().filter(|target| target.source.starts_with(&below)).collect();
        if !folder.is_empty() {
            return Some((package, folder));
        }
        // A module: of the targets whose root file lies nearest above it. A library and a program can share a folder.
        let above: Vec<&Target> = package.targets.iter().filter(|target| path.starts_with(target.folder())).collect();
        let nearest = above.iter().map(|target| target.folder().len()).max()?;
        Some((package, above.into_iter().filter(|target| target.folder().len() == nearest).collect()))
    }
}

fn everything() -> Vec<OsString> {
    ["--workspace", "--tests"].map(OsString::from).to_vec()
}

impl Target {
    fn folder(&self) -> &str {
        self.source.rfind('/').and_then(|at| self.source.get(..=at)).unwrap_or("")
    }
    fn argument(&self) -> [&str; 2] {
        match self.kind {
            Kind::Lib => ["--lib", ""],
            Kind::Bin => ["--bin", &self.name],
            Kind::Test => ["--test", &self.name],
            Kind::Example => ["--example", &self.name],
            Kind::Bench => ["--bench", &self.name],
        }
    }
}

fn read_package(value: &Value, tree: &Path) -> Option<Package> {
    let below = |path: &Value| Some(Path::new(path.as_str()?).strip_prefix(tree).ok()?.to_str()?.to_owned());
    let folder = below(&value["manifest_path"])?.strip_suffix("Cargo.toml")?.to_owned();
    let read_target = |target: &Value| {
        let kind = match target["kind"][0].as_str()? {
            "bin" => Kind::Bin,
            "test" => Kind::Test,
            "example" => Kind::Example,
            "bench" => Kind::Bench,
            "custom-build" => return None,
            // lib, rlib, dylib, cdylib, staticlib, proc-macro
            _ => Kind::Lib,
        };
        let tested = target["test"].as_bool().unwrap_or(true);
        let name = target["name"].as_str()?.to_owned();
        tested.then_some(Target { kind, name, source: below(&target["src_path"])? })
    };
    let targets = value["targets"].as_array().into_iter().flatten().filter_map(read_target).collect();
    Some(Package { name: value["name"].as_str()?.to_owned(), folder, targets })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of "package folder kind target source".
    fn workspace(rows: &[[&str; 5]]) -> Workspace {
        let mut packages: Vec<Value> = Vec::new();
        for [package, folder, kind, target, source] in rows {
            let target = serde_json::json!({"kind": [kind], "name": target, "src_path": format!("/t/{folder}{source}"),
                "test": *kind != "example"});
            match packages.iter_mut().find(|known| known["name"] == **package) {
                Some(known) => known["targets"].as_array_mut().expect("a list").push(target),
                None => packages.push(serde_json::json!({"name": package, "targets": [target],
                    "manifest_path": format!("/t/{folder}Cargo.toml")})),
            }
        }
        let metadata = serde_json::json!({ "packages": packages }).to_string();
        Workspace::read(metadata.as_bytes(), Path::new("/t"))
    }

    #[track_caller]
    fn check(workspace: &Workspace, files: &[&str], expected: &str) {
        let files: Vec<RelPath> = files.iter().map(|file| RelPath::new(*file).expect("a good path")).collect();
        let got: Vec<String> =
            workspace.arguments(&files).into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(got.join(" "), expected);
    }

    #[test]
    fn of_a_library() {
        let lib = workspace(&[["k", "", "lib", "k", "src/lib.rs"], ["k", "", "test", "t", "tests/t.rs"]]);
        check(&lib, &["src/lib.rs"], "-p k --lib");
        check(&lib, &["src/lib.rs", "src/a.rs", "src/a/b.rs"], "-p k --lib");
        check(&lib, &["tests/t.rs", "src/a.rs"], "-p k --lib --test t");
        check(&lib, &["tests/common/mod.rs"], "-p k --test t");
        check(&lib, &["tests"], "-p k --test t");
        check(&lib, &[], "--workspace --tests");
        check(&lib, &["build.rs"], "--workspace --tests");
    }

    #[test]
    fn of_programs() {
        let main = workspace(&[["k", "", "bin", "k", "src/main.rs"]]);
        check(&main, &["src/main.rs"], "-p k --bin k");
        check(&main, &["src/a.rs"], "-p k --bin k");
        let both = workspace(&[
            ["k", "", "lib", "k", "src/lib.rs"],
            ["k", "", "bin", "k", "src/main.rs"],
            ["k", "", "bin", "one", "src/bin/one.rs"],
            ["k", "", "bin", "two", "src/bin/two/main.rs"],
            ["k", "", "example", "show", "examples/show.rs"],
        ]);
        check(&both, &["src/lib.rs"], "-p k --lib");
        check(&both, &["src/main.rs"], "-p k --bin k");
        check(&both, &["src/a.rs"], "-p k --bin k --lib");
        check(&both, &["src/bin/one.rs"], "-p k --bin one");
        check(&both, &["src/bin/two/parts.rs"], "-p k --bin two");
        check(&both, &["src/bin"], "-p k --bin one --bin two");
    }

    #[test]
    fn of_members() {
        let members = workspace(&[
            ["root", "", "lib", "root", "src/lib.rs"],
            ["a-b", "crates/a/", "lib", "a_b", "src/lib.rs"],
            ["a-b", "crates/a/", "test", "it", "tests/it/main.rs"],
            ["c", "crates/c/", "bin", "c", "src/main.rs"],
        ]);
        check(&members, &["crates/a/src/x.rs"], "-p a-b --lib");
        check(&members, &["crates/a/tests/it/part.rs"], "-p a-b --test it");
        check(&members, &["crates/c/src/main.rs", "src/lib.rs"], "-p c -p root --bin c --lib");
        check(&members, &["crates/a"], "-p a-b --lib --test it");
        assert_eq!(members.full_path("src/lib.rs", "a_b-1f"), "crates/a/src/lib.rs");
        assert_eq!(members.full_path("src/lib.rs", "root-1f"), "src/lib.rs");
        assert_eq!(members.full_path("src/odd.rs", "odd-1f"), "src/odd.rs");
        check(&Workspace::read(b"no metadata", Path::new("/t")), &["src/lib.rs"], "--workspace --tests");
    }
}
