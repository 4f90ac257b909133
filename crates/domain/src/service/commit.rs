//! Apply, append, publish: the only way a stored task changes. The store compares versions, so of two
//! writers one wins and the other looks again.

use super::Core;
use crate::change::{Change, Recorded};
use crate::ports::StoreError;
use crate::task::{Refusal, Task};
use std::sync::Arc;

/// Why nothing was committed.
#[derive(Debug)]
pub(super) enum NotCommitted {
    /// The task does not take the change.
    Refused(Refusal),
    /// Somebody else has committed since `task` was read.
    Conflict,
    /// The task is gone from the store.
    Gone,
    /// The store failed; whether the changes are stored is unknown.
    Failed(StoreError),
}

impl Core {
    /// Commits `changes` on top of `task`, or nothing. After an error `task` is not to be written again
    /// without reading it anew, except after `Refused` of a single change.
    pub(super) async fn commit(
        &self,
        task: &mut Arc<Task>,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<(), NotCommitted> {
        let expected = task.version();
        let now = self.ports.clock.now();
        let writing = Arc::make_mut(task);
        let recorded: Vec<Recorded> = changes
            .into_iter()
            .map(|change| writing.apply(change, now))
            .collect::<Result<_, _>>()
            .map_err(NotCommitted::Refused)?;
        match self.ports.store.append(task.key(), expected, &recorded, task).await {
            Ok(()) => {
                // Before anybody hears of it: who does may open the next one at once.
                if task.state().is_terminal() {
                    self.unshare(task.key());
                }
                self.ports.bus.publish(task.key(), &recorded, task);
                Ok(())
            }
            Err(StoreError::Conflict { .. }) => Err(NotCommitted::Conflict),
            Err(StoreError::NotFound) => Err(NotCommitted::Gone),
            Err(error @ (StoreError::Exists | StoreError::Full | StoreError::Unavailable(_))) => {
                Err(NotCommitted::Failed(error))
            }
        }
    }
}
