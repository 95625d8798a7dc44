//! What a person may change about a plan: the words of a step, which steps there are, and their order. Files, symbols and
//! roles stay as they were validated, so an edit cannot widen what a step may write.

use crate::error::{ErrorCode, IpcError};
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::plan::{Plan, Step};

/// The steps that stay, in their new order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PlanEdit {
    pub steps: Vec<StepEdit>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct StepEdit {
    pub id: String,
    pub goal: String,
    pub acceptance: Vec<String>,
}

impl PlanEdit {
    /// The plan as edited. Dependencies on removed steps go with them; a step before one it depends on is refused.
    pub fn apply(&self, plan: &Plan) -> Result<Plan, IpcError> {
        let mut steps: Vec<Step> = Vec::new();
        for edit in &self.steps {
            let known = plan.steps.iter().find(|step| step.id.as_str() == edit.id);
            let Some(step) = known else {
                return Err(invalid(format!("the plan has no step {}", edit.id)));
            };
            if steps.iter().any(|done| done.id == step.id) {
                return Err(invalid(format!("step {} stands in the edited plan twice", edit.id)));
            }
            if edit.goal.trim().is_empty() {
                return Err(invalid(format!("step {} has no goal", edit.id)));
            }
            let lines = edit.acceptance.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
            steps.push(Step { goal: edit.goal.trim().to_owned(), acceptance: lines.collect(), ..step.clone() });
        }
        if steps.is_empty() {
            return Err(invalid("a plan needs at least one step".to_owned()));
        }
        let kept: Vec<_> = steps.iter().map(|step| step.id.clone()).collect();
        for (at, step) in steps.iter_mut().enumerate() {
            step.depends_on.retain(|on| kept.contains(on));
            let late = step.depends_on.iter().find(|on| kept.iter().position(|id| id == *on) > Some(at));
            if let Some(on) = late {
                return Err(invalid(format!("step {} needs step {on}, which would come after it", step.id)));
            }
        }
        Ok(Plan { steps, rationale: plan.rationale.clone() })
    }
}

fn invalid(message: String) -> IpcError {
    IpcError::new(ErrorCode::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use starling_core::{Role, StepId};

    fn plan() -> Plan {
        let step = |id: &str, on: &[&str]| Step {
            id: StepId::new(id),
            role: Role::Executor,
            goal: format!("do {id}"),
            files: vec![],
            new_files: vec![],
            symbols: vec![],
            new_symbols: vec![],
            acceptance: vec!["works".into()],
            depends_on: on.iter().map(|id| StepId::new(*id)).collect(),
            decides: vec![],
        };
        Plan { steps: vec![step("1", &[]), step("2", &["1"]), step("3", &[])], rationale: "because".into() }
    }

    #[track_caller]
    fn check(edit: &[(&str, &str)], expected: Result<&str, &str>) {
        let steps = edit.iter().map(|(id, goal)| StepEdit {
            id: (*id).into(),
            goal: (*goal).into(),
            acceptance: vec![" holds ".into(), "  ".into()],
        });
        let text = |plan: Plan| {
            let steps = plan.steps.iter().map(|step| {
                let on: Vec<_> = step.depends_on.iter().map(|on| on.as_str()).collect();
                format!("{} {} <{}> {:?}", step.id, step.goal, on.join(","), step.acceptance)
            });
            steps.collect::<Vec<_>>().join("; ")
        };
        let got = PlanEdit { steps: steps.collect() }.apply(&plan()).map(text).map_err(|e| e.message);
        assert_eq!(got.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn edits_remove_and_reorder_but_never_widen() {
        check(&[("3", "c "), ("1", "a")], Ok(r#"3 c <> ["holds"]; 1 a <> ["holds"]"#));
        check(&[("1", "a"), ("2", "b")], Ok(r#"1 a <> ["holds"]; 2 b <1> ["holds"]"#));
        check(&[("2", "b")], Ok(r#"2 b <> ["holds"]"#));
        check(&[("2", "b"), ("1", "a")], Err("step 2 needs step 1, which would come after it"));
        check(&[("9", "x")], Err("the plan has no step 9"));
        check(&[("1", "a"), ("1", "a")], Err("step 1 stands in the edited plan twice"));
        check(&[("1", "  ")], Err("step 1 has no goal"));
        check(&[], Err("a plan needs at least one step"));
    }
}
