//! Keys of cloud providers: from the environment of this process, from the system's keychain, or typed for this session
//! only. Never in a file, never in the settings (they hold only for whom a key was put into the keychain), never logged.

use super::settings::Settings;
use keyring_core::{CredentialStore, Entry};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Under which the keychain files our keys.
const SERVICE: &str = "dev.starling.desktop";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provider {
    Anthropic,
    OpenAi,
}

impl Provider {
    pub const ALL: [Provider; 2] = [Provider::Anthropic, Provider::OpenAi];

    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Anthropic => "anthropic",
            Provider::OpenAi => "openai",
        }
    }

    pub fn parse(text: &str) -> Option<Provider> {
        Provider::ALL.into_iter().find(|provider| provider.as_str() == text)
    }

    fn variables(self) -> (&'static str, &'static str) {
        match self {
            Provider::Anthropic => ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
            Provider::OpenAi => ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        }
    }

    /// The name of the variable its key is read from.
    pub fn variable(self) -> &'static str {
        self.variables().0
    }

    /// Where its API is, if the environment says so.
    pub fn base_url_of_environment(self) -> Option<String> {
        variable(self.variables().1)
    }
}

/// Where a key was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    Environment,
    Session,
    Keychain,
}

impl KeySource {
    pub fn as_str(self) -> &'static str {
        match self {
            KeySource::Environment => "environment",
            KeySource::Session => "session",
            KeySource::Keychain => "keychain",
        }
    }
}

/// Keys typed in this session.
static SESSION: RwLock<BTreeMap<Provider, SecretString>> = RwLock::new(BTreeMap::new());

/// Where the key of a provider comes from, without reading it.
pub fn source(settings: &Settings, provider: Provider) -> Option<KeySource> {
    if variable(provider.variables().0).is_some() {
        return Some(KeySource::Environment);
    }
    if SESSION.read().unwrap_or_else(PoisonError::into_inner).contains_key(&provider) {
        return Some(KeySource::Session);
    }
    let kept = settings.cloud.keychain.iter().any(|name| name == provider.as_str());
    kept.then_some(KeySource::Keychain)
}

/// The key itself. A locked keychain may ask the user.
pub fn key(settings: &Settings, provider: Provider) -> Result<SecretString, String> {
    match source(settings, provider) {
        Some(KeySource::Environment) => variable(provider.variables().0).map(SecretString::from),
        Some(KeySource::Session) => SESSION.read().unwrap_or_else(PoisonError::into_inner).get(&provider).cloned(),
        Some(KeySource::Keychain) => {
            return entry(provider)?.get_password().map(SecretString::from).map_err(|e| e.to_string());
        }
        None => None,
    }
    .ok_or_else(|| format!("there is no key for {}", provider.as_str()))
}

/// Puts a key into the keychain; where there is none, keeps it for this session. Empty text forgets it.
pub fn keep(provider: Provider, key: &str) -> KeySource {
    let mut session = SESSION.write().unwrap_or_else(PoisonError::into_inner);
    session.remove(&provider);
    if key.is_empty() {
        if let Err(error) = entry(provider).and_then(|entry| entry.delete_credential().map_err(|e| e.to_string())) {
            tracing::debug!(error, "no key was in the keychain");
        }
        return KeySource::Session;
    }
    match entry(provider).and_then(|entry| entry.set_password(key).map_err(|e| e.to_string())) {
        Ok(()) => KeySource::Keychain,
        Err(error) => {
            tracing::warn!(error, "the keychain cannot be used; the key is kept for this session");
            session.insert(provider, SecretString::from(key.to_owned()));
            KeySource::Session
        }
    }
}

fn entry(provider: Provider) -> Result<Entry, String> {
    Entry::new_in_store(&store()?, SERVICE, provider.as_str()).map_err(|e| e.to_string())
}

fn store() -> Result<Arc<CredentialStore>, String> {
    static STORE: OnceLock<Result<Arc<CredentialStore>, String>> = OnceLock::new();
    STORE.get_or_init(open).clone()
}

#[cfg(target_os = "linux")]
fn open() -> Result<Arc<CredentialStore>, String> {
    if std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_none() && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        return Err("there is no session bus, so no Secret Service".to_owned());
    }
    let store = zbus_secret_service_keyring_store::Store::new().map_err(|e| e.to_string())?;
    Ok(store)
}

#[cfg(not(target_os = "linux"))]
fn open() -> Result<Arc<CredentialStore>, String> {
    Err("this build knows no keychain of this system".to_owned())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}
