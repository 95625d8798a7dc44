//! Filling a stage with the user's files as they are.

use super::{MAX_FILE, gate, git, io};
use crate::git::{IndexLine, Repository};
use crate::paths::Root;
use starling_core::RelPath;
use starling_core::port::WorkspaceError;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Larger trees are refused: copying them would take minutes and fill the disk.
const MAX_FILES: usize = 100_000;

/// A commit of what the user sees: HEAD with dirty and untracked files on top. Made in an index of our own.
pub(super) fn base_commit(repository: &Repository, root: &Root, home: &Path) -> Result<String, WorkspaceError> {
    let head = repository
        .head()
        .map_err(git)?
        .ok_or_else(|| WorkspaceError::Git { message: "there is no commit yet".to_owned() })?;
    let mut lines = Vec::new();
    for name in repository.dirty().map_err(git)? {
        let Ok(path) = RelPath::new(name.clone()) else { continue };
        let file = root.path().join(&name);
        let object = match root.read(&path, MAX_FILE) {
            Ok(Some(bytes)) => Some(repository.write_blob(&bytes).map_err(git)?),
            Ok(None) => None,
            // A link, a folder, a file too large: the base commit leaves it as HEAD has it.
            Err(_) => continue,
        };
        lines.push(IndexLine { mode: mode_of(&file), object, path: name });
    }
    repository.commit(&home.join("index"), &head, &lines, "starling: the tree as it was\n").map_err(git)
}

/// Copies files bytewise, with their executable bit. Links are made again as links when they stay inside.
pub(super) fn copy(from: &Root, names: &[String], to: &Path) -> Result<(), WorkspaceError> {
    if names.len() > MAX_FILES {
        let message = format!("the project has {} files; more than {MAX_FILES} are not copied", names.len());
        return Err(WorkspaceError::Io { what: from.path().display().to_string(), message });
    }
    std::fs::create_dir_all(to).map_err(|e| io(to, e))?;
    for name in names {
        let Ok(path) = RelPath::new(name.clone()) else { continue };
        let (source, target) = (from.path().join(name), to.join(name));
        let Ok(meta) = std::fs::symlink_metadata(&source) else { continue };
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(|e| io(parent, e))?;
        }
        if meta.is_symlink() {
            link(&source, &target);
        } else if meta.is_file() && meta.len() <= 64 * MAX_FILE {
            match from.read(&path, 64 * MAX_FILE) {
                Ok(Some(bytes)) => {
                    std::fs::write(&target, bytes).map_err(|e| io(&target, e))?;
                    let mode = meta.permissions().mode() & 0o777;
                    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(mode | 0o600))
                        .map_err(|e| io(&target, e))?;
                }
                Ok(None) => {}
                Err(error) => return Err(gate(error)),
            }
        }
    }
    Ok(())
}

/// A relative link without `..` stays inside; any other is left out.
fn link(source: &Path, target: &Path) {
    if let Ok(to) = std::fs::read_link(source)
        && to.is_relative()
        && !to.components().any(|part| part == std::path::Component::ParentDir)
    {
        // A link that cannot be made is a file less for the tests to see, which they will say.
        std::os::unix::fs::symlink(to, target).ok();
    }
}

/// Files of a folder without git, by its ignore files.
pub(super) fn plain_files(project: &Path) -> Vec<String> {
    let mut walk = ignore::WalkBuilder::new(project);
    walk.hidden(false).require_git(false).git_global(false).follow_links(false);
    walk.filter_entry(|entry| {
        !matches!(entry.file_name().to_str(), Some(".git" | "node_modules" | "target" | ".venv" | "venv"))
    });
    let files = walk.build().filter_map(Result::ok).filter(|e| e.file_type().is_some_and(|t| !t.is_dir()));
    let names = files.filter_map(|e| e.path().strip_prefix(project).ok().map(|p| p.to_string_lossy().into_owned()));
    names.collect()
}

/// Every regular file of a stage, ignored ones too, without git's pointer and without build output.
pub(super) fn every_file(tree: &Path) -> Vec<String> {
    let mut walk = ignore::WalkBuilder::new(tree);
    walk.standard_filters(false).follow_links(false);
    walk.filter_entry(|entry| !matches!(entry.file_name().to_str(), Some("target" | "node_modules" | "__pycache__")));
    let files = walk.build().filter_map(Result::ok).filter(|e| e.file_type().is_some_and(|t| t.is_file()));
    let names = files.filter_map(|e| e.path().strip_prefix(tree).ok().map(|p| p.to_string_lossy().into_owned()));
    names.filter(|name| name != ".git").collect()
}

/// The mode git writes for a file.
pub(super) fn mode_of(file: &Path) -> &'static str {
    match std::fs::symlink_metadata(file) {
        Ok(meta) if meta.permissions().mode() & 0o100 != 0 => "100755",
        _ => "100644",
    }
}
