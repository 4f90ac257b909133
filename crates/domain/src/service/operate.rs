//! What operators do with tasks, whoever they belong to: look where they stand, and cancel.

use super::{Core, Service};
use crate::error::Error;
use crate::ids::{TaskId, TaskKey};
use crate::ports::{StoreError, Survey, TaskSummary};
use crate::task::Task;
use crate::time::Timestamp;
use std::sync::Arc;

/// A page of a survey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surveyed {
    /// The tasks, the newest first.
    pub tasks: Vec<TaskSummary>,
    /// What the next page comes after; `None` on the last one.
    pub next: Option<TaskId>,
    /// The time of which it is.
    pub at: Timestamp,
}

impl Service {
    /// What a failing store means to an operator: the log has it, with an id that the operator gets.
    #[must_use]
    pub fn failed(&self, error: StoreError) -> Error {
        self.0.store_error(error, "")
    }

    /// A page of the tasks in all scopes; with `overdue` only those whose run should have ended by now.
    ///
    /// # Errors
    /// Only when the store fails.
    pub async fn survey(&self, survey: Survey, overdue: bool) -> Result<Surveyed, Error> {
        let (core, limit) = (&self.0, survey.limit);
        let at = core.ports.clock.now();
        // One more than is asked for says whether there is another page.
        let survey =
            Survey { overdue: overdue.then_some(at), limit: limit.saturating_add(1), ..survey };
        let tasks = core.ports.store.survey(&survey).await;
        let mut tasks = tasks.map_err(|error| core.store_error(error, ""))?;
        let more = tasks.len() > limit;
        tasks.truncate(limit);
        let next = tasks.last().filter(|_| more).map(|last| last.key.id);
        Ok(Surveyed { tasks, next, at })
    }

    /// The task of an id, in whatever scope it is.
    ///
    /// # Errors
    /// `TaskNotFound`.
    pub async fn find(&self, id: &str) -> Result<Arc<Task>, Error> {
        let key = self.0.find(id).await?;
        let task = self.0.ports.store.load(&key).await;
        task.map_err(|error| self.0.store_error(error, id))
    }

    /// Cancels a task, in whatever scope it is.
    ///
    /// # Errors
    /// `TaskNotFound`; `TaskNotCancelable` when it has ended.
    pub async fn cancel_found(&self, id: &str) -> Result<Arc<Task>, Error> {
        let key = self.0.find(id).await?;
        self.cancel(&key.scope, id).await
    }
}

impl Core {
    async fn find(&self, id: &str) -> Result<TaskKey, Error> {
        let parsed = TaskId::parse(id).ok_or_else(|| Error::TaskNotFound { id: id.into() })?;
        let key = self.ports.store.find(parsed).await;
        key.map_err(|error| self.store_error(error, id))
    }
}
