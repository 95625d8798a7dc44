//! The place where a task works, and the only way back into the user's tree.
//!
//! A stage is a locked git worktree filled with the user's files as they are, dirty and untracked ones included, byte for
//! byte and without git's filters; where there is no git, a plain copy. What a change touches is kept beside the tree: the
//! bytes as the task found them (base) and as the last `keep` left them. The user's index, HEAD and branches are never
//! written; the user's files only by `land`, on a clean base.

mod fill;
mod hunks;
mod land;
mod ledger;

use crate::git::{GitError, IndexLine, Repository, Worktree};
use crate::paths::{PathGateError, Root};
use ledger::{Ledger, Version};
use starling_core::change::{ByteProof, ChangeSet, Hunk};
use starling_core::port::{Workspace, WorkspaceError};
use starling_core::{RelPath, TaskId};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Larger files are not changed: no model sees them whole.
pub(crate) const MAX_FILE: u64 = 8 * 1024 * 1024;

/// Stages of one project.
pub struct GitWorkspace {
    project: PathBuf,
    root: Root,
    stages: PathBuf,
    repository: Option<Repository>,
    /// One writer at a time: a stage is a folder.
    lock: Mutex<()>,
}

/// The folders of one stage.
pub(crate) struct Stage {
    pub home: PathBuf,
    pub tree: PathBuf,
    pub root: Root,
    pub ledger: Ledger,
}

impl GitWorkspace {
    /// `project` is the folder of the user; `worktrees` a folder of ours, outside it.
    pub fn open(project: &Path, worktrees: &Path) -> Result<GitWorkspace, WorkspaceError> {
        let project = std::fs::canonicalize(project).map_err(|e| io(project, e))?;
        std::fs::create_dir_all(worktrees).map_err(|e| io(worktrees, e))?;
        let root = Root::open(&project).map_err(gate)?;
        let repository = Repository::open(&project).map_err(git)?;
        let stages = std::fs::canonicalize(worktrees).map_err(|e| io(worktrees, e))?;
        Ok(GitWorkspace { project, root, stages, repository, lock: Mutex::default() })
    }

    /// The folder of a task's tree, if it has a stage.
    pub fn stage_path(&self, task: &TaskId) -> Option<PathBuf> {
        let tree = self.home(task).join("tree");
        tree.is_dir().then_some(tree)
    }

    /// The checked-out branch, "" when there is none.
    pub fn branch(&self) -> String {
        self.repository.as_ref().and_then(|repository| repository.branch().ok()).unwrap_or_default()
    }

    /// Closes stages of this project whose tasks are not in `live`: left over from a kill between two facts.
    pub fn sweep(&self, live: &[TaskId]) -> Result<Vec<TaskId>, WorkspaceError> {
        let mut swept = Vec::new();
        let entries = std::fs::read_dir(&self.stages).map_err(|e| io(&self.stages, e))?;
        for entry in entries.filter_map(Result::ok) {
            let task = TaskId::new(entry.file_name().to_string_lossy().into_owned());
            let ours = Ledger::project_of(&entry.path()).is_some_and(|project| project == self.project);
            if ours && !live.contains(&task) {
                self.close(&task)?;
                swept.push(task);
            }
        }
        Ok(swept)
    }

    fn home(&self, task: &TaskId) -> PathBuf {
        self.stages.join(task.as_str())
    }

    fn find(&self, task: &TaskId) -> Result<Stage, WorkspaceError> {
        let home = self.home(task);
        let tree = home.join("tree");
        let root = Root::open(&tree).map_err(gate)?;
        let ledger = Ledger::read(&home)?;
        Ok(Stage { home, tree, root, ledger })
    }

    fn guard(&self) -> std::sync::MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A commit of the kept state on the task's branch, so that the user's own tools can look at it.
    fn commit(&self, task: &TaskId, stage: &Stage, message: &str) -> Result<(), WorkspaceError> {
        let Some(repository) = &self.repository else { return Ok(()) };
        let branch = format!("refs/heads/{}", branch_of(task));
        let Some(parent) = repository.resolve(&branch).map_err(git)? else { return Ok(()) };
        let mut lines = Vec::new();
        for (path, entry) in stage.ledger.entries() {
            let object = match stage.ledger.bytes(&entry.kept)? {
                Some(bytes) => Some(repository.write_blob(&bytes).map_err(git)?),
                None => None,
            };
            lines.push(IndexLine {
                mode: fill::mode_of(&stage.tree.join(path.as_str())),
                object,
                path: path.to_string(),
            });
        }
        let index = stage.home.join("index");
        let commit = repository.commit(&index, &parent, &lines, message).map_err(git)?;
        repository.update_ref(&branch, &commit).map_err(git)?;
        let worktree = repository.worktree(&stage.tree).map_err(git)?;
        repository.read_into(&worktree, &commit).map_err(git)
    }
}

