//! The thread that owns a model's working memory: it loads the model, says whether that worked, then does one request
//! after the other until its [`Owner`] is dropped, which waits for it.
#![forbid(unsafe_code)]

use crate::decode::{Desk, News, Work};
use crate::llama::{LoadFailure, Session, Weights};
use starling_core::port::{ModelError, Sampled};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TrySendError};
use std::thread::JoinHandle;

/// Requests that may wait. The swarm has a handful of roles; more than this means a fault elsewhere.
const QUEUE: usize = 64;
/// llama.cpp parses and computes on this thread.
const STACK: usize = 16 * 1024 * 1024;

pub struct Owner {
    jobs: Option<SyncSender<Job>>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

pub struct Plan {
    pub path: PathBuf,
    pub thread_name: String,
    /// Tokens of working memory.
    pub cells: u32,
    pub threads: u32,
    /// Rows per piece of a prompt.
    pub grid: usize,
    pub progress: Box<dyn FnMut(f32) -> bool + Send>,
}

pub enum Report {
    Begun,
    News(News),
    End(Result<Sampled, ModelError>),
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
        let seen_closing = Arc::clone(&closing);
        let thread = std::thread::Builder::new()
            .name(plan.thread_name.clone())
            .stack_size(STACK)
            .spawn(move || own(plan, &ready, &queue, &seen_closing))
            .map_err(|error| LoadFailure::Failed(format!("no thread for the model: {error}")))?;
        let owner = Owner { jobs: Some(jobs), closing, thread: Some(thread) };
        match wait.recv() {
            Ok(Ok(ready)) => Ok((owner, ready)),
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(LoadFailure::Failed("the model's thread ended while loading".to_owned())),
        }
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

fn own(plan: Plan, ready: &SyncSender<Result<Ready, LoadFailure>>, queue: &Receiver<Job>, closing: &Arc<AtomicBool>) {
    let weights = match Weights::load(&plan.path, plan.progress) {
        Ok(weights) => Arc::new(weights),
        Err(failure) => return answer(ready, Err(failure)),
    };
    let session = match Session::open(&weights, plan.cells, plan.threads) {
        Ok(session) => session,
        Err(error) => return answer(ready, Err(LoadFailure::Failed(error.to_string()))),
    };
    answer(ready, Ok(Ready { weights: Arc::clone(&weights), cells: session.cells() }));
    let mut desk = Desk::new(&weights, session, plan.grid, Arc::clone(closing));
    while let Ok(Job { work, reports }) = queue.recv() {
        do_job(&mut desk, work, &reports);
    }
}

fn do_job(desk: &mut Desk<'_>, work: Work, reports: &Sender<Report>) {
    let enough = Arc::clone(&work.enough);
    // A caller that is gone (a panic in its callback) wants no more candidates.
    let tell = |report| {
        if reports.send(report).is_err() {
            enough.store(true, Ordering::Relaxed);
        }
    };
    tell(Report::Begun);
    let result = desk.run(work, &mut |news| tell(Report::News(news)));
    tell(Report::End(result));
}

fn answer(ready: &SyncSender<Result<Ready, LoadFailure>>, result: Result<Ready, LoadFailure>) {
    if ready.send(result).is_err() {
        tracing::debug!("nobody waits for the model any more");
    }
}
