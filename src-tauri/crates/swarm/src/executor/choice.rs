//! Which survivor wins. Tests in the person's own words decide first; then agreement between candidates and tests; then
//! the smaller change.

use super::{Court, Survivor};
use crate::probes::Origin;
use starling_core::change::{ChangeSet, FileEdit};
use starling_core::port::CaseOutcome;
use starling_core::state::CandidateSource;

/// A test that the person wrote (in the task or in the project) failed before and passes now.
pub(crate) fn is_proven(court: &Court, survivor: &Survivor) -> bool {
    let examples = court.probes.iter().zip(&court.before).zip(&survivor.passes);
    let by_example =
        examples.filter(|((probe, before), passes)| probe.origin == Origin::Example && !before.passed() && **passes);
    by_example.count() > 0 || !survivor.repaired.is_empty()
}

/// Any test failed before and passes now.
pub(crate) fn shows_difference(court: &Court, survivor: &Survivor) -> bool {
    differences(court, survivor) > 0
}

fn differences(court: &Court, survivor: &Survivor) -> usize {
    court.before.iter().zip(&survivor.passes).filter(|(before, passes)| !before.passed() && **passes).count()
}

pub(crate) fn choose(court: &Court, survivors: Vec<Survivor>) -> Option<Survivor> {
    let scores: Vec<Score> = survivors.iter().map(|s| score(court, s, &survivors)).collect();
    let best = (0..survivors.len()).max_by(|a, b| match (scores.get(*a), scores.get(*b)) {
        (Some(a), Some(b)) => a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal),
        _ => std::cmp::Ordering::Equal,
    })?;
    survivors.into_iter().nth(best)
}

/// Compared field by field; larger is better.
#[derive(PartialEq, PartialOrd)]
struct Score {
    proven: bool,
    /// Candidates in agreement times the tests they agree on that tell old from new.
    agreement: usize,
    /// A model read the task; an operator only fits the tests. Among equals the reader wins.
    read_the_task: bool,
    /// Negative size of the change.
    small: i64,
}

fn score(court: &Court, survivor: &Survivor, all: &[Survivor]) -> Score {
    let group = all.iter().filter(|other| other.passes == survivor.passes).count();
    let tests = differences(court, survivor);
    let guards = court
        .before
        .iter()
        .zip(&survivor.passes)
        .filter(|(before, passes)| before.outcome == CaseOutcome::Passed && **passes)
        .count();
    Score {
        proven: is_proven(court, survivor),
        agreement: group * (tests * 4 + guards),
        read_the_task: survivor.source == CandidateSource::Model,
        small: -(size(&survivor.change) as i64),
    }
}

/// Bytes that go and bytes that come.
pub(crate) fn size(change: &ChangeSet) -> usize {
    let edit = |edit: &FileEdit| match edit {
        FileEdit::Create { bytes } => bytes.len(),
        FileEdit::Splice { splices, .. } => splices.iter().map(|s| s.span.len() + s.bytes.len()).sum(),
    };
    change.files.iter().map(|file| edit(&file.edit)).sum()
}