impl Workspace for GitWorkspace {
    fn stage(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let home = self.home(task);
        if Ledger::is_complete(&home) {
            return Ok(());
        }
        // A stage that was begun and not finished holds nothing of worth: no change was ever applied to it.
        if home.exists() {
            self.drop_stage(task)?;
        }
        std::fs::create_dir_all(&home).map_err(|e| io(&home, e))?;
        Ledger::begin(&home, &self.project)?;
        let tree = home.join("tree");
        if let Some(repository) = &self.repository {
            let base = fill::base_commit(repository, &self.root, &home)?;
            repository.update_ref(&base_ref(task), &base).map_err(git)?;
            let reason = format!("starling:{task}");
            let worktree: Worktree = repository.add_worktree(&tree, &branch_of(task), &base, &reason).map_err(git)?;
            fill::copy(&self.root, &repository.files().map_err(git)?, &tree)?;
            repository.read_into(&worktree, &base).map_err(git)?;
        } else {
            fill::copy(&self.root, &fill::plain_files(&self.project), &tree)?;
        }
        Ledger::finish(&home)
    }

    fn read(&self, task: &TaskId, path: &RelPath) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let stage = self.find(task)?;
        stage.root.read(path, MAX_FILE).map_err(gate)
    }

    fn base(&self, task: &TaskId, path: &RelPath) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let stage = self.find(task)?;
        match stage.ledger.get(path) {
            Some(entry) => stage.ledger.bytes(&entry.base),
            None => stage.root.read(path, MAX_FILE).map_err(gate),
        }
    }

    fn apply(&self, task: &TaskId, change: &ChangeSet) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let mut stage = self.find(task)?;
        let mut writes = Vec::new();
        for file in &change.files {
            let old = stage.root.read(&file.path, MAX_FILE).map_err(gate)?;
            let new = file.apply(old.as_deref())?;
            writes.push((file.path.clone(), old, new));
        }
        for (path, old, _) in &writes {
            stage.ledger.touch(path, old.as_deref())?;
        }
        for (at, (path, old, new)) in writes.iter().enumerate() {
            if let Err(error) = stage.root.write(path, old.as_deref(), new) {
                for (path, old, new) in writes.iter().take(at) {
                    put(&stage.root, path, Some(new), old.as_deref())?;
                }
                return Err(gate(error));
            }
        }
        Ok(())
    }

    fn revert(&self, task: &TaskId, change: &ChangeSet) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let stage = self.find(task)?;
        let paths: Vec<RelPath> = change.files.iter().map(|file| file.path.clone()).collect();
        back_to_kept(&stage, &paths)
    }

    fn keep(&self, task: &TaskId, message: &str) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let mut stage = self.find(task)?;
        let paths: Vec<RelPath> = stage.ledger.entries().map(|(path, _)| path.clone()).collect();
        for path in paths {
            let now = stage.root.read(&path, MAX_FILE).map_err(gate)?;
            stage.ledger.keep(&path, now.as_deref())?;
        }
        self.commit(task, &stage, message)
    }

    fn reset(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let stage = self.find(task)?;
        let paths: Vec<RelPath> = stage.ledger.entries().map(|(path, _)| path.clone()).collect();
        back_to_kept(&stage, &paths)
    }

    fn hunks(&self, task: &TaskId) -> Result<Vec<Hunk>, WorkspaceError> {
        hunks::all(&self.find(task)?)
    }

    fn diff(&self, task: &TaskId) -> Result<String, WorkspaceError> {
        hunks::unified(&self.find(task)?)
    }

    fn land(&self, task: &TaskId, wanted: &[u32]) -> Result<ByteProof, WorkspaceError> {
        let _guard = self.guard();
        land::land(&self.root, &self.find(task)?, wanted)
    }

    fn close(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        if !self.home(task).exists() {
            return Ok(());
        }
        self.rescue(task)?;
        self.drop_stage(task)
    }
}

