//! Cancel a task (specification 1.0 §3.1.5, 0.3 §7.4). This is where cancel is decided.

use super::commit::NotCommitted;
use super::{Core, Service};
use crate::change::StatusChange;
use crate::error::Error;
use crate::ids::Scope;
use crate::ports::StoreError;
use crate::state::TaskState;
use crate::task::Task;
use std::sync::Arc;

impl Service {
    /// Ends a live task as canceled and stops its run. The store decides first: once it holds the
    /// canceled task, nothing a run still does can change it, so it does not matter how fast the run
    /// stops. When the run commits something between our reading and our writing, we look again; when
    /// that was the end of the task, the cancel is refused and the end stays. A run that writes without a
    /// pause waits then, so that it cannot be faster again and again.
    ///
    /// # Errors
    /// `TaskNotFound`; `TaskNotCancelable` when the task has ended. Nothing is touched then.
    pub async fn cancel(&self, scope: &Scope, id: &str) -> Result<Arc<Task>, Error> {
        let core = &self.0;
        let key = Core::key(scope, id)?;
        let stored = |error| core.store_error(error, id);
        let mut claim = None;
        loop {
            let mut task = core.ports.store.load(&key).await.map_err(stored)?;
            if task.state().is_terminal() {
                // Usually there is nothing to stop. But an earlier cancel may have been stored although
                // the store reported a failure, and then its run still goes on.
                core.ports.spawner.stop(&key);
                return Err(Error::TaskNotCancelable { id: key.id, state: task.state() });
            }
            let canceled = StatusChange::ending(TaskState::Canceled, None);
            match core.commit(&mut task, [canceled]).await {
                Ok(()) => {
                    core.ports.spawner.stop(&key);
                    return Ok(task);
                }
                Err(NotCommitted::Conflict | NotCommitted::Refused(_)) => {
                    claim.get_or_insert_with(|| core.claim(&key));
                }
                Err(NotCommitted::Gone) => return Err(stored(StoreError::NotFound)),
                Err(NotCommitted::Failed(error)) => return Err(stored(error)),
            }
        }
    }
}
