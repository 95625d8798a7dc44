//! A stage on real git: what the user has survives everything, byte for byte.

use super::*;
use crate::git::tests::plain_git;
use starling_core::change::{FileChange, FileEdit, Splice, fingerprint};
use starling_core::code::Span;
use std::os::unix::fs::PermissionsExt;

struct Scene {
    folder: tempfile::TempDir,
    workspace: GitWorkspace,
    task: TaskId,
}

const FILES: &[(&str, &[u8])] = &[
    ("src/a.py", b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n"),
    ("crlf.txt", b"one\r\ntwo\r\nthree\r\n"),
    ("mixed.txt", b"one\r\ntwo\nthree\rfour\n"),
    ("bom.txt", b"\xEF\xBB\xBFone\r\ntwo"),
    ("utf16.txt", b"\xFF\xFEo\0n\0e\0"),
    ("latin1.txt", b"caf\xe9\n"),
    ("run.sh", b"#!/bin/sh\necho hi\n"),
];

fn scene(git: bool) -> Scene {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("project");
    std::fs::create_dir_all(project.join("src")).expect("made");
    for (path, bytes) in FILES {
        std::fs::write(project.join(path), bytes).expect("written");
    }
    std::fs::set_permissions(project.join("run.sh"), std::fs::Permissions::from_mode(0o755)).expect("set");
    std::fs::write(project.join(".gitignore"), "secret.log\n").expect("written");
    std::fs::write(project.join(".gitattributes"), "*.txt text eol=crlf\n").expect("written");
    if git {
        plain_git(&project, &["init", "-q"]);
        plain_git(&project, &["add", "-A"]);
        plain_git(&project, &["commit", "-q", "-m", "first"]);
    }
    std::fs::write(project.join("secret.log"), "ignored\n").expect("written");
    std::fs::write(project.join("untracked.txt"), "mine\r\n").expect("written");
    std::fs::write(project.join("latin1.txt"), b"caf\xe9 dirty\n").expect("written");
    let workspace = GitWorkspace::open(&project, &folder.path().join("stages")).expect("it opens");
    Scene { folder, workspace, task: TaskId::new("t1") }
}

impl Scene {
    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }
    fn tree(&self) -> PathBuf {
        self.workspace.stage_path(&self.task).expect("a stage")
    }
    fn splice(&self, path: &str, from: &str, to: &str) -> ChangeSet {
        let path = RelPath::new(path).expect("a good path");
        let old = self.workspace.read(&self.task, &path).expect("read").expect("there");
        let start = old.windows(from.len()).position(|w| w == from.as_bytes()).expect("it occurs");
        let splices = vec![Splice { span: Span::new(start, start + from.len()), bytes: to.as_bytes().to_vec() }];
        let edit = FileEdit::Splice { before: fingerprint(&old), splices };
        ChangeSet { files: vec![FileChange { path, edit }] }
    }
    fn keep(&self, change: &ChangeSet) {
        self.workspace.apply(&self.task, change).expect("applied");
        self.workspace.keep(&self.task, "a step").expect("kept");
    }
    /// Every byte of the project, and what git says about it.
    fn snapshot(&self) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<(String, Vec<u8>)> = fill::every_file(&self.project())
            .into_iter()
            .filter(|name| !name.starts_with(".git/"))
            .map(|name| (name.clone(), std::fs::read(self.project().join(&name)).expect("read")))
            .collect();
        files.sort();
        let git = |args: &[&str]| plain_git(&self.project(), args).into_bytes();
        files.push(("git status".to_owned(), git(&["status", "--porcelain"])));
        files.push(("git head".to_owned(), git(&["rev-parse", "HEAD"])));
        files.push(("git branches".to_owned(), git(&["branch", "--list", "main", "master"])));
        files
    }
}

fn create(path: &str, text: &str) -> ChangeSet {
    let edit = FileEdit::Create { bytes: text.as_bytes().to_vec() };
    ChangeSet { files: vec![FileChange { path: RelPath::new(path).expect("a good path"), edit }] }
}

#[test]
fn a_stage_holds_what_the_user_sees_and_the_user_sees_nothing_of_it() {
    for git in [true, false] {
        let scene = scene(git);
        let before = scene.snapshot();
        scene.workspace.stage(&scene.task).expect("staged");
        for (path, bytes) in FILES.iter().filter(|(path, _)| *path != "latin1.txt") {
            assert_eq!(std::fs::read(scene.tree().join(path)).expect("there"), *bytes, "{path}");
        }
        assert_eq!(std::fs::read(scene.tree().join("latin1.txt")).expect("there"), b"caf\xe9 dirty\n");
        assert_eq!(std::fs::read(scene.tree().join("untracked.txt")).expect("there"), b"mine\r\n");
        assert!(!scene.tree().join("secret.log").exists(), "ignored files stay where they are");
        let mode = std::fs::metadata(scene.tree().join("run.sh")).expect("there").permissions().mode();
        assert_eq!(mode & 0o111, 0o111);
        scene.keep(&scene.splice("src/a.py", "two", "2"));
        assert_eq!(scene.snapshot(), before);
        scene.workspace.close(&scene.task).expect("closed");
        assert_eq!(scene.snapshot(), before);
        assert_eq!(scene.workspace.stage_path(&scene.task), None);
    }
}

