//! Test doubles of the ports, shared by the tests of every crate. They are for tests of plumbing only: what the product
//! claims is shown with real models, real git and real test runners.
#![forbid(unsafe_code)]

mod journal;
mod model;
mod project;

pub use journal::{MemoryJournal, RecordedEvents, StepClock};
pub use model::{OneModel, ScriptedModel};
pub use project::{ScriptedChecks, TreeMap, TreeWorkspace};

use starling_core::RelPath;
use std::path::PathBuf;

/// A path that is known to be good.
///
/// # Panics
/// When it is not.
pub fn rel(path: &str) -> RelPath {
    RelPath::new(path).expect("a good path")
}

/// The file of a real model, or `None` with a loud line: such a test proves nothing on this machine.
///
/// Looks into `STARLING_TEST_MODELS`, else the cache folder that `make test` fills.
pub fn real_model(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("STARLING_TEST_MODELS").map(PathBuf::from).or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
        Some(cache?.join("starling-build/models"))
    });
    let file = folder.map(|folder| folder.join(format!("{name}.gguf")));
    let found = file.filter(|file| file.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: no model file {name}.gguf; `make test` fetches it, or set STARLING_TEST_MODELS");
    }
    found
}
