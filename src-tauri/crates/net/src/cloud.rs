//! An endpoint behind the ports: the final review, and any role. What is sent is in the ledger before its first byte, with
//! the most it can cost; the end replaces that by what it did cost.

use crate::call::{Fault, Post};
use crate::endpoint::{Endpoint, EndpointKind};
use crate::fold::Reply;
use crate::gate::NetGate;
use crate::wire::{self, Lost};
use crate::{anthropic, bodies, openai, price};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use starling_core::port::{
    Cancel, CloudAnswer, CloudBound, CloudReviewer, JournalError, Ledger, ModelCard, ModelError,
};
use starling_core::receipt::{EgressEntry, Usage};
use starling_core::review::Place;
use starling_core::{Fingerprint, ModelName};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    Anthropic,
    OpenAi,
}

impl Api {
    pub fn default_url(self) -> &'static str {
        match self {
            Api::Anthropic => "https://api.anthropic.com",
            Api::OpenAi => "https://api.openai.com/v1",
        }
    }
}

/// What an endpoint is, as the settings say.
pub struct Target {
    pub api: Api,
    /// [`EndpointKind::Cloud`] or [`EndpointKind::Gateway`].
    pub kind: EndpointKind,
    pub base_url: String,
    /// As receipts write it; the model's own name for the final review.
    pub name: ModelName,
    /// As the server knows it.
    pub model: String,
    /// Goes to this address and nowhere else. `None` for gateways without one.
    pub key: Option<SecretString>,
    /// Of one answer in the final review; part of the worst case.
    pub max_output_tokens: u32,
    /// Tokens of prompt and answer together.
    pub context: u32,
}

pub struct CloudEndpoint {
    pub(crate) gate: Arc<NetGate>,
    pub(crate) endpoint: Endpoint,
    pub(crate) target: Target,
    pub(crate) ledger: Option<Arc<dyn Ledger>>,
}

impl CloudEndpoint {
    /// # Errors
    /// [`ModelError::NotAllowed`] when the address is not one for its kind.
    pub fn new(gate: Arc<NetGate>, target: Target) -> Result<CloudEndpoint, ModelError> {
        let refused = |reason: String| ModelError::NotAllowed { reason };
        let endpoint = Endpoint::new(target.kind, &target.base_url).map_err(|error| refused(error.to_string()))?;
        match target.kind {
            EndpointKind::Cloud | EndpointKind::Gateway => {}
            EndpointKind::Download | EndpointKind::Index => {
                return Err(refused("a download address is no model".to_owned()));
            }
        }
        Ok(CloudEndpoint { gate, endpoint, target, ledger: None })
    }

    /// Needed before a role can be bound to it, unless it is on this machine.
    #[must_use]
    pub fn with_ledger(self, ledger: Arc<dyn Ledger>) -> CloudEndpoint {
        CloudEndpoint { ledger: Some(ledger), ..self }
    }

    /// Local means that nothing leaves the machine.
    pub(crate) fn place(&self) -> Place {
        if self.endpoint.is_loopback() { Place::Local } else { Place::Cloud }
    }

    pub(crate) fn is_gateway(&self) -> bool {
        self.endpoint.kind() == EndpointKind::Gateway
    }

    pub(crate) fn described(&self) -> ModelCard {
        let price = if self.is_gateway() { None } else { price::per_million(self.target.api, &self.target.model) };
        ModelCard {
            name: self.target.name.clone(),
            place: self.place(),
            context: self.target.context,
            schema: true,
            millions: 0,
            price,
        }
    }

    pub(crate) fn post(&self, body: Vec<u8>) -> Result<Post, ModelError> {
        let path = match self.target.api {
            Api::Anthropic => anthropic::PATH,
            Api::OpenAi => openai::PATH,
        };
        let times = if self.is_gateway() { self.gate.times.of_gateway() } else { self.gate.times };
        Ok(Post {
            client: self.gate.client(&self.endpoint)?,
            url: self.endpoint.below(path),
            host: self.endpoint.host(),
            headers: self.headers()?,
            body,
            api: self.target.api,
            key: self.target.key.clone(),
            times,
        })
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if self.target.api == Api::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
        }
        let Some(key) = &self.target.key else { return Ok(headers) };
        let (name, value) = match self.target.api {
            Api::Anthropic => (HeaderName::from_static("x-api-key"), key.expose_secret().to_owned()),
            Api::OpenAi => (AUTHORIZATION, format!("Bearer {}", key.expose_secret())),
        };
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| ModelError::NotAllowed { reason: "the key has characters that no key has".to_owned() })?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(headers)
    }

    /// The most that bodies of this size can cost, with a tenth on top; `None` when the price is unknown.
    pub(crate) fn worst_case(&self, bytes: usize, max_output: u64) -> Option<u64> {
        let usage = Usage { input: most_tokens(bytes), output: max_output, ..Usage::default() };
        self.cost(usage).map(|cost| cost + cost.div_ceil(10))
    }

    pub(crate) fn cost(&self, usage: Usage) -> Option<u64> {
        if self.is_gateway() { Some(0) } else { price::cost(self.target.api, &self.target.model, usage) }
    }

    /// The row of bodies about to leave. A crash leaves it as it is: unknown, at the most it can cost.
    pub(crate) fn entry(&self, bodies: &[Vec<u8>], max_output: u64) -> EgressEntry {
        let bytes: usize = bodies.iter().map(Vec::len).sum();
        let mut hasher = Sha256::new();
        bodies.iter().for_each(|body| hasher.update(body));
        let body: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        EgressEntry {
            host: self.endpoint.host(),
            model: self.target.name.clone(),
            bytes: bytes as u64,
            body: Fingerprint::new(body),
            cost_micro_usd: self.worst_case(bytes, max_output),
            at: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64),
            outcome: "unknown".to_owned(),
        }
    }

    /// The row after the end. With usage the cost is known even when the answer broke off.
    pub(crate) fn settle(&self, entry: &mut EgressEntry, outcome: &Outcome) {
        match outcome {
            Outcome::Answered(usage) => {
                entry.outcome = "sent".to_owned();
                entry.cost_micro_usd = usage.map_or(entry.cost_micro_usd, |usage| self.cost(usage));
            }
            Outcome::NotCharged { sent } => {
                entry.outcome = "refused".to_owned();
                entry.cost_micro_usd = Some(0);
                if !sent {
                    entry.bytes = 0;
                }
            }
            Outcome::Unknown => {}
        }
    }
}

