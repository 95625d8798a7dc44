//! Plans as a model draws them, all from one evaluation of the prompt.

use super::Draft;
use crate::desk::{Call, ask};
use crate::error::SwarmError;
use starling_core::brief::Brief;
use starling_core::port::{Cancel, CodeMap, Flow, Model, Progress, SampleRequest, Shape};
use starling_core::prompt::{self, PlanTarget};
use starling_core::receipt::ModelCall;
use starling_core::{RelPath, Role, answer};
use std::sync::Arc;

/// How many plans are drawn.
const PLANS: u32 = 3;

/// The plans the model draws; those that do not hold are left out.
#[expect(clippy::too_many_arguments, reason = "what is chosen from, who chooses, and how it is told")]
pub(super) fn draw(
    map: &dyn CodeMap,
    model: &Arc<dyn Model>,
    brief: &Brief,
    targets: &[PlanTarget],
    may_create: bool,
    seed: u64,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Vec<Vec<Draft>>, ModelCall), SwarmError> {
    let mut paths: Vec<String> = Vec::new();
    for target in targets {
        if !paths.contains(&target.path) {
            paths.push(target.path.clone());
        }
    }
    let mut symbols: Vec<String> = targets.iter().map(|t| t.symbol.clone()).collect();
    symbols.sort();
    symbols.dedup();
    let shape = Shape::Json(prompt::plan_schema(&paths, &symbols, may_create));
    let request = SampleRequest::new(prompt::plan(brief, targets, &paths), shape, PLANS, 320, 0.7, seed);
    // A person decides about the plan.
    let request = SampleRequest { urgent: true, ..request };
    let Call { sampled, mut record } =
        ask(model, Role::Planner, prompt::PLAN, &request, cancel, progress, &mut |_| Flow::Continue)?;
    let mut drafts = Vec::new();
    for completion in &sampled.completions {
        if let Ok(value) = answer::json_object(&completion.text)
            && let Some(draft) = read_drafts(&value, map, &paths)
        {
            record.valid += 1;
            drafts.push(draft);
        }
    }
    Ok((drafts, record))
}

/// Steps as drafts: one a file, symbols only where they are defined, new names only where they are not.
fn read_drafts(value: &serde_json::Value, map: &dyn CodeMap, paths: &[String]) -> Option<Vec<Draft>> {
    let mut drafts: Vec<Draft> = Vec::new();
    for step in value["steps"].as_array()? {
        let file = step["file"].as_str().filter(|file| paths.iter().any(|p| p == file))?;
        let path = RelPath::new(file).ok()?;
        let outline = map.outline(&path).ok()?;
        let names = |key: &str| -> Vec<String> {
            step[key].as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
        };
        let defined = |name: &String| outline.symbols.iter().any(|s| &s.qualified == name);
        let (mut symbols, _elsewhere): (Vec<String>, Vec<String>) = names("symbols").into_iter().partition(defined);
        let (exist, mut new): (Vec<String>, Vec<String>) = names("new_symbols").into_iter().partition(defined);
        symbols.extend(exist);
        unique(&mut symbols);
        unique(&mut new);
        if symbols.is_empty() && new.is_empty() {
            continue;
        }
        let draft = Draft { goal: step["goal"].as_str()?.trim().to_owned(), path, symbols, new_symbols: new };
        match drafts.iter_mut().find(|known| known.path == draft.path) {
            Some(known) => {
                known
                    .symbols
                    .extend(draft.symbols.into_iter().filter(|s| !known.symbols.contains(s)).collect::<Vec<_>>());
                known.new_symbols.extend(draft.new_symbols);
                unique(&mut known.new_symbols);
            }
            None => drafts.push(draft),
        }
    }
    (!drafts.is_empty()).then_some(drafts)
}

fn unique(names: &mut Vec<String>) {
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
}
