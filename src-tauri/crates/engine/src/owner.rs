//! The thread that owns a model's working memory: it loads the model, says whether that worked, then works on whatever is
//! asked for until its [`Owner`] is dropped, which waits for it.
#![forbid(unsafe_code)]

use crate::library::{Disk, Library};
use crate::llama::{LoadFailure, Session, Weights};
use crate::schedule::{Report, Scheduler, Work};
use crate::stats::{Stats, Times};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvError, RecvTimeoutError, Sender, SyncSender, TryRecvError, TrySendError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Requests that may wait. The swarm has a handful of roles; more than this means a fault elsewhere.
const QUEUE: usize = 64;
/// After this long without a request the thread has time for other things.
const LONG_WAIT: Duration = Duration::from_millis(700);
/// llama.cpp parses and computes on this thread.
const STACK: usize = 16 * 1024 * 1024;

pub struct Owner {
    jobs: Option<SyncSender<Job>>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    stats: Arc<Stats>,
}

pub struct Plan {
    pub path: PathBuf,
    pub thread_name: String,
    /// Tokens of working memory.
    pub cells: u32,
    pub threads: u32,
    /// Rows per piece of a prompt.
    pub grid: usize,
    /// Where beginnings of prompts are kept.
    pub disk: Option<Disk>,
    pub progress: Box<dyn FnMut(f32) -> bool + Send>,
}

struct Job {
    work: Work,
    reports: Sender<Report>,
}

/// What a loaded model tells back.
pub struct Ready {
    pub weights: Arc<Weights>,
    pub cells: u32,
}

impl Owner {
    /// Returns when the model is loaded, or with the reason why not; then the thread has ended.
    pub fn start(plan: Plan) -> Result<(Owner, Ready), LoadFailure> {
        let (jobs, queue) = mpsc::sync_channel(QUEUE);
        let (ready, wait) = mpsc::sync_channel(1);
        let closing = Arc::new(AtomicBool::new(false));
        let (seen_closing, stats) = (Arc::clone(&closing), Arc::new(Stats::default()));
        let counted = Arc::clone(&stats);
        let thread = std::thread::Builder::new()
            .name(plan.thread_name.clone())
            .stack_size(STACK)
            .spawn(move || own(plan, &ready, &queue, &seen_closing, &counted))
            .map_err(|error| LoadFailure::Failed(format!("no thread for the model: {error}")))?;
        let owner = Owner { jobs: Some(jobs), closing, thread: Some(thread), stats };
        match wait.recv() {
            Ok(Ok(ready)) => Ok((owner, ready)),
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(LoadFailure::Failed("the model's thread ended while loading".to_owned())),
        }
    }

    pub fn times(&self) -> Times {
        self.stats.times()
    }

    /// Queues a request without waiting for it. `Err` gives the work back when the queue is full.
    pub fn submit(&self, work: Work) -> Result<Receiver<Report>, SubmitError> {
        let (reports, receiver) = mpsc::channel();
        let Some(jobs) = &self.jobs else { return Err(SubmitError::Ended) };
        match jobs.try_send(Job { work, reports }) {
            Ok(()) => Ok(receiver),
            Err(TrySendError::Full(job)) => Err(SubmitError::Full(Box::new(job.work))),
            Err(TrySendError::Disconnected(_)) => Err(SubmitError::Ended),
        }
    }
}

pub enum SubmitError {
    Full(Box<Work>),
    Ended,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of a model ended with a panic");
        }
    }
}

fn own(
    plan: Plan,
    ready: &SyncSender<Result<Ready, LoadFailure>>,
    queue: &Receiver<Job>,
    closing: &Arc<AtomicBool>,
    stats: &Arc<Stats>,
) {
    let weights = match Weights::load(&plan.path, plan.progress) {
        Ok(weights) => Arc::new(weights),
        Err(failure) => return answer(ready, Err(failure)),
    };
    let session = match Session::open(&weights, plan.cells, plan.threads) {
        Ok(session) => session,
        Err(error) => return answer(ready, Err(LoadFailure::Failed(error.to_string()))),
    };
    answer(ready, Ok(Ready { weights: Arc::clone(&weights), cells: session.cells() }));
    let library = Library::new(plan.disk);
    let mut scheduler = Scheduler::new(&weights, session, library, plan.grid, Arc::clone(closing), Arc::clone(stats));
    while let Ok(arrived) = next(&mut scheduler, queue) {
        stats.working(|| {
            for Job { work, reports } in arrived.into_iter().chain(queue.try_iter()) {
                scheduler.admit(work, reports);
            }
            scheduler.turn();
        });
    }
    scheduler.close();
}

/// Waits for a request when there is nothing to do, and uses a long wait for what can be done at any time.
fn next(scheduler: &mut Scheduler<'_>, queue: &Receiver<Job>) -> Result<Option<Job>, RecvError> {
    while scheduler.is_idle() {
        match queue.recv_timeout(LONG_WAIT) {
            Ok(job) => return Ok(Some(job)),
            Err(RecvTimeoutError::Disconnected) => return Err(RecvError),
            Err(RecvTimeoutError::Timeout) if scheduler.rest() => {}
            Err(RecvTimeoutError::Timeout) => return queue.recv().map(Some),
        }
    }
    match queue.try_recv() {
        Ok(job) => Ok(Some(job)),
        Err(TryRecvError::Empty) => Ok(None),
        Err(TryRecvError::Disconnected) => Err(RecvError),
    }
}

fn answer(ready: &SyncSender<Result<Ready, LoadFailure>>, result: Result<Ready, LoadFailure>) {
    if ready.send(result).is_err() {
        tracing::debug!("nobody waits for the model any more");
    }
}