/// Three bytes a token is low for code and text, so the bound is high enough.
fn most_tokens(bytes: usize) -> u64 {
    bytes.div_ceil(3) as u64
}

/// What became of a sending.
pub(crate) enum Outcome {
    Answered(Option<Usage>),
    NotCharged {
        /// Bytes reached the server.
        sent: bool,
    },
    Unknown,
}

impl Outcome {
    pub fn of(result: &Result<Reply, Fault>) -> Outcome {
        match result {
            Ok(reply) => Outcome::Answered(reply.usage),
            Err(Fault { error: ModelError::Unknown { .. } | ModelError::Cancelled, .. }) => Outcome::Unknown,
            Err(Fault { sent, .. }) => Outcome::NotCharged { sent: *sent },
        }
    }
}

enum News {
    Text(String),
    End(Result<Reply, Fault>),
}

impl CloudReviewer for CloudEndpoint {
    fn card(&self) -> ModelCard {
        self.described()
    }

    fn host(&self) -> String {
        self.endpoint.host()
    }

    fn body(&self, system: &str, packet: &str) -> Result<Vec<u8>, ModelError> {
        let ask = bodies::Ask {
            model: &self.target.model,
            system,
            user: packet,
            schema: None,
            max_tokens: self.target.max_output_tokens,
            stop: &[],
            sampling: None,
            gateway: self.is_gateway(),
        };
        ask.body(self.target.api)
    }

    fn bound(&self, body: &[u8]) -> CloudBound {
        let max_output_tokens = self.target.max_output_tokens;
        CloudBound {
            input_tokens: u32::try_from(most_tokens(body.len())).unwrap_or(u32::MAX),
            max_output_tokens,
            worst_case_micro_usd: self.worst_case(body.len(), max_output_tokens.into()),
        }
    }

    fn send(
        &self,
        body: &[u8],
        cancel: &Cancel,
        ledger: &dyn Ledger,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<CloudAnswer, ModelError> {
        let post = self.post(body.to_vec())?;
        if cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        let mut entry = self.entry(&[body.to_vec()], self.target.max_output_tokens.into());
        ledger.sending(&entry).map_err(unwritten)?;
        let begun = Instant::now();
        let (send, receive) = channel();
        let task = self.gate.wire.spawn(async move {
            let text = send.clone();
            let result = post.answer(move |part| drop(text.send(News::Text(part)))).await;
            // Nobody waits any more when the caller was cancelled.
            send.send(News::End(result)).ok();
        });
        let result = loop {
            match wire::next(&receive, cancel) {
                Ok(News::Text(text)) => on_text(&text),
                Ok(News::End(result)) => break result,
                Err(lost) => {
                    task.abort();
                    break Err(self.lost(lost));
                }
            }
        };
        self.settle(&mut entry, &Outcome::of(&result));
        ledger.settled(&entry).map_err(|error| self.unsettled(&error))?;
        let reply = result.map_err(|fault| fault.error)?;
        Ok(CloudAnswer {
            text: reply.text,
            usage: reply.usage.unwrap_or_default(),
            cost_micro_usd: entry.cost_micro_usd,
            millis: begun.elapsed().as_millis() as u64,
        })
    }
}

impl CloudEndpoint {
    /// It was sent, and its row still says that nobody knows how it ended.
    pub(crate) fn unsettled(&self, error: &JournalError) -> ModelError {
        let message = format!("it was sent, but the ledger cannot be written: {error}");
        ModelError::Unknown { host: self.endpoint.host(), message }
    }

    pub(crate) fn lost(&self, lost: Lost) -> Fault {
        let error = match lost {
            Lost::Cancelled => ModelError::Cancelled,
            Lost::Ended => {
                ModelError::Unknown { host: self.endpoint.host(), message: "the network's thread ended".to_owned() }
            }
        };
        Fault { error, partial: Reply::default(), sent: true }
    }
}

/// Without a row nothing may leave.
pub(crate) fn unwritten(error: JournalError) -> ModelError {
    ModelError::NotAllowed { reason: format!("the ledger cannot be written: {error}") }
}
