//! The place where a task works, and the only way back into the user's tree.
//!
//! A stage is a locked git worktree filled with the user's files as they are, dirty and untracked ones included, byte for
//! byte and without git's filters; where there is no git, a plain copy. What a change touches is kept beside the tree: the
//! bytes as the task found them (base) and as the last `keep` left them. The user's index, HEAD and branches are never
//! written; the user's files only by `land`, on a clean base.

mod close;
mod fill;
mod hunks;
mod land;
mod ledger;

use crate::git::{Difference, GitError, IndexLine, Repository, Worktree};
use crate::paths::{PathGateError, Root, Write, temporary_name};
use ledger::{Ledger, Origin};
use starling_core::change::{ByteProof, ChangeSet, FileChange, FileEdit, Hunk, fingerprint};
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
        let stages = std::fs::canonicalize(worktrees).map_err(|e| io(worktrees, e))?;
        let repository = match Repository::open(&project, &empty_folder(&stages)?) {
            Ok(repository) => repository,
            // A git on which the gate does not hold is not run at all: the task works on a plain copy.
            Err(GitError::TooOld { .. }) => None,
            Err(error) => return Err(git(error)),
        };
        let dot = project.join(".git");
        let mut denied = vec![stages.as_path()];
        denied.extend(dot.exists().then_some(dot.as_path()));
        denied.extend(repository.as_ref().map(Repository::git_dirs).into_iter().flatten());
        let root = Root::open(&project).and_then(|root| root.denying(&denied)).map_err(gate)?;
        Ok(GitWorkspace { project, root, stages, repository, lock: Mutex::default() })
    }

    /// The folder of a task's tree, if it has a stage.
    pub fn stage_path(&self, task: &TaskId) -> Option<PathBuf> {
        let tree = self.home(task).join("tree");
        (is_plain(task) && tree.is_dir()).then_some(tree)
    }

    /// The checked-out branch, "" when there is none.
    pub fn branch(&self) -> String {
        self.repository.as_ref().and_then(|repository| repository.branch().ok()).unwrap_or_default()
    }

    fn home(&self, task: &TaskId) -> PathBuf {
        self.stages.join(task.as_str())
    }

    /// The stage of a task must be a folder of ours, for this project.
    fn own(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let refused = |reason: &str| WorkspaceError::Refused { path: task.to_string(), reason: reason.to_owned() };
        if !is_plain(task) {
            return Err(refused("this is not the id of a task"));
        }
        match Ledger::project_of(&self.home(task)) {
            Some(project) if project == self.project => Ok(()),
            Some(_) => Err(refused("its stage belongs to another project")),
            None => Err(refused("it has no stage")),
        }
    }

    fn find(&self, task: &TaskId) -> Result<Stage, WorkspaceError> {
        self.own(task)?;
        let home = self.home(task);
        let tree = home.join("tree");
        let root = Root::open(&tree).map_err(gate)?;
        let ledger = Ledger::read(&home)?;
        Ok(Stage { home, tree, root, ledger })
    }

    fn worktree_of(&self, tree: &Path) -> Result<Option<Worktree>, WorkspaceError> {
        self.repository.as_ref().map_or(Ok(None), |repository| repository.worktree(tree).map_err(git))
    }

    fn guard(&self) -> std::sync::MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, task: &TaskId, home: &Path) -> Result<(), WorkspaceError> {
        std::fs::create_dir_all(home).map_err(|e| io(home, e))?;
        Ledger::begin(home, &self.project)?;
        let tree = home.join("tree");
        let Some(repository) = &self.repository else {
            let filled = fill::copy(&self.root, &fill::plain_files(&self.project), &tree)?;
            return Ledger::finish(home, &Origin { commit: None, loose: filled.loose, left_out: filled.left_out });
        };
        let head = repository.head().map_err(git)?;
        let head = head.ok_or_else(|| WorkspaceError::Git { message: "there is no commit any more".to_owned() })?;
        let worktree =
            repository.add_worktree(&tree, &branch_of(task), &head, &format!("starling:{task}")).map_err(git)?;
        let filled = fill::copy(&self.root, &repository.files().map_err(git)?, &tree)?;
        let base = fill::base_commit(repository, &filled, &tree, home)?;
        repository.update_ref(&base_ref(task), &base).map_err(git)?;
        repository.update_ref(&format!("refs/heads/{}", branch_of(task)), &base).map_err(git)?;
        repository.read_into(&worktree, &base).map_err(git)?;
        Ledger::finish(home, &Origin { commit: Some(base), loose: filled.loose, left_out: filled.left_out })
    }

    /// The bytes of a file as the task found them, whatever tests did to the stage meanwhile.
    fn base_of(&self, stage: &Stage, path: &RelPath) -> Result<Option<Vec<u8>>, WorkspaceError> {
        if let Some(entry) = stage.ledger.get(path) {
            return stage.ledger.bytes(&entry.base);
        }
        let Origin { commit, loose, .. } = &stage.ledger.origin;
        match (&self.repository, commit) {
            (Some(repository), Some(commit)) if !loose.iter().any(|name| name == path.as_str()) => {
                repository.show(commit, path.as_str()).map_err(git)
            }
            _ => stage.root.read(path, MAX_FILE).map_err(gate),
        }
    }

    /// A commit of the kept state on the task's branch, so that the user's own tools can look at it.
    fn commit(&self, task: &TaskId, stage: &Stage, message: &str) -> Result<(), WorkspaceError> {
        let (Some(repository), Some(worktree)) = (&self.repository, self.worktree_of(&stage.tree)?) else {
            return Ok(());
        };
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
        let commit = fill::commit(repository, &stage.home, &[&parent], &lines, message)?;
        repository.update_ref(&branch, &commit).map_err(git)?;
        repository.read_into(&worktree, &commit).map_err(git)
    }

    /// What tests or builds did to files that no change touches: taken back, and new files removed. Ignored files and
    /// build output stay.
    fn clean(&self, stage: &Stage) -> Result<(), WorkspaceError> {
        let (Some(repository), Some(worktree)) = (&self.repository, self.worktree_of(&stage.tree)?) else {
            return Ok(());
        };
        let mut changed = Vec::new();
        for difference in repository.differences(&worktree).map_err(git)? {
            match difference {
                Difference::Changed(path) => changed.push(path),
                Difference::Untracked(path) if path.split('/').any(|part| fill::is_build(Some(part))) => {}
                Difference::Untracked(path) => {
                    let file = stage.tree.join(&path);
                    if !stage.ledger.origin.loose.contains(&path) && !path.ends_with('/') {
                        std::fs::remove_file(&file).map_err(|e| io(&file, e))?;
                    }
                }
            }
        }
        changed.retain(|path| !stage.ledger.origin.loose.contains(path));
        if changed.is_empty() { Ok(()) } else { repository.restore(&worktree, &changed).map_err(git) }
    }
}

