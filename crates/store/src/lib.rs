//! Adapters of the domain's storage ports: a store in memory, one in a file, and a bus within the process.

mod agents;
mod bus;
mod index;
mod memory;
mod sqlite;
mod webhooks;

pub use agents::MemoryAgents;
pub use bus::LocalBus;
pub use memory::{Capacity, MemoryStore};
pub use sqlite::{
    BackupError, Cause, DeadLetter, Durability, LettersError, OpenError, Settings, SqliteStore,
    back_up, letters, send_again,
};
