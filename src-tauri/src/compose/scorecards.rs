//! Scorecards by role and model, folded from the journal like everything else: how much was asked, how much of it had the
//! agreed form, how much passed the gates, which names were invented, how fast it was.

use serde::Serialize;
use starling_core::evidence::Gate;
use starling_core::receipt::{ModelCall, Usage};
use starling_core::review::Place;
use starling_core::state::{Outcome, TaskState};
use starling_core::{ModelName, Role, StepId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scorecard {
    /// `None` when not grouped by it.
    pub role: Option<Role>,
    pub model: Option<ModelName>,
    pub place: Place,
    pub calls: u32,
    pub candidates: u32,
    /// Share of candidates whose answer had the agreed form; `None` when nothing was judged.
    pub valid_percent: Option<f64>,
    /// Share of judged candidates that passed every gate they met.
    pub gate_pass_percent: Option<f64>,
    /// Share of calls that used a name which does not exist, and the names.
    pub invented_percent: f64,
    pub invented: Vec<String>,
    /// Calls beyond the first of one role in one task.
    pub retries: u32,
    /// Tasks whose own gates were green, but whose change the Reviewer did not approve.
    pub overturned: u32,
    pub usage: Usage,
    pub tokens_per_second: f64,
    pub millis_p50: u64,
    pub millis_p95: u64,
}

/// The whole picture over all tasks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    pub tasks: u32,
    pub ready: u32,
    pub local_tokens: u64,
    pub cloud_tokens: u64,
    /// Share of all tokens that local models handled.
    pub yield_percent: f64,
    pub cost_micro_usd: u64,
    pub egress_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupBy {
    pub role: bool,
    pub model: bool,
}

#[derive(Default)]
struct Tally {
    place: Option<Place>,
    calls: u32,
    candidates: u32,
    valid: u32,
    judged: u32,
    passed: u32,
    inventing: u32,
    invented: BTreeSet<String>,
    retries: u32,
    overturned: u32,
    usage: Usage,
    millis: Vec<u64>,
}

type Key = (Option<&'static str>, Option<ModelName>);

pub fn scorecards<'a>(states: impl IntoIterator<Item = &'a TaskState>, by: GroupBy) -> Vec<Scorecard> {
    let mut tallies: BTreeMap<Key, Tally> = BTreeMap::new();
    for state in states {
        add_task(&mut tallies, state, by);
    }
    tallies.into_iter().map(|((role, model), tally)| card(role.and_then(Role::parse), model, tally)).collect()
}

pub fn overview<'a>(states: impl IntoIterator<Item = &'a TaskState>) -> Overview {
    let mut all = Overview {
        tasks: 0,
        ready: 0,
        local_tokens: 0,
        cloud_tokens: 0,
        yield_percent: 0.0,
        cost_micro_usd: 0,
        egress_bytes: 0,
    };
    for state in states {
        all.tasks += 1;
        all.ready += u32::from(state.outcome() == Some(Outcome::Ready));
        for call in &state.calls {
            match call.place {
                Place::Local => all.local_tokens += call.usage.total(),
                Place::Cloud => all.cloud_tokens += call.usage.total(),
            }
        }
        for entry in &state.egress {
            all.cost_micro_usd += entry.cost_micro_usd.unwrap_or(0);
            all.egress_bytes += entry.bytes;
        }
    }
    all.yield_percent = percent(all.local_tokens, all.local_tokens + all.cloud_tokens).unwrap_or(0.0);
    all
}

