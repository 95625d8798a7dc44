//! The git gate: the only way to git. Whatever a repository's configuration says, no program of it is run.
//!
//! The environment is cleared, dangerous settings are overridden by environment (not by `-c`, which cuts at the first `=`),
//! driver keys are read again before every command and set empty, attributes are read from an empty tree, directories are
//! pinned, and only the commands of `call.rs` exist. There is no clone, fetch, push, submodule, merge or checkout of a
//! branch, and nothing that writes the user's index, HEAD or branches.

mod call;
mod find;
mod run;

pub use find::GitError;

use call::Call;
use find::Folders;
use run::{Git, Place};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A repository with a commit.
pub struct Repository {
    git: Git,
    folders: Folders,
    root: PathBuf,
}

/// A worktree of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    pub tree: PathBuf,
    /// Git's own folder for it, inside the common git dir.
    pub admin: PathBuf,
}

/// One line of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexLine {
    pub mode: &'static str,
    /// `None` takes the path out.
    pub object: Option<String>,
    pub path: String,
}

/// How a file of a worktree differs from its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Tracked, and changed or gone.
    Changed(String),
    /// Not tracked and not ignored.
    Untracked(String),
}

impl Repository {
    /// The repository whose root `project` is; `None` when it is none, is bare, has no commit yet, or names a git dir that
    /// does not name it back. `empty` is a folder of ours that holds nothing and that nobody else can write.
    ///
    /// # Errors
    /// When git is too old, or fails in a way that is not "no repository".
    pub fn open(project: &Path, empty: &Path) -> Result<Option<Repository>, GitError> {
        let Some(folders) = find::folders_of(project) else { return Ok(None) };
        let Some((program, _)) = find::program(project)? else { return Ok(None) };
        let mut repository = Repository { git: Git::new(program, empty.to_owned()), folders, root: project.to_owned() };
        if !repository.names_back()? {
            return Ok(None);
        }
        let Some(head) = repository.head()? else { return Ok(None) };
        repository.git.set_hash_length(head.len());
        Ok(Some(repository))
    }

    /// Git dirs that the project must not be read or written through: its own, and the one it shares.
    pub fn git_dirs(&self) -> [&Path; 2] {
        [&self.folders.admin, &self.folders.common]
    }

    /// A `.git` file is data of the project: it could name any repository of the user. The repository must name it back.
    fn names_back(&self) -> Result<bool, GitError> {
        if self.folders.proven {
            return Ok(true);
        }
        let Some(output) = optional(self.git.bytes(self.main(), &Call::CoreWorktree, &[]))? else { return Ok(false) };
        let named = PathBuf::from(OsString::from_vec(output.split(|b| *b == 0).next().unwrap_or_default().to_vec()));
        let named = std::fs::canonicalize(self.folders.admin.join(named)).ok();
        Ok(named.is_some() && named == std::fs::canonicalize(&self.root).ok())
    }

