//! Apply, append, publish: the only way a stored task changes. The store compares versions, so of two
//! writers one wins and the other looks again.

use super::{Core, Push};
use crate::change::{Change, Recorded};
use crate::ids::Version;
use crate::ports::StoreError;
use crate::push::{PushConfig, WebhookName};
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
        let (expected, recorded) = self.apply(task, changes)?;
        self.ports.store.append(task.key(), expected, &recorded, task).await?;
        self.announce(&recorded, task);
        Ok(())
    }

    /// Commits `changes` and the webhook that they have brought along, which hears of them, or nothing;
    /// `false` when the task has as many webhooks as it may.
    pub(super) async fn commit_with_webhook(
        &self,
        push: &Push,
        task: &mut Arc<Task>,
        changes: impl IntoIterator<Item = Change>,
        config: &PushConfig,
    ) -> Result<bool, NotCommitted> {
        let (expected, recorded) = self.apply(task, changes)?;
        let (key, most) = (task.key(), self.limits.webhooks);
        let kept = push.store.append_with(key, expected, &recorded, task, config, most).await?;
        let Some(number) = kept else { return Ok(false) };
        self.announce(&recorded, task);
        push.bell.set(WebhookName { task: task.key().clone(), number });
        Ok(true)
    }

    /// The changes as they are to be stored, on top of which version; `task` has them already.
    fn apply(
        &self,
        task: &mut Arc<Task>,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<(Version, Vec<Recorded>), NotCommitted> {
        let expected = task.version();
        let now = self.ports.clock.now();
        let writing = Arc::make_mut(task);
        let recorded = changes.into_iter().map(|change| writing.apply(change, now));
        let recorded = recorded.collect::<Result<_, _>>().map_err(NotCommitted::Refused)?;
        Ok((expected, recorded))
    }

    /// Tells everybody what is stored now.
    fn announce(&self, recorded: &[Recorded], task: &Arc<Task>) {
        // Before anybody hears of it: who does may open the next one at once.
        if task.state().is_terminal() {
            self.unshare(task.key());
        }
        self.ports.bus.publish(task.key(), recorded, task);
    }
}

impl From<StoreError> for NotCommitted {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { .. } => Self::Conflict,
            StoreError::NotFound => Self::Gone,
            StoreError::Exists | StoreError::Full | StoreError::Unavailable(_) => {
                Self::Failed(error)
            }
        }
    }
}
