//! The only crate with reqwest: model endpoints, the final review, model downloads, one egress gate.
