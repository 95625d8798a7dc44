//! Composition: one user's Starling, put together from the crates. Everything is opened when it is first needed, so that a
//! light command stays light. Deliberately absent: windows and words for people.

pub mod certificate;
pub mod clock;
pub mod cloud;
pub mod desktop;
pub mod doctor;
mod download;
pub mod fanout;
pub mod folders;
pub mod hardware;
pub mod inbox;
pub mod instance;
pub mod keys;
pub mod project;
pub mod residency;
pub mod scorecards;
pub mod settings;
pub mod settings_file;
pub mod shelf;

use clock::SystemClock;
use cloud::Cloud;
use fanout::Fanout;
use folders::Folders;
use instance::Lock;
use project::Project;
use residency::Residency;
use settings::Settings;
use settings_file::SettingsFile;
use shelf::Shelf;
use starling_core::TaskId;
use starling_core::catalog::{Catalog, Entry};
use starling_core::port::{Cancel, Clock, CloudReviewer, Journal, JournalError, MapError, ModelError, WorkspaceError};
use starling_core::state::{Stage, TaskState};
use starling_store::Store;
use starling_swarm::{Policy, Ports, SendPolicy, SwarmError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Every model we know; part of the program, so that no file beside it has to be trusted.
pub const MANIFEST: &str = include_str!("../../../models/manifest.toml");

#[derive(Debug, thiserror::Error)]
pub enum ComposeError {
    #[error("the data folder cannot be used: {0}")]
    Folder(#[from] std::io::Error),
    #[error(transparent)]
    Settings(#[from] settings::SettingsError),
    #[error(transparent)]
    Store(#[from] JournalError),
    #[error(transparent)]
    Map(#[from] MapError),
    #[error(transparent)]
    Index(#[from] starling_index::IndexError),
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Swarm(#[from] SwarmError),
    #[error("the project {} is not there: {message}", path.display())]
    Project { path: PathBuf, message: String },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("there is no model {0}")]
    NoModel(String),
    #[error("{} cannot be read: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the download failed: {0}")]
    Download(String),
    #[error("no project is open")]
    NoProject,
    #[error(transparent)]
    TaskFile(#[from] starling_core::task_file::TaskFileError),
    #[error("there is no task {0}")]
    NoTask(String),
    #[error("{count} tasks begin with {start}; write more of the id")]
    Ambiguous { start: String, count: usize },
    #[error("another Starling works on task {0}")]
    Busy(TaskId),
}

/// One user's Starling.
pub struct Starling {
    pub folders: Folders,
    pub settings: Arc<SettingsFile>,
    pub store: Arc<Store>,
    pub fanout: Arc<Fanout>,
    pub clock: Arc<SystemClock>,
    pub catalog: Arc<Catalog>,
    pub cloud: Arc<Cloud>,
    pub shelf: Arc<Shelf>,
    pub residency: Arc<Residency>,
    /// By canonical folder and whether its tests may run.
    projects: Mutex<BTreeMap<(PathBuf, bool), Project>>,
}

impl Starling {
    pub fn open(folders: Folders) -> Result<Arc<Starling>, ComposeError> {
        let settings = Arc::new(SettingsFile::open(folders.settings())?);
        let store = Arc::new(Store::open(&folders.database())?);
        if let Some(path) = &store.opened().set_aside {
            tracing::error!("the database could not be read; it was kept as {}, and a new one begun", path.display());
        }
        let shelf = Arc::new(Shelf::open(&folders.models));
        let available = hardware::available_mb();
        let catalog = Arc::new(Catalog::parse(MANIFEST).expect("the embedded list of models was tested"));
        let cloud = Arc::new(Cloud::new(Arc::clone(&store) as _, settings.offline()));
        let (list, files, current) = (Arc::clone(&catalog), Arc::clone(&shelf), Arc::clone(&settings));
        let residency =
            Arc::new(shelf::residency(list, files, current, Arc::clone(&cloud), available, folders.prompts.clone()));
        Ok(Arc::new(Starling {
            folders,
            settings,
            store,
            fanout: Arc::new(Fanout::default()),
            clock: Arc::new(SystemClock::start()),
            catalog,
            cloud,
            shelf,
            residency,
            projects: Mutex::default(),
        }))
    }

    /// A model of the catalogue; "default" is the one that suits this machine.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        match name {
            "default" => self.catalog.default_for(hardware::available_mb()),
            name => self.catalog.model(name),
        }
    }

    /// The model of this name, whether bound or not.
    pub fn known(&self, name: &str) -> Result<residency::Known, ModelError> {
        shelf::known(&self.shelf, &self.settings.get(), name)
    }

    /// The ports of a project; its build and tests may run when `run` says so or the settings trust the folder.
    pub fn ports(&self, project: &Path, run: Trust) -> Result<Ports, ComposeError> {
        let fail = |e: std::io::Error| ComposeError::Project { path: project.to_owned(), message: e.to_string() };
        let project = std::fs::canonicalize(project).map_err(fail)?;
        let trusted = run == Trust::ThisRun || self.settings.get().trusts(&project);
        let key = (project, trusted);
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = projects.get(&key) {
            known.index.refresh()?;
            // The cloud reviewer is asked for anew: a key may have come or gone.
            return Ok(Ports { cloud: self.reviewer()?, ..known.ports.clone() });
        }
        let opened = Project::open(self, &key.0, trusted)?;
        let ports = opened.ports.clone();
        projects.insert(key, opened);
        Ok(ports)
    }

    /// Bytes and microdollars that left the machine since midnight (UTC).
    pub fn left_today(&self) -> Result<(u64, u64), ComposeError> {
        const DAY: u64 = 24 * 60 * 60 * 1000;
        let now = self.clock.now();
        let midnight = now - now % DAY;
        let entries = self.store.egress()?;
        let today = entries.iter().filter(|entry| entry.at >= midnight);
        Ok(today.fold((0, 0), |(bytes, cost), entry| (bytes + entry.bytes, cost + entry.cost_micro_usd.unwrap_or(0))))
    }

    /// The cloud reviewer, unless the budget of the day is spent: then reviews are local until tomorrow.
    pub fn reviewer(&self) -> Result<Option<Arc<dyn CloudReviewer>>, ComposeError> {
        let settings = self.settings.get();
        let budget = settings.budget.day_micro_usd;
        if budget > 0 && self.left_today()?.1 >= budget {
            tracing::warn!("the budget of the day is spent; reviews are local");
            return Ok(None);
        }
        Ok(self.cloud.reviewer(&settings))
    }

    /// The branch that is checked out in a project, "" when there is none.
    pub fn branch(&self, project: &Path) -> String {
        let key = (project.to_owned(), self.settings.get().trusts(project));
        let projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        projects.get(&key).map(|known| known.workspace.branch()).unwrap_or_default()
    }

    /// Forgets the ports of every project, so that changed settings (trust) hold from the next task on.
    pub fn forget_projects(&self) {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub fn state(&self, task: &TaskId) -> Result<TaskState, ComposeError> {
        let events = self.store.events(task)?;
        if events.is_empty() {
            return Err(ComposeError::NoTask(task.to_string()));
        }
        Ok(TaskState::fold(&events))
    }

    /// All tasks, newest first.
    pub fn states(&self) -> Result<Vec<(TaskId, TaskState)>, ComposeError> {
        self.store.tasks()?.into_iter().map(|id| self.state(&id).map(|state| (id, state))).collect()
    }

    /// The one task whose id begins with `start`.
    pub fn find(&self, start: &str) -> Result<TaskId, ComposeError> {
        let mut found: Vec<TaskId> =
            self.store.tasks()?.into_iter().filter(|id| !start.is_empty() && id.as_str().starts_with(start)).collect();
        match (found.pop(), found.len()) {
            (Some(id), 0) => Ok(id),
            (Some(_), more) => Err(ComposeError::Ambiguous { start: start.to_owned(), count: more + 1 }),
            (None, _) => Err(ComposeError::NoTask(start.to_owned())),
        }
    }

    /// The ports of the project a task belongs to.
    pub fn ports_of(&self, task: &TaskId, run: Trust) -> Result<Ports, ComposeError> {
        self.ports(Path::new(&self.state(task)?.project), run)
    }

    /// The right to change a task, for as long as the lock lives. Every process asks for it, and nobody waits.
    pub fn lease(&self, task: &TaskId) -> Result<Lock, ComposeError> {
        let lock = Lock::take(&self.folders.leases.join(format!("{task}.lock")))?;
        lock.ok_or_else(|| ComposeError::Busy(task.clone()))
    }

    /// Carries a task on for the window: with the settings' policy, asking where a person must decide.
    pub fn drive(&self, task: &TaskId, cancel: &Cancel) -> Result<TaskState, ComposeError> {
        let project = self.state(task)?.project;
        let ports = self.ports(Path::new(&project), Trust::AsSet)?;
        let policy = policy(&self.settings.get(), &project);
        let state = starling_swarm::drive(&ports, task, &policy, cancel)?;
        if state.stage() == Stage::Failed {
            // Nothing can be done with it any more; what was in it stays under a rescue ref.
            ports.workspace.close(task)?;
        }
        Ok(state)
    }
}

/// Whether a run may execute the project's build and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// As the settings say for this project.
    AsSet,
    /// Allowed for this run (`--yes`).
    ThisRun,
}

/// A new id; ids sort by time.
pub fn new_task_id() -> TaskId {
    TaskId::new(uuid::Uuid::now_v7().to_string())
}

/// The policy of the window: what the settings say for this project.
pub fn policy(settings: &Settings, project: &str) -> Policy {
    let send = match settings.projects.get(project).map(|project| project.send.as_str()) {
        Some("always") => SendPolicy::Always,
        Some("never") => SendPolicy::Never,
        Some(_) | None => SendPolicy::Ask,
    };
    Policy {
        candidates: settings.candidates.max(1),
        offline: settings.offline,
        auto_approve: false,
        send,
        task_micro_usd: settings.budget.task_micro_usd,
        seed: 7,
    }
}
