//! A task is ended by somebody who is not its run: a cancel, or a deadline. The store decides, and the run
//! hears of it only afterwards.

use super::Core;
use super::commit::NotCommitted;
use crate::change::Change;
use crate::ids::TaskKey;
use crate::ports::StoreError;
use crate::task::Task;
use std::sync::Arc;

/// What became of it.
pub(super) enum Ended {
    /// The task has ended now, with the change.
    Now(Arc<Task>),
    /// It had ended before, and nothing was touched.
    Before(Arc<Task>),
}

impl Core {
    /// Ends a task with the change that `end` makes. When the run commits something between our reading
    /// and our writing, we look again; when that was the end of the task, that end stays. A run that writes
    /// without a pause waits after the first time, so that it cannot be faster again and again.
    pub(super) async fn end_beside(
        &self,
        key: &TaskKey,
        end: impl Fn() -> Change,
    ) -> Result<Ended, StoreError> {
        let mut claim = None;
        loop {
            let mut task = self.ports.store.load(key).await?;
            if task.state().is_terminal() {
                return Ok(Ended::Before(task));
            }
            match self.commit(&mut task, [end()]).await {
                Ok(()) => return Ok(Ended::Now(task)),
                Err(NotCommitted::Conflict | NotCommitted::Refused(_)) => {
                    claim.get_or_insert_with(|| self.claim(key));
                }
                Err(NotCommitted::Gone) => return Err(StoreError::NotFound),
                Err(NotCommitted::Failed(error)) => return Err(error),
            }
        }
    }
}
