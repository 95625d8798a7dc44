//! Projections: rows for lists and scores, written in the transaction of the events they come from. They hold nothing of
//! their own: [`rebuild`] makes the same rows from the events alone.

use crate::{events, read_error, write_error};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use starling_core::evidence::Gate;
use starling_core::port::JournalError;
use starling_core::receipt::ModelCall;
use starling_core::review::Place;
use starling_core::state::{Outcome, Stage, TaskEvent, TaskState};
use starling_core::{ModelName, Role, StepId, TaskId};
use std::collections::BTreeMap;
use std::path::Path;

/// One task in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    pub id: TaskId,
    /// The brief's title, or the file's name before there is one.
    pub title: String,
    pub project: String,
    /// As [`Stage::as_str`].
    pub stage: String,
    /// As [`Outcome::as_str`].
    pub outcome: Option<String>,
    /// Milliseconds since 1970.
    pub submitted: u64,
    pub updated: u64,
    /// The user saw its last fact.
    pub seen: bool,
}

/// How one role did with one model, over all tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreRow {
    pub role: Role,
    pub model: ModelName,
    pub place: Place,
    pub calls: u32,
    pub candidates: u32,
    /// Candidates whose answer had the agreed form.
    pub valid: u32,
    /// Candidates that met no gate they did not pass and got as far as the tests, of those that met a gate.
    pub gate_passed: u32,
    pub gate_total: u32,
    /// Calls that used a name which does not exist.
    pub invented: u32,
    /// With cached tokens.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub millis: u64,
    pub millis_p50: u64,
    pub millis_p95: u64,
}

/// Writes what changed for a task. A row is worth less than a fact: when an old event cannot be read, the new ones are kept
/// all the same and the task's row stays as it was.
pub(crate) fn update(
    transaction: &Transaction<'_>,
    task: &TaskId,
    new: &[(i64, TaskEvent)],
    blobs: &Path,
) -> Result<(), JournalError> {
    for (seq, event) in new {
        if let TaskEvent::Called { call } = event {
            put_call(transaction, *seq, task, call)?;
        }
    }
    let Ok(all) = events::of_task(transaction, task, blobs) else { return Ok(()) };
    let state = TaskState::fold(&all);
    put_task(transaction, task, &state)?;
    let judges = |event: &TaskEvent| matches!(event, TaskEvent::Gated { .. } | TaskEvent::Called { .. });
    if new.iter().any(|(_, event)| judges(event)) { put_judged(transaction, task, &state) } else { Ok(()) }
}

/// Throws all projections away and makes them anew.
pub(crate) fn rebuild(transaction: &Transaction<'_>, blobs: &Path) -> Result<(), JournalError> {
    transaction.execute_batch("DELETE FROM task; DELETE FROM model_call; DELETE FROM judged;").map_err(write_error)?;
    for task in events::ids(transaction)? {
        if let Ok(numbered) = events::numbered(transaction, &task, blobs) {
            update(transaction, &task, &numbered, blobs)?;
        }
    }
    Ok(())
}

/// A database of an older version has events and no rows.
pub(crate) fn are_missing(connection: &Connection) -> Result<bool, JournalError> {
    let sql = "SELECT EXISTS(SELECT 1 FROM event) AND NOT EXISTS(SELECT 1 FROM task)";
    connection.query_row(sql, [], |row| row.get(0)).map_err(read_error)
}

fn put_task(transaction: &Transaction<'_>, task: &TaskId, state: &TaskState) -> Result<(), JournalError> {
    let file = state.file.as_ref().map(|file| file.name.as_str());
    let title = state.brief.as_ref().map(|brief| brief.title.as_str()).or(file).unwrap_or_default();
    let sql = "INSERT OR REPLACE INTO task(id, title, project, stage, outcome, submitted_ms, updated_ms, seq)
               SELECT ?1, ?2, ?3, ?4, ?5, ?6, wall_ms, seq FROM event WHERE task_id = ?1 ORDER BY seq DESC LIMIT 1";
    let (stage, outcome) = (Stage::as_str(state.stage()), state.outcome().map(Outcome::as_str));
    let values = params![task.as_str(), title, state.project, stage, outcome, state.submitted_at as i64];
    transaction.execute(sql, values).map(drop).map_err(write_error)
}

fn put_call(transaction: &Transaction<'_>, seq: i64, task: &TaskId, call: &ModelCall) -> Result<(), JournalError> {
    let sql = "INSERT INTO model_call(seq, task_id, role, model, place, candidates, valid, invented, input, cache_read,
               cache_write, output, millis) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let usage = call.usage;
    let values = params![
        seq,
        task.as_str(),
        call.role.as_str(),
        call.model.as_str(),
        call.place.as_str(),
        call.candidates,
        call.valid,
        !call.invented.is_empty(),
        usage.input as i64,
        usage.cache_read as i64,
        usage.cache_write as i64,
        usage.output as i64,
        call.millis as i64,
    ];
    transaction.execute(sql, values).map(drop).map_err(write_error)
}

