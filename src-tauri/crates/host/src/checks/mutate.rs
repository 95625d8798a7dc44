//! Running tests against mutants, on scratch copies, a few at a time. The stage is never changed.

use super::toolchain::Tools;
use super::{Site, io, make, test_in, wary};
use crate::sandbox::Limits;
use starling_core::port::{Cancel, CheckError, MutantResult, TestReport, TestRun};
use starling_core::test_set::{Mutant, Runner};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files that a copy of the stage may have.
const MAX_FILES: usize = 20_000;

pub(super) fn run(
    tools: &Tools,
    site: &Site,
    scratch: &Path,
    mutants: &[Mutant],
    run: &TestRun,
    cancel: &Cancel,
) -> Result<Vec<MutantResult>, CheckError> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(4).min(mutants.len());
    let limits = site.limits.shared_by(workers);
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<MutantResult>>> = Mutex::new(vec![None; mutants.len()]);
    let outcomes: Vec<Result<(), CheckError>> = std::thread::scope(|scope| {
        let spawn = |worker: usize| {
            let (next, results) = (&next, &results);
            let name = format!("starling-mutants-{worker}");
            let job = move || {
                work(
                    tools,
                    site,
                    &scratch.join(format!("mutants-{worker}")),
                    limits,
                    mutants,
                    run,
                    cancel,
                    next,
                    results,
                )
            };
            std::thread::Builder::new().name(name).spawn_scoped(scope, job)
        };
        let handles: Vec<_> = (0..workers).map(spawn).collect();
        let ended = handles.into_iter().map(|handle| {
            let gone = |message: String| CheckError::Io { what: "a worker for mutants".to_owned(), message };
            let handle = handle.map_err(|e| gone(e.to_string()))?;
            handle.join().unwrap_or_else(|_| Err(gone("it panicked".to_owned())))
        });
        ended.collect()
    });
    outcomes.into_iter().collect::<Result<Vec<()>, CheckError>>()?;
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let unknown = || MutantResult { killed_by: Vec::new(), invalid: true };
    Ok(results.into_iter().map(|result| result.unwrap_or_else(unknown)).collect())
}

#[expect(clippy::too_many_arguments, reason = "the body of one thread; a struct would be used once")]
fn work(
    tools: &Tools,
    site: &Site,
    folder: &Path,
    limits: Limits,
    mutants: &[Mutant],
    run: &TestRun,
    cancel: &Cancel,
    next: &AtomicUsize,
    results: &Mutex<Vec<Option<MutantResult>>>,
) -> Result<(), CheckError> {
    let copy = Site { tree: folder.join("tree"), private: folder.join("private"), limits };
    make(&copy.private)?;
    copy_tree(&site.tree, &copy.tree)?;
    let start = std::time::Instant::now();
    let baseline = test_in(tools, &copy, run, cancel)?;
    let run = TestRun { timeout_seconds: patience(run.runner, start.elapsed().as_secs() as u32), ..run.clone() };
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(mutant) = mutants.get(at) else { return Ok(()) };
        let result = one(tools, &copy, mutant, &run, &baseline, cancel)?;
        if let Some(slot) = results.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
            *slot = Some(result);
        }
    }
}

/// A mutant that hangs is given five times what the tests take.
fn patience(runner: Runner, seconds: u32) -> u32 {
    match runner {
        Runner::Pytest | Runner::Unittest => (seconds * 5).max(5),
        Runner::NodeTest => (seconds * 5).max(10),
        Runner::Vitest | Runner::Jest => (seconds * 5).max(30),
        Runner::CargoTest => (seconds * 5).max(60),
    }
}

fn one(
    tools: &Tools,
    copy: &Site,
    mutant: &Mutant,
    run: &TestRun,
    baseline: &TestReport,
    cancel: &Cancel,
) -> Result<MutantResult, CheckError> {
    let file = Path::new(mutant.path.as_str());
    let original = wary::read_with_mode(&copy.tree, file, u64::MAX).map_err(|e| io(file, e))?;
    let mut mutated = original.bytes.clone();
    if mutant.span.end > mutated.len() || mutant.span.start > mutant.span.end {
        return Ok(MutantResult { killed_by: Vec::new(), invalid: true });
    }
    mutated.splice(mutant.span.start..mutant.span.end, mutant.replacement.bytes());
    wary::write(&copy.tree, file, &mutated, original.mode).map_err(|e| io(file, e))?;
    let report = test_in(tools, copy, run, cancel);
    wary::write(&copy.tree, file, &original.bytes, original.mode).map_err(|e| io(file, e))?;
    let report = report?;
    let before = |name: &str| baseline.failures().any(|case| case.name == name);
    // A test that fails without the mutant too says nothing about it, except in a search for repairs, where every failure
    // counts; there the caller looks only at the tests it wants to see pass.
    let killed_by: Vec<String> = report.failures().map(|case| case.name.clone()).collect();
    let news = killed_by.iter().any(|name| !before(name));
    let invalid = (report.broken && !baseline.broken) || (report.exit.is_none() && !news);
    Ok(MutantResult { killed_by, invalid })
}

/// A copy without git, caches and build output. Who may run a file is kept: tests call scripts of their project. Files that are the same already are left alone, so that a build in the copy
/// stays warm from one call to the next.
fn copy_tree(from: &Path, to: &Path) -> Result<(), CheckError> {
    make(to)?;
    if fill(from, to).is_ok() {
        return Ok(());
    }
    // Tests of an earlier call may have left a link or a folder where a file belongs.
    std::fs::remove_dir_all(to).map_err(|e| io(to, e))?;
    make(to)?;
    fill(from, to)
}

fn fill(from: &Path, to: &Path) -> Result<(), CheckError> {
    let wanted = list(from)?;
    for relative in list(to)? {
        if !wanted.contains(&relative) {
            let file = to.join(&relative);
            std::fs::remove_file(&file).map_err(|e| io(&file, e))?;
        }
    }
    for relative in wanted {
        let wanted = wary::read_with_mode(from, &relative, u64::MAX).map_err(|e| io(&relative, e))?;
        if wary::read_with_mode(to, &relative, u64::MAX).is_ok_and(|there| there == wanted) {
            continue;
        }
        wary::write(to, &relative, &wanted.bytes, wanted.mode).map_err(|e| io(&relative, e))?;
    }
    Ok(())
}

fn list(root: &Path) -> Result<Vec<PathBuf>, CheckError> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let kind = entry.file_type().map_err(|e| io(&entry.path(), e))?;
            let skipped = matches!(
                entry.file_name().to_str(),
                Some(".git" | "__pycache__" | "target" | "node_modules" | ".venv" | "venv")
            );
            if kind.is_dir() && !skipped {
                open.push(entry.path());
            } else if kind.is_file() && !skipped {
                found.extend(entry.path().strip_prefix(root).ok().map(Path::to_owned));
            }
        }
        if found.len() > MAX_FILES {
            let why = format!("the project has more than {MAX_FILES} files, too many to copy for mutants");
            return Err(CheckError::NotRun { why });
        }
    }
    Ok(found)
}
