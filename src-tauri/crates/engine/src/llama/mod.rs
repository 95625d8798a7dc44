//! The only place that touches llama.cpp. What leaves it is checked: sequence ids, positions and rows inside their
//! bounds, because the crate underneath writes past its arrays otherwise, and llama.cpp aborts.

mod cells;
mod process;
mod session;
mod vocabulary;
mod weights;

pub use process::{Kernels, cpu_can_run, kernels, prepare_process, short_waits};
pub use session::{ROWS, SEQUENCES, Session, StepError, TakenOut};
pub use vocabulary::words;
pub use weights::{LoadFailure, Weights};
