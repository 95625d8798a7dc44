//! The ReviewPacket: the only thing that may leave the machine, bounded and redacted. One constructor, private fields, so
//! nothing that was not redacted can be sent.

use crate::ids::Fingerprint;
use serde::{Deserialize, Serialize};

/// A packet never has more bytes of text than this; what does not fit is left out and said to be.
pub const MAX_PACKET_BYTES: usize = 24 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPacket {
    text: String,
    redactions: Vec<Redaction>,
    left_out: Vec<String>,
    body: Option<PacketBody>,
}

/// A secret that was replaced by a solid block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redaction {
    /// "aws access key", "private key", ...
    pub kind: String,
    /// What stands in its place ("«secret:aws-key#1»").
    pub mark: String,
}

/// The exact request that would be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketBody {
    pub host: String,
    pub model: String,
    /// The bytes of the body; always UTF-8 JSON.
    pub json: String,
    pub sha256: Fingerprint,
    /// Upper bound of the price in microdollars, `None` when the price is unknown.
    pub worst_case_micro_usd: Option<u64>,
    pub input_tokens: u32,
    pub max_output_tokens: u32,
}

/// A part of the packet, most important first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub title: String,
    pub text: String,
}

impl ReviewPacket {
    /// Joins the sections, redacts them, and cuts at [`MAX_PACKET_BYTES`] between sections.
    pub fn new(sections: &[Section]) -> Result<ReviewPacket, crate::redact::RedactError> {
        let mut text = String::new();
        let mut redactions: Vec<Redaction> = Vec::new();
        let mut left_out = Vec::new();
        for section in sections {
            let (clean, found) = crate::redact::redact(&section.text, redactions.len())?;
            let block = format!("## {}\n\n{}\n\n", section.title, clean.trim_end());
            if text.len() + block.len() > MAX_PACKET_BYTES {
                left_out.push(format!("{} ({} bytes)", section.title, block.len()));
                continue;
            }
            redactions.extend(found);
            text.push_str(&block);
        }
        Ok(ReviewPacket { text, redactions, left_out, body: None })
    }

    /// The packet with the request that would carry it. The caller made `json` from [`ReviewPacket::text`].
    #[must_use]
    pub fn with_body(self, body: PacketBody) -> ReviewPacket {
        ReviewPacket { body: Some(body), ..self }
    }

    pub fn text(&self) -> &str {
        &self.text
    }
    pub fn redactions(&self) -> &[Redaction] {
        &self.redactions
    }
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
    /// `None` when no cloud reviewer is bound.
    pub fn body(&self) -> Option<&PacketBody> {
        self.body.as_ref()
    }
}