impl Workspace for GitWorkspace {
    fn stage(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let home = self.home(task);
        // A folder without anything of worth and without a marker is where a kill came first of all.
        let begun = home.join("tree").exists() || Ledger::project_of(&home).is_some();
        if begun || !is_plain(task) {
            self.own(task)?;
        }
        if Ledger::is_complete(&home) {
            // A kill in the middle of a commit leaves git's lock in its folder for this worktree, where only we write.
            if let Some(worktree) = self.worktree_of(&home.join("tree"))? {
                std::fs::remove_file(worktree.admin.join("index.lock")).ok();
            }
            return Ok(());
        }
        // What a kill left half made holds nothing of worth: no change was ever applied to it. The same for what git
        // still knows of a stage whose folder is gone.
        self.drop_stage(task)?;
        self.make(task, &home)
    }

    fn read(&self, task: &TaskId, path: &RelPath) -> Result<Option<Vec<u8>>, WorkspaceError> {
        self.find(task)?.root.read(path, MAX_FILE).map_err(gate)
    }

    fn base(&self, task: &TaskId, path: &RelPath) -> Result<Option<Vec<u8>>, WorkspaceError> {
        self.base_of(&self.find(task)?, path)
    }

    fn apply(&self, task: &TaskId, change: &ChangeSet) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let mut stage = self.find(task)?;
        let (mut edits, mut bases) = (Vec::new(), Vec::new());
        for file in &change.files {
            let old = stage.root.read(&file.path, MAX_FILE).map_err(gate)?;
            let new = file.apply(old.as_deref())?;
            if stage.ledger.get(&file.path).is_none() {
                bases.push((file.path.clone(), self.base_of(&stage, &file.path)?));
            }
            // `revert` looks for it by its fingerprint.
            stage.ledger.store(old.as_deref())?;
            edits.push((&file.path, old, new, temporary_name()));
        }
        stage.ledger.touch(&bases)?;
        let writes: Vec<Write<'_>> = edits
            .iter()
            .map(|(path, old, new, temporary)| Write { path, expected: old.as_deref(), bytes: new, temporary })
            .collect();
        stage.root.write_all(&writes).map_err(gate)
    }

    fn revert(&self, task: &TaskId, change: &ChangeSet) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let stage = self.find(task)?;
        change.files.iter().rev().try_for_each(|file| take_back(&stage, file))
    }

    fn keep(&self, task: &TaskId, message: &str) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let mut stage = self.find(task)?;
        let paths: Vec<RelPath> = stage.ledger.entries().map(|(path, _)| path.clone()).collect();
        let mut now = Vec::new();
        for path in paths {
            let bytes = stage.root.read(&path, MAX_FILE).map_err(gate)?;
            now.push((path, bytes));
        }
        stage.ledger.keep(&now)?;
        self.commit(task, &stage, message)
    }

    fn reset(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let _guard = self.guard();
        let stage = self.find(task)?;
        for (path, entry) in stage.ledger.entries() {
            let now = stage.root.read(path, MAX_FILE).map_err(gate)?;
            put(&stage.root, path, now.as_deref(), stage.ledger.bytes(&entry.kept)?.as_deref())?;
        }
        self.clean(&stage)
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
        self.end(task)
    }
}

