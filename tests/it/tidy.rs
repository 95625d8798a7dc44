//! Rules of the repository that a reader would otherwise have to check: sizes, headers, names, paths of one machine, the
//! language files, and which part of the page may import which.

use super::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[test]
fn files_are_small_or_say_why_not() {
    check(&["rs", "ts", "svelte", "mjs"], |file| {
        let lines = file.text.lines().count();
        let excused =
            file.text.lines().take(12).any(|line| line.contains("400") || line.to_lowercase().contains("long"));
        match lines {
            0..=400 => None,
            401..=600 if excused => None,
            401..=600 => Some(format!("{lines} lines, and the header does not say why it is so long")),
            _ => Some(format!("{lines} lines: split it")),
        }
    });
}

#[test]
fn rust_files_say_what_they_are_for() {
    check(&["rs"], |file| (!file.text.starts_with("//!")).then(|| "no //! header".to_owned()));
}

#[test]
fn names_are_nouns_of_the_domain() {
    const EMPTY_WORDS: [&str; 5] = ["Manager", "Helper", "Util", "Service", "Processor"];
    check(&["rs"], |file| {
        let defines = |line: &str| {
            let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            let name = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| line.strip_prefix(word))?;
            let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            EMPTY_WORDS.iter().any(|word| name.contains(word)).then_some(name)
        };
        let bad_file = ["manager", "helper", "util", "service"].iter().find(|word| file.stem().contains(*word));
        file.text.lines().find_map(defines).or(bad_file.map(|word| (*word).to_owned())).map(|n| format!("the name {n}"))
    });
}

#[test]
fn nothing_is_left_half_done() {
    // Put together so that this file does not find itself.
    let marks = [
        ["to", "do!("].concat(),
        ["unimple", "mented!("].concat(),
        ["#[ig", "nore"].concat(),
        ["// TO", "DO"].concat(),
    ];
    check(&["rs", "ts", "svelte"], |file| {
        marks.iter().find(|mark| file.text.contains(mark.as_str())).map(|mark| format!("contains {mark}"))
    });
}

#[test]
fn unsafe_stays_in_the_engine() {
    check(&["rs"], |file| {
        let inside = file.path.starts_with("src-tauri/crates/engine/");
        let used = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|form| {
            file.text
                .lines()
                .any(|line| line.contains(form) && !line.trim_start().starts_with("//") && !line.contains('"'))
        });
        (used && !inside).then(|| "unsafe code outside the engine".to_owned())
    });
}

#[test]
fn no_path_of_one_machine_is_written_down() {
    let places = [["/wo", "rk/"].concat(), ["/ro", "ot/."].concat(), ["/tmp/", "models"].concat()];
    let kinds = ["rs", "ts", "svelte", "toml", "json", "md", "sh", "mjs", "py", "yml", "css", "html"];
    check(&kinds, |file| {
        let here = root().to_string_lossy().into_owned();
        let found = places.iter().find(|place| file.text.contains(place.as_str()));
        found.cloned().or_else(|| file.text.contains(&here).then_some(here)).map(|place| format!("contains {place}"))
    });
}

#[test]
fn both_languages_say_the_same_things() {
    let files = files(&["json"]);
    let mut pairs = 0;
    for english in files.iter().filter(|file| file.path.ends_with("en.json")) {
        let korean = english.path.with_file_name("ko.json");
        let korean = files.iter().find(|file| file.path == korean).expect("en.json has a ko.json beside it");
        // Korean has one plural form only ("other"), English two.
        let keys = |file: &File| {
            let mut keys = BTreeSet::new();
            let value = serde_json::from_str(&file.text).expect("a language file is JSON");
            leaves(&value, "", &mut keys);
            keys.iter().map(|key| key.trim_end_matches("_one").trim_end_matches("_other").to_owned()).collect()
        };
        let (en, ko): (BTreeSet<String>, BTreeSet<String>) = (keys(english), keys(korean));
        let only_one: Vec<&String> = en.symmetric_difference(&ko).collect();
        assert!(only_one.is_empty(), "only one language has {only_one:?}");
        pairs += 1;
    }
    let page_exists = root().join("ui/src").exists();
    assert!(pairs > 0 || !page_exists, "the page has no language files");
}

#[test]
fn the_page_keeps_its_tiers() {
    if !root().join("ui/src").exists() {
        return;
    }
    check(&["ts", "svelte"], |file| {
        let path = file.path.to_string_lossy().replace('\\', "/");
        let inside = path.strip_prefix("ui/src/")?;
        imports(&file.text).into_iter().find_map(|import| tier_fault(inside, &import))
    });
}