fn add_task(tallies: &mut BTreeMap<Key, Tally>, state: &TaskState, by: GroupBy) {
    let key = |role: Role, model: &ModelName| (by.role.then(|| role.as_str()), by.model.then(|| model.clone()));
    let mut seen: BTreeSet<(&'static str, &str)> = BTreeSet::new();
    for call in &state.calls {
        let tally = tallies.entry(key(call.role, &call.model)).or_default();
        tally.add(call);
        tally.retries += u32::from(!seen.insert((call.role.as_str(), call.template.as_str())));
    }
    // A candidate is told by its step; the step by its role; the role by the model that worked for it in this task.
    for (role, passed) in judged(state) {
        if let Some(call) = state.calls.iter().find(|call| call.role == role) {
            let tally = tallies.entry(key(role, &call.model)).or_default();
            tally.judged += 1;
            tally.passed += u32::from(passed);
        }
    }
    let overturned = state.proven() && state.outcome() == Some(Outcome::NeedsWork) && state.verdict.is_some();
    if overturned && let Some(call) = state.calls.iter().find(|call| call.role == Role::Executor) {
        tallies.entry(key(call.role, &call.model)).or_default().overturned += 1;
    }
}

/// Each judged candidate: the role of its step, and whether it fell nowhere and got as far as the tests.
fn judged(state: &TaskState) -> Vec<(Role, bool)> {
    let mut by_candidate: BTreeMap<(&StepId, u32), (bool, bool)> = BTreeMap::new();
    for (step, candidate, result) in &state.gates {
        let (all_passed, tested) = by_candidate.entry((step, *candidate)).or_insert((true, false));
        *all_passed &= result.passed();
        *tested |= result.gate >= Gate::Tests;
    }
    let role = |id: &StepId| state.plan.as_ref().and_then(|plan| plan.step(id)).map(|step| step.role);
    by_candidate.into_iter().filter_map(|((id, _), (passed, tested))| Some((role(id)?, passed && tested))).collect()
}

impl Tally {
    fn add(&mut self, call: &ModelCall) {
        self.place = Some(call.place);
        self.calls += 1;
        self.candidates += call.candidates;
        self.valid += call.valid;
        self.inventing += u32::from(!call.invented.is_empty());
        self.invented.extend(call.invented.iter().cloned());
        self.usage.add(call.usage);
        self.millis.push(call.millis);
    }
}

fn card(role: Option<Role>, model: Option<ModelName>, mut tally: Tally) -> Scorecard {
    tally.millis.sort_unstable();
    let seconds = tally.millis.iter().sum::<u64>() as f64 / 1000.0;
    Scorecard {
        role,
        model,
        place: tally.place.unwrap_or(Place::Local),
        calls: tally.calls,
        candidates: tally.candidates,
        valid_percent: percent(tally.valid.into(), tally.candidates.into()),
        gate_pass_percent: percent(tally.passed.into(), tally.judged.into()),
        invented_percent: percent(tally.inventing.into(), tally.calls.into()).unwrap_or(0.0),
        invented: tally.invented.into_iter().collect(),
        retries: tally.retries,
        overturned: tally.overturned,
        usage: tally.usage,
        tokens_per_second: if seconds > 0.0 { tally.usage.output as f64 / seconds } else { 0.0 },
        millis_p50: percentile(&tally.millis, 50),
        millis_p95: percentile(&tally.millis, 95),
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 * 1000.0 / whole as f64).round() / 10.0)
}

/// Nearest rank.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(role: Role, model: &str, valid: u32, millis: u64, invented: &[&str]) -> ModelCall {
        ModelCall {
            role,
            model: ModelName::new(model),
            place: Place::Local,
            template: "t/1".into(),
            usage: Usage { input: 10, output: 20, ..Usage::default() },
            candidates: 4,
            valid,
            millis,
            invented: invented.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn groups_by_what_is_asked() {
        let state = TaskState {
            calls: vec![
                call(Role::Executor, "a", 4, 1000, &[]),
                call(Role::Executor, "a", 2, 3000, &["foo"]),
                call(Role::Tester, "b", 4, 500, &[]),
            ],
            ..TaskState::default()
        };
        let cards = scorecards([&state], GroupBy { role: true, model: true });
        assert_eq!(cards.len(), 2);
        let first = &cards[0];
        assert_eq!((first.role, first.calls, first.retries), (Some(Role::Executor), 2, 1));
        assert_eq!((first.valid_percent, first.invented_percent), (Some(75.0), 50.0));
        assert_eq!((first.millis_p50, first.millis_p95), (1000, 3000));
        assert!((first.tokens_per_second - 10.0).abs() < 1e-9);
        let all = scorecards([&state], GroupBy { role: false, model: false });
        assert_eq!((all.len(), all[0].calls, all[0].role), (1, 3, None));
        let overview = overview([&state]);
        assert_eq!((overview.local_tokens, overview.yield_percent), (90, 100.0));
    }

    #[test]
    fn percentiles_of_little() {
        assert_eq!(percentile(&[], 95), 0);
        assert_eq!(percentile(&[7], 50), 7);
        assert_eq!(percentile(&[1, 2, 3, 4], 50), 2);
    }
}
