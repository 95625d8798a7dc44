//! Settings as the page shows and changes them. A key is never among them: it goes in by `set_key` and never comes out.

use serde::{Deserialize, Serialize};
use specta::Type;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    pub edit: SettingsEdit,
    /// The language in use ("en", "ko"), whatever `edit.language` says.
    pub language: String,
    /// The inbox folder in use.
    pub inbox_folder: String,
    pub key: KeySource,
}

/// What can be changed here, whole: the page sends all of it back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SettingsEdit {
    /// "en", "ko", or "" for the language of the desktop.
    pub language: String,
    pub theme: Theme,
    pub offline: bool,
    /// How many candidates a step samples.
    pub candidates: u32,
    /// 0 means by itself.
    pub model_memory_mb: u32,
    /// A watched folder; "" means the one in the data folder.
    pub inbox: String,
    /// Dollars; 0 means no limit.
    #[specta(type = u32)]
    pub budget_day_usd: f64,
    #[specta(type = u32)]
    pub budget_task_usd: f64,
    pub cloud: CloudSettings,
    /// Of the project at hand; ignored when there is none.
    pub trusted: bool,
    pub send: SendChoice,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CloudSettings {
    /// "anthropic", "openai", or "" for the one that has a key.
    pub provider: String,
    /// "" means the provider's default.
    pub model: String,
    /// "" means the provider's own.
    pub base_url: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Theme {
    System,
    Light,
    Dark,
}

/// What happens with a packet of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SendChoice {
    Ask,
    Always,
    Never,
}

/// Where the key of the cloud reviewer comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum KeySource {
    None,
    /// An environment variable, by its name.
    Environment {
        name: String,
    },
    Keychain,
    /// A keychain is not there; keys live only as long as the window.
    Memory,
}
