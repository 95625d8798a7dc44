//! The Planner: code ranks what may have to change, the model chooses among it under a schema that cannot name what does
//! not exist, several plans are drawn, and the one that agrees most with the others and with the task is kept. The steps
//! for tests are added by code: every change gets one.

mod choose;
mod draw;
mod rank;
mod steps;

use crate::desk::Desk;
use crate::error::SwarmError;
use crate::validate::validate;
use starling_core::brief::{Brief, TaskKind};
use starling_core::code::FileEntry;
use starling_core::plan::Plan;
use starling_core::port::{Cancel, CodeMap, Model, Progress, Toolchain};
use starling_core::receipt::ModelCall;
use starling_core::state::TaskEvent;
use starling_core::{RelPath, Role};
use std::sync::Arc;

pub(crate) fn run(desk: &mut Desk<'_>) -> Result<(), SwarmError> {
    let Some(brief) = desk.state.brief.clone() else { return Ok(()) };
    if brief.kind == TaskKind::Question {
        let message = "the task asks a question and no change: Starling changes code and writes tests".to_owned();
        return desk.fact(TaskEvent::Failed { stage: "plan".to_owned(), message });
    }
    desk.ports.workspace.stage(&desk.task)?;
    let tools = desk.ports.checks.toolchain(&desk.task)?;
    let model = desk.ports.models.bound(Role::Planner)?;
    let (ports, task, seed) = (desk.ports, desk.task.clone(), desk.seed);
    let made = make(&*ports.map, &tools, &model, &brief, seed, desk.cancel, &mut |p| ports.events.progress(&task, &p))?;
    let mut facts: Vec<TaskEvent> = made.calls.into_iter().map(|call| TaskEvent::Called { call }).collect();
    facts.push(match made.plan {
        Some(plan) => TaskEvent::Planned { plan },
        None => TaskEvent::Failed {
            stage: "plan".to_owned(),
            message: "nothing in the project fits the task: name a file or a function in it".to_owned(),
        },
    });
    desk.facts(facts)
}

pub(crate) struct Made {
    pub plan: Option<Plan>,
    pub calls: Vec<ModelCall>,
}

/// A valid plan for a brief, or none when the project has nothing that fits.
pub(crate) fn make(
    map: &dyn CodeMap,
    tools: &Toolchain,
    model: &Arc<dyn Model>,
    brief: &Brief,
    seed: u64,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
) -> Result<Made, SwarmError> {
    let files = map.files()?;
    let targets = rank::rank(brief, map, &files)?;
    let additions = rank::additions(brief, map, &targets)?;
    if brief.kind == TaskKind::Test {
        let plan = steps::test_plan(brief, &targets, tools, &files);
        return Ok(Made { plan: checked(plan, map, &files), calls: Vec::new() });
    }
    if targets.is_empty() {
        return Ok(Made { plan: None, calls: Vec::new() });
    }
    // A small model adds helpers for their own sake. New names are offered only where the task wants something new and
    // does not name it itself.
    let may_create = brief.kind == TaskKind::Feature && additions.is_empty();
    if brief.kind == TaskKind::Feature && !additions.is_empty() {
        // The task names what it wants and code knows where that belongs: nothing is left to choose.
        let mut drafts = Vec::new();
        choose::complete(&mut drafts, &additions);
        let plan = steps::with_tests(drafts, brief, tools, &files);
        if let Some(plan) = checked(plan, map, &files) {
            return Ok(Made { plan: Some(plan), calls: Vec::new() });
        }
    }
    let (drafts, call) = draw::draw(map, model, brief, &targets, may_create, seed, cancel, progress)?;
    let best = choose::choose(drafts, brief, &targets, &additions);
    let mut draft = best.unwrap_or_else(|| choose::by_rank(brief, &targets));
    choose::complete(&mut draft, &additions);
    let plan = steps::with_tests(draft, brief, tools, &files);
    Ok(Made { plan: checked(plan, map, &files), calls: vec![call] })
}

fn checked(plan: Option<Plan>, map: &dyn CodeMap, files: &[FileEntry]) -> Option<Plan> {
    let plan = plan?;
    let exists = |path: &RelPath| files.iter().any(|entry| &entry.path == path);
    validate(&plan, &exists, &|path| map.outline(path).ok()).is_empty().then_some(plan)
}

/// One file's part of a change, before it is a step.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Draft {
    goal: String,
    path: RelPath,
    symbols: Vec<String>,
    new_symbols: Vec<String>,
}
