//! The Parser: code extracts, the model fills only what needs understanding, the code map grounds.

use crate::desk::{Desk, ask};
use crate::error::SwarmError;
use crate::ground::ground;
use starling_core::brief::{Brief, FieldEvidence, Source};
use starling_core::port::{Cancel, CodeMap, Flow, Model, ModelError, Progress, SampleRequest, Shape};
use starling_core::receipt::ModelCall;
use starling_core::state::TaskEvent;
use starling_core::task_file::TaskFile;
use starling_core::{Role, answer, prompt};
use std::sync::Arc;

pub(crate) fn run(desk: &mut Desk<'_>) -> Result<(), SwarmError> {
    let Some(file) = desk.state.file.clone() else {
        let message = "the task has no file".to_owned();
        return desk.fact(TaskEvent::Failed { stage: "brief".to_owned(), message });
    };
    if file.binary || file.text.trim().is_empty() {
        let what = if file.binary { "is not a text" } else { "is empty" };
        let message = format!("{} {what}: write in it what is to be done, and give it again", file.name);
        return desk.fact(TaskEvent::Failed { stage: "brief".to_owned(), message });
    }
    let model = desk.ports.models.bound(Role::Parser)?;
    let (ports, task) = (desk.ports, desk.task.clone());
    let (brief, call) =
        read(Some(&model), Some(&*ports.map), &file, desk.cancel, &mut |p| ports.events.progress(&task, &p))?;
    let mut facts: Vec<TaskEvent> = call.into_iter().map(|call| TaskEvent::Called { call }).collect();
    facts.push(TaskEvent::Briefed { brief });
    desk.facts(facts)
}

/// The Brief of a file. Without a model it holds what code can extract; without a map it is not grounded.
pub(crate) fn read(
    model: Option<&Arc<dyn Model>>,
    map: Option<&dyn CodeMap>,
    file: &TaskFile,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Brief, Option<ModelCall>), SwarmError> {
    let mut brief = starling_core::extract::extract(file);
    let mut call = None;
    if let Some(model) = model
        && needs_model(&brief, file)
    {
        call = understand(model, &mut brief, file, cancel, progress)?;
    }
    if let Some(map) = map {
        ground(&mut brief, map)?;
    }
    Ok((brief, call))
}

/// The model is asked only where code found no goal of its own: code names the kind right nearly always, and composes a goal
/// from what the task wants where the task says it in so many words.
fn needs_model(brief: &Brief, file: &TaskFile) -> bool {
    !file.binary && file.text.trim().len() > 40 && weak_goal(brief)
}

fn weak_goal(brief: &Brief) -> bool {
    brief.goal.trim().is_empty() || brief.goal == brief.title
}

fn understand(
    model: &Arc<dyn Model>,
    brief: &mut Brief,
    file: &TaskFile,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<ModelCall>, SwarmError> {
    let text = starling_core::extract::readable_text(file);
    let request = SampleRequest {
        prompt: prompt::parse(brief, &text),
        shape: Shape::Json(prompt::parse_schema()),
        n: 1,
        max_tokens: 160,
        temperature: 0.0,
        greedy_first: true,
        top_p: 1.0,
        top_k: 1,
        seed: 1,
        urgent: true,
        stop: Vec::new(),
    };
    let asked = ask(model, Role::Parser, prompt::PARSE, &request, cancel, progress, &mut |_| Flow::Continue);
    let mut call = match asked {
        Ok(call) => call,
        // A task too long for the Parser's model is still a task: code has read it whole.
        Err(SwarmError::Model(ModelError::ContextTooLarge { .. })) => return Ok(None),
        Err(other) => return Err(other),
    };
    let answer = call.sampled.completions.first().map(|c| answer::json_object(&c.text));
    if let Some(Ok(value)) = answer {
        call.record.valid = 1;
        adopt(brief, &value, &file.text);
    }
    Ok(Some(call.record))
}

fn adopt(brief: &mut Brief, value: &serde_json::Value, text: &str) {
    let goal = value["goal"].as_str().unwrap_or("").trim();
    // The smallest models repeat the instruction instead of following it.
    let echo = prompt::parse(brief, "").system.contains(goal.trim_end_matches('.'));
    if weak_goal(brief) && !goal.is_empty() && !echo {
        brief.goal = goal.to_owned();
        let span = text.find(goal).map(|at| starling_core::code::Span::new(at, at + goal.len()));
        let evidence = FieldEvidence { field: "goal".to_owned(), value: goal.to_owned(), span, source: Source::Model };
        brief.evidence.retain(|e| e.field != "goal");
        brief.evidence.push(evidence);
    }
}
