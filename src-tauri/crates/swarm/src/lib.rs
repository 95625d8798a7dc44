//! The coordination layer: roles, stages, gates, sampling policy and budgets.
//!
//! It speaks to the world only through the ports of `core`: no file system, network, clock, environment or threads here.
//! Models propose, tools dispose: nothing a model says counts until a gate has confirmed it.
#![forbid(unsafe_code)]

mod desk;
mod drive;
mod error;
mod executor;
mod gates;
mod ground;
mod javascript;
mod judge;
mod names;
mod one_off;
mod parser;
mod placing;
mod planner;
mod ports;
mod probes;
mod reviewer;
mod splice;
mod tester;
mod twin;
mod validate;

pub use drive::{cancelled, decide_packet, decide_plan, discard, drive, land, submit};
pub use error::SwarmError;
pub use one_off::{ReviewOutcome, TestOutcome, packet_for_diff, parse, plan, review_diff, tests_for};
pub use ports::{Policy, Ports, SendPolicy};
pub use splice::{SpliceFault, change_from_block};
pub use validate::validate;

#[cfg(test)]
mod tests;
