//! The ports of one project: its code map, its workspace, its checks. Each project has its own index file, named by the
//! hash of its path, so that two projects of one name do not meet.

use super::{ComposeError, Starling};
use starling_core::change::fingerprint;
use starling_host::checks::ProjectChecks;
use starling_host::workspace::GitWorkspace;
use starling_index::ProjectIndex;
use starling_swarm::Ports;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One opened project.
pub struct Project {
    pub ports: Ports,
    /// The same map as in the ports, to bring it up to date before a task begins.
    pub index: Arc<ProjectIndex>,
    pub workspace: Arc<GitWorkspace>,
}

impl Project {
    /// `project` is canonical.
    pub fn open(starling: &Starling, project: &Path, trusted: bool) -> Result<Project, ComposeError> {
        let folders = &starling.folders;
        let workspace = Arc::new(GitWorkspace::open(project, &folders.worktrees)?);
        let stages = Arc::clone(&workspace);
        let checks = ProjectChecks::new(move |task| stages.stage_path(task), folders.scratch.clone(), trusted)
            .with_packages_of(project);
        let index = Arc::new(index(starling, project)?);
        let ports = Ports {
            models: Arc::clone(&starling.residency) as _,
            map: Arc::clone(&index) as _,
            workspace: Arc::clone(&workspace) as _,
            checks: Arc::new(checks),
            cloud: starling.reviewer()?,
            journal: Arc::clone(&starling.store) as _,
            ledger: Arc::clone(&starling.store) as _,
            clock: Arc::clone(&starling.clock) as _,
            events: Arc::clone(&starling.fanout) as _,
        };
        Ok(Project { ports, index, workspace })
    }
}

/// The code map alone, for commands that need no model and no workspace.
pub fn index(starling: &Starling, project: &Path) -> Result<ProjectIndex, ComposeError> {
    Ok(ProjectIndex::open(project, &index_file(&starling.folders.index, project))?)
}

pub fn index_file(folder: &Path, project: &Path) -> PathBuf {
    let hash = fingerprint(project.to_string_lossy().as_bytes());
    folder.join(format!("{}.db", hash.as_str().get(..16).unwrap_or(hash.as_str())))
}
