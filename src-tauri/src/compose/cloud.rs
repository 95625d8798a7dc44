//! The cloud side: which provider reviews, endpoints for any role, and the one gate to the network, opened when something
//! first wants out. Where nothing is configured, nothing here opens a thread or a socket.

use super::keys::{self, KeySource, Provider};
use super::residency::Source;
use super::settings::Settings;
use starling_core::ModelName;
use starling_core::port::{CloudReviewer, Ledger, Model, ModelError};
use starling_net::{Api, CloudEndpoint, EndpointKind, NetGate, Target};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Tokens of one answer of the final review.
const MAX_REVIEW_TOKENS: u32 = 2_048;
const CONTEXT: u32 = 128_000;

pub struct Cloud {
    gate: OnceLock<Result<Arc<NetGate>, ModelError>>,
    ledger: Arc<dyn Ledger>,
    offline: Arc<AtomicBool>,
}

impl Cloud {
    /// `offline` is the switch of the settings ([`super::settings_file::SettingsFile::offline`]).
    pub fn new(ledger: Arc<dyn Ledger>, offline: Arc<AtomicBool>) -> Cloud {
        Cloud { gate: OnceLock::new(), ledger, offline }
    }

    /// The gate, which is closed and open as the settings say at the moment of each connection.
    pub fn gate(&self) -> Result<Arc<NetGate>, ModelError> {
        self.gate.get_or_init(|| NetGate::new(Arc::clone(&self.offline)).map(Arc::new)).clone()
    }

    /// `None` when no provider has a key, or the network is forbidden.
    pub fn reviewer(&self, settings: &Settings) -> Option<Arc<dyn CloudReviewer>> {
        if settings.offline {
            return None;
        }
        let (provider, _) = provider(settings)?;
        match self.endpoint_of(settings, provider) {
            Ok(endpoint) => Some(Arc::new(endpoint)),
            Err(error) => {
                tracing::warn!(%error, "the cloud reviewer cannot be set up");
                None
            }
        }
    }

    fn endpoint_of(&self, settings: &Settings, provider: Provider) -> Result<CloudEndpoint, ModelError> {
        let key = keys::key(settings, provider).map_err(|reason| ModelError::NotAllowed { reason })?;
        let model = model(settings, provider);
        let base_url = base_url(settings, provider);
        let target = Target {
            api: api(provider),
            kind: kind(&base_url),
            base_url,
            name: ModelName::new(model.clone()),
            model,
            key: Some(key),
            max_output_tokens: MAX_REVIEW_TOKENS,
            context: CONTEXT,
        };
        CloudEndpoint::new(self.gate()?, target)
    }

    /// An OpenAI-compatible endpoint of the settings, for any role.
    pub fn endpoint(&self, name: &ModelName, source: &Source) -> Result<Arc<dyn Model>, ModelError> {
        let Source::Endpoint { url, model, context } = source else {
            return Err(ModelError::Load { model: name.clone(), message: "it is a file, not an endpoint".to_owned() });
        };
        let target = Target {
            api: Api::OpenAi,
            kind: EndpointKind::Gateway,
            base_url: url.clone(),
            name: name.clone(),
            model: model.clone(),
            key: None,
            max_output_tokens: MAX_REVIEW_TOKENS,
            context: *context,
        };
        let endpoint = CloudEndpoint::new(self.gate()?, target)?.with_ledger(Arc::clone(&self.ledger));
        Ok(Arc::new(endpoint))
    }
}

/// The provider that reviews, and where its key comes from: the one that is set, else the first with a key.
pub fn provider(settings: &Settings) -> Option<(Provider, KeySource)> {
    let keyed = |provider| keys::source(settings, provider).map(|source| (provider, source));
    match Provider::parse(&settings.cloud.provider) {
        Some(set) => keyed(set),
        None => Provider::ALL.into_iter().find_map(keyed),
    }
}

/// For `doctor`: who would review, or why nobody would.
pub fn described(settings: &Settings) -> Result<String, String> {
    if settings.offline {
        return Err("the setting \"offline\" forbids the network".to_owned());
    }
    let (provider, source) = provider(settings).ok_or("no provider has a key; reviews are local")?;
    Ok(format!("{} at {}, key from the {}", model(settings, provider), base_url(settings, provider), source.as_str()))
}

fn model(settings: &Settings, provider: Provider) -> String {
    match (settings.cloud.model.as_str(), provider) {
        ("", Provider::Anthropic) => "claude-sonnet-4-5".to_owned(),
        ("", Provider::OpenAi) => "gpt-4o-mini".to_owned(),
        (set, _) => set.to_owned(),
    }
}

fn base_url(settings: &Settings, provider: Provider) -> String {
    match settings.cloud.base_url.as_str() {
        "" => provider.base_url_of_environment().unwrap_or_else(|| api(provider).default_url().to_owned()),
        set => set.to_owned(),
    }
}

fn api(provider: Provider) -> Api {
    match provider {
        Provider::Anthropic => Api::Anthropic,
        Provider::OpenAi => Api::OpenAi,
    }
}

/// A server on this machine or without TLS can only be a gateway of the user's own; the gate checks the rest.
fn kind(base_url: &str) -> EndpointKind {
    let local = ["http://", "https://localhost", "https://127."].iter().any(|start| base_url.starts_with(start));
    if local { EndpointKind::Gateway } else { EndpointKind::Cloud }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::settings_file::SettingsFile;
    use starling_core::port::JournalError;
    use starling_core::receipt::EgressEntry;

    struct Nothing;

    impl Ledger for Nothing {
        fn sending(&self, _: &EgressEntry) -> Result<(), JournalError> {
            Ok(())
        }
        fn settled(&self, _: &EgressEntry) -> Result<(), JournalError> {
            Ok(())
        }
    }

    #[test]
    fn every_way_to_go_offline_closes_the_gate_that_is_in_use() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = SettingsFile::open(dir.path().join("settings.toml")).expect("no file is fine");
        let gate = Cloud::new(Arc::new(Nothing), file.offline()).gate().expect("a thread");
        let check = |change: &dyn Fn(&SettingsFile), open: bool| {
            change(&file);
            assert_eq!(gate.allow().is_ok(), open);
        };
        let set =
            |offline: bool| move |file: &SettingsFile| drop(file.change(|s| s.offline = offline).expect("written"));
        check(&|_| {}, true);
        check(&set(true), false);
        check(&set(false), true);
        check(&SettingsFile::force_offline, false);
        check(&set(false), false);
    }

    #[test]
    fn the_settings_choose_the_provider_and_offline_wins() {
        let mut settings = Settings::default();
        settings.cloud.keychain = vec!["openai".into()];
        settings.cloud.provider = "openai".into();
        settings.cloud.base_url = "http://127.0.0.1:9/v1".into();
        assert_eq!(provider(&settings).map(|(provider, _)| provider), Some(Provider::OpenAi));
        assert!(described(&settings).is_ok_and(|text| text.contains("gpt-4o-mini at http://127.0.0.1:9/v1")));
        settings.offline = true;
        assert!(described(&settings).is_err());
        assert_eq!(kind("http://127.0.0.1:9/v1"), EndpointKind::Gateway);
        assert_eq!(kind("https://api.openai.com/v1"), EndpointKind::Cloud);
    }
}
