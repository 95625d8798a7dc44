//! The one integration binary: rules of the repository, freshness of generated files, and the product from outside. No
//! network, no real home, no sleeps.

mod arrows;
mod bindings;
mod cli;
mod tidy;

use std::path::PathBuf;

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
