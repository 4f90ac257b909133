//! Figures of the running server.

use crate::kept::Kept;
use a2ad_executor::Runtime;
use a2ad_http::Vitals;
use a2ad_http::webhook::Courier;
use a2ad_store::LocalBus;
use async_trait::async_trait;
use std::sync::Arc;

/// Looks at the parts and counts.
pub struct Gauges {
    pub(crate) runtime: Runtime,
    pub(crate) bus: Option<Arc<LocalBus>>,
    pub(crate) store: Kept,
    pub(crate) courier: Option<Courier>,
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

impl Gauges {
    /// Webhooks that may still be told something, where there are push notifications.
    #[must_use]
    pub fn open_webhooks(&self) -> Option<usize> {
        self.courier.as_ref().map(Courier::followed)
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

    fn open_webhooks(&self) -> Option<usize> {
        self.open_webhooks()
    }

    async fn store_serves(&self) -> bool {
        self.store.port().check().await.is_ok()
    }
}
