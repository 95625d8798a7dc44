//! Building, testing, mutating and recording in the stage of a task, always in the sandbox, only for a trusted project.
//!
//! Verdicts come from exit codes and from reports that machines read; what a runner prints is for people.

mod cargo;
mod clean;
mod jest;
mod mutate;
mod node;
mod pytest;
mod python;
mod report;
mod toolchain;
mod wary;

use crate::sandbox::Limits;
use starling_core::TaskId;
use starling_core::port::{
    BuildReport, Cancel, CheckError, Checks, MutantResult, ScriptReport, TestReport, TestRun, Toolchain,
};
use starling_core::test_set::{Mutant, Runner};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toolchain::Tools;

type StageOf = Arc<dyn Fn(&TaskId) -> Option<PathBuf> + Send + Sync>;

/// The checks of one project.
pub struct ProjectChecks {
    stage_of: StageOf,
    scratch: PathBuf,
    trusted: bool,
    /// The user's tree, for the packages that are installed in it.
    project: Option<PathBuf>,
    /// What was found for a stage; stages do not change their tools.
    found: Mutex<BTreeMap<TaskId, Arc<Tools>>>,
}

/// Where one run happens: the tree to run in, a private folder that it may fill, and what it may use.
pub(crate) struct Site {
    pub tree: PathBuf,
    pub private: PathBuf,
    pub limits: Limits,
}

impl ProjectChecks {
    /// `stage_of` gives the folder of a task's stage; `scratch` may be filled. Nothing runs when `trusted` is false.
    pub fn new(
        stage_of: impl Fn(&TaskId) -> Option<PathBuf> + Send + Sync + 'static,
        scratch: PathBuf,
        trusted: bool,
    ) -> ProjectChecks {
        ProjectChecks { stage_of: Arc::new(stage_of), scratch, trusted, project: None, found: Mutex::default() }
    }

    /// The packages installed in the user's tree (a virtual environment), which is rarely part of a stage, are shown to
    /// what runs, read-only.
    #[must_use]
    pub fn with_packages_of(self, project: &Path) -> ProjectChecks {
        ProjectChecks { project: Some(project.to_owned()), found: Mutex::default(), ..self }
    }

    /// Removes what runs of a task left in the scratch folder.
    pub fn forget(&self, task: &TaskId) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).remove(task);
        // What cannot be removed is only space.
        std::fs::remove_dir_all(self.scratch.join(task.as_str())).ok();
    }

    fn site(&self, task: &TaskId) -> Result<Site, CheckError> {
        if !self.trusted {
            let why = "the project is not trusted, so its build and tests are not run".to_owned();
            return Err(CheckError::NotRun { why });
        }
        let tree =
            (self.stage_of)(task).ok_or_else(|| CheckError::NotRun { why: "the task has no stage".to_owned() })?;
        let private = self.scratch.join(task.as_str()).join("main");
        let site = Site { tree, private, limits: Limits::of_machine() };
        make(&site.private)?;
        Ok(site)
    }

    fn tools(&self, task: &TaskId, site: &Site) -> Result<Arc<Tools>, CheckError> {
        let known = self.found.lock().unwrap_or_else(PoisonError::into_inner).get(task).cloned();
        if let Some(tools) = known {
            return Ok(tools);
        }
        let tools = Arc::new(toolchain::find(site, self.project.as_deref())?);
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(task.clone(), Arc::clone(&tools));
        Ok(tools)
    }
}

impl Checks for ProjectChecks {
    fn toolchain(&self, task: &TaskId) -> Result<Toolchain, CheckError> {
        let level = crate::sandbox::level();
        if !self.trusted {
            // What the project is can be said without running anything of it.
            let tree =
                (self.stage_of)(task).ok_or_else(|| CheckError::NotRun { why: "the task has no stage".to_owned() })?;
            let (runners, test_dir) = toolchain::by_files(&tree);
            return Ok(Toolchain { runners, test_dir, sandbox: "not run: the project is not trusted".to_owned() });
        }
        let site = self.site(task)?;
        let tools = self.tools(task, &site)?;
        Ok(Toolchain { runners: tools.runners.clone(), test_dir: tools.test_dir.clone(), sandbox: level.name.clone() })
    }

    fn build(&self, task: &TaskId, runner: Runner, cancel: &Cancel) -> Result<BuildReport, CheckError> {
        let site = self.site(task)?;
        let tools = self.tools(task, &site)?;
        match runner {
            Runner::Pytest | Runner::Unittest => python::build(&tools, &site, cancel),
            Runner::CargoTest => cargo::build(&tools, &site, cancel),
            Runner::NodeTest | Runner::Vitest | Runner::Jest => node::build(&tools, &site, cancel),
        }
    }

    fn test(&self, task: &TaskId, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError> {
        let site = self.site(task)?;
        let tools = self.tools(task, &site)?;
        test_in(&tools, &site, run, cancel)
    }

    fn mutate(
        &self,
        task: &TaskId,
        mutants: &[Mutant],
        run: &TestRun,
        cancel: &Cancel,
    ) -> Result<Vec<MutantResult>, CheckError> {
        let site = self.site(task)?;
        let tools = self.tools(task, &site)?;
        mutate::run(&tools, &site, &self.scratch.join(task.as_str()), mutants, run, cancel)
    }

    fn script(&self, task: &TaskId, runner: Runner, source: &str, seconds: u32) -> Result<ScriptReport, CheckError> {
        let site = self.site(task)?;
        let tools = self.tools(task, &site)?;
        match runner {
            Runner::Pytest | Runner::Unittest => python::script(&tools, &site, source, seconds),
            Runner::NodeTest | Runner::Vitest | Runner::Jest => node::script(&tools, &site, source, seconds),
            Runner::CargoTest => {
                Err(CheckError::NotRun { why: "a Rust project has no interpreter for scripts".to_owned() })
            }
        }
    }
}

pub(crate) fn test_in(tools: &Tools, site: &Site, run: &TestRun, cancel: &Cancel) -> Result<TestReport, CheckError> {
    match run.runner {
        Runner::Pytest => pytest::test(tools, site, run, cancel),
        Runner::Unittest => python::unittest(tools, site, run, cancel),
        Runner::CargoTest => cargo::test(tools, site, run, cancel),
        Runner::NodeTest => node::test(tools, site, run, cancel),
        Runner::Vitest | Runner::Jest => jest::test(tools, site, run, cancel),
    }
}

pub(crate) fn make(folder: &Path) -> Result<(), CheckError> {
    std::fs::create_dir_all(folder).map_err(|e| io(folder, e))
}

pub(crate) fn io(path: &Path, error: impl std::fmt::Display) -> CheckError {
    CheckError::Io { what: path.display().to_string(), message: error.to_string() }
}

#[cfg(test)]
mod tests;
