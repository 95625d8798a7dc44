//! What a stage's changes touched: for each file the bytes as the task found them and as they were last kept. On disk
//! beside the tree, written before the tree is, so that a kill leaves a stage that can be brought back.

use super::io;
use serde_json::{Value, json};
use starling_core::RelPath;
use starling_core::change::fingerprint;
use starling_core::port::WorkspaceError;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name of the bytes of a file, `None` when it does not exist.
pub(crate) type Version = Option<String>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub base: Version,
    pub kept: Version,
}

pub(crate) struct Ledger {
    home: PathBuf,
    entries: BTreeMap<RelPath, Entry>,
}

const PROJECT: &str = "project.json";
const READY: &str = "ready";
const TOUCHED: &str = "touched.json";

impl Ledger {
    /// Marks a folder as a stage of ours before anything is put into it.
    pub fn begin(home: &Path, project: &Path) -> Result<(), WorkspaceError> {
        let text = json!({ "project": project.to_string_lossy() }).to_string();
        replace(&home.join(PROJECT), text.as_bytes())
    }

    pub fn finish(home: &Path) -> Result<(), WorkspaceError> {
        replace(&home.join(READY), b"")
    }

    pub fn is_complete(home: &Path) -> bool {
        home.join(READY).is_file() && home.join("tree").is_dir()
    }

    /// The project a stage belongs to; `None` when the folder is no stage of ours.
    pub fn project_of(home: &Path) -> Option<PathBuf> {
        let text = std::fs::read_to_string(home.join(PROJECT)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        value["project"].as_str().map(PathBuf::from)
    }

    pub fn read(home: &Path) -> Result<Ledger, WorkspaceError> {
        let file = home.join(TOUCHED);
        let mut entries = BTreeMap::new();
        match std::fs::read_to_string(&file) {
            Ok(text) => {
                let value: Value = serde_json::from_str(&text).map_err(|e| io(&file, e))?;
                for (path, entry) in value.as_object().into_iter().flatten() {
                    let path = RelPath::new(path.clone()).map_err(|e| io(&file, e))?;
                    let version = |key: &str| entry[key].as_str().map(str::to_owned);
                    entries.insert(path, Entry { base: version("base"), kept: version("kept") });
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(io(&file, error)),
        }
        Ok(Ledger { home: home.to_owned(), entries })
    }

    pub fn entries(&self) -> impl Iterator<Item = (&RelPath, &Entry)> {
        self.entries.iter()
    }

    pub fn get(&self, path: &RelPath) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Remembers the bytes of a file before its first change.
    pub fn touch(&mut self, path: &RelPath, bytes: Option<&[u8]>) -> Result<(), WorkspaceError> {
        if self.entries.contains_key(path) {
            return Ok(());
        }
        let version = self.store(bytes)?;
        self.entries.insert(path.clone(), Entry { base: version.clone(), kept: version });
        self.write()
    }

    pub fn keep(&mut self, path: &RelPath, bytes: Option<&[u8]>) -> Result<(), WorkspaceError> {
        let version = self.store(bytes)?;
        if let Some(entry) = self.entries.get_mut(path) {
            entry.kept = version;
        }
        self.write()
    }

    pub fn bytes(&self, version: &Version) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let Some(name) = version else { return Ok(None) };
        let file = self.home.join("objects").join(name);
        std::fs::read(&file).map(Some).map_err(|e| io(&file, e))
    }

    fn store(&self, bytes: Option<&[u8]>) -> Result<Version, WorkspaceError> {
        let Some(bytes) = bytes else { return Ok(None) };
        let name = fingerprint(bytes).to_string();
        let folder = self.home.join("objects");
        std::fs::create_dir_all(&folder).map_err(|e| io(&folder, e))?;
        let file = folder.join(&name);
        if !file.is_file() {
            replace(&file, bytes)?;
        }
        Ok(Some(name))
    }

    fn write(&self) -> Result<(), WorkspaceError> {
        let rows = self
            .entries
            .iter()
            .map(|(path, entry)| (path.to_string(), json!({ "base": entry.base, "kept": entry.kept })));
        let value = Value::Object(rows.collect());
        replace(&self.home.join(TOUCHED), value.to_string().as_bytes())
    }
}

/// Whole or not at all.
fn replace(file: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    let temporary = file.with_extension("new");
    let mut open = std::fs::File::create(&temporary).map_err(|e| io(&temporary, e))?;
    open.write_all(bytes).map_err(|e| io(&temporary, e))?;
    open.sync_all().map_err(|e| io(&temporary, e))?;
    std::fs::rename(&temporary, file).map_err(|e| io(file, e))
}
