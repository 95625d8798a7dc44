//! The choice among drawn plans, and what code adds to it.

use super::Draft;
use super::rank::must_stay;
use starling_core::RelPath;
use starling_core::brief::Brief;
use starling_core::prompt::PlanTarget;

/// The plan with the best sum of agreement with the others and fit to what the task says in so many words.
pub(super) fn choose(
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
pub(super) fn by_rank(brief: &Brief, targets: &[PlanTarget]) -> Vec<Draft> {
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
pub(super) fn complete(drafts: &mut Vec<Draft>, additions: &[(RelPath, String)]) {
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
