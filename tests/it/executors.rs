//! Executors that go wrong, and what their writes mean: a bad one ruins its own task and nothing else.

mod broken;
mod harmless;
mod programs;
mod secrets;
mod setup;
mod writes;
