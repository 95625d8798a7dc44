//! A stage on real git: what the user has survives everything, byte for byte.
//!
//! Longer than 400 lines because every test works on the same scene.

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
            .map(|name| {
                let file = self.project().join(&name);
                let link = std::fs::read_link(&file).map(|to| to.display().to_string().into_bytes());
                (name, link.unwrap_or_else(|_| std::fs::read(&file).expect("read")))
            })
            .collect();
        files.sort();
        let git = |args: &[&str]| plain_git(&self.project(), args).into_bytes();
        files.push(("git status".to_owned(), git(&["status", "--porcelain"])));
        files.push(("git head".to_owned(), git(&["rev-parse", "HEAD"])));
        files.push(("git branches".to_owned(), git(&["branch", "--list", "main", "master"])));
        files
    }
}

/// A stage of a project that lies somewhere else than in a scene.
fn open_at(project: &Path, stages: &Path) -> (GitWorkspace, TaskId) {
    let workspace = GitWorkspace::open(project, stages).expect("it opens");
    let task = TaskId::new("t1");
    workspace.stage(&task).expect("staged");
    (workspace, task)
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

#[test]
fn revert_goes_back_one_change_and_not_further() {
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    let first = scene.splice("src/a.py", "two", "2");
    scene.workspace.apply(&scene.task, &first).expect("applied");
    let second = scene.splice("src/a.py", "three", "3");
    scene.workspace.apply(&scene.task, &second).expect("applied");
    let made = create("src/new.py", "x\n");
    scene.workspace.apply(&scene.task, &made).expect("applied");
    // A test that rewrites what it tests does not stop it.
    std::fs::write(scene.tree().join("src/new.py"), "rewritten").expect("written");
    scene.workspace.revert(&scene.task, &made).expect("reverted");
    scene.workspace.revert(&scene.task, &second).expect("reverted");
    scene.workspace.revert(&scene.task, &second).expect("twice is fine");
    let now = std::fs::read_to_string(scene.tree().join("src/a.py")).expect("there");
    assert!(now.starts_with("one\n2\nthree\n"), "{now}");
    assert!(!scene.tree().join("src/new.py").exists());
    scene.workspace.revert(&scene.task, &first).expect("reverted");
    assert_eq!(std::fs::read(scene.tree().join("src/a.py")).expect("there"), FILES[0].1);
    scene.workspace.revert(&scene.task, &create("crlf.txt", "never applied")).expect("nothing to do");
    assert!(scene.tree().join("crlf.txt").exists());
}

#[test]
fn reset_takes_back_what_tests_did() {
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    scene.keep(&scene.splice("src/a.py", "two", "2"));
    let tree = scene.tree();
    std::fs::write(tree.join("crlf.txt"), "spoilt").expect("written");
    std::fs::remove_file(tree.join("mixed.txt")).expect("removed");
    std::fs::write(tree.join("left.txt"), "left").expect("written");
    std::fs::write(tree.join("secret.log"), "ignored").expect("written");
    std::fs::create_dir(tree.join("target")).expect("made");
    std::fs::write(tree.join("target/object"), "built").expect("written");
    let crlf = RelPath::new("crlf.txt").expect("good");
    assert_eq!(scene.workspace.base(&scene.task, &crlf).expect("read").as_deref(), Some(FILES[1].1));
    scene.workspace.reset(&scene.task).expect("reset");
    assert_eq!(std::fs::read(tree.join("crlf.txt")).expect("there"), FILES[1].1);
    assert_eq!(std::fs::read(tree.join("mixed.txt")).expect("there"), FILES[2].1);
    assert_eq!(std::fs::read(tree.join("latin1.txt")).expect("there"), b"caf\xe9 dirty\n");
    assert!(std::fs::read_to_string(tree.join("src/a.py")).expect("there").starts_with("one\n2\n"));
    assert!(!tree.join("left.txt").exists(), "a new file that is not ignored goes");
    assert!(tree.join("secret.log").exists() && tree.join("target/object").exists(), "ignored and built files stay");
}

#[test]
fn a_landing_that_was_cut_off_is_finished() {
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    scene.keep(&scene.splice("src/a.py", "two", "2"));
    scene.keep(&scene.splice("crlf.txt", "two", "2"));
    scene.keep(&create("tests/__init__.py", ""));
    let (a, crlf) = (scene.project().join("src/a.py"), scene.project().join("crlf.txt"));
    let old = std::fs::read(&crlf).expect("there");
    let proof = scene.workspace.land(&scene.task, &[0, 1, 2]).expect("landed");
    assert_eq!(proof, ByteProof { files: 3, outside_identical: true, encoding_kept: true });
    assert_eq!(
        std::fs::read(scene.project().join("tests/__init__.py")).expect("there"),
        b"",
        "an empty file is a file"
    );
    // The kill came after one file, and the swarm asks again after the restart.
    let note = std::fs::read_to_string(scene.workspace.home(&scene.task).join("landing.json")).expect("there");
    let note: serde_json::Value = serde_json::from_str(&note).expect("json");
    let temporary = note["crlf.txt"]["temporary"].as_str().expect("a name").to_owned();
    let new = std::fs::read(&crlf).expect("there");
    std::fs::write(scene.project().join(&temporary), &new[..4]).expect("half a temporary file");
    std::fs::write(&crlf, &old).expect("written");
    let again = GitWorkspace::open(&scene.project(), &scene.folder.path().join("stages")).expect("it opens");
    assert_eq!(again.land(&scene.task, &[0, 1, 2]).expect("landed"), proof);
    assert_eq!(std::fs::read(&crlf).expect("there"), new);
    assert!(!scene.project().join(&temporary).exists());
    assert_eq!(again.land(&scene.task, &[0, 1, 2]).expect("nothing left to do"), proof);
    std::fs::write(&a, "theirs\n").expect("written");
    assert!(matches!(again.land(&scene.task, &[0, 1, 2]), Err(WorkspaceError::NotClean { .. })));
    assert_eq!(std::fs::read(&a).expect("there"), b"theirs\n");
}

#[test]
fn a_failed_landing_leaves_no_trace() {
    let scene = scene(true);
    std::fs::create_dir(scene.project().join("lib")).expect("made");
    std::fs::write(scene.project().join("lib/z.py"), "z = 1\n").expect("written");
    scene.workspace.stage(&scene.task).expect("staged");
    scene.keep(&scene.splice("src/a.py", "two", "2"));
    scene.keep(&create("new/deep/file.py", "x\n"));
    scene.keep(&scene.splice("lib/z.py", "1", "2"));
    // The folder becomes a link, with the same bytes behind it: reading would agree, writing must not.
    std::fs::rename(scene.project().join("lib"), scene.project().join("real")).expect("moved");
    std::os::unix::fs::symlink("real", scene.project().join("lib")).expect("linked");
    let before = scene.snapshot();
    let error = scene.workspace.land(&scene.task, &[0, 1, 2]).expect_err("refused");
    assert!(matches!(error, WorkspaceError::Refused { .. }), "{error}");
    assert_eq!(scene.snapshot(), before);
    assert!(!scene.project().join("new").exists());
    // A file that another name leads to is not written either.
    std::fs::hard_link(scene.project().join("src/a.py"), scene.folder.path().join("twin")).expect("linked");
    assert!(matches!(scene.workspace.land(&scene.task, &[2]), Err(WorkspaceError::Refused { .. })));
}

#[test]
fn every_kind_of_head_gets_a_stage() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("project");
    std::fs::create_dir(&project).expect("made");
    std::fs::write(project.join("a.txt"), "one\r\n").expect("written");
    let round = |project: &Path, branches: &str| {
        let status = plain_git(project, &["status", "--porcelain", "--branch"]);
        let (workspace, task) = open_at(project, &folder.path().join("stages"));
        let path = RelPath::new("a.txt").expect("good");
        assert_eq!(workspace.read(&task, &path).expect("read").as_deref(), Some(&b"one\r\n"[..]));
        workspace.apply(&task, &create("b.txt", "x")).expect("applied");
        workspace.keep(&task, "a step").expect("kept");
        assert_eq!(workspace.hunks(&task).expect("hunks").len(), 1);
        assert_eq!(plain_git(project, &["branch", "--list", "starling/*", "--format=%(refname:short)"]), branches);
        workspace.close(&task).expect("closed");
        assert_eq!(plain_git(project, &["status", "--porcelain", "--branch"]), status);
        assert_eq!(plain_git(project, &["branch", "--list", "starling/*"]), "");
    };
    round(&project, "");
    plain_git(&project, &["init", "-q"]);
    round(&project, "");
    plain_git(&project, &["add", "-A"]);
    plain_git(&project, &["commit", "-q", "-m", "first"]);
    round(&project, "starling/t1\n");
    plain_git(&project, &["checkout", "-q", "--detach"]);
    round(&project, "starling/t1\n");
    let linked = folder.path().join("linked");
    plain_git(&project, &["worktree", "add", "-q", "-b", "side", &linked.display().to_string()]);
    round(&linked, "starling/t1\n");
    assert_eq!(plain_git(&project, &["worktree", "list"]).lines().count(), 2, "only the user's own are left");
}

