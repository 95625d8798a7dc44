//! settings.toml of the data folder: every field has a default, unknown keys are kept out of the way, and writing is
//! atomic. Keys of providers are deliberately absent (keychain or environment), and nothing of a project is read here.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// "en", "ko", or "" for the language of the desktop.
    pub language: String,
    /// "system", "light" or "dark".
    pub theme: String,
    /// The folder the window shows at start.
    pub project: String,
    /// A watched folder; "" means `inbox/` of the data folder.
    pub inbox: String,
    /// No byte leaves the machine, whatever else is set.
    pub offline: bool,
    /// How many candidates a step samples.
    pub candidates: u32,
    /// Memory that resident models may use, in MB; 0 means half of what is free at start.
    pub model_memory_mb: u32,
    /// Role name to model name.
    pub roles: BTreeMap<String, String>,
    pub budget: Budget,
    pub cloud: CloudSettings,
    /// OpenAI-compatible endpoints that can be bound to any role, by the name they are bound under.
    pub endpoints: BTreeMap<String, EndpointSettings>,
    /// Canonical project folder to what the user allowed there.
    pub projects: BTreeMap<String, ProjectSettings>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Microdollars; 0 means no limit.
    pub day_micro_usd: u64,
    pub task_micro_usd: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CloudSettings {
    /// "anthropic", "openai", or "" for the one that has a key.
    pub provider: String,
    /// "" means the provider's default.
    pub model: String,
    /// "" means the provider's own, or what the environment says.
    pub base_url: String,
    /// Providers whose key was put into the keychain; without this the keychain is never asked.
    pub keychain: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointSettings {
    pub url: String,
    pub model: String,
    /// Tokens of prompt and answer together; 0 means 8,192.
    pub context: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectSettings {
    /// Its tests and build may be run (in the sandbox).
    pub trusted: bool,
    /// "ask", "always" or "never".
    pub send: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            language: String::new(),
            theme: "system".into(),
            project: String::new(),
            inbox: String::new(),
            offline: false,
            candidates: 16,
            model_memory_mb: 0,
            roles: BTreeMap::new(),
            budget: Budget::default(),
            cloud: CloudSettings::default(),
            endpoints: BTreeMap::new(),
            projects: BTreeMap::new(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{} cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} cannot be written: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("{} is not valid: {message}", path.display())]
    Form { path: PathBuf, message: String },
}

impl Settings {
    /// The defaults when there is no file.
    pub fn read(path: &Path) -> Result<Settings, SettingsError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Settings::default()),
            Err(source) => return Err(SettingsError::Read { path: path.to_owned(), source }),
        };
        toml::from_str(&text).map_err(|e| SettingsError::Form { path: path.to_owned(), message: e.to_string() })
    }

    /// All or nothing: a reader never sees half a file.
    pub fn write(&self, path: &Path) -> Result<(), SettingsError> {
        let text = toml::to_string_pretty(self)
            .map_err(|e| SettingsError::Form { path: path.to_owned(), message: e.to_string() })?;
        write_atomic(path, text.as_bytes()).map_err(|source| SettingsError::Write { path: path.to_owned(), source })
    }

    pub fn trusts(&self, canonical: &Path) -> bool {
        self.projects.get(&*canonical.to_string_lossy()).is_some_and(|project| project.trusted)
    }
}

/// Writes beside the file, makes it durable, and renames.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let part = path.with_extension(format!("part-{}", std::process::id()));
    let write = || {
        let mut file = std::fs::File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    };
    write().inspect_err(|_| drop(std::fs::remove_file(&part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_a_round_trip_and_old_or_strange_files() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("settings.toml");
        assert_eq!(Settings::read(&path).expect("no file is fine"), Settings::default());
        let mut settings = Settings { candidates: 9, ..Settings::default() };
        settings.roles.insert("tester".into(), "small".into());
        settings.projects.insert("/p".into(), ProjectSettings { trusted: true, send: "ask".into() });
        settings.write(&path).expect("can be written");
        let again = Settings::read(&path).expect("can be read");
        assert_eq!(again, settings);
        assert!(again.trusts(Path::new("/p")) && !again.trusts(Path::new("/p/sub")));
        std::fs::write(&path, "theme = 'dark'\nfuture = 1\n").expect("can be written");
        assert_eq!(Settings::read(&path).expect("unknown keys are fine").theme, "dark");
        std::fs::write(&path, "theme = ").expect("can be written");
        assert!(matches!(Settings::read(&path), Err(SettingsError::Form { .. })));
    }
}
