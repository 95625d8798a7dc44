//! SQLite: the append-only journal and its projections.
