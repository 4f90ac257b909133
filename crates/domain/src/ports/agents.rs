//! Keeps what operators have decided about agents while the server ran, for its next start.

use super::StoreError;
use crate::ids::AgentId;
use crate::raw_json::RawJson;
use async_trait::async_trait;

/// What is kept about an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAgent {
    /// Its id.
    pub id: AgentId,
    /// What it is, as it was added; `None` for an agent that is described elsewhere.
    pub description: Option<RawJson>,
    /// Whether it can be called.
    pub published: bool,
}

/// Keeps them. `testing::contract::agents` is the suite every implementation passes.
#[async_trait]
pub trait AgentStore: Send + Sync {
    /// Everything that is kept, in the order of the ids.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn kept(&self) -> Result<Vec<KeptAgent>, StoreError>;

    /// Keeps this in the place of what was kept about the agent.
    ///
    /// # Errors
    /// `Unavailable`; then what was kept before is.
    async fn keep(&self, agent: &KeptAgent) -> Result<(), StoreError>;

    /// Forgets what was kept about an agent, if anything was.
    ///
    /// # Errors
    /// `Unavailable`; then it is still kept.
    async fn forget(&self, id: &AgentId) -> Result<(), StoreError>;
}
