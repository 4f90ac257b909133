//! What must hold whatever the bytes are. A target takes one input and panics when something does not hold.
//! `docs/fuzzing.md` describes the targets; `cargo xtask fuzz` looks for inputs, guided by coverage, and the
//! tests of this package replay those that are kept and mutations of them.

mod agent;
mod checks;
mod conversation;
mod file;
mod json;
pub mod memory;
pub mod mutate;
mod receiver;
pub mod seeds;
mod targets;
mod world;

pub use targets::{TARGETS, Target};
