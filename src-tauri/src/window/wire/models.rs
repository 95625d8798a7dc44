//! Models on disk, in the catalogue and behind endpoints, as the page shows them.

use crate::compose::shelf::{self, ModelFile};
use crate::compose::{Starling, certificate, hardware};
use starling_contract::{ModelView, ModelsView, Place, RoleBinding};
use starling_core::Role;
use starling_core::catalog::Entry;

pub fn view(starling: &Starling) -> ModelsView {
    let settings = starling.settings.get();
    let free = hardware::available_mb();
    let budget = shelf::budget_mb(&settings, free);
    let files = starling.shelf.files();
    let mut models: Vec<ModelView> = files.iter().map(|file| on_disk(starling, file, budget)).collect();
    models.extend(settings.endpoints.iter().map(|(name, endpoint)| ModelView {
        title: endpoint.model.clone(),
        place: Place::Cloud,
        fits: true,
        ..blank(name)
    }));
    models.extend(starling.shelf.refused().into_iter().map(|refused| ModelView {
        available: false,
        refused: refused.why,
        ..blank(&refused.path.file_name().unwrap_or_default().to_string_lossy())
    }));
    let missing =
        starling.catalog.models.iter().filter(|entry| !files.iter().any(|file| file.name.as_str() == entry.name));
    models.extend(missing.map(|entry| in_catalogue(entry, budget)));
    let roles = Role::ALL.into_iter().map(|role| RoleBinding {
        role: role.into(),
        model: starling.residency.name_of(role).map(|name| name.to_string()),
        chosen: settings.roles.contains_key(role.as_str()),
    });
    ModelsView { models, roles: roles.collect(), budget_mb: budget as f64, free_memory_mb: free as f64 }
}

fn on_disk(starling: &Starling, file: &ModelFile, budget: u64) -> ModelView {
    let entry = starling.catalog.model(file.name.as_str());
    ModelView {
        title: entry.map_or_else(|| file.name.to_string(), |entry| entry.title.clone()),
        bytes: file.bytes as f64,
        millions: file.millions,
        memory_mb: file.memory_mb as f64,
        fits: file.memory_mb <= budget,
        licence: entry.map(|entry| entry.licence.clone()).unwrap_or_default(),
        roles: entry
            .map_or_else(|| Role::ALL.to_vec(), |entry| entry.roles.clone())
            .into_iter()
            .map(Into::into)
            .collect(),
        resident: starling.residency.resident().iter().any(|(name, _)| *name == file.name),
        pinned: entry.is_some_and(|entry| !entry.sha256.is_empty()),
        tokens_per_second: certificate::read(starling, file.name.as_str()).map(|found| found.tokens_per_second),
        ..blank(file.name.as_str())
    }
}

fn in_catalogue(entry: &Entry, budget: u64) -> ModelView {
    ModelView {
        title: entry.title.clone(),
        available: false,
        bytes: entry.bytes as f64,
        millions: entry.millions,
        memory_mb: entry.min_memory_mb as f64,
        fits: entry.min_memory_mb <= budget,
        licence: entry.licence.clone(),
        roles: entry.roles.iter().map(|role| (*role).into()).collect(),
        pinned: !entry.sha256.is_empty(),
        ..blank(&entry.name)
    }
}

fn blank(name: &str) -> ModelView {
    ModelView {
        name: name.to_owned(),
        title: name.to_owned(),
        place: Place::Local,
        available: true,
        bytes: 0.0,
        millions: 0,
        memory_mb: 0.0,
        fits: false,
        licence: String::new(),
        roles: Vec::new(),
        resident: false,
        pinned: false,
        tokens_per_second: None,
        refused: String::new(),
    }
}
