//! The one thread that writes. Jobs that wait together are committed together; each is answered after the commit, so an
//! acknowledgement means that it is on disk.

use crate::write_error;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use starling_core::port::JournalError;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

type Job = Box<dyn FnOnce(&Transaction<'_>) -> Result<(), JournalError> + Send>;

/// A job and the place where its caller waits.
type Waiting = (Job, Sender<Result<(), JournalError>>);

/// Jobs of one commit at most.
const GROUP: usize = 64;

pub(crate) struct Writer {
    jobs: Option<SyncSender<Waiting>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(connection: Connection) -> Result<Writer, JournalError> {
        let (jobs, inbox) = sync_channel(256);
        let thread = std::thread::Builder::new().name("starling-journal".to_owned());
        let thread = thread.spawn(move || work(connection, &inbox)).map_err(write_error)?;
        Ok(Writer { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Blocks until the job is on disk or has failed.
    pub fn write(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<(), JournalError> + Send + 'static,
    ) -> Result<(), JournalError> {
        let gone = || write_error("the journal's thread has ended");
        let (answer, wait) = channel();
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send((Box::new(job), answer)).map_err(|_| gone())?;
        wait.recv().map_err(|_| gone())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            // The thread panicked; its jobs were answered with an error when their channels closed.
        }
    }
}

fn work(mut connection: Connection, inbox: &Receiver<Waiting>) {
    while let Ok(first) = inbox.recv() {
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(next) = inbox.try_recv()
        {
            group.push(next);
        }
        let (jobs, answers): (Vec<Job>, Vec<Sender<_>>) = group.into_iter().unzip();
        let results = commit(&mut connection, jobs, answers.len());
        for (answer, result) in answers.into_iter().zip(results) {
            // Nobody waits any more when the caller's thread has ended; the row is written all the same.
            answer.send(result).ok();
        }
    }
}

fn commit(connection: &mut Connection, jobs: Vec<Job>, count: usize) -> Vec<Result<(), JournalError>> {
    let transaction = match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => transaction,
        Err(error) => return (0..count).map(|_| Err(write_error(&error))).collect(),
    };
    let mut results = Vec::new();
    for job in jobs {
        results.push(in_savepoint(&transaction, job));
    }
    match transaction.commit() {
        Ok(()) => results,
        Err(error) => results.into_iter().map(|result| result.and(Err(write_error(&error)))).collect(),
    }
}

/// A job that fails takes back its own rows and leaves those of its neighbours.
fn in_savepoint(transaction: &Transaction<'_>, job: Job) -> Result<(), JournalError> {
    transaction.execute_batch("SAVEPOINT job").map_err(write_error)?;
    let result = job(transaction);
    let end = if result.is_ok() { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" };
    transaction.execute_batch(end).map_err(write_error)?;
    result
}
