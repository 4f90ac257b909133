//! Cancel a task (specification 1.0 §3.1.5, 0.3 §7.4). This is where cancel is decided.

use super::end::Ended;
use super::{Core, Service};
use crate::change::StatusChange;
use crate::error::Error;
use crate::ids::{Scope, TaskKey};
use crate::ports::StoreError;
use crate::state::TaskState;
use crate::task::Task;
use std::sync::Arc;

impl Service {
    /// Ends a live task as canceled and stops its run. The store decides first (`end.rs`): once it holds
    /// the canceled task, nothing a run still does can change it, so it does not matter how fast the run
    /// stops.
    ///
    /// # Errors
    /// `TaskNotFound`; `TaskNotCancelable` when the task has ended. Nothing is touched then.
    pub async fn cancel(&self, scope: &Scope, id: &str) -> Result<Arc<Task>, Error> {
        let core = &self.0;
        let key = Core::key(scope, id)?;
        let canceling = {
            let core = core.clone();
            async move { core.cancel_key(&key).await }
        };
        match core.see_through(canceling).await {
            Ok(Ended::Now(task)) => Ok(task),
            Ok(Ended::Before(task)) => {
                Err(Error::TaskNotCancelable { id: task.key().id, state: task.state() })
            }
            Err(error) => Err(core.store_error(error, id)),
        }
    }
}

impl Core {
    /// Ends a task as canceled, if it lives, and stops its run.
    pub(super) async fn cancel_key(&self, key: &TaskKey) -> Result<Ended, StoreError> {
        let canceled = || StatusChange::ending(TaskState::Canceled, None);
        let ended = self.end_beside(key, canceled).await?;
        // Where the task had ended before, there is usually nothing to stop. But an earlier cancel may have
        // been stored although the store reported a failure, and then its run still goes on.
        self.ports.spawner.stop(key);
        Ok(ended)
    }
}
