//! What a stage is and what its changes touched: for each file the bytes as the task found them and as they were last
//! kept. On disk beside the tree, written before the tree is, so that a kill leaves a stage that can be brought back.

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

/// How a stage was made; known once it is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The commit of everything in the stage; `None` where there is no git.
    pub commit: Option<String>,
    /// Files that the commit does not hold as they are.
    pub loose: Vec<String>,
    /// Files of the project that the stage does not have.
    pub left_out: Vec<String>,
}

pub(crate) struct Ledger {
    home: PathBuf,
    pub origin: Origin,
    entries: BTreeMap<RelPath, Entry>,
}

const PROJECT: &str = "project.json";
const READY: &str = "ready.json";
const TOUCHED: &str = "touched.json";

impl Ledger {
    /// Marks a folder as a stage of ours before anything is put into it.
    pub fn begin(home: &Path, project: &Path) -> Result<(), WorkspaceError> {
        write_json(&home.join(PROJECT), &json!({ "project": project.to_string_lossy() }))
    }

    pub fn finish(home: &Path, origin: &Origin) -> Result<(), WorkspaceError> {
        let Origin { commit, loose, left_out } = origin;
        write_json(&home.join(READY), &json!({ "commit": commit, "loose": loose, "left_out": left_out }))
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
        let ready = read_json(&home.join(READY))?.unwrap_or_default();
        let list = |key: &str| {
            let names = ready[key].as_array().into_iter().flatten();
            names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
        };
        let commit = ready["commit"].as_str().map(str::to_owned);
        let origin = Origin { commit, loose: list("loose"), left_out: list("left_out") };
        let file = home.join(TOUCHED);
        let touched = read_json(&file)?.unwrap_or_default();
        let mut entries = BTreeMap::new();
        for (path, entry) in touched.as_object().into_iter().flatten() {
            let path = RelPath::new(path.clone()).map_err(|e| io(&file, e))?;
            let version = |key: &str| entry[key].as_str().map(str::to_owned);
            entries.insert(path, Entry { base: version("base"), kept: version("kept") });
        }
        Ok(Ledger { home: home.to_owned(), origin, entries })
    }

    pub fn entries(&self) -> impl Iterator<Item = (&RelPath, &Entry)> {
        self.entries.iter()
    }

    pub fn get(&self, path: &RelPath) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Remembers the base bytes of files before their first change.
    pub fn touch(&mut self, files: &[(RelPath, Option<Vec<u8>>)]) -> Result<(), WorkspaceError> {
        for (path, bytes) in files {
            let version = self.store(bytes.as_deref())?;
            self.entries.entry(path.clone()).or_insert(Entry { base: version.clone(), kept: version });
        }
        if files.is_empty() { Ok(()) } else { self.write() }
    }

    /// Remembers what files hold now as what `reset` goes back to; all of them at once.
    pub fn keep(&mut self, files: &[(RelPath, Option<Vec<u8>>)]) -> Result<(), WorkspaceError> {
        for (path, bytes) in files {
            let version = self.store(bytes.as_deref())?;
            if let Some(entry) = self.entries.get_mut(path) {
                entry.kept = version;
            }
        }
        self.write()
    }

    pub fn bytes(&self, version: &Version) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let Some(name) = version else { return Ok(None) };
        let file = self.home.join("objects").join(name);
        let bytes = std::fs::read(&file).map_err(|e| io(&file, e))?;
        if fingerprint(&bytes).as_str() == name { Ok(Some(bytes)) } else { Err(io(&file, "its content is damaged")) }
    }

    /// Whether bytes of this name were ever stored.
    pub fn knows(&self, name: &str) -> bool {
        self.home.join("objects").join(name).is_file()
    }

    pub fn store(&self, bytes: Option<&[u8]>) -> Result<Version, WorkspaceError> {
        let Some(bytes) = bytes else { return Ok(None) };
        let name = fingerprint(bytes).to_string();
        let folder = self.home.join("objects");
        std::fs::create_dir_all(&folder).map_err(|e| io(&folder, e))?;
        if !self.knows(&name) {
            replace(&folder.join(&name), bytes)?;
        }
        Ok(Some(name))
    }

    fn write(&self) -> Result<(), WorkspaceError> {
        let rows = self
            .entries
            .iter()
            .map(|(path, entry)| (path.to_string(), json!({ "base": entry.base, "kept": entry.kept })));
        write_json(&self.home.join(TOUCHED), &Value::Object(rows.collect()))
    }
}

pub(super) fn read_json(file: &Path) -> Result<Option<Value>, WorkspaceError> {
    match std::fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|e| io(file, e)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(file, error)),
    }
}

pub(super) fn write_json(file: &Path, value: &Value) -> Result<(), WorkspaceError> {
    replace(file, value.to_string().as_bytes())
}

/// Whole or not at all, and on disk when it returns.
fn replace(file: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    let temporary = file.with_extension("new");
    let mut open = std::fs::File::create(&temporary).map_err(|e| io(&temporary, e))?;
    open.write_all(bytes).map_err(|e| io(&temporary, e))?;
    open.sync_all().map_err(|e| io(&temporary, e))?;
    std::fs::rename(&temporary, file).map_err(|e| io(file, e))?;
    let folder = file.parent().unwrap_or(file);
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| io(folder, e))
}
