//! The git gate: the only way to git. Whatever a repository's configuration says, no program of it is run.
//!
//! The environment is cleared, dangerous settings are overridden by environment (not by `-c`, which cuts at the first `=`),
//! driver keys are read again before every command and set empty, directories are pinned, and only the commands of this
//! file exist.

mod run;

pub use run::GitError;

use run::{Git, Place};
use std::path::{Path, PathBuf};

/// A repository with a commit.
pub struct Repository {
    git: Git,
    /// The common git dir.
    pub admin: PathBuf,
    pub root: PathBuf,
}

/// A worktree of ours.
#[derive(Clone, Debug)]
pub struct Worktree {
    pub tree: PathBuf,
    /// Git's own folder for it, inside the common git dir.
    pub admin: PathBuf,
}

/// One line of an index: mode, object, path.
pub struct IndexLine {
    pub mode: &'static str,
    /// `None` takes the path out.
    pub object: Option<String>,
    pub path: String,
}

impl Repository {
    /// The repository whose root `project` is; `None` when it is none, is bare, or has no commit yet.
    ///
    /// # Errors
    /// When git is too old, or fails in a way that is not "no repository".
    pub fn open(project: &Path) -> Result<Option<Repository>, GitError> {
        let Some(git) = Git::find(project)? else { return Ok(None) };
        let Some(admin) = run::admin_of(project) else { return Ok(None) };
        let repository = Repository { git, admin, root: project.to_owned() };
        match repository.head()? {
            Some(_) => Ok(Some(repository)),
            None => Ok(None),
        }
    }

    fn main(&self) -> Place<'_> {
        Place { admin: &self.admin, tree: &self.root, index: None }
    }

    fn with_index<'a>(&'a self, index: &'a Path) -> Place<'a> {
        Place { index: Some(index), ..self.main() }
    }

    /// The commit of HEAD, `None` on an unborn branch.
    pub fn head(&self) -> Result<Option<String>, GitError> {
        match self.git.text(self.main(), &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], &[]) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// The short name of the checked-out branch, "" when detached.
    pub fn branch(&self) -> Result<String, GitError> {
        match self.git.text(self.main(), &["symbolic-ref", "--quiet", "--short", "HEAD"], &[]) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(String::new()),
            Err(other) => Err(other),
        }
    }

    /// Tracked and untracked files that are not ignored, relative, as bytes allow. Submodules are left out.
    pub fn files(&self) -> Result<Vec<String>, GitError> {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
        let output = self.git.bytes(self.main(), &args, &[])?;
        Ok(split(&output))
    }

    /// Files that differ from HEAD, untracked ones included: those whose blobs a base commit needs.
    pub fn dirty(&self) -> Result<Vec<String>, GitError> {
        let args =
            ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files=all"];
        let output = self.git.bytes(self.main(), &args, &[])?;
        Ok(split(&output).into_iter().filter_map(|line| line.get(3..).map(str::to_owned)).collect())
    }

    /// Writes bytes into the object store as they are, without any filter; the object's name.
    pub fn write_blob(&self, bytes: &[u8]) -> Result<String, GitError> {
        let text = self.git.text(self.main(), &["hash-object", "-w", "--no-filters", "--stdin"], bytes)?;
        Ok(text.trim().to_owned())
    }

    /// A commit of `parent`'s tree with some lines changed, made in the private index file `index`.
    pub fn commit(&self, index: &Path, parent: &str, lines: &[IndexLine], message: &str) -> Result<String, GitError> {
        let place = || self.with_index(index);
        self.git.text(place(), &["read-tree", parent], &[])?;
        let mut input = Vec::new();
        for line in lines {
            let (mode, object) = match &line.object {
                Some(object) => (line.mode, object.as_str()),
                None => ("0", "0000000000000000000000000000000000000000"),
            };
            input.extend(format!("{mode} {object}\t{}\0", line.path).into_bytes());
        }
        self.git.text(place(), &["update-index", "-z", "--index-info"], &input)?;
        let tree = self.git.text(place(), &["write-tree"], &[])?;
        let args = ["commit-tree", "--no-gpg-sign", tree.trim(), "-p", parent, "-F", "-"];
        Ok(self.git.text(place(), &args, message.as_bytes())?.trim().to_owned())
    }

    pub fn update_ref(&self, name: &str, commit: &str) -> Result<(), GitError> {
        self.git.text(self.main(), &["update-ref", name, commit], &[]).map(|_| ())
    }

    pub fn delete_ref(&self, name: &str) -> Result<(), GitError> {
        self.git.text(self.main(), &["update-ref", "-d", name], &[]).map(|_| ())
    }

    /// The commit a ref points to.
    pub fn resolve(&self, name: &str) -> Result<Option<String>, GitError> {
        match self.git.text(self.main(), &["rev-parse", "--verify", "--quiet", name], &[]) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// A locked worktree on a new branch, without any file checked out.
    pub fn add_worktree(&self, tree: &Path, branch: &str, commit: &str, reason: &str) -> Result<Worktree, GitError> {
        let path = tree.to_string_lossy().into_owned();
        let args =
            ["worktree", "add", "--no-checkout", "--quiet", "--lock", "--reason", reason, "-b", branch, &path, commit];
        self.git.text(self.main(), &args, &[])?;
        self.worktree(tree)
    }

    /// A worktree that exists.
    pub fn worktree(&self, tree: &Path) -> Result<Worktree, GitError> {
        let pointer = tree.join(".git");
        let text = std::fs::read_to_string(&pointer).map_err(|e| GitError::io(&pointer, e))?;
        let admin = PathBuf::from(text.trim_start_matches("gitdir:").trim());
        // The pointer lies where tests can write; only git's own folder for it is believed.
        let inside = admin.parent().is_some_and(|parent| parent == self.admin.join("worktrees"));
        if inside { Ok(Worktree { tree: tree.to_owned(), admin }) } else { Err(GitError::Foreign { path: pointer }) }
    }

    /// Makes the worktree's own index say what a commit says, so that it counts as clean.
    pub fn read_into(&self, worktree: &Worktree, commit: &str) -> Result<(), GitError> {
        let place = Place { admin: &worktree.admin, tree: &worktree.tree, index: None };
        self.git.text(place, &["read-tree", commit], &[]).map(|_| ())
    }

    /// Removes a clean worktree. Never by force: what git refuses to remove stays.
    pub fn remove_worktree(&self, tree: &Path) -> Result<(), GitError> {
        let path = tree.to_string_lossy().into_owned();
        self.git.text(self.main(), &["worktree", "unlock", &path], &[])?;
        self.git.text(self.main(), &["worktree", "remove", &path], &[]).map(|_| ())
    }

    /// Folders of all worktrees.
    pub fn worktrees(&self) -> Result<Vec<PathBuf>, GitError> {
        let text = self.git.text(self.main(), &["worktree", "list", "--porcelain"], &[])?;
        Ok(text.lines().filter_map(|line| line.strip_prefix("worktree ")).map(PathBuf::from).collect())
    }
}

fn split(output: &[u8]) -> Vec<String> {
    let parts = output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.filter_map(|part| String::from_utf8(part.to_vec()).ok()).collect()
}

/// The version of the git that would be used, or why none is.
pub fn version() -> Result<String, GitError> {
    Git::find(Path::new("/nonexistent"))?.map(|git| git.version().to_owned()).ok_or(GitError::Absent)
}

#[cfg(test)]
pub(crate) mod tests;