    fn main(&self) -> Place<'_> {
        Place { admin: &self.folders.admin, tree: &self.root, index: None }
    }

    fn with_index<'a>(&'a self, index: &'a Path) -> Place<'a> {
        Place { index: Some(index), ..self.main() }
    }

    /// The commit of HEAD, `None` on an unborn branch.
    pub fn head(&self) -> Result<Option<String>, GitError> {
        Ok(optional(self.git.text(self.main(), &Call::Resolve("HEAD^{commit}"), &[]))?.map(trimmed))
    }

    /// The short name of the checked-out branch, "" when detached.
    pub fn branch(&self) -> Result<String, GitError> {
        Ok(optional(self.git.text(self.main(), &Call::Branch, &[]))?.map(trimmed).unwrap_or_default())
    }

    /// Tracked and untracked files that are not ignored, relative; names that are no UTF-8 are left out.
    pub fn files(&self) -> Result<Vec<String>, GitError> {
        Ok(split(&self.git.bytes(self.main(), &Call::Files, &[])?))
    }

    /// Every path of a commit.
    pub fn paths_of(&self, commit: &str) -> Result<Vec<String>, GitError> {
        Ok(split(&self.git.bytes(self.main(), &Call::TreePaths(commit), &[])?))
    }

    /// Writes bytes into the object store as they are, without any filter; the object's name.
    pub fn write_blob(&self, bytes: &[u8]) -> Result<String, GitError> {
        Ok(trimmed(self.git.text(self.main(), &Call::HashInput, bytes)?))
    }

    /// The same for whole files, in one go; names in the order of `files`. Only what the store lacks is written.
    pub fn write_files(&self, files: &[PathBuf]) -> Result<Vec<String>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let mut input = Vec::new();
        for file in files {
            input.extend_from_slice(file.as_os_str().as_bytes());
            input.push(b'\n');
        }
        let text = self.git.text(self.main(), &Call::HashFiles, &input)?;
        let names: Vec<String> = text.lines().map(str::to_owned).collect();
        if names.len() == files.len() { Ok(names) } else { Err(self.git.confused(&Call::HashFiles)) }
    }

    /// A commit of the first parent's tree with some lines changed, made in the private index file `index`, which is gone
    /// afterwards.
    pub fn commit(
        &self,
        index: &Path,
        parents: &[&str],
        lines: &[IndexLine],
        message: &str,
    ) -> Result<String, GitError> {
        let commit = self.commit_in(index, parents, lines, message);
        match std::fs::remove_file(index) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(GitError::io(index, error)),
            _ => commit,
        }
    }

    fn commit_in(
        &self,
        index: &Path,
        parents: &[&str],
        lines: &[IndexLine],
        message: &str,
    ) -> Result<String, GitError> {
        let place = || self.with_index(index);
        let first = parents.first().copied().unwrap_or("HEAD");
        self.git.text(place(), &Call::ReadTree(first), &[])?;
        let zero = "0".repeat(first.len());
        let mut input = Vec::new();
        for line in lines {
            let (mode, object) = match &line.object {
                Some(object) => (line.mode, object.as_str()),
                None => ("0", zero.as_str()),
            };
            input.extend(format!("{mode} {object}\t{}\0", line.path).into_bytes());
        }
        self.git.text(place(), &Call::IndexLines, &input)?;
        let tree = trimmed(self.git.text(place(), &Call::WriteTree, &[])?);
        Ok(trimmed(self.git.text(place(), &Call::CommitTree { tree: &tree, parents }, message.as_bytes())?))
    }

    pub fn update_ref(&self, name: &str, commit: &str) -> Result<(), GitError> {
        self.git.text(self.main(), &Call::UpdateRef { name, commit }, &[]).map(drop)
    }

    pub fn delete_ref(&self, name: &str) -> Result<(), GitError> {
        self.git.text(self.main(), &Call::DeleteRef(name), &[]).map(drop)
    }

    /// The object a ref points to.
    pub fn resolve(&self, name: &str) -> Result<Option<String>, GitError> {
        Ok(optional(self.git.text(self.main(), &Call::Resolve(name), &[]))?.map(trimmed))
    }

    /// The bytes of a file in a commit, `None` when the commit has no such file.
    pub fn show(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let output = self.git.bytes(self.main(), &Call::Show, format!("{commit}:{path}\0").as_bytes())?;
        let confused = || self.git.confused(&Call::Show);
        let end = output.iter().position(|byte| *byte == b'\n').ok_or_else(confused)?;
        let (head, body) = (output.get(..end).unwrap_or_default(), output.get(end + 1..).unwrap_or_default());
        let head = String::from_utf8_lossy(head);
        if head.ends_with(" missing") {
            return Ok(None);
        }
        match head.rsplit(' ').collect::<Vec<_>>().as_slice() {
            [size, "blob", _] => {
                let size: usize = size.parse().map_err(|_| confused())?;
                body.get(..size).map(|bytes| Some(bytes.to_vec())).ok_or_else(confused)
            }
            _ => Ok(None),
        }
    }

    /// A locked worktree on a new branch, without any file checked out.
    pub fn add_worktree(&self, tree: &Path, branch: &str, commit: &str, reason: &str) -> Result<Worktree, GitError> {
        self.git.text(self.main(), &Call::AddWorktree { tree, branch, commit, reason }, &[])?;
        self.worktree(tree)?.ok_or_else(|| GitError::Foreign { path: tree.to_owned() })
    }

    /// A worktree that exists, by git's own notes in the user's git dir. The `.git` file in the tree is not asked: tests
    /// may have written it.
    pub fn worktree(&self, tree: &Path) -> Result<Option<Worktree>, GitError> {
        let notes = self.folders.common.join("worktrees");
        let entries = match std::fs::read_dir(&notes) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(GitError::io(&notes, error)),
        };
        for admin in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if find::tree_of(&admin).is_some_and(|noted| noted == tree) {
                return Ok(Some(Worktree { tree: tree.to_owned(), admin }));
            }
        }
        Ok(None)
    }

    fn inside<'a>(&self, worktree: &'a Worktree) -> Place<'a> {
        Place { admin: &worktree.admin, tree: &worktree.tree, index: None }
    }

    /// Makes the worktree's own index say what a commit says; its files are not touched.
    pub fn read_into(&self, worktree: &Worktree, commit: &str) -> Result<(), GitError> {
        let place = || self.inside(worktree);
        self.git.text(place(), &Call::ResetIndex(commit), &[])?;
        // Exit code 1 only says that some files differ.
        optional(self.git.text(place(), &Call::RefreshIndex, &[])).map(drop)
    }

    /// How the files of a worktree differ from its index; ignored files and submodules are left out.
    pub fn differences(&self, worktree: &Worktree) -> Result<Vec<Difference>, GitError> {
        let output = self.git.bytes(self.inside(worktree), &Call::Status, &[])?;
        let name = |line: &str, fields: usize| line.splitn(fields + 1, ' ').nth(fields).unwrap_or("").to_owned();
        let lines = split(&output).into_iter().filter_map(|line| match line.as_bytes().first() {
            // The second letter: file against index. Index against HEAD is not asked.
            Some(b'1') if line.as_bytes().get(3) != Some(&b'.') => Some(Difference::Changed(name(&line, 8))),
            Some(b'u') => Some(Difference::Changed(name(&line, 10))),
            Some(b'?') => Some(Difference::Untracked(name(&line, 1))),
            _ => None,
        });
        Ok(lines.collect())
    }

    /// Writes files of a worktree as its index has them.
    pub fn restore(&self, worktree: &Worktree, paths: &[String]) -> Result<(), GitError> {
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path.as_bytes());
            input.push(0);
        }
        self.git.text(self.inside(worktree), &Call::CheckoutIndex, &input).map(drop)
    }

    /// Removes a clean worktree. Never by force: what git refuses to remove stays. Git looks into the worktree from the
    /// main repository here, so the driver keys of both are set empty.
    pub fn remove_worktree(&self, worktree: &Worktree) -> Result<(), GitError> {
        let tree = &worktree.tree;
        if worktree.admin.join("locked").exists() {
            self.git.text(self.main(), &Call::UnlockWorktree(tree), &[])?;
        }
        let also = self.git.drivers(self.inside(worktree))?;
        self.git.bytes_with(self.main(), &Call::RemoveWorktree(tree), &[], also).map(drop)
    }

    /// Folders of all worktrees.
    pub fn worktrees(&self) -> Result<Vec<PathBuf>, GitError> {
        let output = self.git.bytes(self.main(), &Call::Worktrees, &[])?;
        let lines = output.split(|byte| *byte == 0).filter_map(|line| line.strip_prefix(b"worktree "));
        Ok(lines.map(|line| PathBuf::from(OsString::from_vec(line.to_vec()))).collect())
    }
}

fn trimmed(text: String) -> String {
    text.trim().to_owned()
}

/// Exit code 1 is git's "there is none".
fn optional<T>(result: Result<T, GitError>) -> Result<Option<T>, GitError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

fn split(output: &[u8]) -> Vec<String> {
    let parts = output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.filter_map(|part| String::from_utf8(part.to_vec()).ok()).collect()
}

/// The version of the git that would be used, or why none is.
pub fn version() -> Result<String, GitError> {
    find::program(Path::new("/nonexistent"))?.map(|(_, version)| version).ok_or(GitError::Absent)
}

#[cfg(test)]
pub(crate) mod tests;
