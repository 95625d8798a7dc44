//! A repository that wants to run programs does not get to. The same repository is given to plain git afterwards: what it
//! runs there shows that the traps work.

use super::*;
use std::collections::BTreeSet;
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

/// A project with one commit, a folder for marks, and an empty folder.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new(format: &str) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().expect("a folder") };
        for name in ["project", "marks", "empty"] {
            std::fs::create_dir(scene.at(name)).expect("made");
        }
        plain_git(&scene.at("project"), &["init", "-q", &format!("--object-format={format}")]);
        std::fs::write(scene.at("project/a.txt"), "one\n").expect("written");
        plain_git(&scene.at("project"), &["add", "-A"]);
        plain_git(&scene.at("project"), &["commit", "-q", "-m", "first"]);
        scene
    }
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("there").join(path)
    }
    fn open(&self) -> Repository {
        Repository::open(&self.at("project"), &self.at("empty")).expect("it opens").expect("a repository")
    }
    /// A program that leaves a mark of this name, then hands its input on.
    fn trap(&self, name: &str) -> String {
        let file = self.at(&format!("trap-{name}"));
        let script = format!("#!/bin/sh\ntouch '{}'\ncat 2>/dev/null\nexit 0\n", self.at("marks").join(name).display());
        std::fs::write(&file, script).expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("set");
        file.display().to_string()
    }
    fn marks(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.at("marks")).expect("there");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
    fn append(&self, path: &str, text: &[u8]) {
        let mut old = std::fs::read(self.at(path)).unwrap_or_default();
        old.extend_from_slice(text);
        std::fs::write(self.at(path), old).expect("written");
    }
}

const HOOKS: [&str; 8] = [
    "post-checkout",
    "pre-commit",
    "post-index-change",
    "reference-transaction",
    "post-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-merge",
];

/// Every place of a repository that can name a program.
fn make_hostile(scene: &Scene) {
    let trap = |name: &str| scene.trap(name);
    let filter = |name: &str, mark: &str| {
        format!("[filter \"{name}\"]\n\tclean = {c}\n\tsmudge = {c}\n\trequired = true\n", c = trap(mark))
    };
    for hook in HOOKS {
        std::fs::rename(trap(&format!("hook-{hook}")), scene.at("project/.git/hooks").join(hook)).expect("moved");
    }
    std::fs::write(scene.at("included"), filter("inc", "filter-included")).expect("written");
    std::fs::write(scene.at("onbranch"), filter("branch", "filter-onbranch")).expect("written");
    std::fs::write(scene.at("ingitdir"), filter("dir", "filter-gitdir")).expect("written");
    let config = [
        format!(
            "[core]\n\tfsmonitor = {}\n\thooksPath = {}\n",
            trap("fsmonitor"),
            scene.at("project/.git/hooks").display()
        ),
        format!("\tsshCommand = {}\n\tpager = {}\n\teditor = {}\n", trap("ssh"), trap("pager"), trap("editor")),
        format!("\tautocrlf = true\n\talternateRefsCommand = {}\n", trap("alternate")),
        filter("f", "filter"),
        filter("a=b", "filter-equals"),
        format!("[filter \"p\"]\n\tprocess = {}\n", trap("filter-process")),
        format!(
            "[diff \"d\"]\n\ttextconv = {}\n[diff \"e\"]\n\tcommand = {}\n",
            trap("textconv"),
            trap("diff-command")
        ),
        format!("[diff]\n\texternal = {}\n[merge \"m\"]\n\tdriver = {}\n", trap("diff-external"), trap("merge")),
        format!("[gpg]\n\tprogram = {}\n[commit]\n\tgpgsign = true\n[log]\n\tshowSignature = true\n", trap("gpg")),
        format!("[trailer \"t\"]\n\tcmd = {}\n[credential]\n\thelper = {}\n", trap("trailer"), trap("credential")),
        format!("[hook \"h\"]\n\tcommand = {}\n\tevent = post-checkout\n", trap("hook-config")),
        format!("[include]\n\tpath = {}\n", scene.at("included").display()),
        format!("[includeIf \"onbranch:starling/**\"]\n\tpath = {}\n", scene.at("onbranch").display()),
        format!("[includeIf \"gitdir:**/worktrees/**\"]\n\tpath = {}\n", scene.at("ingitdir").display()),
        "[extensions]\n\tworktreeConfig = true\n".to_owned(),
    ];
    scene.append("project/.git/config", config.concat().as_bytes());
    let odd = [b"[filter \"\xff\"]\n\tclean = ".as_slice(), trap("filter-odd").as_bytes(), b"\n"].concat();
    scene.append("project/.git/config", &odd);
    scene.append("project/.git/config.worktree", filter("wt", "filter-worktree-config").as_bytes());
    let attributes =
        b"*.txt filter=f diff=d merge=m\n*.eq filter=a=b\n*.inc filter=inc\n*.wt filter=wt\n*.own filter=own\n\
        *.br filter=branch\n*.dir filter=dir\n*.p filter=p diff=e\n*.odd filter=\xff\n*.crlf text eol=crlf\n";
    scene.append("project/.gitattributes", attributes);
    // The gate reads no attributes from the tree, but these it cannot turn off: here only the blanked drivers help.
    let lines = attributes.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"*.crlf"));
    scene.append("project/.git/info/attributes", &lines.collect::<Vec<_>>().join(&b'\n'));
    for name in ["b.txt", "c.eq", "d.inc", "e.wt", "f.br", "g.dir", "h.p", "i.odd", "j.own", "k.crlf"] {
        std::fs::write(scene.at("project").join(name), "two\n").expect("written");
    }
}

