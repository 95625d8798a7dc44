//! The window's working parts behind its commands: what a person can do to tasks, and what is shown when something happened.
//! Nothing here knows Tauri: whoever opens it gives the functions that show and notify.

use super::board::Board;
use super::face::{Face, Signal};
use super::stream::Stream;
use super::words::words;
use super::workshop::{Workshop, work_on};
use crate::compose::fanout::Happening;
use crate::compose::{ComposeError, Starling, Trust, new_task_id};
use starling_core::TaskId;
use starling_core::change::ByteProof;
use starling_core::plan::Plan;
use starling_core::port::Cancel;
use starling_core::task_file::{MAX_TASK_BYTES, TaskFile};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct Desktop {
    pub starling: Arc<Starling>,
    pub face: Arc<Face>,
    workshop: Workshop,
}

impl Desktop {
    /// Folds the journal, starts the working thread and goes on with what was interrupted.
    pub fn open(
        starling: Arc<Starling>,
        locale: &str,
        show: impl Fn(Signal<'_>) + Send + Sync + 'static,
    ) -> Result<Arc<Desktop>, ComposeError> {
        let words = words(&starling.settings.get().language, locale);
        let face = Arc::new(Face::new(Board::new(starling.states()?), words, show));
        listen(&starling, &face)?;
        let told = Arc::clone(&face);
        let bench = Arc::clone(&starling);
        let work = move |task: &TaskId, cancel: &Cancel| work_on(&bench, task, cancel);
        let workshop = Workshop::open(work, move |task, turn| told.turn(task, &turn))?;
        let desktop = Arc::new(Desktop { starling, face, workshop });
        for task in desktop.face.board.interrupted() {
            desktop.workshop.queue(&task);
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
        std::fs::File::open(path)?.take(MAX_TASK_BYTES as u64 + 1).read_to_end(&mut bytes)?;
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
        let ports = self.starling.ports_of(task, Trust::AsSet)?;
        let proof = starling_swarm::land(&ports, task, hunks)?;
        self.face.refresh();
        Ok(proof)
    }

    pub fn discard(&self, task: &TaskId) -> Result<(), ComposeError> {
        self.workshop.stop(task);
        let ports = self.starling.ports_of(task, Trust::AsSet)?;
        starling_swarm::discard(&ports, task)?;
        self.face.refresh();
        Ok(())
    }

    /// Stops a task for good.
    pub fn cancel(&self, task: &TaskId) -> Result<(), ComposeError> {
        self.workshop.stop(task);
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

    pub fn seen(&self, task: &TaskId) {
        self.face.board.seen(task);
        self.face.refresh();
    }

    pub fn project(&self) -> Result<PathBuf, ComposeError> {
        let project = self.starling.settings.get().project;
        match project.is_empty() {
            true => Err(ComposeError::NoProject),
            false => Ok(PathBuf::from(project)),
        }
    }

    /// The project new tasks belong to from now on. Opening one does not trust it.
    pub fn open_project(&self, path: &Path) -> Result<PathBuf, ComposeError> {
        let fail = |e: std::io::Error| ComposeError::Project { path: path.to_owned(), message: e.to_string() };
        let project = std::fs::canonicalize(path).map_err(fail)?;
        self.starling.ports(&project, Trust::AsSet)?;
        self.starling.settings.change(|settings| settings.project = project.to_string_lossy().into_owned())?;
        Ok(project)
    }

    /// Parks the work and waits for the working thread.
    pub fn close(&self) {
        self.workshop.close();
    }

    fn go_on(&self, task: &TaskId) {
        self.face.board.seen(task);
        self.workshop.queue(task);
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
