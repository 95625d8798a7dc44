//! Repository chores that a shell script would do badly.
fn main() {}