impl GitWorkspace {
    /// Everything in the tree, ignored files too, as a commit under a ref of ours.
    fn rescue(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let home = self.home(task);
        let tree = home.join("tree");
        let (Some(repository), true) = (&self.repository, tree.join(".git").exists()) else { return Ok(()) };
        let branch = format!("refs/heads/{}", branch_of(task));
        let Some(parent) = repository.resolve(&branch).map_err(git)? else { return Ok(()) };
        let mut lines = Vec::new();
        for path in fill::every_file(&tree) {
            let file = tree.join(&path);
            let small = std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_FILE);
            if small && let Ok(bytes) = std::fs::read(&file) {
                let object = repository.write_blob(&bytes).map_err(git)?;
                lines.push(IndexLine { mode: fill::mode_of(&file), object: Some(object), path });
            }
        }
        let commit = repository
            .commit(&home.join("index"), &parent, &lines, "starling: everything in the stage\n")
            .map_err(git)?;
        repository.update_ref(&format!("refs/starling/rescue/{task}"), &commit).map_err(git)?;
        repository.update_ref(&branch, &commit).map_err(git)?;
        let worktree = repository.worktree(&tree).map_err(git)?;
        repository.read_into(&worktree, &commit).map_err(git)
    }

    /// Removes a stage whose content is rescued or of no worth. What git will not remove goes to the trash folder.
    fn drop_stage(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let home = self.home(task);
        let tree = home.join("tree");
        if let Some(repository) = &self.repository {
            let listed = repository.worktrees().map_err(git)?;
            let known = listed.iter().any(|path| same(path, &tree));
            if known && repository.remove_worktree(&tree).is_err() {
                self.to_trash(task, repository)?;
            }
            for name in [format!("refs/heads/{}", branch_of(task)), base_ref(task)] {
                if repository.resolve(&name).map_err(git)?.is_some() {
                    repository.delete_ref(&name).map_err(git)?;
                }
            }
        }
        match std::fs::remove_dir_all(&home) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(&home, error)),
            _ => Ok(()),
        }
    }

    /// The tree is kept for a person to look at; git's own folder for it, which we made, goes.
    fn to_trash(&self, task: &TaskId, repository: &Repository) -> Result<(), WorkspaceError> {
        let tree = self.home(task).join("tree");
        let worktree = repository.worktree(&tree).map_err(git)?;
        let trash = self.stages.join("trash");
        std::fs::create_dir_all(&trash).map_err(|e| io(&trash, e))?;
        let target = trash.join(format!("{task}-{}", uuid::Uuid::now_v7()));
        std::fs::rename(&tree, &target).map_err(|e| io(&tree, e))?;
        std::fs::remove_dir_all(&worktree.admin).map_err(|e| io(&worktree.admin, e))
    }
}

fn back_to_kept(stage: &Stage, paths: &[RelPath]) -> Result<(), WorkspaceError> {
    for path in paths {
        let Some(entry) = stage.ledger.get(path) else { continue };
        let now = stage.root.read(path, MAX_FILE).map_err(gate)?;
        put(&stage.root, path, now.as_deref(), stage.ledger.bytes(&entry.kept)?.as_deref())?;
    }
    Ok(())
}

/// Makes a file of the stage hold `to`, or be absent.
pub(crate) fn put(root: &Root, path: &RelPath, now: Option<&[u8]>, to: Option<&[u8]>) -> Result<(), WorkspaceError> {
    match (now, to) {
        (now, to) if now == to => Ok(()),
        (now, Some(to)) => root.write(path, now, to).map_err(gate),
        (Some(now), None) => root.remove(path, now).map_err(gate),
        (None, None) => Ok(()),
    }
}

fn same(a: &Path, b: &Path) -> bool {
    std::fs::canonicalize(a).ok() == std::fs::canonicalize(b).ok() || a == b
}

fn branch_of(task: &TaskId) -> String {
    format!("starling/{task}")
}

fn base_ref(task: &TaskId) -> String {
    format!("refs/starling/base/{task}")
}

pub(crate) fn io(path: &Path, error: impl std::fmt::Display) -> WorkspaceError {
    WorkspaceError::Io { what: path.display().to_string(), message: error.to_string() }
}

pub(crate) fn git(error: GitError) -> WorkspaceError {
    WorkspaceError::Git { message: error.to_string() }
}

pub(crate) fn gate(error: PathGateError) -> WorkspaceError {
    match error {
        PathGateError::Protected { path, reason } => {
            WorkspaceError::Refused { path: path.to_string(), reason: reason.to_owned() }
        }
        PathGateError::Refused { path, reason } => WorkspaceError::Refused { path: path.to_string(), reason },
        PathGateError::Changed { path } => WorkspaceError::NotClean { path: path.to_string() },
        PathGateError::TooLarge { path, bytes, limit } => WorkspaceError::Refused {
            path: path.to_string(),
            reason: format!("it has {bytes} bytes; {limit} is the limit"),
        },
        PathGateError::Io { path, source } => WorkspaceError::Io { what: path, message: source.to_string() },
    }
}

pub(crate) fn unchanged(version: &Version, other: &Version) -> bool {
    version == other
}

#[cfg(test)]
mod tests;
