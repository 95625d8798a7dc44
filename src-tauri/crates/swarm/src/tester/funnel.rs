//! The gates of tests: passes, passes again, fails on something. And the smallest set with the same kills.

use super::{Subject, is_recorded};
use crate::desk::Desk;
use crate::error::SwarmError;
use crate::judge::{Bench, ProbeResult, last_part};
use crate::probes::{Origin, Probe};
use starling_core::port::{CaseOutcome, TestRun};
use starling_core::test_set::{Funnel, KeptTest, Mutant, Runner, TestClaim, TestProof};
use std::collections::BTreeSet;

/// What is said of a test that is not run before the change, because what it calls is not there.
pub(crate) const ABSENT: &str = "does not exist yet";

/// A test that passes and is stable, with what it can fail on.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub probe: Probe,
    /// What it said on the code before the change, when it failed there.
    pub failed_before: Option<String>,
    /// The mutants it kills: index, and the mutant itself for the proof.
    pub kills: Vec<(usize, Mutant)>,
}

impl Judged {
    pub fn into_kept(self) -> KeptTest {
        let mut proof: Vec<TestProof> =
            self.failed_before.iter().map(|message| TestProof::FailsBefore { message: message.clone() }).collect();
        proof.extend(
            self.kills
                .iter()
                .take(3)
                .map(|(_, m)| TestProof::KillsMutant { mutant: m.id.clone(), diff: m.diff.clone() }),
        );
        // What passed on the code before the change may hold a fault fast: only a difference or the person's word is more.
        let oracle =
            self.probe.origin == Origin::Example || (self.failed_before.is_some() && !is_recorded(&self.probe));
        let claim = if oracle { TestClaim::Oracle } else { TestClaim::Regression };
        KeptTest { name: self.probe.name, source: self.probe.source, claim, proof }
    }
}

/// How many mutants are run: evenly spread over the symbols.
fn mutant_budget(runner: Runner) -> usize {
    match runner {
        Runner::Pytest | Runner::Unittest => 48,
        Runner::NodeTest => 40,
        Runner::CargoTest | Runner::Vitest | Runner::Jest => 16,
    }
}

pub(crate) fn run(
    desk: &Desk<'_>,
    subject: &Subject,
    bench: &Bench,
    candidates: Vec<(Probe, Option<ProbeResult>)>,
    funnel: &mut Funnel,
) -> Result<Vec<Judged>, SwarmError> {
    let probes: Vec<Probe> = candidates.iter().map(|(probe, _)| probe.clone()).collect();
    let first = bench.probes(desk, &probes)?;
    funnel.built = first.iter().filter(|r| r.outcome != CaseOutcome::Errored).count() as u32;
    let alive: Vec<(Probe, Option<ProbeResult>)> =
        candidates.into_iter().zip(&first).filter(|(_, result)| result.passed()).map(|(c, _)| c).collect();
    funnel.passed = alive.len() as u32;
    // In reverse order: a test that leans on what another left behind falls here.
    let reversed: Vec<Probe> = alive.iter().rev().map(|(probe, _)| probe.clone()).collect();
    let mut second = bench.probes(desk, &reversed)?;
    second.reverse();
    let alive: Vec<(Probe, Option<ProbeResult>)> =
        alive.into_iter().zip(&second).filter(|(_, result)| result.passed()).map(|(c, _)| c).collect();
    funnel.stable = alive.len() as u32;
    if alive.is_empty() {
        return Ok(Vec::new());
    }
    let mutants = mutants_of(subject, mutant_budget(bench.runner));
    let kills = kills(desk, bench, &alive.iter().map(|(p, _)| p.clone()).collect::<Vec<_>>(), &mutants)?;
    Ok(alive
        .into_iter()
        .map(|(probe, before)| {
            let mine = kills.iter().filter(|(name, _)| name == &probe.name);
            let kills = mine.filter_map(|(_, at)| Some((*at, mutants.get(*at)?.clone()))).collect();
            let failed_before = before
                .filter(|b| !b.passed() && !is_absent(&b.message, &subject.symbols))
                .map(|b| last_lines(&b.message));
            Judged { probe, failed_before, kills }
        })
        .collect())
}

