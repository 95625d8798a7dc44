//! What is asked, in the words of neither provider. Equal asks give equal bytes.

use crate::cloud::Api;
use crate::{anthropic, openai};
use serde_json::Value;
use starling_core::port::ModelError;

pub(crate) struct Ask<'a> {
    pub model: &'a str,
    pub system: &'a str,
    pub user: &'a str,
    pub schema: Option<&'a Value>,
    pub max_tokens: u32,
    pub stop: &'a [String],
    pub sampling: Option<Sampling>,
    /// A server of the user's own.
    pub gateway: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    pub temperature: f32,
    pub top_p: f32,
    pub top_k: u32,
    pub seed: u64,
}

impl Ask<'_> {
    pub fn body(&self, api: Api) -> Result<Vec<u8>, ModelError> {
        if self.schema.is_some_and(|schema| schema["type"] != "object") {
            return Err(ModelError::Shape { message: "an endpoint gives objects only".to_owned() });
        }
        let body = match api {
            Api::Anthropic => anthropic::body(self),
            Api::OpenAi => openai::body(self),
        };
        serde_json::to_vec(&body).map_err(|error| ModelError::Shape { message: error.to_string() })
    }
}
