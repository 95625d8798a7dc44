//! Every git command that can be run: one table. The corpus of hostile repositories is tried on each line of it.

use std::ffi::OsString;
use std::path::Path;

/// One command with what varies in it. Text that comes from outside never stands where git reads options: refs and
/// commits are ours or git's own answers, paths go through standard input.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call<'a> {
    DriverKeys,
    CoreWorktree,
    Resolve(&'a str),
    Branch,
    Files,
    TreePaths(&'a str),
    Status,
    Show,
    HashInput,
    HashFiles,
    ReadTree(&'a str),
    IndexLines,
    WriteTree,
    CommitTree { tree: &'a str, parents: &'a [&'a str] },
    UpdateRef { name: &'a str, commit: &'a str },
    DeleteRef(&'a str),
    AddWorktree { tree: &'a Path, branch: &'a str, commit: &'a str, reason: &'a str },
    Worktrees,
    UnlockWorktree(&'a Path),
    RemoveWorktree(&'a Path),
    ResetIndex(&'a str),
    RefreshIndex,
    CheckoutIndex,
}

/// Keys whose value is a program.
const DRIVERS: &str = r"^(filter\..*\.(clean|smudge|process|required)|diff\..*\.(textconv|command)|merge\..*\.driver|trailer\..*\.(cmd|command)|hook\..*\.command)$";

impl Call<'_> {
    pub fn argv(&self) -> Vec<OsString> {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        match *self {
            Call::DriverKeys => words(&["config", "--includes", "-z", "--name-only", "--get-regexp", DRIVERS]),
            Call::CoreWorktree => words(&["config", "-z", "--get", "core.worktree"]),
            Call::Resolve(name) => words(&["rev-parse", "--verify", "--quiet", "--end-of-options", name]),
            Call::Branch => words(&["symbolic-ref", "--quiet", "--short", "HEAD"]),
            Call::Files => {
                words(&["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--full-name"])
            }
            Call::TreePaths(commit) => words(&["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit]),
            Call::Status => words(&[
                "status",
                "--porcelain=v2",
                "-z",
                "--no-renames",
                "--ignore-submodules=all",
                "--untracked-files=all",
            ]),
            Call::Show => words(&["cat-file", "--batch", "-z"]),
            Call::HashInput => words(&["hash-object", "-w", "--no-filters", "--stdin"]),
            Call::HashFiles => words(&["hash-object", "-w", "--no-filters", "--stdin-paths"]),
            Call::ReadTree(commit) => words(&["read-tree", commit]),
            Call::IndexLines => words(&["update-index", "-z", "--index-info"]),
            Call::WriteTree => words(&["write-tree"]),
            Call::CommitTree { tree, parents } => {
                let mut argv = words(&["commit-tree", "--no-gpg-sign", tree, "-F", "-"]);
                argv.extend(parents.iter().flat_map(|parent| ["-p", parent]).map(OsString::from));
                argv
            }
            Call::UpdateRef { name, commit } => words(&["update-ref", "--end-of-options", name, commit]),
            Call::DeleteRef(name) => words(&["update-ref", "-d", "--end-of-options", name]),
            Call::AddWorktree { tree, branch, commit, reason } => {
                let flags = ["worktree", "add", "--no-checkout", "--quiet", "--lock", "--reason", reason, "-b", branch];
                let mut argv = words(&flags);
                argv.extend([OsString::from("--"), tree.into(), commit.into()]);
                argv
            }
            Call::Worktrees => words(&["worktree", "list", "--porcelain", "-z"]),
            Call::UnlockWorktree(tree) => with(words(&["worktree", "unlock", "--"]), tree),
            Call::RemoveWorktree(tree) => with(words(&["worktree", "remove", "--"]), tree),
            Call::ResetIndex(commit) => words(&["read-tree", "--reset", commit]),
            Call::RefreshIndex => words(&["update-index", "-q", "--refresh"]),
            Call::CheckoutIndex => words(&["checkout-index", "--force", "--quiet", "-z", "--stdin"]),
        }
    }

    /// What an error message calls it.
    pub fn name(&self) -> String {
        let argv = self.argv();
        argv.iter()
            .take(2)
            .map(|word| word.to_string_lossy())
            .filter(|word| !word.starts_with('-'))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Its line in the table, so that a test can see that it tried every one.
    #[cfg(test)]
    pub fn number(&self) -> usize {
        match self {
            Call::DriverKeys => 0,
            Call::CoreWorktree => 1,
            Call::Resolve(_) => 2,
            Call::Branch => 3,
            Call::Files => 4,
            Call::TreePaths(_) => 5,
            Call::Status => 6,
            Call::Show => 7,
            Call::HashInput => 8,
            Call::HashFiles => 9,
            Call::ReadTree(_) => 10,
            Call::IndexLines => 11,
            Call::WriteTree => 12,
            Call::CommitTree { .. } => 13,
            Call::UpdateRef { .. } => 14,
            Call::DeleteRef(_) => 15,
            Call::AddWorktree { .. } => 16,
            Call::Worktrees => 17,
            Call::UnlockWorktree(_) => 18,
            Call::RemoveWorktree(_) => 19,
            Call::ResetIndex(_) => 20,
            Call::RefreshIndex => 21,
            Call::CheckoutIndex => 22,
        }
    }
    /// One more than the highest number.
    #[cfg(test)]
    pub const COUNT: usize = 23;
}

fn with(mut argv: Vec<OsString>, path: &Path) -> Vec<OsString> {
    argv.push(path.into());
    argv
}
