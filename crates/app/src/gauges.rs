//! Figures of the running server.

use crate::kept::Kept;
use a2ad_executor::Runtime;
use a2ad_http::Vitals;
use a2ad_store::LocalBus;
use async_trait::async_trait;
use std::sync::Arc;

/// Looks at the parts and counts.
pub struct Gauges {
    pub(crate) runtime: Runtime,
    pub(crate) bus: Option<Arc<LocalBus>>,
    pub(crate) store: Kept,
}

impl Gauges {
    /// Runs under way or queued.
    #[must_use]
    pub fn live_runs(&self) -> usize {
        self.runtime.live()
    }

    /// Tasks that somebody follows or waits for.
    #[must_use]
    pub fn subscribed_tasks(&self) -> usize {
        self.bus.as_ref().map_or(0, |bus| bus.topics())
    }

    /// Tasks in the store, where it is one of the server's own.
    #[must_use]
    pub fn stored_tasks(&self) -> Option<usize> {
        self.store.len()
    }
}

#[async_trait]
impl Vitals for Gauges {
    fn live_runs(&self) -> usize {
        self.live_runs()
    }

    fn subscribed_tasks(&self) -> usize {
        self.subscribed_tasks()
    }

    fn stored_tasks(&self) -> Option<usize> {
        self.stored_tasks()
    }

    async fn store_serves(&self) -> bool {
        self.store.port().check().await.is_ok()
    }
}
