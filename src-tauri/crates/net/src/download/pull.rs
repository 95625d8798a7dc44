//! Getting bytes: redirects by hand on allowed hosts, piece by piece on the caller's thread, so that a slow disk slows the
//! server and nothing piles up.

use super::{DownloadError, Progress};
use crate::endpoint::{Endpoint, EndpointKind, is_pinned};
use crate::gate::NetGate;
use crate::limits;
use crate::wire::Lost;
use reqwest::header::{ACCEPT, HeaderMap, LOCATION, RANGE};
use reqwest::{Response, Url};
use starling_core::port::{Cancel, Flow, ModelError};
use std::time::{Duration, Instant};

const HOPS: u32 = 3;
/// Bytes a second; a slower server, measured over a minute, is given up.
const SLOWEST: u64 = 64;

pub(super) struct Puller<'a> {
    pub gate: &'a NetGate,
    pub cancel: &'a Cancel,
    pub progress: &'a mut dyn FnMut(Progress) -> Flow,
    pub total: u64,
}

/// An answer and every head on the way to it; the hub writes its sums into the first.
pub(super) struct Found {
    pub response: Response,
    pub heads: Vec<HeaderMap>,
}

impl Found {
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }
}

impl Puller<'_> {
    /// GET from `offset`, over at most three redirects. `home` is a host that is allowed besides the pinned ones.
    pub fn get(&self, url: &Url, home: Option<&str>, accept: &str, offset: u64) -> Result<Found, DownloadError> {
        let mut url = url.clone();
        let mut heads = Vec::new();
        for _ in 0..=HOPS {
            let response = self.once(&url, home, accept, offset)?;
            heads.push(response.headers().clone());
            if !response.status().is_redirection() {
                return Ok(Found { response, heads });
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
            url = url.join(to).map_err(|_| server(&url, "it points to no address"))?;
        }
        Err(server(&url, "it points on too often"))
    }

    fn once(&self, url: &Url, home: Option<&str>, accept: &str, offset: u64) -> Result<Response, DownloadError> {
        let client = self.gate.client(&endpoint(url, home)?)?;
        let mut request = client.get(url.clone()).header(ACCEPT, accept);
        if offset > 0 {
            request = request.header(RANGE, format!("bytes={offset}-"));
        }
        let head = self.gate.times.idle;
        let answer = self.gate.wire.run(self.cancel, async move { tokio::time::timeout(head, request.send()).await });
        match answer.map_err(lost)? {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(ModelError::Unreachable { host: host(url), message: limits::reason(&error) }.into()),
            Err(_) => Err(server(url, "it does not answer")),
        }
    }

    /// The whole of a small text.
    pub fn small(&self, found: Found) -> Result<Vec<u8>, DownloadError> {
        let (url, idle) = (found.response.url().clone(), self.gate.times.idle);
        let body = limits::whole(found.response, limits::MAX_BODY, idle);
        self.gate.wire.run(self.cancel, body).map_err(lost)?.map_err(|message| server(&url, &message))
    }

    /// Hands every piece to `take`. `before` bytes of the model were done when it began.
    pub fn pieces(
        &mut self,
        response: Response,
        before: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), DownloadError>,
    ) -> Result<(), DownloadError> {
        let (url, idle) = (response.url().clone(), self.gate.times.idle);
        let mut response = response;
        let mut done = before;
        let (mut minute, mut in_minute) = (Instant::now(), 0u64);
        loop {
            let job = async move {
                let piece = tokio::time::timeout(idle, response.chunk()).await;
                (response, piece)
            };
            let (back, piece) = self.gate.wire.run(self.cancel, job).map_err(lost)?;
            response = back;
            let piece = match piece {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => return Ok(()),
                Ok(Err(error)) => return Err(server(&url, &limits::reason(&error))),
                Err(_) => return Err(server(&url, "nothing came for too long")),
            };
            take(&piece)?;
            done += piece.len() as u64;
            in_minute += piece.len() as u64;
            self.report(done)?;
            if minute.elapsed() > Duration::from_secs(60) {
                if in_minute < SLOWEST * 60 {
                    return Err(server(&url, "it is too slow"));
                }
                (minute, in_minute) = (Instant::now(), 0);
            }
        }
    }

    pub fn report(&mut self, done: u64) -> Result<(), DownloadError> {
        let done = if self.total > 0 { done.min(self.total) } else { done };
        match (self.progress)(Progress { done, total: self.total }) {
            Flow::Continue => self.check(),
            Flow::Stop => Err(DownloadError::Cancelled),
        }
    }

    pub fn check(&self) -> Result<(), DownloadError> {
        if self.cancel.is_cancelled() { Err(DownloadError::Cancelled) } else { Ok(()) }
    }
}

/// A pinned host, or the configured index's own.
fn endpoint(url: &Url, home: Option<&str>) -> Result<Endpoint, DownloadError> {
    let at = url.host_str().unwrap_or_default();
    let kind = if home == Some(&host(url)) && !is_pinned(at) { EndpointKind::Index } else { EndpointKind::Download };
    // The origin alone: a path or query of a server's is not checked as an address.
    let origin = url.origin().ascii_serialization();
    Endpoint::new(kind, &origin).map_err(|error| server(url, &error.to_string()))
}

pub(super) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

pub(super) fn server(url: &Url, message: &str) -> DownloadError {
    DownloadError::Server { host: host(url), message: message.to_owned() }
}

fn lost(lost: Lost) -> DownloadError {
    match lost {
        Lost::Cancelled => DownloadError::Cancelled,
        Lost::Ended => ModelError::Engine { message: "the network's thread ended".to_owned() }.into(),
    }
}
