//! What operators do while the server runs.

mod agents;
mod audit;
mod cards;
mod descriptions;
pub(crate) mod desk;
mod entry;
mod leaving;
mod restart;
mod tasks;
mod withdrawal;
