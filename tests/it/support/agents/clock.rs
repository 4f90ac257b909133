//! A clock that a test sets.

use a2ad::SystemClock;
use a2ad_domain::Timestamp;
use a2ad_domain::ports::Clock;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// The first millisecond of 2026.
const START: i64 = 1_767_225_600_000;

/// Stands still until it is moved. Waiting takes as long as it does anyway: what a test waits for has to
/// come from somewhere else.
pub(crate) struct HandClock(AtomicI64);

impl HandClock {
    /// A clock at the first millisecond of 2026.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(START)))
    }

    pub(crate) fn advance(&self, by: Duration) {
        let millis = i64::try_from(by.as_millis()).expect("a short time");
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let wait = <SystemClock as Clock>::sleep;
        wait(&SystemClock, duration)
    }
}