#[test]
fn no_program_of_a_hostile_repository_runs_in_any_command() {
    let scene = Scene::new("sha1");
    let first = plain_git(&scene.at("project"), &["rev-parse", "HEAD"]).trim().to_owned();
    make_hostile(&scene);
    let repository = scene.open();
    let (tree, branch) = (scene.at("tree"), "starling/t");
    let (index, ours) = (scene.at("index"), scene.at("project/b.txt"));
    let blob = repository.write_blob(b"two\n").expect("written");
    let line = |path: &str| format!("100644 {blob}\t{path}\0");
    let names = ["a.txt", "b.txt", "c.eq", "d.inc", "e.wt", "f.br", "g.dir", "i.odd", "j.own", "k.crlf"];
    let lines: String = names.iter().map(|name| line(name)).collect();
    let zeroed: String = names.iter().map(|name| format!("{name}\0")).collect();
    let add = Call::AddWorktree { tree: &tree, branch, commit: &first, reason: "starling:t" };
    let reference = "refs/starling/base/t";
    let parents = [first.as_str()];
    let root = plain_git(&scene.at("project"), &["rev-parse", "HEAD^{tree}"]);
    std::fs::remove_dir_all(scene.at("marks")).expect("there");
    std::fs::create_dir(scene.at("marks")).expect("made");

    let mut tried = BTreeSet::new();
    let mut admin: Option<PathBuf> = None;
    let mut run = |call: Call<'_>, admin: Option<&Path>, index: Option<&Path>, input: &[u8], ok: bool| {
        let place = match admin {
            Some(admin) => Place { admin, tree: &tree, index },
            None => Place { index, ..repository.main() },
        };
        let result = repository.git.bytes(place, &call, input);
        assert_eq!(result.is_ok(), ok, "{call:?}: {result:?}");
        assert_eq!(scene.marks(), BTreeSet::new(), "{call:?} ran a program of the repository");
        tried.insert(call.number());
        result.unwrap_or_default()
    };
    let tree_id = root.trim();
    let private = Some(index.as_path());
    run(Call::DriverKeys, None, None, b"", true);
    run(Call::CoreWorktree, None, None, b"", false);
    run(Call::Resolve("HEAD^{commit}"), None, None, b"", true);
    run(Call::Branch, None, None, b"", true);
    run(Call::Files, None, None, b"", true);
    run(Call::TreePaths(&first), None, None, b"", true);
    run(Call::Status, None, None, b"", true);
    run(Call::Show, None, None, format!("{first}:a.txt\0").as_bytes(), true);
    run(Call::HashInput, None, None, b"three\r\n", true);
    run(Call::HashFiles, None, None, format!("{}\n", ours.display()).as_bytes(), true);
    run(Call::ReadTree(&first), None, private, b"", true);
    run(Call::IndexLines, None, private, lines.as_bytes(), true);
    let written = run(Call::WriteTree, None, private, b"", true);
    let written = String::from_utf8_lossy(&written).trim().to_owned();
    assert_ne!(written, tree_id);
    let commit = run(Call::CommitTree { tree: &written, parents: &parents }, None, private, b"message\n", true);
    let commit = String::from_utf8_lossy(&commit).trim().to_owned();
    run(Call::UpdateRef { name: reference, commit: &commit }, None, None, b"", true);
    run(Call::DeleteRef(reference), None, None, b"", true);
    run(add, None, None, b"", true);
    run(Call::Worktrees, None, None, b"", true);
    if let Some(worktree) = repository.worktree(&tree).expect("looked") {
        let own = format!("[filter \"own\"]\n\tclean = {0}\n\tsmudge = {0}\n", scene.trap("filter-own"));
        std::fs::write(worktree.admin.join("config.worktree"), own).expect("written");
        admin = Some(worktree.admin);
    }
    let inside = admin.as_deref();
    assert!(inside.is_some(), "git knows the new worktree");
    std::fs::copy(scene.at("project/.gitattributes"), tree.join(".gitattributes")).expect("copied");
    run(Call::ResetIndex(&commit), inside, None, b"", true);
    run(Call::CheckoutIndex, inside, None, zeroed.as_bytes(), true);
    run(Call::RefreshIndex, inside, None, b"", true);
    for name in names {
        assert_eq!(std::fs::read(tree.join(name)).expect("there"), b"two\n", "{name}: bytes are not converted");
        // Another time of change makes git look into the file again.
        let file = std::fs::File::options().append(true).open(tree.join(name)).expect("there");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("set");
    }
    run(Call::Status, inside, None, b"", true);
    let worktree = repository.worktree(&tree).expect("looked").expect("there");
    let different = repository.differences(&worktree).expect("looked");
    assert_eq!(different, [Difference::Untracked(".gitattributes".to_owned())], "HEAD does not matter");
    repository.update_ref("refs/heads/starling/t", &commit).expect("set");
    std::fs::remove_file(tree.join(".gitattributes")).expect("removed");
    run(Call::UnlockWorktree(&tree), None, None, b"", true);
    std::fs::write(scene.at("project/.git/info/attributes"), "* filter=own\n*.br filter=branch\n").expect("written");
    let removed = repository.remove_worktree(&worktree);
    assert_eq!(scene.marks(), BTreeSet::new(), "removing a worktree ran a program");
    assert!(removed.is_ok() && !tree.exists(), "{removed:?}");
    tried.insert(Call::RemoveWorktree(&tree).number());
    assert_eq!(tried, (0..Call::COUNT).collect(), "every command of the table was tried");
    control(&scene);
}

