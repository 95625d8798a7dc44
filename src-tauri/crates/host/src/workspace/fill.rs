//! Filling a stage with the user's files as they are, and saying what it holds as lines of an index.

use super::{MAX_FILE, gate, git, io};
use crate::git::{IndexLine, Repository};
use crate::paths::{PathGateError, Root};
use starling_core::RelPath;
use starling_core::port::WorkspaceError;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// Larger trees are refused: copying them would take minutes and fill the disk.
const MAX_FILES: usize = 100_000;
const MAX_TREE: u64 = 8 * 1024 * 1024 * 1024;
/// A larger file is left out of the stage.
const MAX_COPY: u64 = 512 * 1024 * 1024;

/// What a stage was filled with.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Filled {
    pub files: Vec<String>,
    pub links: Vec<String>,
    /// In the stage, but too large for the object store.
    pub loose: Vec<String>,
    /// Not in the stage: too large, or refused by the path gate.
    pub left_out: Vec<String>,
}

/// Copies files bytewise, with their executable bit. Links are made again as links when they stay inside.
pub(super) fn copy(from: &Root, names: &[String], to: &Path) -> Result<Filled, WorkspaceError> {
    let too_much = |message: String| WorkspaceError::Io { what: from.path().display().to_string(), message };
    if names.len() > MAX_FILES {
        return Err(too_much(format!("the project has {} files; more than {MAX_FILES} are not copied", names.len())));
    }
    std::fs::create_dir_all(to).map_err(|e| io(to, e))?;
    let mut filled = Filled::default();
    let mut total = 0;
    for name in names {
        let (source, target) = (from.path().join(name), to.join(name));
        let Ok(meta) = std::fs::symlink_metadata(&source) else { continue };
        let Ok(path) = RelPath::new(name.clone()) else {
            filled.left_out.push(name.clone());
            continue;
        };
        if meta.is_dir() {
            // A submodule, or another repository: it is not part of this one.
            continue;
        }
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(|e| io(parent, e))?;
        }
        let list = if meta.is_symlink() {
            if link(&path, &source, &target) { &mut filled.links } else { &mut filled.left_out }
        } else if meta.len() > MAX_COPY {
            &mut filled.left_out
        } else {
            match copy_file(from, &path, &target, meta.permissions().mode())? {
                None => &mut filled.left_out,
                Some(bytes) => {
                    total += bytes;
                    if bytes > MAX_FILE { &mut filled.loose } else { &mut filled.files }
                }
            }
        };
        list.push(name.clone());
        if total > MAX_TREE {
            return Err(too_much(format!("the project is larger than {MAX_TREE} bytes; it is not copied")));
        }
    }
    Ok(filled)
}

/// The bytes copied; `None` when the path gate refuses the file.
fn copy_file(from: &Root, path: &RelPath, target: &Path, mode: u32) -> Result<Option<u64>, WorkspaceError> {
    let mut source = match from.open_file(path) {
        Ok(Some(source)) => source,
        Ok(None) | Err(PathGateError::Refused { .. }) => return Ok(None),
        Err(error) => return Err(gate(error)),
    };
    let mut file = std::fs::File::create_new(target).map_err(|e| io(target, e))?;
    let bytes = std::io::copy(&mut source, &mut file).map_err(|e| io(target, e))?;
    let mode = std::fs::Permissions::from_mode(mode & 0o777 | 0o600);
    file.set_permissions(mode).map_err(|e| io(target, e))?;
    Ok(Some(bytes))
}

/// A relative link that only climbs at its beginning, and not above the root, stays inside; any other is left out.
fn link(path: &RelPath, source: &Path, target: &Path) -> bool {
    let Ok(to) = std::fs::read_link(source) else { return false };
    let depth = path.parent().split('/').filter(|part| !part.is_empty()).count();
    let climbs = to.components().take_while(|part| *part == Component::ParentDir).count();
    let inside = climbs <= depth
        && to.components().skip(climbs).all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    inside && std::os::unix::fs::symlink(to, target).is_ok()
}

