//! The Planner: code ranks what may have to change, the model chooses among it under a schema that cannot name what does
//! not exist, several plans are drawn, and the one that agrees most with the others and with the task is kept. The steps
//! for tests are added by code: every change gets one.
//!
//! Longer than 400 lines because ranking, drawing and choosing share their private types and are read as one story.

use crate::desk::{Call, Desk, ask};
use crate::error::SwarmError;
use crate::placing::{is_test_path, snake, test_path};
use crate::validate::validate;
use starling_core::brief::{Brief, TaskKind};
use starling_core::code::{FileEntry, SymbolKind};
use starling_core::plan::{Plan, Step};
use starling_core::port::{Cancel, CodeMap, Flow, MapError, Model, Progress, SampleRequest, Shape, Toolchain};
use starling_core::prompt::{self, PlanTarget};
use starling_core::receipt::ModelCall;
use starling_core::state::TaskEvent;
use starling_core::test_set::Runner;
use starling_core::{RelPath, Role, StepId, answer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many plans are drawn; they share one evaluation of the prompt.
const PLANS: u32 = 3;
/// How many symbols the model chooses from.
const TARGETS: usize = 12;

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
    let targets = rank(brief, map, &files)?;
    let additions = additions(brief, map, &targets)?;
    if brief.kind == TaskKind::Test {
        let plan = test_plan(brief, &targets, tools, &files);
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
        complete(&mut drafts, &additions);
        let plan = with_tests(drafts, brief, tools, &files);
        if let Some(plan) = checked(plan, map, &files) {
            return Ok(Made { plan: Some(plan), calls: Vec::new() });
        }
    }
    let (drafts, call) = draw(map, model, brief, &targets, may_create, seed, cancel, progress)?;
    let best = choose(drafts, brief, &targets, &additions);
    let mut draft = best.unwrap_or_else(|| by_rank(brief, &targets));
    complete(&mut draft, &additions);
    let plan = with_tests(draft, brief, tools, &files);
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

/// The symbols that may have to change, best first, grouped by file.
fn rank(brief: &Brief, map: &dyn CodeMap, files: &[FileEntry]) -> Result<Vec<PlanTarget>, MapError> {
    let mut scores: BTreeMap<(RelPath, String), f32> = BTreeMap::new();
    let mut add = |path: &RelPath, symbol: &str, score: f32| {
        if !is_test_path(path) {
            *scores.entry((path.clone(), symbol.to_owned())).or_default() += score;
        }
    };
    for (path, symbol) in &brief.grounded_symbols {
        add(path, symbol, if must_stay(brief, symbol) { -4.0 } else { 5.0 });
    }
    for (depth, frame) in brief.trace.iter().rev().enumerate() {
        for definition in map.definitions(crate::ground::bare(&frame.symbol))? {
            add(&definition.path, &definition.symbol.qualified, 4.0 / (1.0 + depth as f32));
        }
    }
    for path in &brief.grounded_files {
        for symbol in map.outline(path)?.symbols {
            add(path, &symbol.qualified, 2.0);
        }
    }
    let query = format!("{} {} {}", brief.title, brief.goal, brief.acceptance.join(" "));
    for (at, hit) in map.search(&query, 24)?.iter().enumerate() {
        let outline = map.outline(&hit.path)?;
        let within = outline.symbols.iter().filter(|s| s.lines.0 <= hit.line && hit.line <= s.lines.1);
        if let Some(symbol) = within.min_by_key(|s| s.span.len()) {
            add(&hit.path, &symbol.qualified, 1.5 / (1.0 + at as f32 * 0.25));
        }
    }
    let mut ranked = Vec::new();
    for ((path, symbol), score) in scores {
        let known = files.iter().any(|entry| entry.path == path);
        let outline = map.outline(&path)?;
        if let Some(found) = outline.symbols.iter().find(|s| s.qualified == symbol)
            && known
            && !found.is_test
            && found.kind != SymbolKind::Module
        {
            ranked.push(PlanTarget {
                path: path.to_string(),
                symbol,
                signature: found.signature.clone(),
                doc: found.doc.lines().next().unwrap_or("").to_owned(),
                score,
            });
        }
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    ranked.truncate(TARGETS);
    Ok(grouped(ranked))
}

/// Keeps the order of the files' best symbols, and puts the symbols of one file together.
fn grouped(ranked: Vec<PlanTarget>) -> Vec<PlanTarget> {
    let mut order: Vec<String> = Vec::new();
    for target in &ranked {
        if !order.contains(&target.path) {
            order.push(target.path.clone());
        }
    }
    let at = |path: &str| order.iter().position(|known| known == path);
    let mut ranked = ranked;
    ranked.sort_by_key(|target| at(&target.path));
    ranked
}

/// A constraint that names the symbol says that it stays.
fn must_stay(brief: &Brief, symbol: &str) -> bool {
    let last = symbol.rsplit('.').next().unwrap_or(symbol);
    brief
        .constraints
        .iter()
        .any(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == last))
}

/// Names the task gives for what does not exist yet, with the file they belong to: the file of their container, else the
/// one file the task names.
fn additions(brief: &Brief, map: &dyn CodeMap, targets: &[PlanTarget]) -> Result<Vec<(RelPath, String)>, MapError> {
    let mut found = Vec::new();
    if !matches!(brief.kind, TaskKind::Feature | TaskKind::Refactor | TaskKind::Bug) {
        return Ok(found);
    }
    for name in &brief.symbols {
        let name = crate::ground::bare(name).replace("::", ".");
        if !map.definitions(&name)?.is_empty() || name.is_empty() {
            continue;
        }
        let place = match name.rsplit_once('.') {
            Some((container, last)) => {
                container_of(container, map)?.map(|(path, owner)| (path, format!("{owner}.{last}")))
            }
            None if brief.kind == TaskKind::Feature && looks_defined(brief, &name) => {
                let named = brief.grounded_files.iter().find(|path| !is_test_path(path)).cloned();
                let ranked = targets.first().and_then(|t| RelPath::new(t.path.clone()).ok());
                named.or(ranked).map(|path| (path, name.clone()))
            }
            None => None,
        };
        if let Some(place) = place
            && !found.contains(&place)
        {
            found.push(place);
        }
    }
    Ok(found)
}

/// The type a dotted name begins with, and its file.
fn container_of(container: &str, map: &dyn CodeMap) -> Result<Option<(RelPath, String)>, MapError> {
    let definitions = map.definitions(container)?;
    let types = definitions.into_iter().filter(|d| {
        matches!(
            d.symbol.kind,
            SymbolKind::Class
                | SymbolKind::Struct
                | SymbolKind::Enum
                | SymbolKind::Trait
                | SymbolKind::Interface
                | SymbolKind::Type
        )
    });
    Ok(types.map(|d| (d.path, d.symbol.qualified)).next())
}

/// A bare new name counts only when the task calls it or says to add it; a word in backticks may be anything.
fn looks_defined(brief: &Brief, name: &str) -> bool {
    let call = format!("{name}(");
    let told = [&brief.goal, &brief.title]
        .into_iter()
        .chain(&brief.acceptance)
        .any(|text| text.contains(&call) || text.contains(name));
    told && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The plans the model draws; those that do not hold are left out.
#[expect(clippy::too_many_arguments, reason = "what is chosen from, who chooses, and how it is told")]
fn draw(
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

/// The plan with the best sum of agreement with the others and fit to what the task says in so many words.
fn choose(
    plans: Vec<Vec<Draft>>,
    brief: &Brief,
    targets: &[PlanTarget],
    additions: &[(RelPath, String)],
) -> Option<Vec<Draft>> {
    let keys: Vec<Vec<String>> = plans.iter().map(|plan| keys(plan)).collect();
    let score = |at: usize| -> f32 {
        let mine = keys.get(at).map_or(&[] as &[String], Vec::as_slice);
        let agreement: f32 = keys.iter().map(|other| overlap(mine, other)).sum::<f32>() / keys.len() as f32;
        let wanted = additions.iter().filter(|(path, name)| mine.contains(&format!("{path}::{name}"))).count();
        let stays = mine.iter().filter(|key| must_stay(brief, key)).count();
        let strength: f32 = mine
            .iter()
            .filter_map(|key| targets.iter().find(|t| format!("{}::{}", t.path, t.symbol) == *key))
            .map(|t| t.score)
            .sum();
        agreement + wanted as f32 + strength / (1.0 + mine.len() as f32) * 0.3
            - 2.0 * stays as f32
            - 0.1 * mine.len() as f32
    };
    let best = (0..plans.len()).max_by(|a, b| score(*a).total_cmp(&score(*b)).then(b.cmp(a)))?;
    let mut best = plans.into_iter().nth(best)?;
    for draft in &mut best {
        draft.symbols.retain(|symbol| !must_stay(brief, symbol));
        prune(draft, targets);
    }
    best.retain(|draft| !draft.symbols.is_empty() || !draft.new_symbols.is_empty());
    (!best.is_empty()).then_some(best)
}

/// Small models add neighbours. Beside a symbol that the task clearly means, only those that it means nearly as much stay.
fn prune(draft: &mut Draft, targets: &[PlanTarget]) {
    let score = |symbol: &String| {
        let target = targets.iter().find(|t| t.path == draft.path.as_str() && &t.symbol == symbol);
        target.map_or(0.0, |t| t.score)
    };
    let scores: Vec<f32> = draft.symbols.iter().map(score).collect();
    let best = scores.iter().copied().fold(0.0, f32::max);
    let mut at = scores.into_iter();
    draft.symbols.retain(|_| at.next().is_none_or(|score| score >= best * 0.5));
}

fn keys(plan: &[Draft]) -> Vec<String> {
    plan.iter().flat_map(|d| d.symbols.iter().chain(&d.new_symbols).map(|s| format!("{}::{s}", d.path))).collect()
}

fn overlap(a: &[String], b: &[String]) -> f32 {
    let both = a.iter().filter(|key| b.contains(key)).count() as f32;
    let all = (a.len() + b.len()) as f32 - both;
    if all == 0.0 { 0.0 } else { both / all }
}

/// What code alone would do, when no drawn plan holds: change the best-ranked symbol.
fn by_rank(brief: &Brief, targets: &[PlanTarget]) -> Vec<Draft> {
    let best = targets.iter().max_by(|a, b| a.score.total_cmp(&b.score));
    let draft = best.and_then(|target| {
        Some(Draft {
            goal: if brief.goal.is_empty() { brief.title.clone() } else { brief.goal.clone() },
            path: RelPath::new(target.path.clone()).ok()?,
            symbols: vec![target.symbol.clone()],
            new_symbols: Vec::new(),
        })
    });
    draft.into_iter().collect()
}

/// What the task asks to add by name is in the plan, and only under that name. A file that gets a named addition gets
/// nothing else: what small models want to change beside it is nearly always what the addition merely uses.
fn complete(drafts: &mut Vec<Draft>, additions: &[(RelPath, String)]) {
    for (path, _) in additions {
        drafts.retain(|draft| &draft.path != path);
    }
    for (path, name) in additions {
        match drafts.iter_mut().find(|draft| &draft.path == path) {
            Some(draft) => {
                draft.new_symbols.push(name.clone());
                draft.goal = format!("Add {}", draft.new_symbols.join(", "));
            }
            None => drafts.push(Draft {
                goal: format!("Add {name}"),
                path: path.clone(),
                symbols: Vec::new(),
                new_symbols: vec![name.clone()],
            }),
        }
    }
}

fn with_tests(drafts: Vec<Draft>, brief: &Brief, tools: &Toolchain, files: &[FileEntry]) -> Option<Plan> {
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
    let first = drafts.first()?;
    let lead = first.new_symbols.first().or(first.symbols.first())?;
    if let Some(runner) = runner_for(tools, &first.path)
        && let Some(path) = test_path(runner, &tools.test_dir, &first.path, lead, files)
    {
        let tested: Vec<String> = drafts.iter().flat_map(|d| d.new_symbols.iter().chain(&d.symbols).cloned()).collect();
        let before = steps.iter().map(|step| step.id.clone()).collect();
        steps.push(test_step(steps.len() + 1, format!("Test {}", tested.join(", ")), path, tested, before));
    }
    Some(Plan { steps, rationale: String::new() })
}

/// "Write the missing tests": no model is needed to see what to do.
fn test_plan(brief: &Brief, targets: &[PlanTarget], tools: &Toolchain, files: &[FileEntry]) -> Option<Plan> {
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
        let runner = runner_for(tools, &target)?;
        let path = test_path(runner, &tools.test_dir, &target, symbols.first()?, &taken)?;
        taken.push(FileEntry { path: path.clone(), bytes: 0, language: None });
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

/// The runner of the language of a file, if the project has one.
pub(crate) fn runner_for(tools: &Toolchain, path: &RelPath) -> Option<Runner> {
    let language = starling_core::code::Language::of(path)?;
    tools.runners.iter().copied().find(|runner| runner.language() == language)
}

fn acceptance(brief: &Brief, goal: &str) -> Vec<String> {
    if brief.acceptance.is_empty() { vec![goal.to_owned()] } else { brief.acceptance.clone() }
}

fn decision(goal: &str, at: usize) -> String {
    let words: Vec<String> =
        snake(goal).split('_').filter(|w| w.chars().count() > 2).take(4).map(str::to_owned).collect();
    format!("{}-{}", words.join("-"), at + 1)
}
