//! Time and randomness.

use crate::time::Timestamp;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use uuid::Uuid;

/// Reads the time and waits.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
    /// Is ready after `duration`.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// Makes ids that nobody has used before.
pub trait IdGenerator: Send + Sync {
    /// A fresh id.
    fn uuid(&self) -> Uuid;
}
