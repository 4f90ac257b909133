//! Ids that count, so that a test can say which one is next.

use crate::ports::IdGenerator;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// Gives 1, 2, 3, … as UUIDs.
#[derive(Debug, Default)]
pub struct SequentialIds(AtomicU64);

impl SequentialIds {
    /// Starts at 1.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many were given out.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl IdGenerator for SequentialIds {
    fn uuid(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.0.fetch_add(1, Ordering::SeqCst)) + 1)
    }
}
