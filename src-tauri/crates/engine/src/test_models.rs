//! The model files of the tests: too large for the repository, so a test without one says so and passes.

use std::path::PathBuf;

/// `STARLING_TEST_MODELS` names their folder; the default is the build cache of this project.
pub fn file(name: &str) -> Option<PathBuf> {
    let cache = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = std::env::var_os("STARLING_TEST_MODELS").map(PathBuf::from).or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(cache)?;
        Some(cache.join("starling-build/models"))
    })?;
    let file = folder.join(format!("{name}.gguf"));
    if !file.is_file() {
        eprintln!("skipped: no model file {}", file.display());
        return None;
    }
    Some(file)
}