/// The file as it was before this change was applied, whatever was done to it since. A change that was never applied is
/// left alone.
fn take_back(stage: &Stage, change: &FileChange) -> Result<(), WorkspaceError> {
    let path = &change.path;
    let Some(entry) = stage.ledger.get(path) else { return Ok(()) };
    let now = stage.root.read(path, MAX_FILE).map_err(gate)?;
    let before = match &change.edit {
        // A file of this name that was kept is this change's only if it still holds its bytes.
        FileEdit::Create { bytes } if entry.kept.is_none() || now.as_ref() == Some(bytes) => None,
        FileEdit::Create { .. } => return Ok(()),
        FileEdit::Splice { before, .. } if now.as_deref().map(fingerprint).as_ref() == Some(before) => return Ok(()),
        FileEdit::Splice { before, .. } if stage.ledger.knows(before.as_str()) => {
            stage.ledger.bytes(&Some(before.to_string()))?
        }
        FileEdit::Splice { .. } => return Err(WorkspaceError::NotClean { path: path.to_string() }),
    };
    put(&stage.root, path, now.as_deref(), before.as_deref())
}

/// Makes a file of the stage hold `to`, or be absent.
fn put(root: &Root, path: &RelPath, now: Option<&[u8]>, to: Option<&[u8]>) -> Result<(), WorkspaceError> {
    match (now, to) {
        (now, to) if now == to => Ok(()),
        (now, Some(to)) => root.write(path, now, to).map_err(gate),
        (Some(now), None) => root.remove(path, now).map_err(gate),
        (None, None) => Ok(()),
    }
}

/// A folder that holds nothing and that only we can write: home, hooks and working folder of git.
fn empty_folder(stages: &Path) -> Result<PathBuf, WorkspaceError> {
    use std::os::unix::fs::DirBuilderExt;
    let empty = stages.join(".empty");
    match std::fs::DirBuilder::new().mode(0o700).create(&empty) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(io(&empty, error)),
        _ => {}
    }
    // Whatever lies in it could be a hook. It is not replaced: a command of another project may be at work in it.
    let real = std::fs::symlink_metadata(&empty).map_err(|e| io(&empty, e))?.is_dir();
    let nothing = real && std::fs::read_dir(&empty).map_err(|e| io(&empty, e))?.next().is_none();
    if nothing { Ok(empty) } else { Err(io(&empty, "it must be an empty folder; remove what is in it")) }
}

/// Ids become names of folders, branches and refs.
fn is_plain(task: &TaskId) -> bool {
    let id = task.as_str();
    !id.is_empty()
        && id.len() <= 64
        && id != "trash"
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !id.starts_with('-')
}

fn branch_of(task: &TaskId) -> String {
    format!("starling/{task}")
}

fn base_ref(task: &TaskId) -> String {
    format!("refs/starling/base/{task}")
}

fn rescue_ref(task: &TaskId) -> String {
    format!("refs/starling/rescue/{task}")
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
        PathGateError::NotUndone { path, reason } => WorkspaceError::Io {
            what: path.to_string(),
            message: format!("it holds the new text although the change failed: {reason}"),
        },
        PathGateError::Io { path, source } => WorkspaceError::Io { what: path, message: source.to_string() },
    }
}

#[cfg(test)]
mod tests;
