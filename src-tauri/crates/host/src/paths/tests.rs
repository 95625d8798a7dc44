//! What the gate lets through, and that a refusal changes nothing.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

fn rel(path: &str) -> RelPath {
    RelPath::new(path).expect("a good path")
}

fn root() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Root::open(folder.path()).expect("it opens");
    (folder, root)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn writes_replaces_and_removes() {
    let (folder, root) = root();
    let file = rel("a/b/c.txt");
    root.write(&file, None, b"one\r\n").expect("a new file");
    std::fs::set_permissions(folder.path().join("a/b/c.txt"), std::fs::Permissions::from_mode(0o755)).expect("set");
    root.write(&file, Some(b"one\r\n"), b"two").expect("a replacement");
    assert_eq!(root.read(&file, 100).expect("read"), Some(b"two".to_vec()));
    let mode = std::fs::metadata(folder.path().join("a/b/c.txt")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    root.remove(&file, b"two").expect("removed");
    assert_eq!(root.read(&file, 100).expect("read"), None);
    assert!(names(&folder.path().join("a/b")).is_empty());
}

#[test]
fn a_file_that_changed_stays_as_it_is() {
    let (folder, root) = root();
    std::fs::write(folder.path().join("f"), "theirs").expect("written");
    for expected in [Some(&b"mine"[..]), Some(b"theirs, longer"), None] {
        let error = root.write(&rel("f"), expected, b"new").expect_err("refused");
        assert!(matches!(error, PathGateError::Changed { .. }), "{error}");
    }
    assert!(matches!(root.remove(&rel("f"), b"mine"), Err(PathGateError::Changed { .. })));
    assert_eq!(std::fs::read(folder.path().join("f")).expect("there"), b"theirs");
    assert_eq!(names(folder.path()), ["f"], "no temporary file is left");
}

#[test]
fn links_are_not_followed_out_nor_written_through() {
    let (folder, root) = root();
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret"), "s").expect("written");
    std::fs::write(folder.path().join("real"), "r").expect("written");
    symlink(outside.path(), folder.path().join("out")).expect("linked");
    symlink(outside.path().join("secret"), folder.path().join("file")).expect("linked");
    symlink("real", folder.path().join("inside")).expect("linked");
    symlink("nowhere", folder.path().join("dangling")).expect("linked");
    std::fs::hard_link(outside.path().join("secret"), folder.path().join("twin")).expect("linked");
    assert!(root.read(&rel("out/secret"), 10).is_err());
    assert!(root.read(&rel("file"), 10).is_err());
    assert_eq!(root.read(&rel("inside"), 10).expect("beneath"), Some(b"r".to_vec()));
    assert!(root.read(&rel("dangling"), 10).is_err(), "a link to nothing is not an absent file");
    assert!(root.read(&rel("twin"), 10).is_err(), "its other name lies outside");
    for path in ["out/secret", "out/new", "file", "inside", "dangling", "twin"] {
        let old = if path == "inside" { &b"r"[..] } else { b"s" };
        assert!(root.write(&rel(path), Some(old), b"x").is_err(), "{path}");
        assert!(root.write(&rel(path), None, b"x").is_err(), "{path}");
    }
    assert_eq!(std::fs::read(outside.path().join("secret")).expect("there"), b"s");
    assert_eq!(names(outside.path()), ["secret"]);
}

#[test]
fn protected_names_are_refused() {
    let (_folder, root) = root();
    for path in [".git/hooks/pre-commit", ".env", ".vscode/tasks.json"] {
        assert!(matches!(root.write(&rel(path), None, b"x"), Err(PathGateError::Protected { .. })), "{path}");
    }
}

#[test]
fn odd_files_are_refused() {
    let (folder, root) = root();
    std::fs::create_dir(folder.path().join("dir")).expect("made");
    std::fs::write(folder.path().join("large"), vec![0; 100]).expect("written");
    assert!(matches!(root.read(&rel("dir"), 10), Err(PathGateError::Refused { .. })));
    assert!(matches!(root.read(&rel("large"), 10), Err(PathGateError::TooLarge { .. })));
    assert!(root.read(&rel("large/x"), 10).is_err());
}

#[test]
fn denied_folders_are_reached_by_no_way() {
    let (folder, root) = root();
    for path in ["vault/deep/key", "open/file"] {
        std::fs::create_dir_all(folder.path().join(path).parent().expect("a parent")).expect("made");
        std::fs::write(folder.path().join(path), "s").expect("written");
    }
    symlink("vault/deep", folder.path().join("side")).expect("linked");
    symlink("../vault/deep/key", folder.path().join("open/link")).expect("linked");
    let root = root.denying(&[&folder.path().join("vault")]).expect("it is there");
    assert_eq!(root.read(&rel("open/file"), 10).expect("free"), Some(b"s".to_vec()));
    for path in ["vault/deep/key", "side/key", "open/link"] {
        assert!(matches!(root.read(&rel(path), 10), Err(PathGateError::Refused { .. })), "{path}");
        assert!(root.write(&rel(path), Some(b"s"), b"x").is_err(), "{path}");
        assert!(root.remove(&rel(path), b"s").is_err(), "{path}");
    }
    assert!(root.write(&rel("vault/new"), None, b"x").is_err());
    assert_eq!(std::fs::read(folder.path().join("vault/deep/key")).expect("there"), b"s");
    assert_eq!(names(&folder.path().join("vault")), ["deep"]);
    assert!(Root::open(folder.path()).expect("it opens").denying(&[Path::new("/no/such/place")]).is_err());
}

#[test]
fn several_files_are_written_or_none() {
    let (folder, root) = root();
    for name in ["a", "b"] {
        std::fs::write(folder.path().join(name), "old").expect("written");
    }
    let before = std::fs::metadata(folder.path().join("a")).expect("there").modified().expect("a time");
    let (a, b, new) = (rel("a"), rel("b"), rel("x/y/new"));
    let write = |path, expected: Option<&'static [u8]>| Write { path, expected, bytes: b"new", temporary: "" };
    let all = |b_holds: &'static [u8]| {
        let names = [temporary_name(), temporary_name(), temporary_name()];
        let mut writes = [write(&a, Some(b"old")), write(&new, None), write(&b, Some(b_holds))];
        for (write, name) in writes.iter_mut().zip(&names) {
            write.temporary = name;
        }
        root.write_all(&writes)
    };
    assert!(matches!(all(b"other"), Err(PathGateError::Changed { path }) if path == b));
    assert_eq!(names(folder.path()), ["a", "b"], "no folder and no temporary file is left");
    let after = std::fs::metadata(folder.path().join("a")).expect("there").modified().expect("a time");
    assert_eq!((std::fs::read(folder.path().join("a")).expect("there"), after), (b"old".to_vec(), before));
    all(b"old").expect("written");
    for path in ["a", "b", "x/y/new"] {
        assert_eq!(std::fs::read(folder.path().join(path)).expect("there"), b"new", "{path}");
    }
    assert_eq!(names(folder.path()), ["a", "b", "x"]);
}

#[test]
fn a_left_over_is_cleared_only_when_its_content_is_known() {
    let (folder, root) = root();
    for (content, stays) in [("known", false), ("kno", false), ("", false), ("someone's", true)] {
        std::fs::write(folder.path().join(".starling-1.new"), content).expect("written");
        root.clear(&rel("f"), ".starling-1.new", &[b"known"]).expect("looked at");
        assert_eq!(folder.path().join(".starling-1.new").exists(), stays, "{content}");
    }
    root.clear(&rel("no/such/f"), ".starling-1.new", &[b"known"]).expect("nothing there");
}
