//! Finding git, and the git dir of a folder, without running anything of the project.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed")]
    Absent,
    #[error("git {version} has known holes; update it ({OLDEST_OF_LINES})")]
    TooOld { version: String },
    #[error("git {command} failed: {message}")]
    Failed { command: String, code: Option<i32>, message: String },
    #[error("git {command} took longer than {seconds} s")]
    TimedOut { command: String, seconds: u64 },
    #[error("git {command} printed more than {bytes} bytes")]
    TooMuch { command: String, bytes: u64 },
    #[error("{} does not belong to this repository", path.display())]
    Foreign { path: PathBuf },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl GitError {
    pub(super) fn io(path: &Path, source: std::io::Error) -> GitError {
        GitError::Io { what: path.display().to_string(), source }
    }
}

/// The first release of each line with the fixes of July 2025 (CVE-2025-48384 and its companions).
const FIXED: [(u32, u32); 8] = [(43, 7), (44, 4), (45, 4), (46, 4), (47, 3), (48, 2), (49, 1), (50, 1)];
const OLDEST_OF_LINES: &str = "2.43.7, 2.44.4, 2.45.4, 2.46.4, 2.47.3, 2.48.2, 2.49.1, 2.50.1 or newer";

/// Folders of the system, before what the environment says.
const SYSTEM: [&str; 6] =
    ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin", "/run/current-system/sw/bin"];

/// The first git that lies outside the project and is not too old, and its version.
pub(super) fn program(project: &Path) -> Result<Option<(PathBuf, String)>, GitError> {
    let project = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = SYSTEM.iter().map(PathBuf::from).chain(std::env::split_paths(&path).filter(|dir| dir.is_absolute()));
    let outside =
        |file: &PathBuf| std::fs::canonicalize(file).is_ok_and(|real| real.is_file() && !real.starts_with(&project));
    let mut old = None;
    for program in folders.map(|dir| dir.join("git")).filter(outside) {
        let version = version_of(&program)?;
        if is_safe(&version) {
            return Ok(Some((program, version)));
        }
        old.get_or_insert(version);
    }
    old.map_or(Ok(None), |version| Err(GitError::TooOld { version }))
}

fn version_of(program: &Path) -> Result<String, GitError> {
    let mut command = Command::new(program);
    let output =
        command.arg("--version").env_clear().current_dir("/").output().map_err(|e| GitError::io(program, e))?;
    Ok(String::from_utf8_lossy(&output.stdout).split_whitespace().nth(2).unwrap_or("").to_owned())
}

fn is_safe(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
    let (Some(Some(major)), Some(Some(minor))) = (numbers.next(), numbers.next()) else { return false };
    let patch = numbers.next().flatten().unwrap_or(0);
    let newest = FIXED.iter().map(|(line, _)| *line).max().unwrap_or(0);
    let fixed = FIXED.iter().any(|(line, first)| *line == minor && patch >= *first);
    major > 2 || major == 2 && (minor > newest || fixed)
}

/// The git dirs of a project.
pub(super) struct Folders {
    /// Its own: HEAD and index lie here.
    pub admin: PathBuf,
    /// The one it shares with other worktrees: refs, objects and configuration lie here.
    pub common: PathBuf,
    /// The git dir lies in the project, or its own notes name the project.
    pub proven: bool,
}

/// What `.git` is or names. A link counts as a name.
pub(super) fn folders_of(project: &Path) -> Option<Folders> {
    let dot = project.join(".git");
    let kind = std::fs::symlink_metadata(&dot).ok()?;
    if kind.is_dir() {
        let admin = std::fs::canonicalize(dot).ok()?;
        // A git dir that came with a project could lead into another repository of the user.
        let leads_away = ["refs", "refs/heads", "refs/starling", "objects", "worktrees", "logs"]
            .iter()
            .any(|part| std::fs::symlink_metadata(admin.join(part)).is_ok_and(|meta| meta.is_symlink()));
        if leads_away || admin.join("commondir").exists() {
            return None;
        }
        return Some(Folders { common: admin.clone(), admin, proven: true });
    }
    let admin = if kind.is_symlink() { dot.clone() } else { project.join(pointer(&dot, b"gitdir:")?) };
    let admin = std::fs::canonicalize(admin).ok().filter(|admin| admin.join("HEAD").is_file())?;
    let project = std::fs::canonicalize(project).ok()?;
    match pointer(&admin.join("commondir"), b"") {
        Some(common) => {
            let common = std::fs::canonicalize(admin.join(common)).ok()?;
            let noted = admin.parent() == Some(common.join("worktrees").as_path());
            let proven = noted && tree_of(&admin).is_some_and(|tree| tree == project);
            // A worktree's own folder that does not name the project is not asked further.
            proven.then_some(Folders { admin, common, proven })
        }
        None => Some(Folders { common: admin.clone(), admin, proven: false }),
    }
}

/// The folder of a worktree, as git noted it in its own folder for it.
pub(super) fn tree_of(admin: &Path) -> Option<PathBuf> {
    let dot = admin.join(pointer(&admin.join("gitdir"), b"")?);
    let tree = dot.parent()?;
    // A tree that is gone is still known by its name.
    Some(std::fs::canonicalize(tree).unwrap_or_else(|_| tree.to_owned()))
}

/// The path in a one-line file, after a word.
fn pointer(file: &Path, word: &[u8]) -> Option<PathBuf> {
    let small = std::fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() <= 8192);
    let bytes = small.then(|| std::fs::read(file).ok()).flatten()?;
    let path = bytes.strip_prefix(word)?.trim_ascii();
    (!path.is_empty()).then(|| PathBuf::from(OsString::from_vec(path.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::is_safe;

    #[test]
    fn old_versions_are_refused() {
        for version in ["2.47.3", "2.43.7", "2.43.10", "2.50.1", "2.51.0", "2.60.0.windows.1", "3.0.0", "2.47.3.rc1"] {
            assert!(is_safe(version), "{version}");
        }
        for version in ["2.47.2", "2.43.6", "2.50.0", "2.50", "2.42.9", "2.39.5", "2.9.0", "1.99.9", "", "none", "2.x"]
        {
            assert!(!is_safe(version), "{version}");
        }
    }
}
