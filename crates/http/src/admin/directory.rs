//! The agents of a server, for operators. Whoever makes agents from descriptions implements this.

use a2ad_domain::{AgentId, Error, RawJson, Unfinished};
use async_trait::async_trait;
use serde_json::{Map, Value};

/// Whose an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The configuration describes it, or the program that embeds the server has added it.
    Configuration,
    /// An operator has added it.
    Operator,
}

/// What an operator sees of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentView {
    /// Its id.
    pub id: AgentId,
    /// Whose it is.
    pub origin: Origin,
    /// Whether it can be called.
    pub published: bool,
    /// Whether it answers where no agent is named.
    pub default: bool,
    /// A name for people, where it is served.
    pub name: Option<String>,
    /// What it is, as an operator has described it.
    pub description: Option<RawJson>,
    /// Why it is not served, if it is not: it was added to a server that was configured otherwise.
    pub problem: Option<String>,
    /// What is missing on this machine for it to do its work.
    pub missing: Vec<String>,
}

/// Why something was not done.
#[derive(Debug)]
pub enum Problem {
    /// There is no such agent.
    Unknown,
    /// It does not go with what there is.
    Conflict(String),
    /// The description makes no sense: the key, what is wrong, and how to mend it.
    Invalid(String),
    /// The server failed.
    Failed(Error),
}

/// The agents. Each change holds from the next request on, and over the next start.
#[async_trait]
pub trait Directory: Send + Sync {
    /// All of them.
    async fn list(&self) -> Vec<AgentView>;

    /// One of them.
    ///
    /// # Errors
    /// `Unknown`.
    async fn get(&self, id: &AgentId) -> Result<AgentView, Problem>;

    /// Adds one.
    ///
    /// # Errors
    /// `Invalid`, `Conflict`, `Failed`.
    async fn add(&self, description: Map<String, Value>) -> Result<AgentView, Problem>;

    /// Puts another description in the place of one that an operator has added.
    ///
    /// # Errors
    /// Every one.
    async fn change(
        &self,
        id: &AgentId,
        description: Map<String, Value>,
    ) -> Result<AgentView, Problem>;

    /// Lets it be called.
    ///
    /// # Errors
    /// `Unknown`, `Conflict`, `Failed`.
    async fn publish(&self, id: &AgentId) -> Result<AgentView, Problem>;

    /// Lets it not be called any more; says how many of its tasks that has canceled.
    ///
    /// # Errors
    /// `Unknown`, `Failed`.
    async fn unpublish(
        &self,
        id: &AgentId,
        tasks: Unfinished,
    ) -> Result<(AgentView, usize), Problem>;

    /// Removes one that an operator has added; says how many of its tasks that has canceled.
    ///
    /// # Errors
    /// `Unknown`, `Conflict`, `Failed`.
    async fn remove(&self, id: &AgentId, tasks: Unfinished) -> Result<usize, Problem>;
}