/// A candidate is told by its step, the step by its role, the role by the model that first worked for it in this task.
fn put_judged(transaction: &Transaction<'_>, task: &TaskId, state: &TaskState) -> Result<(), JournalError> {
    let mut candidates: BTreeMap<(&StepId, u32), (bool, bool)> = BTreeMap::new();
    for (step, candidate, result) in &state.gates {
        let (passed, tested) = candidates.entry((step, *candidate)).or_insert((true, false));
        *passed &= result.passed();
        *tested |= result.gate >= Gate::Tests;
    }
    let sql = "INSERT OR REPLACE INTO judged(task_id, step, candidate, role, model, place, passed)
               VALUES (?, ?, ?, ?, ?, ?, ?)";
    for ((step, candidate), (passed, tested)) in candidates {
        let Some(role) = state.plan.as_ref().and_then(|plan| plan.step(step)).map(|step| step.role) else { continue };
        let Some(call) = state.calls.iter().find(|call| call.role == role) else { continue };
        let (model, place) = (call.model.as_str(), call.place.as_str());
        let values = params![task.as_str(), step.as_str(), candidate, role.as_str(), model, place, passed && tested];
        transaction.execute(sql, values).map_err(write_error)?;
    }
    Ok(())
}

/// Newest first.
pub(crate) fn task_rows(connection: &Connection) -> Result<Vec<TaskRow>, JournalError> {
    let sql = "SELECT id, title, project, stage, outcome, submitted_ms, updated_ms, coalesce(seen.seq >= task.seq, 0)
               FROM task LEFT JOIN seen ON seen.task_id = task.id ORDER BY submitted_ms DESC, id DESC";
    let mut statement = connection.prepare_cached(sql).map_err(read_error)?;
    let rows = statement.query_map([], |row| {
        Ok(TaskRow {
            id: TaskId::new(row.get::<_, String>(0)?),
            title: row.get(1)?,
            project: row.get(2)?,
            stage: row.get(3)?,
            outcome: row.get(4)?,
            submitted: row.get::<_, i64>(5)?.unsigned_abs(),
            updated: row.get::<_, i64>(6)?.unsigned_abs(),
            seen: row.get(7)?,
        })
    });
    rows.map_err(read_error)?.map(|row| row.map_err(read_error)).collect()
}

pub(crate) fn mark_seen(transaction: &Transaction<'_>, task: &TaskId) -> Result<(), JournalError> {
    let sql = "INSERT OR REPLACE INTO seen(task_id, seq) SELECT id, seq FROM task WHERE id = ?";
    transaction.execute(sql, [task.as_str()]).map(drop).map_err(write_error)
}

/// By role and model, in the order of the roles' names.
pub(crate) fn scores(connection: &Connection) -> Result<Vec<ScoreRow>, JournalError> {
    let sql = "SELECT role, model, place, count(*), sum(candidates), sum(valid), sum(invented),
                 sum(input + cache_read + cache_write), sum(output), sum(millis)
               FROM model_call GROUP BY role, model, place ORDER BY role, model, place";
    let mut statement = connection.prepare_cached(sql).map_err(read_error)?;
    let mut rows = statement.query([]).map_err(read_error)?;
    let mut scores = Vec::new();
    while let Some(row) = rows.next().map_err(read_error)? {
        let text = |at: usize| row.get::<_, String>(at).map_err(read_error);
        let long = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs).map_err(read_error);
        let short = |at: usize| long(at).map(|value| u32::try_from(value).unwrap_or(u32::MAX));
        let (role, model, place) = (text(0)?, text(1)?, text(2)?);
        let key = [role.as_str(), model.as_str(), place.as_str()];
        let millis = times(connection, key)?;
        let (gate_passed, gate_total) = gates(connection, key)?;
        scores.push(ScoreRow {
            role: Role::parse(&role).ok_or_else(|| read_error(format!("there is no role {role}")))?,
            place: if place == Place::Cloud.as_str() { Place::Cloud } else { Place::Local },
            calls: short(3)?,
            candidates: short(4)?,
            valid: short(5)?,
            gate_passed,
            gate_total,
            invented: short(6)?,
            input_tokens: long(7)?,
            output_tokens: long(8)?,
            millis: long(9)?,
            millis_p50: percentile(&millis, 50),
            millis_p95: percentile(&millis, 95),
            model: ModelName::new(model),
        });
    }
    Ok(scores)
}

fn times(connection: &Connection, key: [&str; 3]) -> Result<Vec<u64>, JournalError> {
    let sql = "SELECT millis FROM model_call WHERE role = ? AND model = ? AND place = ? ORDER BY millis";
    let mut statement = connection.prepare_cached(sql).map_err(read_error)?;
    let rows = statement.query_map(key, |row| row.get::<_, i64>(0)).map_err(read_error)?;
    rows.map(|row| row.map(i64::unsigned_abs).map_err(read_error)).collect()
}

fn gates(connection: &Connection, key: [&str; 3]) -> Result<(u32, u32), JournalError> {
    let sql = "SELECT coalesce(sum(passed), 0), count(*) FROM judged WHERE role = ? AND model = ? AND place = ?";
    let found = connection.query_row(sql, key, |row| Ok((row.get(0)?, row.get(1)?))).optional();
    found.map(Option::unwrap_or_default).map_err(read_error)
}

/// Nearest rank.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}
