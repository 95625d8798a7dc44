//! Settings between the file and the page.

use crate::compose::keys::{self, KeySource as Found, Provider};
use crate::compose::settings::{ProjectSettings, Settings};
use crate::compose::{Starling, cloud, inbox};
use starling_contract::{CloudSettings, KeySource, SendChoice, SettingsEdit, SettingsView, Theme};

pub fn view(starling: &Starling, language: &str) -> SettingsView {
    let settings = starling.settings.get();
    SettingsView {
        edit: edit(&settings),
        language: language.to_owned(),
        inbox_folder: inbox::folder(starling).to_string_lossy().into_owned(),
        key: key(&settings),
    }
}

fn edit(settings: &Settings) -> SettingsEdit {
    let project = settings.projects.get(&settings.project).cloned().unwrap_or_default();
    let cloud = settings.cloud.clone();
    SettingsEdit {
        language: settings.language.clone(),
        theme: match settings.theme.as_str() {
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => Theme::System,
        },
        offline: settings.offline,
        candidates: settings.candidates,
        model_memory_mb: settings.model_memory_mb,
        inbox: settings.inbox.clone(),
        budget_day_usd: settings.budget.day_micro_usd as f64 / 1_000_000.0,
        budget_task_usd: settings.budget.task_micro_usd as f64 / 1_000_000.0,
        cloud: CloudSettings { provider: cloud.provider, model: cloud.model, base_url: cloud.base_url },
        trusted: project.trusted,
        send: match project.send.as_str() {
            "always" => SendChoice::Always,
            "never" => SendChoice::Never,
            _ => SendChoice::Ask,
        },
    }
}

/// Writes what the page sent into the settings; what the page does not know stays.
pub fn apply(settings: &mut Settings, edit: SettingsEdit) {
    let SettingsEdit {
        language,
        theme,
        offline,
        candidates,
        model_memory_mb,
        inbox,
        budget_day_usd,
        budget_task_usd,
        cloud: CloudSettings { provider, model, base_url },
        trusted,
        send,
    } = edit;
    settings.language = language;
    settings.theme = match theme {
        Theme::System => "system",
        Theme::Light => "light",
        Theme::Dark => "dark",
    }
    .to_owned();
    settings.offline = offline;
    settings.candidates = candidates.clamp(1, 64);
    settings.model_memory_mb = model_memory_mb;
    settings.inbox = inbox;
    settings.budget.day_micro_usd = micro(budget_day_usd);
    settings.budget.task_micro_usd = micro(budget_task_usd);
    (settings.cloud.provider, settings.cloud.model, settings.cloud.base_url) = (provider, model, base_url);
    if !settings.project.is_empty() {
        let send = match send {
            SendChoice::Ask => "ask",
            SendChoice::Always => "always",
            SendChoice::Never => "never",
        };
        settings.projects.insert(settings.project.clone(), ProjectSettings { trusted, send: send.to_owned() });
    }
}

fn micro(dollars: f64) -> u64 {
    // A negative or broken number means no limit, like 0.
    if dollars.is_finite() { (dollars.max(0.0) * 1_000_000.0).round() as u64 } else { 0 }
}

fn key(settings: &Settings) -> KeySource {
    match cloud::provider(settings) {
        None => KeySource::None,
        Some((provider, Found::Environment)) => KeySource::Environment { name: provider.variable().to_owned() },
        Some((_, Found::Keychain)) => KeySource::Keychain,
        Some((_, Found::Session)) => KeySource::Memory,
    }
}

/// Keeps a key for a provider; an empty one forgets it.
pub fn set_key(starling: &Starling, provider: Provider, key: &str) -> Result<(), crate::compose::ComposeError> {
    let kept = keys::keep(provider, key.trim());
    starling.settings.change(|settings| {
        settings.cloud.keychain.retain(|name| name != provider.as_str());
        if kept == Found::Keychain {
            settings.cloud.keychain.push(provider.as_str().to_owned());
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_page_sends_back_changes_nothing_by_itself() {
        let mut settings = Settings { project: "/p".into(), ..Settings::default() };
        settings.roles.insert("tester".into(), "m".into());
        settings.projects.insert("/p".into(), ProjectSettings { trusted: true, send: "always".into() });
        settings.budget.day_micro_usd = 2_500_000;
        let before = settings.clone();
        let sent = edit(&settings);
        apply(&mut settings, sent.clone());
        assert_eq!(settings, before);
        apply(&mut settings, SettingsEdit { trusted: false, candidates: 1_000, ..sent });
        assert!(!settings.trusts(std::path::Path::new("/p")));
        assert_eq!(settings.candidates, 64);
    }
}
