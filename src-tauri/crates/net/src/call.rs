//! One request and its streamed answer. What is known about money decides what happens after a fault: provably not charged is
//! tried again or reported as such; anything after the first byte that may have been charged is `Unknown` and never repeated.

use crate::cloud::Api;
use crate::fold::{Fold, Reply};
use crate::limits::{self, Times};
use crate::retry;
use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use starling_core::port::ModelError;
use std::time::Duration;

#[derive(Clone)]
pub(crate) struct Post {
    pub client: Client,
    pub url: Url,
    pub host: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub api: Api,
    pub key: Option<SecretString>,
    pub times: Times,
}

/// A fault, with what had come before it.
#[derive(Debug)]
pub(crate) struct Fault {
    pub error: ModelError,
    pub partial: Reply,
    /// A request reached the server.
    pub sent: bool,
}

/// How one try ended without an answer.
enum Miss {
    /// Nothing was sent.
    Connect(String),
    /// Refused before any work, with a chance that another try is not.
    Busy {
        status: u16,
        message: String,
        wait: Option<Duration>,
        hopeless: bool,
    },
    Final {
        error: ModelError,
        partial: Reply,
    },
}

impl Post {
    /// Tells `on_text` the text as it grows.
    pub async fn answer(self, mut on_text: impl FnMut(String)) -> Result<Reply, Fault> {
        let mut pauses = retry::pauses(self.times.pause);
        let mut sent = false;
        let mut waited = false;
        loop {
            let miss = match self.once(&mut on_text).await {
                Ok(reply) => return Ok(reply),
                Err(miss) => miss,
            };
            let (error, pause) = match miss {
                Miss::Final { error, partial } => return Err(Fault { error, partial, sent: true }),
                Miss::Connect(message) => (ModelError::Unreachable { host: self.host.clone(), message }, pauses.next()),
                Miss::Busy { status, message, wait, hopeless } => {
                    sent = true;
                    // The server's own time is waited for once, and exactly.
                    let pause = match wait {
                        _ if hopeless => None,
                        Some(wait) if waited || wait > self.times.longest_pause => None,
                        Some(wait) => Some(wait),
                        None => pauses.next(),
                    };
                    waited |= wait.is_some();
                    (ModelError::Refused { host: self.host.clone(), status, message }, pause)
                }
            };
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(Fault { error, partial: Reply::default(), sent }),
            }
        }
    }

    async fn once(&self, on_text: &mut impl FnMut(String)) -> Result<Reply, Miss> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(self.body.clone());
        let response = match tokio::time::timeout(self.times.head, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) if error.is_connect() => return Err(Miss::Connect(self.clean(&limits::reason(&error)))),
            Ok(Err(error)) if error.is_builder() => {
                let error = ModelError::NotAllowed { reason: self.clean(&limits::reason(&error)) };
                return Err(Miss::Final { error, partial: Reply::default() });
            }
            Ok(Err(error)) => return Err(self.unknown(&limits::reason(&error), Reply::default())),
            Err(_) => {
                let message = format!("no answer began within {} s", self.times.head.as_secs());
                return Err(self.unknown(&message, Reply::default()));
            }
        };
        let response = self.accepted(response).await?;
        let mut fold = Fold::default();
        match tokio::time::timeout(self.times.call, self.read(response, &mut fold, on_text)).await {
            Ok(Ok(())) => Ok(fold.reply()),
            Ok(Err(message)) => Err(self.unknown(&message, fold.reply())),
            Err(_) => Err(self.unknown("the answer took too long", fold.reply())),
        }
    }

    /// The response, if it is a stream of events of the API.
    async fn accepted(&self, response: Response) -> Result<Response, Miss> {
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if (300..400).contains(&status) {
            let to = Url::parse(header(LOCATION)).ok().and_then(|url| url.host_str().map(str::to_owned));
            let to = to.unwrap_or_else(|| "another place".to_owned());
            return Err(self.refused(status, &format!("it points to {to}; redirects are not followed")));
        }
        if status == 200 && kind == "text/event-stream" {
            return Ok(response);
        }
        if (200..300).contains(&status) {
            let message = format!("this is not the API ({kind:?} from {})", self.host);
            // JSON may be an answer of the API itself that was charged; a page of a network's log-in is not.
            let page = kind.starts_with("text/") && kind != "text/event-stream";
            return Err(if page { self.refused(status, &message) } else { self.unknown(&message, Reply::default()) });
        }
        let wait = retry::asked_for(response.headers());
        let (message, hopeless) = self.complaint(response).await;
        match status {
            429 | 529 => Err(Miss::Busy { status, message, wait, hopeless }),
            400..500 => Err(self.refused(status, &message)),
            _ => Err(self.unknown(&format!("the server failed ({status}): {message}"), Reply::default())),
        }
    }

    /// What an error's body says, and whether waiting cannot help.
    async fn complaint(&self, response: Response) -> (String, bool) {
        let body = limits::whole(response, 64 * 1024, self.times.idle).await.unwrap_or_default();
        let value: Value = serde_json::from_slice(&body).unwrap_or_default();
        let words = String::from_utf8_lossy(&body);
        let hopeless = words.contains("enforced_spend_limit_reached") || words.contains("insufficient_quota");
        let message = crate::fold::error_text(&value).unwrap_or("no reason was given");
        (self.clean(message), hopeless)
    }

    async fn read(&self, response: Response, fold: &mut Fold, on_text: &mut impl FnMut(String)) -> Result<(), String> {
        let mut events = limits::metered(response, self.times.idle).eventsource();
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| match error {
                eventsource_stream::EventStreamError::Transport(message) => message,
                eventsource_stream::EventStreamError::Utf8(_) => "the answer is not UTF-8".to_owned(),
                eventsource_stream::EventStreamError::Parser(_) => "the answer is not a stream of events".to_owned(),
            })?;
            let text = fold.take(self.api, &event.data)?;
            if !text.is_empty() {
                on_text(text);
            }
            if fold.ended {
                return Ok(());
            }
        }
        Err("its end is missing".to_owned())
    }

    fn refused(&self, status: u16, message: &str) -> Miss {
        let error = ModelError::Refused { host: self.host.clone(), status, message: self.clean(message) };
        Miss::Final { error, partial: Reply::default() }
    }

    fn unknown(&self, message: &str, partial: Reply) -> Miss {
        let error = ModelError::Unknown { host: self.host.clone(), message: self.clean(message) };
        Miss::Final { error, partial }
    }

    /// One short line without control characters and without the key, which some servers repeat.
    fn clean(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) if !key.expose_secret().is_empty() => text.replace(key.expose_secret(), "«key»"),
            Some(_) | None => text.to_owned(),
        };
        let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        plain.take(300).collect::<String>().trim().to_owned()
    }
}
