//! Tables and migrations. Migrations are only added.

use rusqlite_migration::{M, Migrations};

/// "STRL"; a file with another id is not ours.
pub(crate) const APPLICATION_ID: i32 = 0x5354_524c;
/// Larger bodies go into a blob.
pub(crate) const MAX_BODY: usize = 262_144;

pub(crate) const KNOWN_VERSION: i64 = 3;

pub(crate) fn migrations() -> Migrations<'static> {
    Migrations::new(vec![
        M::up(
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
        ),
        // Lists and scores, kept beside the events for a while: folding is fast enough, and rows can disagree with facts.
        M::up(
            "CREATE TABLE task(
           id TEXT PRIMARY KEY,
           title TEXT NOT NULL,
           project TEXT NOT NULL,
           stage TEXT NOT NULL,
           outcome TEXT,
           submitted_ms INTEGER NOT NULL,
           updated_ms INTEGER NOT NULL,
           seq INTEGER NOT NULL
         ) STRICT;
         CREATE TABLE model_call(
           seq INTEGER PRIMARY KEY,
           task_id TEXT NOT NULL,
           role TEXT NOT NULL,
           model TEXT NOT NULL,
           place TEXT NOT NULL,
           candidates INTEGER NOT NULL,
           valid INTEGER NOT NULL,
           invented INTEGER NOT NULL,
           input INTEGER NOT NULL,
           cache_read INTEGER NOT NULL,
           cache_write INTEGER NOT NULL,
           output INTEGER NOT NULL,
           millis INTEGER NOT NULL
         ) STRICT;
         CREATE TABLE judged(
           task_id TEXT NOT NULL,
           step TEXT NOT NULL,
           candidate INTEGER NOT NULL,
           role TEXT NOT NULL,
           model TEXT NOT NULL,
           place TEXT NOT NULL,
           passed INTEGER NOT NULL,
           PRIMARY KEY(task_id, step, candidate)
         ) STRICT;
         CREATE TABLE seen(task_id TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT;",
        ),
        M::up("DROP TABLE task; DROP TABLE model_call; DROP TABLE judged; DROP TABLE seen;"),
    ])
}

#[cfg(test)]
mod tests {
    #[test]
    fn migrations_are_sound() {
        super::migrations().validate().expect("they apply to an empty database");
    }
}
