//! The end of a stage: what is in it is rescued, then it goes. Nothing is removed that is not saved first, git is never
//! forced, and only folders with our marker are touched.

use super::fill;
use super::{GitWorkspace, Ledger, MAX_FILE, base_ref, branch_of, git, io, is_plain, rescue_ref};
use crate::git::{IndexLine, Repository, Worktree};
use starling_core::TaskId;
use starling_core::port::WorkspaceError;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// More than this is not put into the user's object store; the stage goes to the trash instead.
const MAX_RESCUE: u64 = 256 * 1024 * 1024;
const TRASH_DAYS: u64 = 14;

impl GitWorkspace {
    pub(super) fn end(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let home = self.home(task);
        if is_plain(task) && !home.exists() {
            return Ok(());
        }
        self.own(task)?;
        let tree = home.join("tree");
        let worktree = self.worktree_of(&tree)?;
        let saved = match (&self.repository, &worktree) {
            (Some(repository), Some(worktree)) if tree.is_dir() => self.rescue(task, repository, worktree)?,
            _ => false,
        };
        if !saved {
            self.to_trash(task, worktree.as_ref())?;
        }
        self.drop_stage(task)
    }

    /// Everything in the tree, ignored files too, as a commit under a ref of ours. `false` when something in it could not
    /// be saved that way.
    fn rescue(&self, task: &TaskId, repository: &Repository, worktree: &Worktree) -> Result<bool, WorkspaceError> {
        let (home, tree) = (self.home(task), &worktree.tree);
        let branch = format!("refs/heads/{}", branch_of(task));
        let Some(head) = repository.resolve(&branch).map_err(git)? else { return Ok(false) };
        let (mut files, mut links, mut total, mut complete) = (Vec::new(), Vec::new(), 0, true);
        for name in fill::every_file(tree) {
            let place = tree.join(&name);
            let meta = std::fs::symlink_metadata(&place).map_err(|e| io(&place, e))?;
            // Git reads names line by line here.
            let fits = meta.len() <= MAX_FILE && total + meta.len() <= MAX_RESCUE && !name.contains(char::is_control);
            complete &= fits;
            if fits {
                total += meta.len();
                if meta.is_symlink() { links.push(name) } else { files.push(name) }
            }
        }
        let mut lines = fill::lines(repository, tree, &home, &files, &links)?;
        for path in repository.paths_of(&head).map_err(git)? {
            if std::fs::symlink_metadata(tree.join(&path)).is_err() {
                lines.push(IndexLine { mode: "0", object: None, path });
            }
        }
        // A task that was staged again has an earlier rescue; it stays reachable as the second parent.
        let earlier = repository.resolve(&rescue_ref(task)).map_err(git)?;
        let parents: Vec<&str> = std::iter::once(head.as_str()).chain(earlier.as_deref()).collect();
        let message = "starling: everything in the stage\n";
        let commit = fill::commit(repository, &home, &parents, &lines, message)?;
        repository.update_ref(&rescue_ref(task), &commit).map_err(git)?;
        if repository.resolve(&rescue_ref(task)).map_err(git)?.as_deref() != Some(commit.as_str()) {
            return Err(WorkspaceError::Git { message: "the rescue ref was not written".to_owned() });
        }
        // The worktree is clean now, so that git agrees to remove it.
        repository.update_ref(&branch, &commit).map_err(git)?;
        repository.read_into(worktree, &commit).map_err(git)?;
        Ok(complete)
    }

    /// Removes a stage whose content is saved or of no worth. What git will not remove goes to the trash.
    pub(super) fn drop_stage(&self, task: &TaskId) -> Result<(), WorkspaceError> {
        let home = self.home(task);
        let tree = home.join("tree");
        if let Some(worktree) = self.worktree_of(&tree)?
            && let Some(repository) = &self.repository
            && repository.remove_worktree(&worktree).is_err()
        {
            self.to_trash(task, Some(&worktree))?;
        }
        if let Some(repository) = &self.repository {
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
    fn to_trash(&self, task: &TaskId, worktree: Option<&Worktree>) -> Result<(), WorkspaceError> {
        let tree = self.home(task).join("tree");
        if tree.is_dir() {
            let trash = self.trash();
            std::fs::create_dir_all(&trash).map_err(|e| io(&trash, e))?;
            let target = trash.join(format!("{task}.{}", uuid::Uuid::now_v7()));
            std::fs::rename(&tree, &target).map_err(|e| io(&tree, e))?;
        }
        match worktree.map(|worktree| (std::fs::remove_dir_all(&worktree.admin), &worktree.admin)) {
            Some((Err(error), admin)) if error.kind() != std::io::ErrorKind::NotFound => Err(io(admin, error)),
            _ => Ok(()),
        }
    }

    fn trash(&self) -> std::path::PathBuf {
        self.stages.join("trash")
    }

    /// Closes stages of this project whose tasks are not in `live`: left over from a kill between two facts. Empties the
    /// trash of what has lain there for 14 days. One stage that cannot be closed does not keep the others.
    pub fn sweep(&self, live: &[TaskId]) -> Result<Vec<TaskId>, WorkspaceError> {
        let _guard = self.guard();
        let (mut swept, mut failed) = (Vec::new(), None);
        let entries = std::fs::read_dir(&self.stages).map_err(|e| io(&self.stages, e))?;
        for entry in entries.filter_map(Result::ok) {
            let task = TaskId::new(entry.file_name().to_string_lossy().into_owned());
            let ours = Ledger::project_of(&entry.path()).is_some_and(|project| project == self.project);
            if !ours || live.contains(&task) {
                continue;
            }
            match self.end(&task) {
                Ok(()) => swept.push(task),
                Err(error) => failed = Some(error),
            }
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        empty_trash(&self.trash(), now)?;
        swept.sort();
        failed.map_or(Ok(swept), Err)
    }
}

/// Only what we named ourselves: a task, a dot, and the time as a UUIDv7. `now` counts from 1970.
pub(super) fn empty_trash(trash: &Path, now: Duration) -> Result<(), WorkspaceError> {
    let Ok(entries) = std::fs::read_dir(trash) else { return Ok(()) };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let id = name.rsplit_once('.').and_then(|(_, id)| uuid::Uuid::parse_str(id).ok());
        let Some((seconds, _)) = id.and_then(|id| id.get_timestamp()).map(|time| time.to_unix()) else { continue };
        if now.as_secs() > seconds + TRASH_DAYS * 24 * 60 * 60 {
            std::fs::remove_dir_all(entry.path()).map_err(|e| io(&entry.path(), e))?;
        }
    }
    Ok(())
}
