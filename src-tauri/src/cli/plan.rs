//! `starling plan`: Brief and Plan of a task, without keeping a task.

use super::output::{CliError, CliResult, Output};
use super::{args, input, interrupt, parse, report};
use crate::compose::{Trust, new_task_id};
use serde_json::json;
use starling_core::port::Cancel;

pub fn run(args: args::Plan, out: Output) -> CliResult {
    let project = input::project(&args.project)?;
    let file = input::task(&args.task)?;
    let starling = super::open()?;
    let ports = starling.ports(&project, Trust::AsSet).map_err(CliError::refused)?;
    let cancel = Cancel::new();
    interrupt::watch(&cancel);
    let map = Some(ports.map.as_ref());
    let models = Some(ports.models.as_ref());
    let (brief, _) = starling_swarm::parse(models, map, &file, &cancel).map_err(super::swarm_error)?;
    let task = new_task_id();
    let planned = starling_swarm::plan(&ports, &task, &brief, args.seed, &cancel).map_err(super::swarm_error);
    ports.workspace.close(&task).map_err(CliError::refused)?;
    let (plan, _) = planned?;
    let plan = plan.ok_or_else(|| CliError::refused("no plan: nothing in the project fits the task"))?;
    out.result(&json!({ "brief": parse::brief_json(&brief), "plan": plan }), || {
        format!("{}\n{}", parse::text(&brief), report::plan(&plan))
    })
}
