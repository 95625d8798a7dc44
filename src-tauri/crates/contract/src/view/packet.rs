//! The packet as it would leave: the very bytes, what was taken out, what it would cost at most.

use super::row::count;
use crate::ledger::dollars;
use serde::{Deserialize, Serialize};
use specta::Type;
use starling_core::packet::{PacketBody, Redaction, ReviewPacket};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PacketView {
    /// What a reviewer reads.
    pub text: String,
    pub bytes: u32,
    pub redactions: Vec<RedactionView>,
    /// Parts that did not fit, with their sizes.
    pub left_out: Vec<String>,
    /// The request; `null` when no cloud reviewer is bound: then nothing can leave.
    pub request: Option<RequestView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RedactionView {
    pub kind: String,
    /// What stands in its place.
    pub mark: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RequestView {
    pub host: String,
    pub model: String,
    /// The exact body, byte for byte.
    pub json: String,
    pub bytes: u32,
    pub sha256: String,
    pub input_tokens: u32,
    pub max_output_tokens: u32,
    /// `null` when the price is unknown.
    #[specta(type = Option<u32>)]
    pub worst_case_usd: Option<f64>,
}

impl From<&ReviewPacket> for PacketView {
    fn from(packet: &ReviewPacket) -> PacketView {
        let redaction = |Redaction { kind, mark }: &Redaction| RedactionView { kind: kind.clone(), mark: mark.clone() };
        PacketView {
            text: packet.text().to_owned(),
            bytes: count(packet.text().len()),
            redactions: packet.redactions().iter().map(redaction).collect(),
            left_out: packet.left_out().to_vec(),
            request: packet.body().map(RequestView::from),
        }
    }
}

impl From<&PacketBody> for RequestView {
    fn from(body: &PacketBody) -> RequestView {
        let PacketBody { host, model, json, sha256, worst_case_micro_usd, input_tokens, max_output_tokens } =
            body.clone();
        RequestView {
            host,
            model,
            bytes: count(json.len()),
            json,
            sha256: sha256.to_string(),
            input_tokens,
            max_output_tokens,
            worst_case_usd: worst_case_micro_usd.map(dollars),
        }
    }
}