#[test]
fn links_deletions_and_submodules_are_staged_as_the_user_sees_them() {
    let scene = scene(true);
    let project = scene.project();
    std::os::unix::fs::symlink("../crlf.txt", project.join("src/link")).expect("linked");
    std::os::unix::fs::symlink("../../outside", project.join("src/out")).expect("linked");
    std::os::unix::fs::symlink("/etc/hostname", project.join("absolute")).expect("linked");
    std::fs::remove_file(project.join("mixed.txt")).expect("removed");
    plain_git(&project, &["rm", "-q", "--cached", "bom.txt"]);
    plain_git(&project, &["rm", "-q", "utf16.txt"]);
    std::fs::create_dir(project.join("nested")).expect("made");
    plain_git(&project.join("nested"), &["init", "-q"]);
    std::fs::write(project.join("nested/n.txt"), "n").expect("written");
    let before = scene.snapshot();
    scene.workspace.stage(&scene.task).expect("staged");
    let tree = scene.tree();
    assert_eq!(std::fs::read(tree.join("src/link")).expect("it leads inside"), FILES[1].1);
    for absent in ["src/out", "absolute", "mixed.txt", "utf16.txt", "nested/n.txt"] {
        assert!(std::fs::symlink_metadata(tree.join(absent)).is_err(), "{absent}");
    }
    assert!(tree.join("bom.txt").exists());
    let base = plain_git(&project, &["ls-tree", "-r", "--name-only", "refs/starling/base/t1"]);
    assert!(base.contains("src/link") && base.contains("bom.txt") && !base.contains("mixed.txt"), "{base}");
    scene.workspace.reset(&scene.task).expect("reset");
    assert!(!tree.join("mixed.txt").exists() && !tree.join("utf16.txt").exists(), "deleted files stay deleted");
    scene.workspace.close(&scene.task).expect("closed");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn nothing_is_removed_that_is_not_saved() {
    // Without git there is no ref to save to.
    let plain = scene(false);
    plain.workspace.stage(&plain.task).expect("staged");
    plain.keep(&create("made.py", "x\n"));
    plain.workspace.close(&plain.task).expect("closed");
    let trash = plain.folder.path().join("stages/trash");
    let kept: Vec<_> = std::fs::read_dir(&trash).expect("there").map(|e| e.expect("an entry").path()).collect();
    assert_eq!(std::fs::read(kept[0].join("made.py")).expect("kept"), b"x\n");
    std::fs::create_dir(trash.join("not ours")).expect("made");
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time");
    close::empty_trash(&trash, now + 13 * day).expect("looked");
    assert!(kept[0].exists());
    close::empty_trash(&trash, now + 15 * day).expect("emptied");
    assert!(!kept[0].exists() && trash.join("not ours").exists());
    // What is too large for the object store.
    let scene = scene(true);
    scene.workspace.stage(&scene.task).expect("staged");
    std::fs::write(scene.tree().join("secret.log"), vec![0; MAX_FILE as usize + 1]).expect("written");
    scene.workspace.close(&scene.task).expect("closed");
    let trash = scene.folder.path().join("stages/trash");
    let kept = std::fs::read_dir(&trash).expect("there").next().expect("one").expect("an entry").path();
    assert!(kept.join("secret.log").exists());
    assert_eq!(plain_git(&scene.project(), &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_second_rescue_keeps_the_first() {
    let scene = scene(true);
    for text in ["first\n", "second\n"] {
        scene.workspace.stage(&scene.task).expect("staged");
        scene.keep(&create("made.txt", text));
        scene.workspace.close(&scene.task).expect("closed");
    }
    let show =
        |commit: &str| plain_git(&scene.project(), &["show", &format!("refs/starling/rescue/t1{commit}:made.txt")]);
    assert_eq!((show("").as_str(), show("^2").as_str()), ("second\n", "first\n"));
}

#[test]
fn half_made_stages_are_made_again() {
    let scene = scene(true);
    let home = scene.workspace.home(&scene.task);
    std::fs::create_dir_all(&home).expect("a kill before the marker");
    scene.workspace.stage(&scene.task).expect("staged");
    std::fs::remove_file(home.join("ready.json")).expect("a kill before the end");
    std::fs::remove_file(scene.tree().join("crlf.txt")).expect("removed");
    scene.workspace.stage(&scene.task).expect("staged again");
    assert!(scene.tree().join("crlf.txt").exists());
    std::fs::remove_dir_all(&home).expect("the data folder was emptied by hand");
    scene.workspace.stage(&scene.task).expect("staged again");
    scene.keep(&scene.splice("src/a.py", "two", "2"));
    scene.workspace.close(&scene.task).expect("closed");
    assert_eq!(plain_git(&scene.project(), &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn only_ids_of_tasks_and_folders_of_ours_are_touched() {
    let scene = scene(true);
    for id in ["", "../project", "a/b", "trash", "-x", ".empty", "t.lock", "ü"] {
        let task = TaskId::new(id);
        assert!(scene.workspace.stage(&task).is_err() && scene.workspace.close(&task).is_err(), "{id:?}");
        assert_eq!(scene.workspace.stage_path(&task), None, "{id:?}");
    }
    let foreign = scene.folder.path().join("stages/t9/tree");
    std::fs::create_dir_all(&foreign).expect("made");
    assert!(scene.workspace.stage(&TaskId::new("t9")).is_err());
    assert!(scene.workspace.close(&TaskId::new("t9")).is_err());
    assert_eq!(scene.workspace.sweep(&[]).expect("swept"), []);
    assert!(foreign.exists());
    let empty = scene.folder.path().join("stages/.empty/post-checkout");
    std::fs::write(&empty, "#!/bin/sh\n").expect("written");
    assert!(GitWorkspace::open(&scene.project(), &scene.folder.path().join("stages")).is_err(), "it could be a hook");
}
