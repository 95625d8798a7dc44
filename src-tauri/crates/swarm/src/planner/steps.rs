//! A plan's steps: the changes one after the other, then a step of tests for each changed file.

use super::Draft;
use crate::placing::{runner_for, snake, test_path};
use starling_core::brief::Brief;
use starling_core::code::FileEntry;
use starling_core::plan::{Plan, Step};
use starling_core::port::Toolchain;
use starling_core::prompt::PlanTarget;
use starling_core::{RelPath, Role, StepId};

/// The changes in order, each with a step of tests behind them.
pub(super) fn with_tests(drafts: Vec<Draft>, brief: &Brief, tools: &Toolchain, files: &[FileEntry]) -> Option<Plan> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        steps.push(Step {
            id: StepId::new((at + 1).to_string()),
            role: Role::Executor,
            goal: draft.goal.clone(),
            files: vec![draft.path.clone()],
            new_files: Vec::new(),
            symbols: draft.symbols.clone(),
            new_symbols: draft.new_symbols.clone(),
            acceptance: acceptance(brief, &draft.goal),
            depends_on: at.checked_sub(1).map(|before| StepId::new((before + 1).to_string())).into_iter().collect(),
            decides: vec![decision(&draft.goal, at)],
        });
    }
    let mut taken: Vec<FileEntry> = files.to_vec();
    for (at, draft) in drafts.iter().enumerate() {
        let symbols: Vec<String> = draft.new_symbols.iter().chain(&draft.symbols).cloned().collect();
        // A file without a runner is changed all the same; the gates of the other files judge it.
        let Some(path) = fresh_test(tools, &draft.path, &symbols, &mut taken) else { continue };
        let changed = vec![StepId::new((at + 1).to_string())];
        steps.push(test_step(steps.len() + 1, format!("Test {}", symbols.join(", ")), path, symbols, changed));
    }
    if steps.is_empty() {
        return None;
    }
    Some(Plan { steps, rationale: String::new() })
}

/// "Write the missing tests": no model is needed to see what to do.
pub(super) fn test_plan(brief: &Brief, targets: &[PlanTarget], tools: &Toolchain, files: &[FileEntry]) -> Option<Plan> {
    let named = |target: &&PlanTarget| {
        brief.grounded_symbols.iter().any(|(path, symbol)| path.as_str() == target.path && symbol == &target.symbol)
    };
    let mut chosen: Vec<&PlanTarget> = targets.iter().filter(named).collect();
    if chosen.is_empty() {
        let in_files = |t: &&PlanTarget| brief.grounded_files.iter().any(|path| path.as_str() == t.path);
        chosen = targets.iter().filter(in_files).collect();
    }
    if chosen.is_empty() {
        chosen = targets.iter().take(1).collect();
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut taken: Vec<FileEntry> = files.to_vec();
    let mut paths: Vec<&str> = chosen.iter().map(|t| t.path.as_str()).collect();
    paths.dedup();
    for file in paths {
        let target = RelPath::new(file).ok()?;
        let symbols: Vec<String> = chosen.iter().filter(|t| t.path == file).map(|t| t.symbol.clone()).collect();
        let path = fresh_test(tools, &target, &symbols, &mut taken)?;
        let mut step = test_step(
            steps.len() + 1,
            format!("Test {} as it behaves now", symbols.join(", ")),
            path,
            symbols,
            Vec::new(),
        );
        step.acceptance.extend(brief.acceptance.iter().cloned());
        step.files.push(target);
        steps.push(step);
    }
    (!steps.is_empty()).then_some(Plan { steps, rationale: "Only tests are asked for; the code stays.".to_owned() })
}

/// A test file of its own for the symbols of a file; "taken" remembers it.
fn fresh_test(tools: &Toolchain, target: &RelPath, symbols: &[String], taken: &mut Vec<FileEntry>) -> Option<RelPath> {
    let runner = runner_for(tools, target)?;
    let path = test_path(runner, &tools.test_dir, target, symbols.first()?, taken)?;
    taken.push(FileEntry { path: path.clone(), bytes: 0, language: None });
    Some(path)
}

fn test_step(number: usize, goal: String, path: RelPath, symbols: Vec<String>, depends_on: Vec<StepId>) -> Step {
    Step {
        id: StepId::new(number.to_string()),
        role: Role::Tester,
        goal,
        files: Vec::new(),
        new_files: vec![path],
        symbols,
        new_symbols: Vec::new(),
        acceptance: vec!["each test fails before the change or kills a mutant".to_owned()],
        depends_on,
        decides: vec![format!("tests-{number}")],
    }
}

fn acceptance(brief: &Brief, goal: &str) -> Vec<String> {
    if brief.acceptance.is_empty() { vec![goal.to_owned()] } else { brief.acceptance.clone() }
}

fn decision(goal: &str, at: usize) -> String {
    let words: Vec<String> =
        snake(goal).split('_').filter(|w| w.chars().count() > 2).take(4).map(str::to_owned).collect();
    format!("{}-{}", words.join("-"), at + 1)
}
