//! The window's working parts behind its commands: what a person can do to tasks, and what is shown when something happened.
//! Nothing here knows Tauri: whoever opens it gives the functions that show and notify.

use super::board::Board;
use super::face::{Face, Signal};
use super::stream::Stream;
use super::words::words;
use super::workshop::{Workshop, work_on};
use crate::compose::fanout::Happening;
use crate::compose::settings::Settings;
use crate::compose::{ComposeError, Starling, Trust, new_task_id};
use starling_contract::{Activity, DownloadState, DownloadView};
use starling_core::change::ByteProof;
use starling_core::plan::Plan;
use starling_core::port::{Cancel, Workspace};
use starling_core::state::TaskState;
use starling_core::task_file::{MAX_TASK_BYTES, TaskFile};
use starling_core::{Role, TaskId};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct Desktop {
    pub starling: Arc<Starling>,
    pub face: Arc<Face>,
    workshop: Workshop,
    /// Ends downloads.
    closing: Cancel,
    pick: Pick,
}

/// What a native dialog asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Folder,
    Files,
}

type Pick = Box<dyn Fn(Ask) -> Vec<PathBuf> + Send + Sync>;

impl Desktop {
    /// Folds the journal, starts the working thread and goes on with what was interrupted.
    pub fn open(
        starling: Arc<Starling>,
        locale: &str,
        pick: impl Fn(Ask) -> Vec<PathBuf> + Send + Sync + 'static,
        show: impl Fn(Signal<'_>) + Send + Sync + 'static,
    ) -> Result<Arc<Desktop>, ComposeError> {
        let words = words(&starling.settings.get().language, locale);
        let face = Arc::new(Face::new(Board::new(starling.states()?, words), words, show));
        listen(&starling, &face)?;
        let told = Arc::clone(&face);
        let bench = Arc::clone(&starling);
        let work = move |task: &TaskId, cancel: &Cancel| work_on(&bench, task, cancel);
        let workshop = Workshop::open(work, move |task, turn| told.turn(task, &turn))?;
        let desktop = Arc::new(Desktop { starling, face, workshop, closing: Cancel::new(), pick: Box::new(pick) });
        for task in desktop.face.board.interrupted() {
            desktop.workshop.queue(&task);
        }
        if let Some(path) = &desktop.starling.store.opened().set_aside {
            let kept = path.display();
            desktop.face.trouble(&format!("The database could not be read. It was kept as {kept}; a new one begins."));
        }
        desktop.face.refresh();
        Ok(desktop)
    }

    /// Submits a task for the project at hand and begins it.
    pub fn submit(&self, file: TaskFile) -> Result<TaskId, ComposeError> {
        let project = self.project()?;
        let ports = self.starling.ports(&project, Trust::AsSet)?;
        let task = new_task_id();
        starling_swarm::submit(&ports, &task, file, &project.to_string_lossy())?;
        self.go_on(&task);
        Ok(task)
    }

    /// Reads dropped files here, so that the page needs no right to read any. Folders are refused.
    pub fn submit_path(&self, path: &Path) -> Result<TaskId, ComposeError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut bytes = Vec::new();
        let fail = |source| ComposeError::File { path: path.to_owned(), source };
        let file = std::fs::File::open(path).map_err(fail)?;
        file.take(MAX_TASK_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
        self.submit(TaskFile::decode(&name, &bytes)?)
    }

    pub fn submit_text(&self, name: &str, text: &str) -> Result<TaskId, ComposeError> {
        self.submit(TaskFile::decode(name, text.as_bytes())?)
    }

    /// The plan as edited, or `None` to give the task up.
    pub fn decide_plan(&self, task: &TaskId, plan: Option<Plan>) -> Result<(), ComposeError> {
        let ports = self.starling.ports_of(task, Trust::AsSet)?;
        starling_swarm::decide_plan(&ports, task, plan)?;
        self.go_on(task);
        Ok(())
    }

    pub fn decide_packet(&self, task: &TaskId, send: bool) -> Result<(), ComposeError> {
        let ports = self.starling.ports_of(task, Trust::AsSet)?;
        starling_swarm::decide_packet(&ports, task, send)?;
        self.go_on(task);
        Ok(())
    }

    pub fn land(&self, task: &TaskId, hunks: &[u32]) -> Result<ByteProof, ComposeError> {
        let _lease = self.starling.lease(task)?;
        let ports = self.starling.ports_of(task, Trust::AsSet)?;
        let proof = starling_swarm::land(&ports, task, hunks)?;
        self.face.refresh();
        Ok(proof)
    }

    pub fn discard(&self, task: &TaskId) -> Result<(), ComposeError> {
        self.workshop.stop(task);
        let _lease = self.starling.lease(task)?;
        let ports = self.starling.ports_of(task, Trust::AsSet)?;
        starling_swarm::discard(&ports, task)?;
        self.face.refresh();
        Ok(())
    }

    /// Stops a task for good.
    pub fn cancel(&self, task: &TaskId) -> Result<(), ComposeError> {
        self.workshop.stop(task);
        let _lease = self.starling.lease(task)?;
        let ports = self.starling.ports_of(task, Trust::AsSet)?;
        starling_swarm::cancelled(&ports, task)?;
        self.face.refresh();
        Ok(())
    }

    /// Parks everything; `resume` goes on with a task.
    pub fn stop_all(&self) {
        self.workshop.stop_all();
        self.face.refresh();
    }

    pub fn resume(&self, task: &TaskId) -> Result<(), ComposeError> {
        self.starling.state(task)?;
        self.go_on(task);
        Ok(())
    }

    pub fn toggle_pause(&self) {
        let paused = !self.workshop.is_paused();
        self.workshop.pause(paused);
        self.face.pause(paused);
    }

    pub fn is_paused(&self) -> bool {
        self.workshop.is_paused()
    }

    /// The task under way, then those that wait for their turn.
    pub fn busy(&self) -> Vec<TaskId> {
        self.workshop.tasks()
    }

    /// What a person has read of a task; without one, of everything else.
    pub fn seen(&self, task: Option<&TaskId>) {
        match task {
            Some(task) => {
                self.face.board.seen(task);
                self.face.show(Signal::Row(task));
            }
            None => self.face.board.troubles_seen(),
        }
        self.face.refresh();
    }

    /// What is done about a task at this moment.
    pub fn activity(&self, task: &TaskId) -> Activity {
        match self.busy().iter().position(|busy| busy == task) {
            Some(0) if !self.is_paused() => Activity::Working,
            Some(_) => Activity::Queued,
            None => self.face.board.stuck(task).map_or(Activity::Resting, Activity::Stuck),
        }
    }

    /// The state of a task, from the board or, if another process made it, from the journal.
    pub fn state(&self, task: &TaskId) -> Result<TaskState, ComposeError> {
        self.face.board.get(task).map_or_else(|| self.starling.state(task), Ok)
    }

    pub fn project(&self) -> Result<PathBuf, ComposeError> {
        let project = self.starling.settings.get().project;
        match project.is_empty() {
            true => Err(ComposeError::NoProject),
            false => Ok(PathBuf::from(project)),
        }
    }

    /// Asks with a native dialog; empty when it was closed. Blocks.
    pub fn pick(&self, ask: Ask) -> Vec<PathBuf> {
        (self.pick)(ask)
    }

    /// The project new tasks belong to from now on. Opening one does not trust it.
    pub fn open_project(&self, path: &Path) -> Result<PathBuf, ComposeError> {
        let fail = |e: std::io::Error| ComposeError::Project { path: path.to_owned(), message: e.to_string() };
        let project = std::fs::canonicalize(path).map_err(fail)?;
        self.starling.ports(&project, Trust::AsSet)?;
        self.starling.settings.change(|settings| settings.project = project.to_string_lossy().into_owned())?;
        Ok(project)
    }

    pub fn workspace(&self, task: &TaskId) -> Result<Arc<dyn Workspace>, ComposeError> {
        Ok(self.starling.ports_of(task, Trust::AsSet)?.workspace)
    }

    /// Binds a role from the next step on, in mid-task too; without a model, Starling chooses.
    pub fn bind(&self, role: Role, model: Option<&str>) -> Result<(), ComposeError> {
        if let Some(name) =
            model.filter(|name| self.starling.known(name).is_err() && self.starling.entry(name).is_none())
        {
            return Err(ComposeError::NoModel(name.to_owned()));
        }
        self.starling.settings.change(|settings: &mut Settings| match model {
            Some(name) => drop(settings.roles.insert(role.as_str().to_owned(), name.to_owned())),
            None => drop(settings.roles.remove(role.as_str())),
        })?;
        Ok(())
    }

    /// Downloads a model of the catalogue and tells how it goes; goes on where an earlier try stopped.
    pub fn download(&self, name: &str) -> Result<(), ComposeError> {
        let entry = self.starling.entry(name).ok_or_else(|| ComposeError::NoModel(name.to_owned()))?.clone();
        let tell = |done: u64, total: u64, state| {
            let (done_bytes, total_bytes) = (done as f64, total as f64);
            self.face.show(Signal::Download(&DownloadView {
                model: entry.name.clone(),
                done_bytes,
                total_bytes,
                state,
            }));
        };
        let fetched = self.starling.download(&entry, None, &self.closing, &mut |done, total| {
            tell(done, total, if done == total { DownloadState::Verifying } else { DownloadState::Running });
        });
        match &fetched {
            Ok(_) => tell(entry.bytes, entry.bytes, DownloadState::Done),
            Err(error) => tell(0, entry.bytes, DownloadState::Failed { message: error.to_string() }),
        }
        fetched?;
        self.face.show(Signal::Changed);
        Ok(())
    }

    /// Parks the work and waits for the working thread.
    pub fn close(&self) {
        self.closing.cancel();
        self.workshop.close();
    }

    fn go_on(&self, task: &TaskId) {
        self.face.board.seen(task);
        self.face.board.set_stuck(task, None);
        self.workshop.queue(task);
        self.face.show(Signal::Row(task));
        self.face.refresh();
    }
}

/// Facts change the board and are shown at once; progress is joined first.
fn listen(starling: &Starling, face: &Arc<Face>) -> std::io::Result<()> {
    let shown = Arc::clone(face);
    let stream = Stream::open(move |task, progress| shown.show(Signal::Progress(task, &progress)))?;
    let face = Arc::clone(face);
    starling.fanout.listen(move |task, happening| match happening {
        Happening::Fact(event) => {
            let state = face.board.apply(task, event);
            face.show(Signal::Task(task, &state));
        }
        Happening::Progress(progress) => stream.push(task, progress),
    });
    Ok(())
}
