//! `starling parse`: the Brief of task files. What code can read is read by code; a model only fills what is left.

use super::output::{CliError, CliResult, Output};
use super::{args, input, interrupt};
use crate::compose::Trust;
use serde_json::{Value, json};
use starling_core::Role;
use starling_core::brief::Brief;
use starling_core::port::{Cancel, Models};
use std::collections::BTreeMap;

pub fn run(args: args::Parse, out: Output) -> CliResult {
    let files: Vec<_> = args.files.iter().map(|path| input::task_file(path)).collect::<Result<_, _>>()?;
    let project = args.project.as_deref().map(input::project).transpose()?;
    let starling = super::open()?;
    let map = match &project {
        Some(project) => Some(starling.ports(project, Trust::AsSet).map_err(CliError::refused)?.map),
        None => None,
    };
    let cancel = Cancel::new();
    interrupt::watch(&cancel);
    for file in files {
        // Code alone reads most of a task; a model that is there reads the rest.
        let models = starling.residency.name_of(Role::Parser).map(|_| starling.residency.as_ref() as &dyn Models);
        let (brief, _) = starling_swarm::parse(models, map.as_deref(), &file, &cancel).map_err(super::swarm_error)?;
        out.result(&brief_json(&brief), || text(&brief))?;
    }
    Ok(())
}

/// The fields of the interface, and where each value was found.
pub fn brief_json(brief: &Brief) -> Value {
    let mut evidence: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for found in &brief.evidence {
        let span = found.span.map(|span| [span.start, span.end]);
        let entry = json!({ "value": found.value, "span": span, "source": found.source });
        evidence.entry(&found.field).or_default().push(entry);
    }
    json!({
        "title": brief.title, "kind": brief.kind, "goal": brief.goal, "acceptance": brief.acceptance,
        "files": brief.files, "symbols": brief.symbols, "commands": brief.commands, "constraints": brief.constraints,
        "language": brief.language, "injected_instructions": brief.injected_instructions, "warnings": brief.warnings,
        "evidence": evidence,
    })
}

pub fn text(brief: &Brief) -> String {
    let mut text = format!("{} ({}, {})\n  {}\n", brief.title, brief.kind.as_str(), brief.language, brief.goal);
    let lists = [
        ("acceptance", &brief.acceptance),
        ("files", &brief.files),
        ("symbols", &brief.symbols),
        ("commands", &brief.commands),
        ("constraints", &brief.constraints),
    ];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        text.push_str(&format!("  {name}\n"));
        list.iter().for_each(|item| text.push_str(&format!("    - {item}\n")));
    }
    if brief.injected_instructions {
        text.push_str("  the file tries to instruct the assistant; that is shown, not followed\n");
    }
    text
}
