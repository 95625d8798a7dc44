//! SQLite: the append-only journal, and the ledger of what left the machine.
//!
//! `event` is the truth: rows are only added, each carries the hash of the one before, and what `append` acknowledged is on
//! disk. Deliberately absent: states, lists and scores. Whoever wants one folds the events. What the user trusts stands in
//! the settings.
#![forbid(unsafe_code)]

mod blobs;
mod events;
mod ledger;
mod open;
mod schema;
mod writer;

use starling_core::TaskId;
use starling_core::port::{Journal, JournalError, Ledger};
use starling_core::receipt::EgressEntry;
use starling_core::state::TaskEvent;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub use open::Opened;

/// The database of one user. Writing goes through one thread; dropping the store ends it after the last acknowledgement.
pub struct Store {
    writer: writer::Writer,
    reader: Mutex<rusqlite::Connection>,
    file: PathBuf,
    blobs: PathBuf,
    opened: Opened,
}

impl Store {
    /// Opens or makes the database, checks it, and sets a broken one aside.
    ///
    /// # Errors
    /// `Newer` when a later version wrote it; `Read` or `Write` when the file cannot be used.
    pub fn open(file: &Path) -> Result<Store, JournalError> {
        let blobs = file.parent().unwrap_or(Path::new(".")).join("blobs");
        let (connection, opened) = open::open(file)?;
        let reader = open::reader(file)?;
        Ok(Store {
            writer: writer::Writer::start(connection)?,
            reader: Mutex::new(reader),
            file: file.to_owned(),
            blobs,
            opened,
        })
    }

    /// What was found at opening.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Databases that could not be used and were kept, from this and earlier starts.
    pub fn set_aside(&self) -> Vec<PathBuf> {
        open::all_set_aside(&self.file)
    }

    /// Everything that ever left the machine, oldest first; the last known state of each.
    pub fn egress(&self) -> Result<Vec<EgressEntry>, JournalError> {
        self.read(ledger::all)
    }

    /// Checks the hash chain from the first event; the number of events, or the first that does not fit.
    pub fn verify(&self) -> Result<u64, JournalError> {
        self.read(events::verify)
    }

    /// Copies the database into a new file that was checked before it got its name. Blobs lie beside the database and
    /// never change; they are not part of the copy.
    ///
    /// # Errors
    /// `Write` when there is a file of that name, or the copy is not sound.
    pub fn backup(&self, target: &Path) -> Result<(), JournalError> {
        if target.exists() {
            return Err(write_error(format!("{} exists", target.display())));
        }
        self.read(|connection| open::copy(connection, target))
    }

    fn read<T>(&self, job: impl FnOnce(&rusqlite::Connection) -> Result<T, JournalError>) -> Result<T, JournalError> {
        job(&self.reader.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Journal for Store {
    fn append(&self, task: &TaskId, events: &[TaskEvent]) -> Result<(), JournalError> {
        let rows = events::rows(events, &self.blobs)?;
        let task = task.clone();
        self.writer.write(move |transaction| events::insert(transaction, &task, &rows))
    }

    fn events(&self, task: &TaskId) -> Result<Vec<TaskEvent>, JournalError> {
        self.read(|connection| events::of_task(connection, task, &self.blobs))
    }

    fn tasks(&self) -> Result<Vec<TaskId>, JournalError> {
        self.read(events::tasks)
    }
}

impl Ledger for Store {
    fn sending(&self, entry: &EgressEntry) -> Result<(), JournalError> {
        let entry = entry.clone();
        self.writer.write(move |transaction| ledger::put(transaction, &entry))
    }

    fn settled(&self, entry: &EgressEntry) -> Result<(), JournalError> {
        self.sending(entry)
    }
}

pub(crate) fn read_error(error: impl std::fmt::Display) -> JournalError {
    JournalError::Read { message: error.to_string() }
}

pub(crate) fn write_error(error: impl std::fmt::Display) -> JournalError {
    JournalError::Write { message: error.to_string() }
}

#[cfg(test)]
mod tests;
