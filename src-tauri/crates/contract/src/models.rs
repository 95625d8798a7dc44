//! Models on disk and in the catalogue, and who does what.

use crate::mirror::{Place, Role};
use serde::{Deserialize, Serialize};
use specta::Type;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ModelsView {
    /// On disk first, then what could be fetched.
    pub models: Vec<ModelView>,
    /// One for each role, in the order of the work.
    pub roles: Vec<RoleBinding>,
    /// Memory that resident models may take together.
    #[specta(type = u32)]
    pub budget_mb: f64,
    #[specta(type = u32)]
    pub free_memory_mb: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ModelView {
    pub name: String,
    pub title: String,
    pub place: Place,
    /// A local file that may be loaded, or an endpoint that is set up.
    pub available: bool,
    #[specta(type = u32)]
    pub bytes: f64,
    /// Millions of parameters; 0 when unknown.
    pub millions: u32,
    /// What it takes with its working memory; 0 for endpoints.
    #[specta(type = u32)]
    pub memory_mb: f64,
    pub fits: bool,
    /// "" when unknown.
    pub licence: String,
    /// What the catalogue lets it do unasked.
    pub roles: Vec<Role>,
    pub resident: bool,
    /// Its sha256 is pinned in the catalogue.
    pub pinned: bool,
    /// Measured on this machine; `null` before.
    #[specta(type = Option<u32>)]
    pub tokens_per_second: Option<f64>,
    /// Why a file on disk is refused, or "".
    pub refused: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RoleBinding {
    pub role: Role,
    /// `null` when no model fits.
    pub model: Option<String>,
    /// Chosen by the user; else by itself.
    pub chosen: bool,
}
