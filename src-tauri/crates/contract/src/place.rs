//! What the window shows besides tasks: project, header, doctor; and the snapshot that a fresh page starts from.

use crate::event::NoticeView;
use crate::models::ModelsView;
use crate::settings::SettingsView;
use crate::view::row::TaskRow;
use serde::{Deserialize, Serialize};
use specta::Type;

/// Everything a page needs to draw itself; tasks in full come from `get_task`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    pub version: String,
    /// `null` until a folder was chosen.
    pub project: Option<ProjectView>,
    pub status: StatusView,
    /// Newest first.
    pub tasks: Vec<TaskRow>,
    pub models: ModelsView,
    pub settings: SettingsView,
    /// Not seen yet, newest first.
    pub notices: Vec<NoticeView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct StatusView {
    pub egress: EgressToday,
    /// In memory now, least recently used first.
    pub resident: Vec<ResidentModel>,
    /// The task under way, then those that wait for their turn.
    pub busy: Vec<String>,
    pub paused: bool,
    /// No byte may leave, whatever else is set.
    pub offline: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EgressToday {
    #[specta(type = u32)]
    pub bytes: f64,
    /// Dollars.
    #[specta(type = u32)]
    pub cost_usd: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ResidentModel {
    pub name: String,
    #[specta(type = u32)]
    pub memory_mb: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    /// The folder's name.
    pub name: String,
    pub path: String,
    /// "" without git, or a short commit when no branch is checked out.
    pub branch: String,
    /// Its tests and build may be run, in the sandbox.
    pub trusted: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DoctorView {
    pub version: String,
    pub data_folder: String,
    pub cpu: String,
    pub cores: u32,
    #[specta(type = u32)]
    pub free_memory_mb: f64,
    #[specta(type = u32)]
    pub total_memory_mb: f64,
    #[specta(type = Option<u32>)]
    pub free_disk_mb: Option<f64>,
    pub parts: Vec<DoctorPart>,
}

/// One part: whether it works, and what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DoctorPart {
    /// "sandbox", "kernels", "database", "models", "tray", "notifications", "keychain", "cloud".
    pub name: String,
    pub ok: bool,
    pub detail: String,
}