/// A commit of exactly what the stage holds, on top of HEAD. Made in an index of our own.
pub(super) fn base_commit(
    repository: &Repository,
    filled: &Filled,
    tree: &Path,
    home: &Path,
) -> Result<String, WorkspaceError> {
    let head = repository.head().map_err(git)?;
    let head = head.ok_or_else(|| WorkspaceError::Git { message: "there is no commit yet".to_owned() })?;
    let mut lines = lines(repository, tree, home, &filled.files, &filled.links)?;
    let kept: BTreeSet<&str> =
        [&filled.files, &filled.links, &filled.loose].into_iter().flatten().map(String::as_str).collect();
    // What the user deleted, and what is not in the stage: submodules, refused files.
    for path in repository.paths_of(&head).map_err(git)?.into_iter().filter(|path| !kept.contains(path.as_str())) {
        lines.push(IndexLine { mode: "0", object: None, path });
    }
    commit(repository, home, &[&head], &lines, "starling: the tree as it was\n")
}

pub(super) fn commit(
    repository: &Repository,
    home: &Path,
    parents: &[&str],
    lines: &[IndexLine],
    message: &str,
) -> Result<String, WorkspaceError> {
    // A new name each time: a kill may have left a lock beside the last one.
    let index = home.join(format!("index-{}", uuid::Uuid::now_v7()));
    repository.commit(&index, parents, lines, message).map_err(git)
}

/// The index lines of files and links of a tree; their content goes into the object store as it is.
pub(super) fn lines(
    repository: &Repository,
    tree: &Path,
    home: &Path,
    files: &[String],
    links: &[String],
) -> Result<Vec<IndexLine>, WorkspaceError> {
    let mut places: Vec<PathBuf> = files.iter().map(|name| tree.join(name)).collect();
    // Git reads a link's text from a file, as it reads everything else: one command for all.
    let texts = home.join("links");
    for (n, name) in links.iter().enumerate() {
        let to = std::fs::read_link(tree.join(name)).map_err(|e| io(&tree.join(name), e))?;
        std::fs::create_dir_all(&texts).map_err(|e| io(&texts, e))?;
        let text = texts.join(n.to_string());
        std::fs::write(&text, to.as_os_str().as_bytes()).map_err(|e| io(&text, e))?;
        places.push(text);
    }
    let objects = repository.write_files(&places).map_err(git)?;
    let modes = files.iter().map(|name| mode_of(&tree.join(name))).chain(links.iter().map(|_| "120000"));
    let names = files.iter().chain(links);
    let lines = names.zip(modes).zip(objects);
    Ok(lines.map(|((path, mode), object)| IndexLine { mode, object: Some(object), path: path.clone() }).collect())
}

/// Files of a folder without git, by its ignore files.
pub(super) fn plain_files(project: &Path) -> Vec<String> {
    let mut walk = ignore::WalkBuilder::new(project);
    walk.hidden(false).require_git(false).git_global(false).follow_links(false);
    walk.filter_entry(|entry| {
        !matches!(entry.file_name().to_str(), Some(".git" | ".venv" | "venv")) && !is_build(entry.file_name().to_str())
    });
    names(project, walk, |kind| !kind.is_dir())
}

/// Every file or link of a stage, ignored ones too, without git's pointer, other repositories and build output.
pub(super) fn every_file(tree: &Path) -> Vec<String> {
    let mut walk = ignore::WalkBuilder::new(tree);
    walk.standard_filters(false).follow_links(false);
    walk.filter_entry(|entry| entry.file_name() != ".git" && !is_build(entry.file_name().to_str()));
    names(tree, walk, |kind| kind.is_file() || kind.is_symlink())
}

fn names(root: &Path, walk: ignore::WalkBuilder, wanted: fn(&std::fs::FileType) -> bool) -> Vec<String> {
    let files = walk.build().filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|kind| wanted(&kind)));
    let mut names: Vec<String> =
        files.filter_map(|entry| Some(entry.path().strip_prefix(root).ok()?.to_str()?.to_owned())).collect();
    names.sort();
    names
}

/// Folders that a build fills again.
pub(super) fn is_build(name: Option<&str>) -> bool {
    matches!(name, Some("target" | "node_modules" | "__pycache__" | ".pytest_cache" | ".mypy_cache"))
}

/// The mode git writes for a file.
pub(super) fn mode_of(file: &Path) -> &'static str {
    match std::fs::symlink_metadata(file) {
        Ok(meta) if meta.is_symlink() => "120000",
        Ok(meta) if meta.permissions().mode() & 0o100 != 0 => "100755",
        _ => "100644",
    }
}
