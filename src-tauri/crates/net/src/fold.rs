//! The events of a streamed answer, folded into a text and its usage. The words of each provider are in its own module.

use crate::cloud::Api;
use crate::{anthropic, openai};
use serde_json::Value;
use starling_core::port::FinishReason;
use starling_core::receipt::Usage;

#[derive(Debug, Default)]
pub(crate) struct Fold {
    pub text: String,
    /// The pieces of a tool's input; when there are any, they are the answer.
    pub json: String,
    pub usage: Option<Usage>,
    pub finish: Option<FinishReason>,
    /// The end mark came.
    pub ended: bool,
}

/// A whole answer, as far as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub text: String,
    pub usage: Option<Usage>,
    pub length: bool,
}

impl Fold {
    /// One event's data; the text that the answer grew by.
    ///
    /// # Errors
    /// The server's own error, or what is wrong with the event.
    pub fn take(&mut self, api: Api, data: &str) -> Result<String, String> {
        if api == Api::OpenAi && data.trim() == "[DONE]" {
            self.ended = true;
            return Ok(String::new());
        }
        let event: Value = serde_json::from_str(data).map_err(|_| "an event of the answer is not JSON".to_owned())?;
        match api {
            Api::Anthropic => anthropic::take(self, &event),
            Api::OpenAi => openai::take(self, &event),
        }
    }

    pub fn reply(self) -> Reply {
        let text = if self.json.is_empty() { self.text } else { self.json };
        Reply { text, usage: self.usage, length: self.finish == Some(FinishReason::Length) }
    }
}

pub(crate) fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64)
}

/// What a provider's error says, whatever the form: `{"error":{"message"}}`, `{"error":"..."}`, `{"message"}`.
pub(crate) fn error_text(value: &Value) -> Option<&str> {
    let error = value.get("error").unwrap_or(value);
    error.as_str().or_else(|| error.get("message")?.as_str())
}