/// A test that failed only because what it calls did not exist yet would pass on any code of that name: it has to kill a
/// mutant like every other.
pub(crate) fn is_absent(message: &str, symbols: &[String]) -> bool {
    let says = |sign: &str| message.contains(sign);
    // Python quotes the name it misses. Another name is missing for another reason, which may be the very fault.
    let ours = || symbols.iter().any(|s| says(&format!("'{}'", s.rsplit('.').next().unwrap_or(s))));
    // Node says what a module does not export, and of `require` only what cannot be called.
    let unmade = |name: &str| {
        [format!("{name} is not a function"), format!("{name} is not a constructor"), format!("export named '{name}'")]
            .iter()
            .any(|text| message.contains(text.as_str()))
    };
    let unmade = symbols.iter().any(|s| unmade(s.rsplit('.').next().unwrap_or(s)));
    unmade
        || ["ImportError", "ModuleNotFoundError", "ERR_MODULE_NOT_FOUND", ABSENT].into_iter().any(says)
        || ["NameError", "has no attribute"].into_iter().any(says) && ours()
}

fn last_lines(message: &str) -> String {
    // What a stack of node says comes before its frames, what one of Python says after them.
    let frame = |line: &str| line.trim_start().starts_with("at ");
    let lines: Vec<&str> =
        message.lines().map(str::trim_end).filter(|line| !line.trim().is_empty() && !frame(line)).collect();
    lines.iter().skip(lines.len().saturating_sub(3)).copied().collect::<Vec<_>>().join("\n")
}

/// (test name, index of a mutant it kills)
fn kills(
    desk: &Desk<'_>,
    bench: &Bench,
    probes: &[Probe],
    mutants: &[Mutant],
) -> Result<Vec<(String, usize)>, SwarmError> {
    if mutants.is_empty() {
        return Ok(Vec::new());
    }
    let what = format!("{} tests against {} mutants", probes.len(), mutants.len());
    desk.progress(&starling_core::port::Progress::Running { what });
    let file = bench.file_change(probes);
    desk.ports.workspace.apply(&desk.task, &file)?;
    let run =
        TestRun { runner: bench.runner, files: vec![bench.probe_path.clone()], names: Vec::new(), timeout_seconds: 20 };
    let results = desk.ports.checks.mutate(&desk.task, mutants, &run, desk.cancel);
    desk.ports.workspace.revert(&desk.task, &file)?;
    let mut pairs = Vec::new();
    for (at, result) in results?.into_iter().enumerate().filter(|(_, result)| !result.invalid) {
        pairs.extend(result.killed_by.iter().map(|name| (last_part(name).to_owned(), at)));
    }
    Ok(pairs)
}

pub(crate) fn mutants_of(subject: &Subject, budget: usize) -> Vec<Mutant> {
    let spans = subject.symbols.iter().filter_map(|name| subject.outline.unique(name)).map(|symbol| symbol.span);
    let all: Vec<Mutant> = spans
        .flat_map(|span| starling_syntax::mutants(subject.language, &subject.path, &subject.source, span))
        .collect();
    let step = all.len().div_ceil(budget.max(1)).max(1);
    all.into_iter().step_by(step).collect()
}