#[test]
fn applies_reverts_keeps_and_finds_itself_again() {
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    let first = scene.splice("src/a.py", "two", "2");
    scene.keep(&first);
    let second = scene.splice("src/a.py", "three", "3");
    let third = create("tests/new.py", "x = 1\n");
    scene.workspace.apply(&scene.task, &second).expect("applied");
    scene.workspace.apply(&scene.task, &third).expect("applied");
    assert!(scene.workspace.apply(&scene.task, &second).is_err(), "it fits no more");
    // A kill: everything in memory is gone.
    let again = GitWorkspace::open(&scene.project(), &scene.folder.path().join("stages")).expect("it opens");
    again.stage(&scene.task).expect("found");
    again.reset(&scene.task).expect("reset");
    let now = std::fs::read_to_string(scene.tree().join("src/a.py")).expect("there");
    assert!(now.starts_with("one\n2\nthree\n"), "{now}");
    assert!(!scene.tree().join("tests/new.py").exists());
    let base = again.base(&scene.task, &RelPath::new("src/a.py").expect("good")).expect("read").expect("there");
    assert_eq!(base, FILES[0].1);
}

#[test]
fn lands_chosen_hunks_and_leaves_every_other_byte() {
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    scene.keep(&scene.splice("src/a.py", "two", "2"));
    scene.keep(&scene.splice("src/a.py", "eleven", "11"));
    scene.keep(&scene.splice("crlf.txt", "two", "zwei\r\ndrei"));
    scene.keep(&scene.splice("bom.txt", "two", "2"));
    scene.keep(&scene.splice("latin1.txt", "dirty", "clean"));
    scene.keep(&create("tests/new.py", "x = 1\n"));
    let hunks = scene.workspace.hunks(&scene.task).expect("hunks");
    let of: Vec<(u32, &str)> = hunks.iter().map(|h| (h.index, h.path.as_str())).collect();
    assert_eq!(
        of,
        [(0, "bom.txt"), (1, "crlf.txt"), (2, "latin1.txt"), (3, "src/a.py"), (4, "src/a.py"), (5, "tests/new.py")]
    );
    let proof = scene.workspace.land(&scene.task, &[0, 1, 2, 4, 5]).expect("landed");
    assert_eq!(proof, ByteProof { files: 5, outside_identical: true, encoding_kept: true });
    let read = |path: &str| std::fs::read(scene.project().join(path)).expect("there");
    assert_eq!(read("bom.txt"), b"\xEF\xBB\xBFone\r\n2");
    assert_eq!(read("crlf.txt"), b"one\r\nzwei\r\ndrei\r\nthree\r\n");
    assert_eq!(read("latin1.txt"), b"caf\xe9 clean\n");
    assert_eq!(read("src/a.py"), String::from_utf8_lossy(FILES[0].1).replace("eleven", "11").as_bytes());
    assert_eq!(read("tests/new.py"), b"x = 1\n");
    assert_eq!(read("untracked.txt"), b"mine\r\n");
    assert_eq!(read("mixed.txt"), FILES[2].1);
}

#[test]
fn a_file_that_changed_meanwhile_stops_the_whole_landing() {
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    scene.keep(&scene.splice("crlf.txt", "two", "2"));
    scene.keep(&scene.splice("src/a.py", "two", "2"));
    std::fs::write(scene.project().join("src/a.py"), "mine now\n").expect("written");
    let before = scene.snapshot();
    let error = scene.workspace.land(&scene.task, &[0, 1]).expect_err("refused");
    assert_eq!(error, WorkspaceError::NotClean { path: "src/a.py".to_owned() });
    assert!(scene.workspace.land(&scene.task, &[7]).is_err(), "there is no such hunk");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn a_diff_can_be_applied_by_others() {
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    scene.keep(&scene.splice("src/a.py", "two\n", ""));
    scene.keep(&create("tests/new.py", "x = 1"));
    let diff = scene.workspace.diff(&scene.task).expect("a diff");
    let file = scene.folder.path().join("change.diff");
    std::fs::write(&file, &diff).expect("written");
    plain_git(&scene.project(), &["apply", &file.display().to_string()]);
    assert_eq!(std::fs::read(scene.project().join("tests/new.py")).expect("there"), b"x = 1", "{diff}");
    assert!(!std::fs::read_to_string(scene.project().join("src/a.py")).expect("there").contains("two"));
}

#[test]
fn closing_leaves_a_rescue_ref_and_no_worktree() {
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    scene.keep(&scene.splice("src/a.py", "two", "2"));
    std::fs::write(scene.tree().join("secret.log"), "left by a test\n").expect("written");
    std::fs::write(scene.tree().join("loose.txt"), "loose\n").expect("written");
    let orphan = TaskId::new("t2");
    scene.workspace.stage(&orphan).expect("staged");
    assert_eq!(scene.workspace.sweep(std::slice::from_ref(&scene.task)).expect("swept"), [orphan]);
    scene.workspace.close(&scene.task).expect("closed");
    scene.workspace.close(&scene.task).expect("closing twice is fine");
    assert_eq!(plain_git(&scene.project(), &["worktree", "list"]).lines().count(), 1);
    assert_eq!(plain_git(&scene.project(), &["branch", "--list", "starling/*"]), "");
    let show = |path: &str| plain_git(&scene.project(), &["show", &format!("refs/starling/rescue/t1:{path}")]);
    assert!(show("src/a.py").starts_with("one\n2\n"));
    assert_eq!((show("secret.log").as_str(), show("loose.txt").as_str()), ("left by a test\n", "loose\n"));
}

#[test]
fn refuses_what_must_not_be_written() {
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    for path in [".git/hooks/x", ".env", ".vscode/settings.json"] {
        let error = scene.workspace.apply(&scene.task, &create(path, "x")).expect_err("refused");
        assert!(matches!(error, WorkspaceError::Refused { .. }), "{path}: {error}");
    }
}
