//! The gate: every connection starts here, and none does while it is closed. One client per endpoint, without redirects,
//! cookies, referers, silent retries or the environment's proxies.

use crate::address::Filter;
use crate::endpoint::{Endpoint, EndpointKind};
use crate::limits::Times;
use crate::wire::Wire;
use reqwest::{Client, Proxy, redirect, retry, tls};
use starling_core::port::ModelError;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub struct NetGate {
    offline: Arc<AtomicBool>,
    proxy: Option<String>,
    /// Making one reads the system's certificates, which takes tens of milliseconds.
    clients: Mutex<HashMap<Endpoint, Client>>,
    pub(crate) wire: Wire,
    pub(crate) times: Times,
}

impl NetGate {
    /// While `offline` is set, everything is refused before a name is looked up. Whoever made the switch keeps it and turns
    /// it at any moment: what goes through the gate needs no telling.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn new(offline: Arc<AtomicBool>) -> Result<NetGate, ModelError> {
        let wire =
            Wire::start().map_err(|error| ModelError::Engine { message: format!("no network thread: {error}") })?;
        Ok(NetGate { offline, proxy: None, clients: Mutex::default(), wire, times: Times::default() })
    }

    /// Sends everything but gateways over the proxy that the user set ("http://proxy.example:3128").
    #[must_use]
    pub fn with_proxy(self, proxy: &str) -> NetGate {
        NetGate { proxy: Some(proxy.to_owned()), clients: Mutex::default(), ..self }
    }

    /// # Errors
    /// [`ModelError::NotAllowed`] when offline. A gateway on this machine is refused as well: offline means no socket.
    pub fn allow(&self) -> Result<(), ModelError> {
        match self.offline.load(Ordering::Relaxed) {
            true => Err(ModelError::NotAllowed { reason: "offline".to_owned() }),
            false => Ok(()),
        }
    }

    pub(crate) fn client(&self, endpoint: &Endpoint) -> Result<Client, ModelError> {
        self.allow()?;
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(endpoint) {
            return Ok(client.clone());
        }
        let client = self.new_client(endpoint)?;
        clients.insert(endpoint.clone(), client.clone());
        Ok(client)
    }

    fn new_client(&self, endpoint: &Endpoint) -> Result<Client, ModelError> {
        let failed = |error: reqwest::Error| ModelError::NotAllowed { reason: format!("no client: {error}") };
        let mut builder = Client::builder()
            .user_agent(concat!("starling/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .https_only(matches!(endpoint.kind(), EndpointKind::Cloud | EndpointKind::Download))
            .tls_version_min(tls::Version::TLS_1_2)
            .connect_timeout(self.times.connect)
            .http1_max_headers(100)
            .http2_max_header_list_size(64 * 1024)
            // A kept connection that the server has closed meanwhile looks like an answer that broke off.
            .pool_max_idle_per_host(0)
            .tcp_keepalive(Duration::from_secs(30));
        builder = match &self.proxy {
            // The proxy looks names up, so there is nothing to filter here.
            Some(proxy) if endpoint.kind() != EndpointKind::Gateway => {
                builder.proxy(Proxy::all(proxy).map_err(failed)?)
            }
            Some(_) | None => builder.dns_resolver(Filter::of(endpoint)),
        };
        if endpoint.is_plain() {
            // Reading the system's certificates for nothing takes longer than a call on this machine.
            builder = builder.tls_certs_only([]);
        }
        if endpoint.kind() == EndpointKind::Download || endpoint.kind() == EndpointKind::Index {
            builder = builder.no_gzip();
        }
        builder.build().map_err(failed)
    }
}

#[cfg(test)]
impl NetGate {
    /// Without pauses worth naming.
    pub(crate) fn for_tests() -> NetGate {
        let mut gate = NetGate::new(Arc::default()).expect("a thread");
        gate.times.pause = Duration::from_millis(1);
        gate
    }

    pub(crate) fn set_offline(&self, offline: bool) {
        self.offline.store(offline, Ordering::Relaxed);
    }
}