/// The person's examples and tests that failed before stay; of the rest, greedily, each that kills something new.
pub(crate) fn minimise(judged: Vec<Judged>) -> Vec<Judged> {
    let mut killed: BTreeSet<usize> = BTreeSet::new();
    // Of code that is new nothing could fail before; there an example of the person's stays with any mutant that it kills,
    // also one that another test kills too.
    let stays = |j: &Judged| match j.probe.origin {
        Origin::Example => j.failed_before.is_some() || !j.kills.is_empty(),
        Origin::Model => j.failed_before.is_some(),
        Origin::Recorder => false,
    };
    let (mut kept, mut rest): (Vec<Judged>, Vec<Judged>) = judged.into_iter().partition(stays);
    kept.truncate(8);
    for judged in &kept {
        killed.extend(judged.kills.iter().map(|(at, _)| at));
    }
    loop {
        let gain = |j: &Judged| j.kills.iter().filter(|(at, _)| !killed.contains(at)).count();
        // A model's test has a name that says something; a recorded one wins only by more kills.
        let best =
            (0..rest.len()).max_by_key(|at| rest.get(*at).map_or((0, false), |j| (gain(j), !is_recorded(&j.probe))));
        let Some(at) = best.filter(|at| rest.get(*at).is_some_and(|j| gain(j) > 0)) else { return kept };
        let chosen = rest.remove(at);
        killed.extend(chosen.kills.iter().map(|(at, _)| at));
        kept.push(chosen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use starling_core::RelPath;
    use starling_core::code::Span;

    fn judged(name: &str, origin: Origin, before: Option<&str>, kills: &[usize]) -> Judged {
        let mutant = |at: usize| Mutant {
            path: RelPath::new("a.py").expect("a good path"),
            id: format!("m{at}"),
            span: Span::new(0, 1),
            replacement: String::new(),
            line: 1,
            diff: String::new(),
        };
        Judged {
            probe: Probe {
                name: name.to_owned(),
                source: String::new(),
                origin,
                claim: TestClaim::Oracle,
                imports: Vec::new(),
            },
            failed_before: before.map(str::to_owned),
            kills: kills.iter().map(|at| (*at, mutant(*at))).collect(),
        }
    }

    #[test]
    fn keeps_the_smallest_set_with_the_same_kills() {
        let kept = minimise(vec![
            judged("subset", Origin::Model, None, &[1]),
            judged("nothing", Origin::Model, None, &[]),
            judged("large", Origin::Recorder, None, &[1, 2, 3]),
            judged("example", Origin::Example, Some("ValueError"), &[4]),
            judged("same", Origin::Model, None, &[4]),
            judged("of new code", Origin::Example, None, &[2]),
            judged("of anything", Origin::Example, None, &[]),
        ]);
        let names: Vec<&str> = kept.iter().map(|j| j.probe.name.as_str()).collect();
        assert_eq!(names, ["example", "of new code", "large"]);
    }

    #[test]
    fn tells_a_missing_target_from_a_failure() {
        let check = |message: &str, expected: bool| {
            assert_eq!(is_absent(message, &["Cart.total".to_owned(), "tax".to_owned()]), expected, "{message}");
        };
        check("ImportError: cannot import name 'tax' from 'shop'", true);
        check("ModuleNotFoundError: No module named 'shop.tax'", true);
        check("NameError: name 'tax' is not defined", true);
        check("AttributeError: 'Cart' object has no attribute 'total'", true);
        check("tax does not exist yet", true);
        check("TypeError: tax is not a function", true);
        check("SyntaxError: The requested module '../a.js' does not provide an export named 'tax'", true);
        check("TypeError: items.map is not a function", false);
        check("AttributeError: 'NoneType' object has no attribute 'strip'", false);
        check("NameError: name 'cents' is not defined", false);
        check("AssertionError: 3 != 4", false);
    }

    #[test]
    fn says_what_a_test_may_be_called() {
        let claim = |origin, before| judged("t", origin, before, &[1]).into_kept().claim;
        assert_eq!(claim(Origin::Model, None), TestClaim::Regression);
        assert_eq!(claim(Origin::Model, Some("x")), TestClaim::Oracle);
        assert_eq!(claim(Origin::Recorder, Some("x")), TestClaim::Regression);
        assert_eq!(claim(Origin::Example, None), TestClaim::Oracle);
    }
}
