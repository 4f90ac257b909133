//! What an executor outside of this process is told (`turn.rs`) and what it answers (`event.rs`): one
//! format for programs and services, described in `docs/programs.md`.

mod event;
mod lines;
mod memory;
mod part;
mod sink;
pub(crate) mod size;
mod text;
mod turn;

pub use memory::Memory;

pub(crate) use event::{Decision, Event};
pub(crate) use lines::{Lines, is_blank};
#[cfg(feature = "fuzzing")]
pub(crate) use part::PartsOut;
pub(crate) use sink::{Sink, invalid};
pub(crate) use text::Decoder;
pub(crate) use turn::document;
