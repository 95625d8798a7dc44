//! The page's half of the IPC is generated, committed and fresh; what is registered, what is permitted and what is generated
//! are the same set of commands. `STARLING_UPDATE=1 cargo test --test it bindings` writes the file (`make bindings`).

use super::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn bindings_are_fresh() {
    let fresh = fresh();
    let committed = root().join("ui/src/bindings.ts");
    if std::env::var_os("STARLING_UPDATE").is_some() {
        fs::create_dir_all(committed.parent().expect("it lies in a folder")).expect("the folder can be made");
        fs::write(&committed, &fresh).expect("bindings.ts can be written");
    }
    let old = fs::read_to_string(committed).unwrap_or_default();
    if old != fresh {
        let diff = similar::TextDiff::from_lines(old.as_str(), fresh.as_str());
        panic!("bindings.ts is stale, run `make bindings`:\n{}", diff.unified_diff().context_radius(2));
    }
}

#[test]
fn registered_permitted_and_generated_commands_are_the_same() {
    let registered = registered();
    let permitted = permitted();
    assert_eq!(registered, permitted, "left: registered, right: src-tauri/permissions/app.toml");
    let fresh = fresh();
    let missing: Vec<&String> = registered.iter().filter(|name| !fresh.contains(&format!("\"{name}\""))).collect();
    assert!(missing.is_empty(), "not generated: {missing:?}");
}

/// A "language" that only lists the commands.
struct Names<'a>(&'a mut BTreeSet<String>);

impl tauri_specta::LanguageExt for Names<'_> {
    type Error = std::io::Error;

    fn export(self, cfg: &tauri_specta::BuilderConfiguration, _: &Path) -> Result<(), std::io::Error> {
        self.0.extend(cfg.commands.iter().map(|command| command.name.to_string()));
        Ok(())
    }
}

fn registered() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    starling_app::specta_builder::<tauri::Wry>().export(Names(&mut names), "unused").expect("nothing is written");
    names
}

fn fresh() -> String {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("bindings.ts");
    starling_app::specta_builder::<tauri::Wry>()
        .export(specta_typescript::Typescript::default(), &path)
        .expect("the types can be exported");
    fs::read_to_string(path).expect("it was just written")
}

fn permitted() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("src-tauri/permissions/app.toml")).expect("the list exists");
    let list: toml::Table = text.parse().expect("the list is TOML");
    let commands = list["permission"][0]["commands"]["allow"].as_array().expect("a list of commands");
    commands.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}
