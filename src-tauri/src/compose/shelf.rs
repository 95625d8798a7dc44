//! Which models there are: files in the data folder, in `STARLING_MODELS` and in the repository's own `models/`, and the
//! endpoints of the settings; and which one a role gets when the user bound none. File headers are read once and remembered.

use super::cloud::Cloud;
use super::residency::{Known, Residency, Source};
use super::settings::Settings;
use super::settings_file::SettingsFile;
use starling_core::catalog::Catalog;
use starling_core::port::{Model, ModelError};
use starling_core::{ModelName, Role};
use starling_engine::{Kept, LoadOptions, LocalModel, gguf};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Tokens of working memory for all candidates of a request together.
pub const CONTEXT: u32 = 12_288;

/// Larger models are too slow on a CPU to be chosen unasked.
const LARGEST_UNASKED: u32 = 3_500;

/// Bytes that beginnings of prompts may take on disk, of all models together.
const KEPT_BYTES: u64 = 1 << 30;

/// A model file that may be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    pub name: ModelName,
    pub path: PathBuf,
    pub bytes: u64,
    /// Megabytes in memory, with its context.
    pub memory_mb: u64,
    /// Millions of parameters.
    pub millions: u32,
    pub architecture: String,
}

/// A file that is named like a model but must not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub path: PathBuf,
    pub why: String,
}

/// Path, length and time of change: a file that changed is read again.
type Stamp = (PathBuf, u64, Option<SystemTime>);

pub struct Shelf {
    folders: Vec<PathBuf>,
    read: Mutex<BTreeMap<Stamp, Result<ModelFile, Refused>>>,
}

impl Shelf {
    /// `data` is the models folder of the data folder: the only one that is ever written.
    pub fn open(data: &Path) -> Shelf {
        let mut folders = vec![data.to_owned()];
        folders.extend(std::env::var_os("STARLING_MODELS").iter().flat_map(std::env::split_paths));
        // Weights beside the manifest of a checkout; the folder does not exist for an installed program.
        folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("models"));
        Shelf::of(folders)
    }

    pub fn of(folders: Vec<PathBuf>) -> Shelf {
        Shelf { folders, read: Mutex::default() }
    }

    /// Every model that may be loaded, by name; of two with one name the first folder's.
    pub fn files(&self) -> Vec<ModelFile> {
        let mut found: BTreeMap<ModelName, ModelFile> = BTreeMap::new();
        for file in self.look().into_iter().flatten() {
            found.entry(file.name.clone()).or_insert(file);
        }
        found.into_values().collect()
    }

    pub fn refused(&self) -> Vec<Refused> {
        self.look().into_iter().filter_map(Result::err).collect()
    }

    pub fn file(&self, name: &str) -> Option<ModelFile> {
        self.files().into_iter().find(|file| file.name.as_str() == name)
    }

    fn look(&self) -> Vec<Result<ModelFile, Refused>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = self.folders.iter().flat_map(|folder| stamps(folder));
        stamps.map(|stamp| read.entry(stamp).or_insert_with_key(|stamp| examine(&stamp.0)).clone()).collect()
    }
}

fn stamps(folder: &Path) -> Vec<Stamp> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut models: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("gguf"))).collect();
    models.sort();
    let stamp = |path: PathBuf| {
        let meta = std::fs::metadata(&path).ok()?;
        Some((path, meta.len(), meta.modified().ok()))
    };
    models.into_iter().filter_map(stamp).collect()
}

/// Reads the header in safe Rust; no C++ sees a file that fails here.
pub fn examine(path: &Path) -> Result<ModelFile, Refused> {
    let header = gguf::check_file(path).map_err(|e| Refused { path: path.to_owned(), why: e.to_string() })?;
    let parameters: u64 = header.tensors.iter().map(|tensor| tensor.dims.iter().product::<u64>()).sum();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(ModelFile {
        name: ModelName::new(stem),
        path: path.to_owned(),
        bytes: header.file_bytes,
        memory_mb: starling_engine::need_mb(&header, CONTEXT.min(header.context_train)),
        millions: u32::try_from(parameters / 1_000_000).unwrap_or(u32::MAX),
        architecture: header.architecture,
    })
}

impl From<ModelFile> for Known {
    fn from(file: ModelFile) -> Known {
        let source = Source::File { path: file.path, memory_mb: file.memory_mb, millions: file.millions };
        Known { name: file.name, source }
    }
}

/// The model of this name: a file, or an endpoint of the settings.
pub fn known(shelf: &Shelf, settings: &Settings, name: &str) -> Result<Known, ModelError> {
    if let Some(endpoint) = settings.endpoints.get(name) {
        let context = if endpoint.context == 0 { 8_192 } else { endpoint.context };
        let source = Source::Endpoint { url: endpoint.url.clone(), model: endpoint.model.clone(), context };
        return Ok(Known { name: ModelName::new(name), source });
    }
    shelf.file(name).map(Known::from).ok_or_else(|| ModelError::Load {
        model: ModelName::new(name),
        message: "there is no file of this model".to_owned(),
    })
}

