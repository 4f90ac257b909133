//! Where the server of a case keeps its tasks, and whether they outlive it.

use super::actions::AGENTS;
use crate::support::agents::{Gated, agent};
use crate::support::{HeaderOwner, Place, TestServer};
use a2ad::AppBuilder;
use a2ad_domain::testing::ManualClock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) enum Home {
    Memory,
    File(Place),
}

impl Home {
    pub(super) fn memory() -> Self {
        Self::Memory
    }

    /// A file that no other case has.
    pub(super) fn file() -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Self::File(Place::new(&format!("model-{number}")))
    }

    /// Whether tasks are still there when the server is started again.
    pub(super) fn keeps(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Starts a server that has these agents and this time.
    pub(super) async fn start(&self, gated: &Arc<Gated>, clock: &ManualClock) -> TestServer {
        let agents = AGENTS.map(|id| agent(id, gated.clone()));
        let time = Arc::new(clock.clone());
        let parts = |builder: AppBuilder| {
            let builder = agents.into_iter().fold(builder, AppBuilder::with_agent);
            builder.clock(time).authenticator(Arc::new(HeaderOwner))
        };
        match self {
            Self::Memory => TestServer::custom("", parts).await,
            Self::File(place) => TestServer::mortal(&place.store("process"), parts).await,
        }
    }
}
