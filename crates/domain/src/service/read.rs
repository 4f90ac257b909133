//! Read tasks: one, or a page (specification 1.0 §3.1.3, §3.1.4; 0.3 §7.3).

use super::{Core, Service};
use crate::error::Error;
use crate::ids::{ContextId, Scope};
use crate::ports::{Cursor, Page, Query};
use crate::state::TaskState;
use crate::task::Task;
use crate::time::Timestamp;
use std::sync::Arc;

/// Which tasks to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTasks {
    /// Only tasks of this conversation.
    pub context: Option<ContextId>,
    /// Only tasks in this state.
    pub state: Option<TaskState>,
    /// Only tasks whose status is not older than this.
    pub since: Option<Timestamp>,
    /// Only tasks whose run should have ended by now.
    pub overdue: bool,
    /// How many at most, 1 to 100.
    pub limit: usize,
    /// Where the page before ended.
    pub after: Option<Cursor>,
}

impl Service {
    /// The task as it is now.
    ///
    /// # Errors
    /// `TaskNotFound`.
    pub async fn get(&self, scope: &Scope, id: &str) -> Result<Arc<Task>, Error> {
        let key = Core::key(scope, id)?;
        self.0.ports.store.load(&key).await.map_err(|error| self.0.store_error(error, id))
    }

    /// A page of the scope's tasks, newest status first.
    ///
    /// # Errors
    /// Only when the store fails.
    pub async fn list(&self, scope: &Scope, list: ListTasks) -> Result<Page, Error> {
        let ListTasks { context, state, since, overdue, limit, after } = list;
        let overdue = overdue.then(|| self.0.ports.clock.now());
        let query = Query { context, state, since, overdue, limit, after };
        let page = self.0.ports.store.list(scope, &query).await;
        page.map_err(|error| self.0.store_error(error, ""))
    }
}
