//! Which files a project has, by its ignore rules. Reads names and sizes only.

use ignore::{WalkBuilder, WalkState};
use starling_core::RelPath;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::UNIX_EPOCH;

/// Patterns that keep files out of the map without keeping them out of git.
const OWN_IGNORE_FILE: &str = ".starlingignore";

/// As long as this is the same, so is the file's content, as far as a file system can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub size: u64,
    /// Nanoseconds since 1970; files from before count as 0.
    pub mtime: i64,
    /// 0 where the file system has none.
    pub inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mtime = modified.and_then(|age| i64::try_from(age.as_nanos()).ok()).unwrap_or(0);
        Stamp { size: metadata.len(), mtime, inode: inode(metadata) }
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

#[derive(Debug)]
pub(crate) struct DiskFile {
    pub path: RelPath,
    pub stamp: Stamp,
}

#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// By path.
    pub files: Vec<DiskFile>,
    /// Absolute; only those that are not ignored, the project itself first.
    pub folders: Vec<PathBuf>,
}

/// Walks with several threads. What cannot be read or vanishes meanwhile is left out; symlinks are never followed.
pub(crate) fn walk(project: &Path) -> Walked {
    let repository = repository_of(project);
    let own = repository.as_deref() == Some(project);
    let walked = walk_with(project, repository.is_some(), true);
    // A home folder under git often ignores everything in it. A project in there is still meant to be read.
    if walked.files.is_empty() && repository.is_some() && !own { walk_with(project, false, false) } else { walked }
}

fn repository_of(project: &Path) -> Option<PathBuf> {
    project.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok()).map(Path::to_owned)
}

fn walk_with(project: &Path, in_git: bool, parents: bool) -> Walked {
    let (files_to, files) = mpsc::channel::<DiskFile>();
    let (folders_to, folders) = mpsc::channel::<PathBuf>();
    let walk = WalkBuilder::new(project)
        .hidden(false)
        .follow_links(false)
        .parents(parents && in_git)
        .require_git(in_git)
        // The user's global rules would give two people two maps of one project.
        .git_global(false)
        .add_custom_ignore_filename(OWN_IGNORE_FILE)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build_parallel();
    walk.run(|| {
        let (files_to, folders_to) = (files_to.clone(), folders_to.clone());
        Box::new(move |entry| {
            let Ok(entry) = entry else { return WalkState::Continue };
            let sent = match entry.file_type() {
                Some(kind) if kind.is_dir() => folders_to.send(entry.into_path()).is_ok(),
                Some(kind) if kind.is_file() => {
                    disk_file(project, &entry).is_none_or(|file| files_to.send(file).is_ok())
                }
                _ => true,
            };
            if sent { WalkState::Continue } else { WalkState::Quit }
        })
    });
    drop((files_to, folders_to));
    let mut walked = Walked { files: files.into_iter().collect(), folders: folders.into_iter().collect() };
    walked.files.sort_by(|a, b| a.path.cmp(&b.path));
    walked.folders.sort();
    walked
}

fn disk_file(project: &Path, entry: &ignore::DirEntry) -> Option<DiskFile> {
    let stamp = Stamp::of(&entry.metadata().ok()?);
    Some(DiskFile { path: relative(project, entry.path())?, stamp })
}

/// The path inside the project; `None` for names that break the rules of [`RelPath`].
pub(crate) fn relative(project: &Path, path: &Path) -> Option<RelPath> {
    let inside = path.strip_prefix(project).ok()?.to_str()?;
    #[cfg(windows)]
    let inside = &inside.replace('\\', "/");
    RelPath::new(inside).ok()
}