/// What a role is bound to, or the largest model on the shelf that fits.
pub fn binding(
    catalog: &Catalog,
    shelf: &Shelf,
    settings: &Settings,
    role: Role,
    budget_mb: u64,
) -> Result<Known, ModelError> {
    if let Some(name) = settings.roles.get(role.as_str()) {
        return known(shelf, settings, name);
    }
    default_model(catalog, &shelf.files(), budget_mb).map(Known::from).ok_or_else(|| ModelError::Load {
        model: ModelName::new("default"),
        message: "there is no model that fits on this machine".to_owned(),
    })
}

/// The largest file that fits: of the catalogue's defaults first, then of what the user brought. Models that serve tests
/// only are never chosen.
pub fn default_model(catalog: &Catalog, files: &[ModelFile], budget_mb: u64) -> Option<ModelFile> {
    let entry = |file: &ModelFile| catalog.model(file.name.as_str());
    let fits = |file: &&ModelFile| file.memory_mb <= budget_mb;
    let largest = |wanted: &dyn Fn(&ModelFile) -> bool| {
        files.iter().filter(fits).filter(|file| wanted(file)).max_by_key(|file| file.millions).cloned()
    };
    let theirs = |file: &ModelFile| entry(file).is_none() && file.millions <= LARGEST_UNASKED;
    largest(&|file| entry(file).is_some_and(|entry| entry.default)).or_else(|| largest(&theirs))
}

/// Megabytes that resident models may take together.
pub fn budget_mb(settings: &Settings, available_mb: u64) -> u64 {
    match settings.model_memory_mb {
        // The rest is for the compiler, the tests and the desktop.
        0 => available_mb * 7 / 10,
        set => u64::from(set),
    }
}

/// Residency over this shelf, with bindings asked anew at every call.
pub fn residency(
    catalog: Arc<Catalog>,
    shelf: Arc<Shelf>,
    settings: Arc<SettingsFile>,
    cloud: Arc<Cloud>,
    available_mb: u64,
    prompts: PathBuf,
) -> Residency {
    let budget = budget_mb(&settings.get(), available_mb);
    let bindings = move |role| binding(&catalog, &shelf, &settings.get(), role, budget);
    Residency::new(budget, bindings, move |known| match &known.source {
        Source::File { path, millions, .. } => {
            let kept = Kept { folder: prompts.clone(), quota: KEPT_BYTES };
            load_file(&known.name, path, *millions, Some(kept))
        }
        endpoint @ Source::Endpoint { .. } => cloud.endpoint(&known.name, endpoint),
    })
}

/// Loads a file in this process; its header is checked once more before C++ sees it.
pub fn load_file(
    name: &ModelName,
    path: &Path,
    millions: u32,
    kept: Option<Kept>,
) -> Result<Arc<dyn Model>, ModelError> {
    let options = LoadOptions { kept, ..LoadOptions::new(CONTEXT) };
    let model = LocalModel::load(path, name.clone(), millions, options)?;
    Ok(Arc::new(model))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        Catalog::parse(super::super::MANIFEST).expect("the list of models is sound")
    }

    fn file(name: &str, memory_mb: u64, millions: u32) -> ModelFile {
        let architecture = "qwen2".to_owned();
        ModelFile { name: ModelName::new(name), path: PathBuf::new(), bytes: 1, memory_mb, millions, architecture }
    }

    #[track_caller]
    fn check(files: &[ModelFile], budget_mb: u64, expected: Option<&str>) {
        let chosen = default_model(&catalog(), files, budget_mb).map(|file| file.name.to_string());
        assert_eq!(chosen.as_deref(), expected, "{budget_mb} MB");
    }

    #[test]
    fn the_largest_that_fits_is_the_default() {
        let listed = [file("qwen2.5-coder-0.5b", 1_200, 494), file("qwen2.5-coder-1.5b", 2_400, 1_543)];
        let [small, large] = listed.clone();
        let (test, mine) = (file("smollm2-135m", 500, 135), file("my-3b", 3_000, 3_000));
        let all = [small, large, test.clone(), mine.clone(), file("qwen2.5-coder-7b", 6_000, 7_600)];
        check(&all, 400, None);
        check(&all, 2_000, Some("qwen2.5-coder-0.5b"));
        check(&all, 64_000, Some("qwen2.5-coder-1.5b"));
        check(&[test.clone(), mine], 64_000, Some("my-3b"));
        check(&[test], 64_000, None);
    }

    #[test]
    fn files_that_are_no_models_are_named() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("x.gguf"), "not a model").expect("written");
        std::fs::write(dir.path().join("notes.txt"), "").expect("written");
        let shelf = Shelf::of(vec![dir.path().to_owned(), dir.path().join("missing")]);
        assert_eq!(shelf.files(), []);
        assert_eq!(shelf.refused().len(), 1);
        let missing = binding(&catalog(), &shelf, &Settings::default(), Role::Parser, 10_000);
        assert!(matches!(missing, Err(ModelError::Load { .. })));
    }

    #[test]
    fn endpoints_are_models_too() {
        let mut settings = Settings::default();
        let endpoint = super::super::settings::EndpointSettings { url: "u".into(), model: "m".into(), context: 0 };
        settings.endpoints.insert("office".into(), endpoint);
        settings.roles.insert("planner".into(), "office".into());
        let found = binding(&catalog(), &Shelf::of(vec![]), &settings, Role::Planner, 0).expect("it is bound");
        assert!(matches!(found.source, Source::Endpoint { context: 8_192, .. }));
    }
}
