//! The code map of a project: walks, keeps symbols and text searchable, follows changes.
