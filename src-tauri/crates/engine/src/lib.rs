//! llama.cpp in-process: load a model file, sample many candidates from one prefill, bind answers to a JSON schema.
//!
//! The way in is [`LocalModel`], which implements the core's `Model`. A file's header is checked in safe Rust
//! ([`gguf`]) before any C++ reads it. Only the module `llama` touches llama.cpp; everything else is plain Rust.
//! Deliberately absent: where models come from, which role uses which, and how much memory is free.

mod candidate;
pub mod chat;
mod cores;
pub mod gguf;
mod lease;
mod library;
mod llama;
mod memory;
mod model;
mod opened;
mod owner;
mod sample;
mod schedule;
mod schema;
mod stats;
mod stream;
#[cfg(test)]
mod test_models;

pub use llama::{Kernels, cpu_can_run, kernels, prepare_process, short_waits};
pub use memory::need_mb;
pub use model::{Kept, LoadOptions, LocalModel};
pub use stats::Times;
