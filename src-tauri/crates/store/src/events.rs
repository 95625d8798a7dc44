//! Rows of the journal.

use crate::schema::MAX_BODY;
use crate::{blobs, read_error, write_error};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use sha2::{Digest, Sha256};
use starling_core::TaskId;
use starling_core::port::JournalError;
use starling_core::state::TaskEvent;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The version of the body's form. Fields are only added, so 1 reads everything so far.
const VERSION: i64 = 1;

pub(crate) struct Row {
    kind: String,
    body: String,
    blob: Option<String>,
}

/// Bodies as JSON; a large one is on disk as a blob before its row is written.
pub(crate) fn rows(events: &[TaskEvent], folder: &Path) -> Result<Vec<Row>, JournalError> {
    events.iter().map(|event| row(event, folder)).collect()
}

fn row(event: &TaskEvent, folder: &Path) -> Result<Row, JournalError> {
    let value = serde_json::to_value(event).map_err(write_error)?;
    let kind = value["kind"].as_str().unwrap_or("").to_owned();
    let body = value.to_string();
    if body.len() <= MAX_BODY {
        return Ok(Row { kind, body, blob: None });
    }
    let sha = blobs::write(folder, body.as_bytes()).map_err(write_error)?;
    Ok(Row { kind, body: "{}".to_owned(), blob: Some(sha) })
}

/// Adds rows behind the last one.
pub(crate) fn insert(transaction: &Transaction<'_>, task: &TaskId, rows: &[Row]) -> Result<(), JournalError> {
    let last = "SELECT hash FROM event ORDER BY seq DESC LIMIT 1";
    let mut before: String =
        transaction.query_row(last, [], |row| row.get(0)).optional().map_err(write_error)?.unwrap_or_default();
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64);
    let sql = "INSERT INTO event(task_id, kind, ver, body, blob_sha, wall_ms, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql).map_err(write_error)?;
    for row in rows {
        let hash = chained(&before, task.as_str(), &row.kind, &row.body, row.blob.as_deref(), wall);
        statement
            .execute(params![task.as_str(), row.kind, VERSION, row.body, row.blob, wall, before, hash])
            .map_err(write_error)?;
        before = hash;
    }
    Ok(())
}

fn chained(before: &str, task: &str, kind: &str, body: &str, blob: Option<&str>, wall: i64) -> String {
    let mut hasher = Sha256::new();
    for part in [before, task, kind, body, blob.unwrap_or(""), &wall.to_string()] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn of_task(connection: &Connection, task: &TaskId, folder: &Path) -> Result<Vec<TaskEvent>, JournalError> {
    Ok(numbered(connection, task, folder)?.into_iter().map(|(_, event)| event).collect())
}

pub(crate) fn numbered(
    connection: &Connection,
    task: &TaskId,
    folder: &Path,
) -> Result<Vec<(i64, TaskEvent)>, JournalError> {
    let sql = "SELECT seq, body, blob_sha FROM event WHERE task_id = ? ORDER BY seq";
    let mut statement = connection.prepare_cached(sql).map_err(read_error)?;
    let rows = statement.query_map([task.as_str()], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
    });
    let mut events = Vec::new();
    for row in rows.map_err(read_error)? {
        let (seq, body, blob) = row.map_err(read_error)?;
        let body = match blob {
            Some(sha) => blobs::read(folder, &sha).map_err(|e| read_error(format!("event {seq}: {e}")))?,
            None => body,
        };
        let event = serde_json::from_str(&body).map_err(|e| read_error(format!("event {seq}: {e}")))?;
        events.push((seq, event));
    }
    Ok(events)
}

pub(crate) fn tasks(connection: &Connection) -> Result<Vec<TaskId>, JournalError> {
    let sql = "SELECT task_id FROM event GROUP BY task_id HAVING sum(kind = 'submitted') > 0 ORDER BY min(seq) DESC";
    let mut statement = connection.prepare_cached(sql).map_err(read_error)?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(read_error)?;
    rows.map(|row| row.map(TaskId::new).map_err(read_error)).collect()
}

pub(crate) fn verify(connection: &Connection) -> Result<u64, JournalError> {
    let sql = "SELECT seq, task_id, kind, body, blob_sha, wall_ms, prev_hash, hash FROM event ORDER BY seq";
    let mut statement = connection.prepare(sql).map_err(read_error)?;
    let mut rows = statement.query([]).map_err(read_error)?;
    let (mut before, mut count) = (String::new(), 0);
    while let Some(row) = rows.next().map_err(read_error)? {
        let text = |at: usize| row.get::<_, String>(at).map_err(read_error);
        let seq: i64 = row.get(0).map_err(read_error)?;
        let blob: Option<String> = row.get(4).map_err(read_error)?;
        let wall: i64 = row.get(5).map_err(read_error)?;
        let hash = chained(&before, &text(1)?, &text(2)?, &text(3)?, blob.as_deref(), wall);
        if text(6)? != before || text(7)? != hash {
            return Err(read_error(format!(
                "event {seq} does not fit the one before it: the journal was changed by hand"
            )));
        }
        before = hash;
        count += 1;
    }
    Ok(count)
}
