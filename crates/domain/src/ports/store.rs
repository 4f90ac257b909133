//! Keeps tasks. Every call names a scope; what is outside it does not exist.

use super::survey::{Survey, TaskSummary};
use crate::change::Recorded;
use crate::ids::{AgentId, ContextId, Scope, TaskId, TaskKey, Version};
use crate::state::TaskState;
use crate::task::Task;
use crate::time::Timestamp;
use async_trait::async_trait;
use std::sync::Arc;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A task of that id exists already.
    #[error("the task exists already")]
    Exists,
    /// Only live tasks are left, and they are never removed.
    #[error("the store is full of live tasks")]
    Full,
    /// No such task in the scope.
    #[error("no such task")]
    NotFound,
    /// Somebody else has committed since: the task is at another version.
    #[error("the task is at version {}", actual.0)]
    Conflict {
        /// The version of the stored task.
        actual: Version,
    },
    /// The store cannot be reached or failed.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The part of a task's log after a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// The changes after it, oldest first, up to the limit that was asked for.
    After(Vec<Recorded>),
    /// Some of them are no longer kept: take the task as it is now.
    TooOld,
}

/// Where a page ends: the place of its last task in the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The task's status time.
    pub status_at: Timestamp,
    /// The task.
    pub id: TaskId,
}

/// Which tasks to list (specification 1.0 §3.1.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Only tasks of this conversation.
    pub context: Option<ContextId>,
    /// Only tasks in this state.
    pub state: Option<TaskState>,
    /// Only tasks whose status is not older than this.
    pub since: Option<Timestamp>,
    /// Only tasks that are overdue at this time ([`Task::is_overdue`]).
    pub overdue: Option<Timestamp>,
    /// How many at most.
    pub limit: usize,
    /// Only tasks that come after this place. The task itself may be gone or have moved.
    pub after: Option<Cursor>,
}

/// A page of tasks.
#[derive(Clone, Debug)]
pub struct Page {
    /// Newest status first; among equal times the greater id first.
    pub tasks: Vec<Arc<Task>>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<Cursor>,
    /// How many tasks there are on all pages.
    pub total: usize,
}

/// Keeps tasks and their logs. `testing::contract::store` is the suite every implementation passes.
#[cfg_attr(feature = "testing", mockall::automock)]
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// Keeps a task that was just opened. Makes room by removing the task that ended first, if it has to.
    ///
    /// # Errors
    /// `Exists`, `Full`, `Unavailable`.
    async fn insert(&self, task: &Arc<Task>) -> Result<(), StoreError>;

    /// Commits `changes` if the stored task is at `expected`; otherwise nothing is written. `task` is the
    /// task with the changes. Costs what the changes cost, not what the task costs.
    ///
    /// # Errors
    /// `Conflict`, `NotFound`, `Unavailable`.
    async fn append(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
    ) -> Result<(), StoreError>;

    /// The task as it is now.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    async fn load(&self, key: &TaskKey) -> Result<Arc<Task>, StoreError>;

    /// The changes after `after`, at most `limit` of them.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    async fn changes_after(
        &self,
        key: &TaskKey,
        after: Version,
        limit: usize,
    ) -> Result<Changes, StoreError>;

    /// A page of the scope's tasks.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn list(&self, scope: &Scope, query: &Query) -> Result<Page, StoreError>;

    /// Tasks of an agent that have been waiting for somebody since before `since`, at most `limit`, in all
    /// its scopes.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn waiting_since(
        &self,
        agent: &AgentId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskKey>, StoreError>;

    /// Tasks of all scopes, the newest first, at most as many as the survey asks for.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn survey(&self, survey: &Survey) -> Result<Vec<TaskSummary>, StoreError>;

    /// The full name of the task of an id, whoever may see it.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    async fn find(&self, id: TaskId) -> Result<TaskKey, StoreError>;

    /// The agents that have tasks, or have had some.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn agents(&self) -> Result<Vec<AgentId>, StoreError>;

    /// Whether it can be written now. A store that has failed tries, so that it is found working again when
    /// the cause is gone, also where nobody writes meanwhile.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Removes tasks that ended before `before`; says how many.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn purge_ended_before(&self, before: Timestamp) -> Result<usize, StoreError>;
}
