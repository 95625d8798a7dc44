//! What a person or a script hands in: tasks, targets, projects.

use super::output::{CliError, can_ask};
use starling_core::RelPath;
use starling_core::task_file::{MAX_TASK_BYTES, TaskFile};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A task file, "-" for stdin, or a sentence (anything with a space in it that is no file).
pub fn task(word: &str) -> Result<TaskFile, CliError> {
    let path = Path::new(word);
    if word == "-" {
        return decode("stdin", &stdin()?);
    }
    if path.exists() || !word.trim().contains(char::is_whitespace) {
        return task_file(path);
    }
    decode("typed", word.as_bytes())
}

pub fn task_file(path: &Path) -> Result<TaskFile, CliError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    decode(&name, &read(path)?)
}

/// The bytes of a file, or of stdin for "-".
pub fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    if path == Path::new("-") {
        return stdin();
    }
    let fail = |e: std::io::Error| CliError::refused(format!("{} cannot be read: {e}", path.display()));
    let file = std::fs::File::open(path).map_err(fail)?;
    bounded(file).map_err(fail)
}

/// All of it, or an error: half a diff must not pass for the whole.
fn bounded(from: impl Read) -> std::io::Result<Vec<u8>> {
    const MAX: u64 = 16 * MAX_TASK_BYTES as u64;
    let mut bytes = Vec::new();
    from.take(MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX {
        true => Err(std::io::Error::other(format!("it is larger than {} MB", MAX / 1_000_000))),
        false => Ok(bytes),
    }
}

fn stdin() -> Result<Vec<u8>, CliError> {
    if can_ask() {
        return Err(CliError::usage("- reads from stdin, but stdin is a terminal"));
    }
    bounded(std::io::stdin()).map_err(|e| CliError::refused(format!("stdin cannot be read: {e}")))
}

fn decode(name: &str, bytes: &[u8]) -> Result<TaskFile, CliError> {
    TaskFile::decode(name, bytes).map_err(|e| CliError::refused(format!("{name}: {e}")))
}

/// The canonical folder of a project.
pub fn project(dir: &Path) -> Result<PathBuf, CliError> {
    let canonical = std::fs::canonicalize(dir)
        .map_err(|e| CliError::refused(format!("the project {} cannot be opened: {e}", dir.display())))?;
    match canonical.is_dir() {
        true => Ok(canonical),
        false => Err(CliError::refused(format!("the project {} is not a folder", dir.display()))),
    }
}

/// `shop/cart.py::Cart.total`: a path inside the project and a symbol in it. A path that the shell completed from the
/// current folder is taken as one of the project.
pub fn target(project: &Path, word: &str) -> Result<(RelPath, String), CliError> {
    let malformed = || CliError::usage(format!("{word} is not of the form FILE::SYMBOL"));
    let (file, symbol) =
        word.split_once("::").filter(|(file, symbol)| !file.is_empty() && !symbol.is_empty()).ok_or_else(malformed)?;
    let in_project = project.join(file);
    let found = if in_project.exists() { in_project } else { PathBuf::from(file) };
    let relative = std::fs::canonicalize(&found)
        .map_err(|e| CliError::refused(format!("{file} cannot be opened: {e}")))
        .and_then(|path| {
            let inside = path.strip_prefix(project).map(|path| path.to_string_lossy().replace('\\', "/"));
            inside.map_err(|_| CliError::refused(format!("{file} does not lie in the project")))
        })?;
    Ok((RelPath::new(relative).map_err(CliError::refused)?, symbol.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_files_from_sentences() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("a task.md");
        std::fs::write(&file, "fix it").expect("written");
        let from_file = task(&file.to_string_lossy()).expect("it is there");
        assert_eq!((from_file.name.as_str(), from_file.text.as_str()), ("a task.md", "fix it"));
        assert_eq!(task("fix the rounding").expect("a sentence").name, "typed");
        assert!(task("no-such-file.md").is_err());
    }

    #[test]
    fn splits_targets() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let project = std::fs::canonicalize(dir.path()).expect("it exists");
        std::fs::create_dir(project.join("src")).expect("made");
        std::fs::write(project.join("src/cart.rs"), "").expect("written");
        let (path, symbol) = target(&project, "src/cart.rs::cart::Cart::total").expect("well formed");
        assert_eq!((path.as_str(), symbol.as_str()), ("src/cart.rs", "cart::Cart::total"));
        assert!(matches!(target(&project, "src/cart.rs"), Err(CliError::Usage { .. })));
        assert!(matches!(target(&project, "gone.rs::x"), Err(CliError::Refused { .. })));
        assert!(matches!(target(&project, "../x::y"), Err(CliError::Refused { .. })));
    }
}
