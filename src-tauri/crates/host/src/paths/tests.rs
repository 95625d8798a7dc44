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
    std::fs::hard_link(outside.path().join("secret"), folder.path().join("twin")).ok();
    assert!(root.read(&rel("out/secret"), 10).is_err());
    assert!(root.read(&rel("file"), 10).is_err());
    assert_eq!(root.read(&rel("inside"), 10).expect("beneath"), Some(b"r".to_vec()));
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
