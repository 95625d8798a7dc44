//! Endpoints: where a connection may go. Built from settings or pinned here, never from a project, a task or an answer.

use crate::address;
use reqwest::Url;
use std::net::IpAddr;

/// Hosts that models are fetched from.
const PINNED: [&str; 4] = ["huggingface.co", "pypi.org", "files.pythonhosted.org", "cdn-lfs.huggingface.co"];
/// The hub's storage: its hosts change with the region.
const PINNED_BELOW: [&str; 2] = [".huggingface.co", ".hf.co"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndpointKind {
    /// A provider: https, a public name and address.
    Cloud,
    /// A server of the user's own: this machine (http allowed) or the own network (https).
    Gateway,
    /// A pinned host that model files come from; no credentials.
    Download,
    /// The package index the user configured, for model files only; no credentials. http is allowed, because every file is
    /// checked against a sha256 that did not come from it.
    Index,
}

/// A checked address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    kind: EndpointKind,
    url: Url,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address {address} cannot be used: {reason}")]
pub struct EndpointError {
    pub address: String,
    pub reason: &'static str,
}

impl Endpoint {
    /// Checks the text as written, before a URL parser can turn it into something else.
    pub fn new(kind: EndpointKind, address: &str) -> Result<Endpoint, EndpointError> {
        let refuse = |reason| EndpointError { address: shown(address), reason };
        if let Some(reason) = odd_text(address) {
            return Err(refuse(reason));
        }
        let url = Url::parse(address).map_err(|_| refuse("it is not a URL"))?;
        if let Some(reason) = refusal(kind, &url) {
            return Err(refuse(reason));
        }
        Ok(Endpoint { kind, url })
    }

    pub fn kind(&self) -> EndpointKind {
        self.kind
    }

    /// The host, with the port when it is not the usual one.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// http, without TLS.
    pub(crate) fn is_plain(&self) -> bool {
        self.url.scheme() == "http"
    }

    /// On this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }

    /// The address with `path` below it; a last part that both share ("/v1") stands once.
    pub(crate) fn below(&self, path: &str) -> Url {
        let base = self.url.path().trim_end_matches('/');
        let path = match path.split_once('/') {
            Some((first, rest)) if base.rsplit('/').next() == Some(first) => rest,
            Some(_) | None => path,
        };
        let mut url = self.url.clone();
        url.set_path(&format!("{base}/{path}"));
        url
    }
}

/// Without what could be a password.
fn shown(address: &str) -> String {
    let address = address.rsplit_once('@').map_or(address, |(_, rest)| rest);
    address.chars().filter(|c| !c.is_control()).take(200).collect()
}

fn odd_text(address: &str) -> Option<&'static str> {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    if address.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        Some("it has a space, a backslash or a control character")
    } else if authority.contains('@') {
        Some("it has a user name or password in it")
    } else if !authority.is_ascii() || authority.contains('%') {
        Some("its host has other characters than letters, digits, dots and dashes")
    } else if host.ends_with('.') {
        Some("its host ends with a dot")
    } else if authority.is_empty() {
        Some("it has no host")
    } else {
        None
    }
}

fn refusal(kind: EndpointKind, url: &Url) -> Option<&'static str> {
    let host = url.host_str().unwrap_or_default();
    let literal = literal(url);
    if !matches!(url.scheme(), "https" | "http") {
        return Some("it is neither https nor http");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Some("it has a query or a fragment");
    }
    if literal.is_some_and(|ip| !address::allowed(kind, ip)) {
        return Some("this address is not allowed for this purpose");
    }
    let https = url.scheme() == "https";
    match kind {
        EndpointKind::Cloud if !https => Some("a provider needs https"),
        EndpointKind::Cloud if literal.is_some() => Some("a provider needs a name, not a number"),
        EndpointKind::Cloud if is_loopback(url) => Some("a server on this machine is a gateway, not a provider"),
        EndpointKind::Gateway if !https && !is_loopback(url) => Some("http is allowed on this machine only"),
        EndpointKind::Download if !https => Some("a download needs https"),
        EndpointKind::Download if !is_pinned(host) => Some("models are not fetched from this host"),
        EndpointKind::Cloud | EndpointKind::Gateway | EndpointKind::Download | EndpointKind::Index => None,
    }
}

pub(crate) fn is_pinned(host: &str) -> bool {
    PINNED.contains(&host) || PINNED_BELOW.iter().any(|end| host.ends_with(end))
}

fn literal(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost" || host.ends_with(".localhost") || literal(url).is_some_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::EndpointKind::{Cloud, Download, Gateway, Index};
    use super::*;

    #[track_caller]
    fn check(kind: EndpointKind, address: &str, expected: &str) {
        let got = Endpoint::new(kind, address).map_or_else(|e| e.reason.to_owned(), |e| e.host());
        assert!(got.contains(expected), "{address}: {got}");
    }

    #[test]
    fn each_kind_goes_only_where_it_may() {
        check(Cloud, "https://api.anthropic.com", "api.anthropic.com");
        check(Cloud, "https://api.openai.com:8443/v1", "api.openai.com:8443");
        check(Cloud, "http://api.openai.com/v1", "needs https");
        check(Cloud, "https://8.8.8.8", "a name, not a number");
        check(Cloud, "https://localhost/v1", "is a gateway");
        check(Cloud, "https://169.254.169.254/latest", "not allowed");
        check(Cloud, "https://0x7f.1/", "not allowed");
        check(Cloud, "https://[::ffff:127.0.0.1]/", "not allowed");
        check(Cloud, "https://user:pass@api.openai.com", "user name");
        check(Cloud, "https://api.openai.com.", "ends with a dot");
        check(Cloud, "https://api%2eopenai.com", "other characters");
        check(Cloud, "https://аpi.openai.com", "other characters");
        check(Cloud, "https://api.openai.com\0.evil.example", "control character");
        check(Cloud, "https://api.openai.com\\@evil.example", "backslash");
        check(Cloud, "file:///etc/passwd", "no host");
        check(Cloud, "ftp://a.example", "neither https nor http");
        check(Gateway, "http://127.0.0.1:11434/v1", "127.0.0.1:11434");
        check(Gateway, "http://localhost:1234/v1", "localhost:1234");
        check(Gateway, "http://192.168.1.4:8000", "on this machine only");
        check(Gateway, "https://192.168.1.4:8000", "192.168.1.4:8000");
        check(Gateway, "https://8.8.8.8", "not allowed");
        check(Gateway, "https://169.254.169.254", "not allowed");
        check(Download, "https://huggingface.co", "huggingface.co");
        check(Download, "https://evil-huggingface.co", "not fetched");
        check(Download, "https://cas-bridge.xethub.hf.co", "cas-bridge");
        check(Index, "http://10.0.0.7:8080/simple", "10.0.0.7:8080");
        check(Index, "http://169.254.1.1/simple", "not allowed");
    }

    #[test]
    fn an_error_never_shows_a_password() {
        let error = Endpoint::new(Cloud, "https://user:hunter2@api.example").expect_err("refused").to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn paths_are_joined_once() {
        let below = |base: &str, path: &str| Endpoint::new(Cloud, base).map(|e| e.below(path).to_string());
        assert_eq!(below("https://a.example", "v1/messages").as_deref(), Ok("https://a.example/v1/messages"));
        assert_eq!(below("https://a.example/v1/", "v1/messages").as_deref(), Ok("https://a.example/v1/messages"));
        assert_eq!(below("https://a.example/p/v1", "chat").as_deref(), Ok("https://a.example/p/v1/chat"));
    }
}