#[test]
fn tier_faults_are_noticed() {
    #[track_caller]
    fn check(from: &str, import: &str, fault: bool) {
        assert_eq!(tier_fault(from, import).is_some(), fault, "{from} imports {import}");
    }
    check("components/Button.svelte", "../features/tasks/x", true);
    check("components/Button.svelte", "./Icon.svelte", false);
    check("features/tasks/List.svelte", "../models/Row.svelte", true);
    check("features/tasks/List.svelte", "../../features/models/Row.svelte", true);
    check("features/tasks/List.svelte", "./Row.svelte", false);
    check("features/tasks/List.svelte", "../../components/Button.svelte", false);
    check("app/App.svelte", "../features/tasks/List.svelte", false);
    check("app/App.svelte", "@tauri-apps/api/core", true);
    check("ipc.ts", "@tauri-apps/api/core", false);
    check("ipc.ts", "./bindings", false);
    check("bindings.ts", "@tauri-apps/api/core", false);
    check("state/tasks.ts", "../bindings", true);
    check("mock/start.ts", "@tauri-apps/api/mocks", false);
}

/// What is wrong with this import, by the place of the importing file below `ui/src`. Types may cross: they are erased.
fn tier_fault(from: &str, import: &str) -> Option<String> {
    let door = from == "ipc.ts"
        || from == "bindings.ts"
        || from.contains(".test.")
        || from.starts_with("test/")
        || from.starts_with("mock/");
    if import.starts_with("@tauri-apps/") || import.ends_with("/bindings") || import.ends_with("/bindings.ts") {
        return (!door).then(|| format!("imports {import}, which only ipc.ts may"));
    }
    let target = resolve(from, import)?;
    let tier = |path: &str| path.split('/').next().unwrap_or("").to_owned();
    let feature = |path: &str| path.split('/').nth(1).unwrap_or("").to_owned();
    let fault = match (tier(from).as_str(), tier(&target).as_str()) {
        ("components", "features" | "app") => true,
        ("features", "app") => true,
        ("features", "features") => feature(from) != feature(&target),
        _ => false,
    };
    fault.then(|| format!("imports {import}, which lies in another tier"))
}

/// Joins a relative import with the folder of the importing file; `None` for packages.
fn resolve(from: &str, import: &str) -> Option<String> {
    if !import.starts_with('.') {
        return import.strip_prefix("$lib/").or_else(|| import.strip_prefix("@/")).map(str::to_owned);
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in import.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The modules a file imports, without `import type`.
fn imports(text: &str) -> Vec<String> {
    let quoted = |line: &str| {
        let at = line.rfind(['\'', '"'])?;
        let quote = line[at..].chars().next()?;
        let start = line[..at].rfind(quote)?;
        Some(line[start + 1..at].to_owned())
    };
    text.lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("import type") && !line.starts_with("//"))
        .filter(|line| line.starts_with("import ") || line.starts_with("} from ") || line.starts_with("export * from"))
        .filter_map(quoted)
        .collect()
}

struct File {
    /// Relative to the root.
    path: PathBuf,
    text: String,
}

impl File {
    fn stem(&self) -> String {
        self.path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default()
    }
}

#[track_caller]
fn check(extensions: &[&str], fault: impl Fn(&File) -> Option<String>) {
    let faults: Vec<String> = files(extensions)
        .iter()
        .filter_map(|file| fault(file).map(|fault| format!("{}: {fault}", file.path.display())))
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn leaves(value: &Value, prefix: &str, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| leaves(value, &format!("{prefix}.{key}"), keys)),
        _ => drop(keys.insert(prefix.to_owned())),
    }
}

/// Our own text files: without what is built, fetched or generated, and without the foreign code that tests work on.
fn files(extensions: &[&str]) -> Vec<File> {
    let mut found = Vec::new();
    walk(&root(), extensions, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no {extensions:?} files were found");
    found
}

fn walk(folder: &Path, extensions: &[&str], found: &mut Vec<File>) {
    const SKIPPED: [&str; 9] =
        ["target", "node_modules", "dist", "gen", ".git", "fixtures", "scenarios", "sample", "coverage"];
    for entry in std::fs::read_dir(folder).expect("a folder of the repository can be read") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                walk(&path, extensions, found);
            }
            continue;
        }
        let wanted = path.extension().is_some_and(|ext| extensions.contains(&&*ext.to_string_lossy()));
        let generated = ["bindings.ts", "package-lock.json"].contains(&name.as_str());
        if wanted && !generated {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            found.push(File { path: path.strip_prefix(root()).expect("below the root").to_owned(), text });
        }
    }
}
