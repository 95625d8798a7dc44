//! What a model may do, how fast and how large it is: the result of its exam, kept beside the models.

use super::Starling;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    pub model: String,
    pub sha256: String,
    pub may_plan: bool,
    pub may_execute: bool,
    pub may_test: bool,
    pub tokens_per_second: f64,
    pub load_millis: f64,
    pub memory_mb: u64,
}

/// The certificate of a model, if it sat the exam.
pub fn read(starling: &Starling, name: &str) -> Option<Certificate> {
    serde_json::from_slice(&std::fs::read(path(starling, name)).ok()?).ok()
}

pub fn path(starling: &Starling, name: &str) -> PathBuf {
    starling.folders.models.join(format!("{name}.cert.json"))
}