/// The traps are real: plain git runs them.
fn control(scene: &Scene) {
    std::fs::remove_file(scene.at("project/.git/info/attributes")).expect("there");
    let project = scene.at("project");
    plain_git(&project, &["status"]);
    plain_git(&project, &["add", "-A"]);
    plain_git(&project, &["diff", "HEAD"]);
    plain_git(&project, &["-c", "commit.gpgsign=false", "-c", "core.editor=true", "commit", "-m", "x"]);
    plain_git(&project, &["commit-tree", "-S", "HEAD^{tree}", "-m", "x"]);
    plain_git(&project, &["worktree", "add", "-b", "starling/x", &scene.at("other").display().to_string()]);
    let marks = scene.marks();
    for mark in [
        "fsmonitor",
        "hook-post-checkout",
        "hook-pre-commit",
        "hook-post-index-change",
        "hook-reference-transaction",
        "filter",
        "filter-equals",
        "filter-included",
        "filter-worktree-config",
        "filter-onbranch",
        "filter-gitdir",
        "filter-odd",
        "filter-process",
        "diff-external",
        "gpg",
    ] {
        assert!(marks.contains(mark), "plain git does not run {mark}, so the test proves nothing about it: {marks:?}");
    }
}

#[test]
fn a_missing_object_is_not_fetched() {
    for (mark, url) in [("transport", "ext::TRAP %S"), ("uploadpack", "PROJECT")] {
        let scene = Scene::new("sha1");
        let project = scene.at("project");
        let blob = plain_git(&project, &["rev-parse", "HEAD:a.txt"]).trim().to_owned();
        let trap = scene.trap(mark);
        // This one must end at once: git talks to it.
        let script = std::fs::read_to_string(&trap).expect("there").replace("cat 2>/dev/null\n", "");
        std::fs::write(&trap, script).expect("written");
        let url = url.replace("TRAP", &trap).replace("PROJECT", &project.display().to_string());
        let config = format!(
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = evil\n[protocol]\n\tallow = always\n\
             [protocol \"ext\"]\n\tallow = always\n[remote \"evil\"]\n\turl = \"{url}\"\n\tpromisor = true\n\tuploadpack = {trap}\n"
        );
        scene.append("project/.git/config", config.as_bytes());
        std::fs::remove_file(project.join(".git/objects").join(&blob[..2]).join(&blob[2..])).expect("a loose object");
        let repository = scene.open();
        let head = repository.head().expect("asked").expect("a commit");
        let shown = repository.show(&head, "a.txt");
        assert!(!matches!(shown, Ok(Some(_))), "{shown:?}");
        assert_eq!(scene.marks(), BTreeSet::new());
        plain_git(&project, &["cat-file", "-p", &blob]);
        assert_eq!(scene.marks(), BTreeSet::from([mark.to_owned()]), "the trap is armed");
    }
}

#[test]
fn bytes_go_in_and_come_out_as_they_are() {
    for format in ["sha1", "sha256"] {
        let scene = Scene::new(format);
        scene.append("project/.gitattributes", b"* text eol=crlf working-tree-encoding=UTF-16 ident\n");
        let repository = scene.open();
        let head = repository.head().expect("asked").expect("a commit");
        let bytes = b"\xff\xfe $Id$ \r\n\n\r\0 caf\xe9";
        std::fs::write(scene.at("raw file"), bytes).expect("written");
        let objects = repository.write_files(&[scene.at("raw file")]).expect("written");
        assert_eq!(objects, [repository.write_blob(bytes).expect("written")]);
        let put = IndexLine { mode: "100755", object: objects.first().cloned(), path: "dir/ü x".to_owned() };
        let out = IndexLine { mode: "0", object: None, path: "a.txt".to_owned() };
        let index = scene.at("index");
        let commit = repository.commit(&index, &[&head], &[put, out], "ours\n").expect("committed");
        assert!(!index.exists());
        assert_eq!(repository.paths_of(&commit).expect("listed"), ["dir/ü x"], "{format}");
        assert_eq!(repository.show(&commit, "dir/ü x").expect("shown"), Some(bytes.to_vec()));
        assert_eq!(repository.show(&commit, "a.txt").expect("shown"), None);
        assert_eq!(repository.show(&commit, "dir").expect("shown"), None, "a folder is no file");
        repository.update_ref("refs/starling/x", &commit).expect("set");
        assert_eq!(repository.resolve("refs/starling/x").expect("asked"), Some(commit));
        repository.delete_ref("refs/starling/x").expect("deleted");
        assert_eq!(repository.resolve("refs/starling/x").expect("asked"), None);
        assert_eq!(repository.branch().expect("asked"), "main");
        plain_git(&scene.at("project"), &["checkout", "-q", "--detach"]);
        assert_eq!(repository.branch().expect("asked"), "");
        assert_eq!(repository.worktrees().expect("listed"), [scene.at("project")]);
    }
}

#[test]
fn what_is_no_repository_of_this_project_is_none() {
    let none = |scene: &Scene, why: &str| {
        let found = Repository::open(&scene.at("project"), &scene.at("empty")).expect("asked");
        assert!(found.is_none(), "{why}");
    };
    let scene = Scene::new("sha1");
    std::fs::rename(scene.at("project/.git"), scene.at("theirs")).expect("moved");
    none(&scene, "there is no .git");
    for text in ["gitdir: ../theirs\n", "gitdir: /no/such/place\n", "gitdir:\n", "nonsense"] {
        std::fs::write(scene.at("project/.git"), text).expect("written");
        none(&scene, text);
    }
    std::fs::remove_file(scene.at("project/.git")).expect("removed");
    std::os::unix::fs::symlink(scene.at("theirs"), scene.at("project/.git")).expect("linked");
    none(&scene, "a link to a repository that does not name the project");
    std::fs::remove_file(scene.at("project/.git")).expect("removed");
    plain_git(&scene.at("project"), &["init", "-q"]);
    none(&scene, "there is no commit yet");
    std::fs::write(scene.at("project/.git/commondir"), scene.at("theirs").display().to_string()).expect("written");
    none(&scene, "a git dir that leads into another repository");
    std::fs::remove_file(scene.at("project/.git/commondir")).expect("removed");
    std::fs::remove_dir_all(scene.at("project/.git/objects")).expect("removed");
    std::os::unix::fs::symlink(scene.at("theirs/objects"), scene.at("project/.git/objects")).expect("linked");
    none(&scene, "objects of another repository");
}

#[test]
fn worktrees_and_submodules_are_repositories_that_name_the_project_back() {
    let scene = Scene::new("sha1");
    let linked = scene.at("linked");
    plain_git(&scene.at("project"), &["worktree", "add", "-q", "-b", "side", &linked.display().to_string()]);
    let repository = Repository::open(&linked, &scene.at("empty")).expect("it opens").expect("a repository");
    assert_eq!(repository.branch().expect("asked"), "side");
    let [admin, common] = repository.git_dirs();
    assert_eq!(
        (admin.parent(), common),
        (Some(scene.at("project/.git/worktrees").as_path()), scene.at("project/.git").as_path())
    );
    let head = repository.head().expect("asked").expect("a commit");
    let worktree = repository.add_worktree(&scene.at("ours"), "starling/t", &head, "starling:t").expect("added");
    assert_eq!(repository.worktree(&scene.at("ours")).expect("found"), Some(worktree));
    let super_project = scene.at("super");
    std::fs::create_dir(&super_project).expect("made");
    plain_git(&super_project, &["init", "-q"]);
    let url = scene.at("project").display().to_string();
    plain_git(&super_project, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "sub"]);
    let sub =
        Repository::open(&super_project.join("sub"), &scene.at("empty")).expect("it opens").expect("a repository");
    assert_eq!(sub.head().expect("asked"), Some(head));
}

#[test]
fn a_pointer_in_the_tree_is_not_asked() {
    let scene = Scene::new("sha1");
    let repository = scene.open();
    let head = repository.head().expect("asked").expect("a commit");
    let (ours, theirs) = (scene.at("ours"), scene.at("theirs"));
    let worktree = repository.add_worktree(&ours, "starling/t", &head, "starling:t").expect("added");
    plain_git(&scene.at("project"), &["worktree", "add", "-q", &theirs.display().to_string()]);
    std::fs::copy(theirs.join(".git"), ours.join(".git")).expect("a test swaps the pointer");
    assert_eq!(repository.worktree(&ours).expect("found"), Some(worktree.clone()));
    repository.remove_worktree(&worktree).expect_err("git sees that something is wrong, and nothing is removed");
    assert!(ours.exists() && theirs.join("a.txt").exists());
}
