//! Tables and migrations. Migrations are only added.

use rusqlite_migration::{M, Migrations};

/// "STRL"; a file with another id is not ours.
pub(crate) const APPLICATION_ID: i32 = 0x5354_524c;
/// Larger bodies go into a blob.
pub(crate) const MAX_BODY: usize = 262_144;

pub(crate) const KNOWN_VERSION: i64 = 1;

pub(crate) fn migrations() -> Migrations<'static> {
    Migrations::new(vec![M::up(
        "CREATE TABLE event(
           seq INTEGER PRIMARY KEY AUTOINCREMENT,
           task_id TEXT NOT NULL,
           kind TEXT NOT NULL,
           ver INTEGER NOT NULL,
           body TEXT NOT NULL CHECK(json_valid(body) AND length(body) <= 262144),
           blob_sha TEXT,
           wall_ms INTEGER NOT NULL,
           prev_hash TEXT NOT NULL,
           hash TEXT NOT NULL UNIQUE
         ) STRICT;
         CREATE INDEX event_task ON event(task_id, seq);
         CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'append only'); END;
         CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'append only'); END;
         CREATE TABLE ledger(
           body_sha TEXT NOT NULL,
           at_ms INTEGER NOT NULL,
           host TEXT NOT NULL,
           model TEXT NOT NULL,
           bytes INTEGER NOT NULL,
           cost_uc INTEGER,
           outcome TEXT NOT NULL,
           PRIMARY KEY(body_sha, at_ms)
         ) STRICT;",
    )])
}

#[cfg(test)]
mod tests {
    #[test]
    fn migrations_are_sound() {
        super::migrations().validate().expect("they apply to an empty database");
    }
}
