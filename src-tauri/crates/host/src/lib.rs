//! The operating system: path gate, byte-faithful edits, git gate and worktrees, sandboxed commands, test runners, mutants, inbox folder, hardware.
