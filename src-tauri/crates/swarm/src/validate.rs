//! The plan validator: deterministic, complete, and the same for a model's plan and a user's edit.

use starling_core::code::Outline;
use starling_core::ids::{RelPath, Role, StepId};
use starling_core::plan::{Plan, PlanFault, Step};
use std::collections::{BTreeMap, BTreeSet};

/// More steps than a person reads before approving.
pub const MAX_STEPS: usize = 12;

/// All faults of a plan; empty when it may be worked on. `exists` and `outline` speak of the user's tree.
pub fn validate(
    plan: &Plan,
    exists: &dyn Fn(&RelPath) -> bool,
    outline: &dyn Fn(&RelPath) -> Option<Outline>,
) -> Vec<PlanFault> {
    let mut faults = Vec::new();
    if plan.steps.is_empty() {
        return vec![PlanFault::Empty];
    }
    if plan.steps.len() > MAX_STEPS {
        faults.push(PlanFault::TooMany { count: plan.steps.len(), limit: MAX_STEPS });
    }
    let mut ids = BTreeSet::new();
    let mut owners: BTreeMap<&str, &StepId> = BTreeMap::new();
    for step in &plan.steps {
        if !ids.insert(&step.id) {
            faults.push(PlanFault::DuplicateId { step: step.id.clone() });
        }
        step_faults(step, exists, outline, &mut faults);
        for decision in &step.decides {
            if let Some(owner) = owners.insert(decision, &step.id) {
                let (decision, owner) = (decision.clone(), owner.clone());
                faults.push(PlanFault::DecisionOwnedTwice { step: step.id.clone(), decision, owner });
            }
        }
    }
    for step in &plan.steps {
        for on in step.depends_on.iter().filter(|on| !ids.contains(on)) {
            faults.push(PlanFault::DanglingDependency { step: step.id.clone(), on: on.clone() });
        }
        if leads_back(plan, step) {
            faults.push(PlanFault::Cycle { step: step.id.clone() });
        }
    }
    faults
}

fn step_faults(
    step: &Step,
    exists: &dyn Fn(&RelPath) -> bool,
    outline: &dyn Fn(&RelPath) -> Option<Outline>,
    faults: &mut Vec<PlanFault>,
) {
    let id = || step.id.clone();
    if !matches!(step.role, Role::Executor | Role::Tester) {
        faults.push(PlanFault::WrongRole { step: id(), role: step.role });
    }
    if step.goal.trim().is_empty() {
        faults.push(PlanFault::NoGoal { step: id() });
    }
    if step.acceptance.iter().all(|item| item.trim().is_empty()) {
        faults.push(PlanFault::NoAcceptance { step: id() });
    }
    if step.files.is_empty() && step.new_files.is_empty() {
        faults.push(PlanFault::NoFile { step: id() });
    }
    for path in step.files.iter().filter(|path| !exists(path) && !step.new_files.contains(path)) {
        faults.push(PlanFault::UnknownFile { step: id(), path: path.to_string() });
    }
    for path in step.new_files.iter().filter(|path| exists(path)) {
        faults.push(PlanFault::NotNew { step: id(), path: path.to_string() });
    }
    if step.role == Role::Executor {
        let outlines: Vec<Outline> = step.files.iter().filter_map(outline).collect();
        for symbol in &step.symbols {
            if !outlines.iter().any(|o| o.symbols.iter().any(|s| &s.qualified == symbol)) {
                faults.push(PlanFault::UnknownSymbol { step: id(), symbol: symbol.clone() });
            }
        }
    }
}

fn leads_back(plan: &Plan, from: &Step) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&StepId> = from.depends_on.iter().collect();
    while let Some(id) = open.pop() {
        if id == &from.id {
            return true;
        }
        if seen.insert(id)
            && let Some(step) = plan.step(id)
        {
            open.extend(step.depends_on.iter());
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(id: &str) -> Step {
        Step {
            id: StepId::new(id),
            role: Role::Executor,
            goal: "change it".to_owned(),
            files: vec![RelPath::new("a.py").expect("a good path")],
            new_files: Vec::new(),
            symbols: Vec::new(),
            new_symbols: Vec::new(),
            acceptance: vec!["done".to_owned()],
            depends_on: Vec::new(),
            decides: Vec::new(),
        }
    }

    #[track_caller]
    fn check(steps: Vec<Step>, expected: &[&str]) {
        let plan = Plan { steps, rationale: String::new() };
        let outline =
            |_: &RelPath| Some(starling_syntax::outline(starling_core::code::Language::Python, "def f():\n    pass\n"));
        let faults = validate(&plan, &|path| path.as_str() == "a.py", &outline);
        let got: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn accepts_a_sound_plan() {
        check(
            vec![step("1"), Step { depends_on: vec![StepId::new("1")], symbols: vec!["f".into()], ..step("2") }],
            &[],
        );
    }

    #[test]
    fn names_each_fault() {
        check(Vec::new(), &["the plan has no step"]);
        check(vec![step("1"), step("1")], &["step 1 has an id that another step has too"]);
        check(
            vec![Step { role: Role::Reviewer, ..step("1") }],
            &["step 1 belongs to the reviewer, which owns no steps"],
        );
        check(vec![Step { goal: " ".into(), ..step("1") }], &["step 1 has no goal"]);
        check(vec![Step { files: Vec::new(), ..step("1") }], &["step 1 names no file"]);
        let gone = RelPath::new("gone.py").expect("a good path");
        check(
            vec![Step { files: vec![gone], ..step("1") }],
            &["step 1 names gone.py, which does not exist and is not declared new"],
        );
        let old = RelPath::new("a.py").expect("a good path");
        check(vec![Step { new_files: vec![old], ..step("1") }], &["step 1 declares a.py new, but it exists"]);
        check(
            vec![Step { symbols: vec!["g".into()], ..step("1") }],
            &["step 1 names the symbol g, which none of its files defines"],
        );
        check(vec![Step { acceptance: Vec::new(), ..step("1") }], &["step 1 has no acceptance"]);
        check(
            vec![Step { depends_on: vec![StepId::new("9")], ..step("1") }],
            &["step 1 depends on 9, which is no step"],
        );
    }

    #[test]
    fn sees_cycles_and_shared_decisions() {
        let a = Step { depends_on: vec![StepId::new("2")], decides: vec!["rounding".into()], ..step("1") };
        let b = Step { depends_on: vec![StepId::new("1")], decides: vec!["rounding".into()], ..step("2") };
        check(
            vec![a, b],
            &[
                "step 2 decides rounding, which step 1 already decides",
                "the dependencies of step 1 lead back to itself",
                "the dependencies of step 2 lead back to itself",
            ],
        );
    }
}
