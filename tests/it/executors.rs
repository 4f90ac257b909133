//! Executors that go wrong, and what their writes mean: a bad one ruins its own task and nothing else.

mod broken;
mod writes;
