//! The operating system: path gate, git gate, worktrees and landing, the sandbox and what runs in it, the inbox folder, and
//! what the machine has. Every effect passes one of the gates; nothing here decides what is worth doing.
#![forbid(unsafe_code)]

pub mod checks;
pub mod git;
pub mod hardware;
pub mod inbox;
pub mod paths;
pub mod sandbox;
pub mod workspace;
