//! What operators have decided about agents, until the process ends.

use a2ad_domain::AgentId;
use a2ad_domain::ports::{AgentStore, KeptAgent, StoreError};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps them in memory.
#[derive(Default)]
pub struct MemoryAgents(Mutex<BTreeMap<AgentId, KeptAgent>>);

impl MemoryAgents {
    /// Nothing that is done under the lock panics half-way, so a poisoned one is used on.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<AgentId, KeptAgent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl AgentStore for MemoryAgents {
    async fn kept(&self) -> Result<Vec<KeptAgent>, StoreError> {
        Ok(self.lock().values().cloned().collect())
    }

    async fn keep(&self, agent: &KeptAgent) -> Result<(), StoreError> {
        self.lock().insert(agent.id.clone(), agent.clone());
        Ok(())
    }

    async fn forget(&self, id: &AgentId) -> Result<(), StoreError> {
        self.lock().remove(id);
        Ok(())
    }
}
