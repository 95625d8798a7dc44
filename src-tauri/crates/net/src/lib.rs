//! The only crate with reqwest: model endpoints for any role, the final review, model downloads, behind one gate.
//!
//! Everything blocks the caller's thread; the work runs on one background thread of the [`NetGate`]. A caller may be an
//! ordinary thread or a blocking thread of an async runtime. Deliberately absent: keys at rest, budgets, processes, and any
//! listener.
#![forbid(unsafe_code)]

mod address;
mod anthropic;
mod bodies;
mod call;
mod cloud;
mod download;
mod endpoint;
mod fold;
mod gate;
mod limits;
mod loopback;
mod openai;
mod price;
mod retry;
mod sample;
mod wire;

pub use cloud::{Api, CloudEndpoint, Target};
pub use download::{DownloadError, From, Progress, fetch_model};
pub use endpoint::{Endpoint, EndpointError, EndpointKind};
pub use gate::NetGate;
pub use loopback::{LoopbackError, post as post_loopback};

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;
