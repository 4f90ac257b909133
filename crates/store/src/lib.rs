//! Adapters of the domain's storage ports: a store in memory and a bus within the process.

mod bus;
mod index;
mod memory;

pub use bus::LocalBus;
pub use memory::{Capacity, MemoryStore};
