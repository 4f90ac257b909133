//! What is decided when a store is opened.

use crate::memory::Capacity;
use std::path::PathBuf;

/// What a commit that was acknowledged survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however it ends. When the power fails the newest commits may be lost;
    /// what is left is whole.
    #[default]
    Process,
    /// A failure of power as well: every commit waits for the disk.
    Power,
}

/// Where tasks are kept, how safely and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The file. It is made if it does not exist, and so is its folder.
    pub path: PathBuf,
    /// What a commit survives.
    pub durability: Durability,
    /// How much is kept. Bytes are those that tasks take in the file.
    pub capacity: Capacity,
}

impl Settings {
    /// The defaults, in this file.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let (durability, capacity) = (Durability::default(), Capacity::default());
        Self { path: path.into(), durability, capacity }
    }
}
