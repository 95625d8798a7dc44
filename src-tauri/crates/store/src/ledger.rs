//! The ledger of what left the machine: a row before the first byte, updated when the end is known.

use crate::{read_error, write_error};
use rusqlite::{Connection, Transaction, params};
use starling_core::port::JournalError;
use starling_core::receipt::EgressEntry;
use starling_core::{Fingerprint, ModelName};

pub(crate) fn put(transaction: &Transaction<'_>, entry: &EgressEntry) -> Result<(), JournalError> {
    let EgressEntry { host, model, bytes, body, cost_micro_usd, at, outcome } = entry;
    let sql = "INSERT INTO ledger(body_sha, at_ms, host, model, bytes, cost_uc, outcome) VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT(body_sha, at_ms) DO UPDATE SET
                 bytes = excluded.bytes, cost_uc = excluded.cost_uc, outcome = excluded.outcome";
    let cost = cost_micro_usd.map(|cost| cost as i64);
    let values = params![body.as_str(), *at as i64, host, model.as_str(), *bytes as i64, cost, outcome];
    transaction.execute(sql, values).map_err(write_error)?;
    Ok(())
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<EgressEntry>, JournalError> {
    let sql = "SELECT body_sha, at_ms, host, model, bytes, cost_uc, outcome FROM ledger ORDER BY at_ms";
    let mut statement = connection.prepare_cached(sql).map_err(read_error)?;
    let rows = statement.query_map([], |row| {
        Ok(EgressEntry {
            body: Fingerprint::new(row.get::<_, String>(0)?),
            at: row.get::<_, i64>(1)?.unsigned_abs(),
            host: row.get(2)?,
            model: ModelName::new(row.get::<_, String>(3)?),
            bytes: row.get::<_, i64>(4)?.unsigned_abs(),
            cost_micro_usd: row.get::<_, Option<i64>>(5)?.map(i64::unsigned_abs),
            outcome: row.get(6)?,
        })
    });
    rows.map_err(read_error)?.map(|row| row.map_err(read_error)).collect()
}
