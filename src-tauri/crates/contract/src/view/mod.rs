//! Everything one task's screen shows, made from core's state by destructuring. Core to wire only: what comes back from
//! the page is small and has its own types.

pub mod brief;
pub mod change;
pub mod packet;
pub mod plan;
pub mod receipt;
pub mod review;
pub mod row;
pub mod task;
pub mod tests;
