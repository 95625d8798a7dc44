//! A repository that wants to run programs does not get to.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

pub(crate) fn plain_git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("HOME", folder)
        .output()
        .expect("git runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    plain_git(folder.path(), &["init", "-q"]);
    std::fs::write(folder.path().join("a.txt"), "one\n").expect("written");
    plain_git(folder.path(), &["add", "-A"]);
    plain_git(folder.path(), &["commit", "-q", "-m", "first"]);
    folder
}

/// Every place of a repository that can name a program, each leaving a mark when it runs.
fn make_hostile(folder: &Path, marks: &Path) {
    let evil = marks.join("evil.sh");
    std::fs::write(&evil, format!("#!/bin/sh\ntouch {}/hit-$$\ncat 2>/dev/null\n", marks.display())).expect("written");
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).expect("set");
    let run = evil.display().to_string();
    let hooks = folder.join(".git/hooks");
    std::fs::create_dir_all(&hooks).expect("made");
    for hook in [
        "post-checkout",
        "pre-commit",
        "post-index-change",
        "reference-transaction",
        "post-commit",
        "prepare-commit-msg",
    ] {
        std::fs::copy(&evil, hooks.join(hook)).expect("copied");
    }
    let included = marks.join("included");
    std::fs::write(&included, format!("[filter \"inc\"]\n\tclean = {run}\n\tsmudge = {run}\n")).expect("written");
    let config = format!(
        "[core]\n\tfsmonitor = {run}\n\thooksPath = {hooks}\n\tsshCommand = {run}\n\tpager = {run}\n\teditor = {run}\n[filter \"a=b\"]\n\tclean = {run}\n\tsmudge = {run}\n\trequired = true\n[filter \"f\"]\n\tprocess = {run}\n\tclean = {run}\n\tsmudge = {run}\n[diff \"d\"]\n\ttextconv = {run}\n\tcommand = {run}\n[diff]\n\texternal = {run}\n[merge \"m\"]\n\tdriver = {run}\n[gpg]\n\tprogram = {run}\n[commit]\n\tgpgsign = true\n[log]\n\tshowSignature = true\n[include]\n\tpath = {included}\n[trailer \"t\"]\n\tcmd = {run}\n",
        hooks = hooks.display(),
        included = included.display(),
    );
    let path = folder.join(".git/config");
    let old = std::fs::read_to_string(&path).expect("there");
    std::fs::write(&path, old + &config).expect("written");
    std::fs::write(folder.join(".gitattributes"), "*.txt filter=f diff=d merge=m\n*.b filter=a=b\n*.i filter=inc\n")
        .expect("written");
    for name in ["b.txt", "c.b", "d.i"] {
        std::fs::write(folder.join(name), "two\n").expect("written");
    }
}

fn hits(marks: &Path) -> usize {
    let entries = std::fs::read_dir(marks).expect("there");
    entries.filter(|e| e.as_ref().expect("an entry").file_name().to_string_lossy().starts_with("hit-")).count()
}

#[test]
fn no_program_of_a_hostile_repository_runs() {
    let folder = project();
    let marks = tempfile::tempdir().expect("a folder");
    make_hostile(folder.path(), marks.path());
    let repository = Repository::open(folder.path()).expect("it opens").expect("a repository");
    let head = repository.head().expect("asked").expect("a commit");
    repository.branch().expect("asked");
    repository.files().expect("listed");
    assert_eq!(repository.dirty().expect("listed").len(), 4);
    let blob = repository.write_blob(b"three\r\n").expect("written");
    let index = marks.path().join("index");
    let line = IndexLine { mode: "100644", object: Some(blob), path: "b.txt".to_owned() };
    let commit = repository.commit(&index, &head, &[line], "ours\n").expect("committed");
    repository.update_ref("refs/starling/base/t", &commit).expect("set");
    let tree = marks.path().join("tree");
    let worktree = repository.add_worktree(&tree, "starling/t", &commit, "starling:t").expect("added");
    repository.read_into(&worktree, &commit).expect("read");
    assert_eq!(repository.worktrees().expect("listed").len(), 2);
    repository.worktree(&tree).expect("found");
    repository.delete_ref("refs/starling/base/t").expect("deleted");
    assert_eq!(hits(marks.path()), 0, "a program of the repository ran");
    plain_git(folder.path(), &["add", "-A"]);
    assert!(hits(marks.path()) > 0, "the control must run one, else this test proves nothing");
}

#[test]
fn what_is_no_repository_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(Repository::open(folder.path()).expect("asked").is_none());
    plain_git(folder.path(), &["init", "-q"]);
    assert!(Repository::open(folder.path()).expect("asked").is_none(), "there is no commit yet");
}

#[test]
fn a_foreign_pointer_is_not_followed() {
    let folder = project();
    let repository = Repository::open(folder.path()).expect("it opens").expect("a repository");
    let evil = tempfile::tempdir().expect("a folder");
    std::fs::write(evil.path().join(".git"), "gitdir: /somewhere/else\n").expect("written");
    assert!(matches!(repository.worktree(evil.path()), Err(GitError::Foreign { .. })));
}
