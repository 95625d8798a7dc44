//! Helpers for short texts.

pub mod count;
pub mod cut;
pub mod slug;
pub mod wrap;
