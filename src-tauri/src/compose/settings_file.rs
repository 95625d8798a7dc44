//! The settings in use: read once, changed by one writer at a time, shared by everything that asks at the moment it needs
//! one, so that a change (another model for a role) holds from the next step on.

use super::settings::{Settings, SettingsError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

pub struct SettingsFile {
    path: PathBuf,
    current: RwLock<Settings>,
    /// `--offline` of this run; never written.
    forced: AtomicBool,
    /// What holds now; the gate to the network looks at it before each connection.
    offline: Arc<AtomicBool>,
}

impl SettingsFile {
    pub fn open(path: PathBuf) -> Result<SettingsFile, SettingsError> {
        let current = Settings::read(&path)?;
        let offline = Arc::new(AtomicBool::new(current.offline));
        Ok(SettingsFile { path, current: RwLock::new(current), forced: AtomicBool::new(false), offline })
    }

    pub fn get(&self) -> Settings {
        let mut settings = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        settings.offline |= self.forced.load(Ordering::Relaxed);
        settings
    }

    /// Forbids the network for as long as this process lives.
    pub fn force_offline(&self) {
        self.forced.store(true, Ordering::Relaxed);
        self.offline.store(true, Ordering::Relaxed);
    }

    /// Follows every change of the settings at once.
    pub fn offline(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.offline)
    }

    /// Starts from what is on disk now: the command line may have changed it while the window was open.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) -> Result<Settings, SettingsError> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut settings = Settings::read(&self.path)?;
        change(&mut settings);
        settings.write(&self.path)?;
        *current = settings.clone();
        self.offline.store(settings.offline || self.forced.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_another_process_wrote() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("settings.toml");
        let (window, terminal) = (SettingsFile::open(path.clone()).unwrap(), SettingsFile::open(path).unwrap());
        terminal.change(|s| s.theme = "dark".into()).unwrap();
        let settings = window.change(|s| s.candidates = 3).unwrap();
        assert_eq!((settings.theme.as_str(), settings.candidates), ("dark", 3));
        assert_eq!(window.get(), settings);
        window.force_offline();
        assert!(window.get().offline && !window.change(|s| s.candidates = 4).unwrap().offline);
    }
}
