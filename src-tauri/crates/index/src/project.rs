//! The index of one project: opening, refreshing, counting.

use crate::read::Root;
use crate::refresh::{Applied, apply};
use crate::walk::{DiskFile, Walked, walk};
use crate::watch::{self, WatchGuard};
use crate::{IndexError, database, refresh};
use rusqlite::Connection;
use starling_core::RelPath;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What the last refresh did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexStats {
    /// Files that are not ignored, binary and large ones too.
    pub files: u32,
    pub symbols: u32,
    /// Milliseconds to find out which files there are.
    pub walked_ms: u64,
    /// Milliseconds to read, parse and write what changed.
    pub parsed_ms: u64,
    /// Files that were not read because they are as they were.
    pub reused: u32,
    /// Files that were read.
    pub changed: u32,
}

/// The map of one project. Shared between threads; a refresh does not stop those who read.
#[derive(Debug)]
pub struct ProjectIndex {
    pub(crate) root: Root,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
    stats: Mutex<IndexStats>,
}

impl ProjectIndex {
    /// Opens the map of `project` in the file `database` and brings it up to date. The file is made when it is not there,
    /// and made anew when it is damaged, of another version or of another project.
    ///
    /// # Errors
    /// `Folder` when the project cannot be opened, `Database` when the file cannot be written.
    pub fn open(project: &Path, database: &Path) -> Result<ProjectIndex, IndexError> {
        match ProjectIndex::open_once(project, database) {
            // Damage may show only when a page is read.
            Err(IndexError::Damaged { .. }) => {
                database::remove(database)?;
                ProjectIndex::open_once(project, database)
            }
            other => other,
        }
    }

    fn open_once(project: &Path, database: &Path) -> Result<ProjectIndex, IndexError> {
        let root = Root::open(project).map_err(|error| IndexError::Folder {
            path: project.to_string_lossy().into_owned(),
            message: error.to_string(),
        })?;
        let writer = Mutex::new(database::open(database, &root.path)?);
        let reader = Mutex::new(database::connect(database)?);
        let index = ProjectIndex { root, writer, reader, stats: Mutex::default() };
        index.refresh()?;
        Ok(index)
    }

    /// Looks at every file that is not ignored and reads those that changed.
    ///
    /// # Errors
    /// `Database` or `Damaged` when the file of the index cannot be used.
    pub fn refresh(&self) -> Result<IndexStats, IndexError> {
        self.refresh_and_folders().map(|(stats, _)| stats)
    }

    /// The same; with the folders that are not ignored, for the watcher.
    pub(crate) fn refresh_and_folders(&self) -> Result<(IndexStats, Vec<PathBuf>), IndexError> {
        let mut writer = lock(&self.writer);
        let start = Instant::now();
        let walked = walk(&self.root.path);
        let walked_ms = start.elapsed().as_millis() as u64;
        let start = Instant::now();
        let applied = apply(&mut writer, &self.root, &walked, true)?;
        let stats = self.count(&writer, applied, walked_ms, start.elapsed().as_millis() as u64)?;
        Ok((stats, walked.folders))
    }

    /// Reads these files again if they changed, without looking at others. For files that the map knows already.
    pub(crate) fn refresh_files(&self, paths: &[RelPath]) -> Result<IndexStats, IndexError> {
        let mut writer = lock(&self.writer);
        let start = Instant::now();
        let (here, gone): (Vec<_>, Vec<_>) =
            paths.iter().map(|path| (path, self.root.stamp(path))).partition(|(_, stamp)| stamp.is_some());
        let gone: Vec<&RelPath> = gone.into_iter().map(|(path, _)| path).collect();
        refresh::remove(&mut writer, &gone)?;
        let file = |(path, stamp): (&RelPath, Option<_>)| stamp.map(|stamp| DiskFile { path: path.clone(), stamp });
        let walked = Walked { files: here.into_iter().filter_map(file).collect(), folders: Vec::new() };
        let applied = apply(&mut writer, &self.root, &walked, false)?;
        self.count(&writer, applied, 0, start.elapsed().as_millis() as u64)
    }

    /// What the last refresh did.
    pub fn stats(&self) -> IndexStats {
        *lock(&self.stats)
    }

    /// Follows changes until the guard is dropped.
    ///
    /// # Errors
    /// `Watch` when the system has no watcher at all. Too few watches are no error: the guard says so, and the map looks by
    /// itself from time to time.
    pub fn watch(self: &Arc<Self>) -> Result<WatchGuard, IndexError> {
        watch::start(Arc::clone(self), watch::Limits::default(), |_| {})
    }

    pub(crate) fn reader(&self) -> MutexGuard<'_, Connection> {
        lock(&self.reader)
    }

    fn count(
        &self,
        connection: &Connection,
        applied: Applied,
        walked_ms: u64,
        parsed_ms: u64,
    ) -> Result<IndexStats, IndexError> {
        let counts = "SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM symbol)";
        let (files, symbols) = connection.query_row(counts, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let Applied { reused, changed } = applied;
        let stats = IndexStats { files, symbols, walked_ms, parsed_ms, reused, changed };
        *lock(&self.stats) = stats;
        Ok(stats)
    }
}

/// A panic elsewhere leaves a connection usable: its transaction was rolled back when it was dropped.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
