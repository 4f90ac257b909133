//! A run's time is up: the store decides first, as with a cancel, and only then is the run stopped.

use super::Core;
use super::end::Ended;
use super::run::Failure;
use crate::agent::OnOverdue;
use crate::change::{Change, StatusChange};
use crate::content::Parts;
use crate::ids::TaskKey;
use crate::ports::StoreError;
use crate::state::TaskState;
use std::sync::Arc;
use std::time::Duration;

/// Ends the task of a run whose time is up, beside the run itself, which may be at work meanwhile.
pub struct Overdue {
    pub(super) core: Arc<Core>,
    pub(super) key: TaskKey,
    pub(super) action: OnOverdue,
    pub(super) limit: Duration,
}

impl Overdue {
    /// Ends the task as its agent says. `false` when the store failed; the task is then as it was, or
    /// nobody knows. A task that has ended meanwhile stays as it is.
    pub async fn end_task(&self) -> bool {
        let end = || self.core.overdue(self.action, self.limit);
        match self.core.end_beside(&self.key, end).await {
            Ok(Ended::Now(_)) => {
                tracing::warn!(task = %self.key.id, "a run passed its deadline");
                true
            }
            Ok(Ended::Before(_)) => true,
            Err(error) => matches!(error, StoreError::NotFound),
        }
    }
}

impl Core {
    /// The last status of a task whose run took too long.
    pub(super) fn overdue(&self, action: OnOverdue, limit: Duration) -> Change {
        let state = match action {
            OnOverdue::Cancel => TaskState::Canceled,
            OnOverdue::Fail | OnOverdue::Report => TaskState::Failed,
        };
        let text = Failure::Deadline(limit).text();
        StatusChange::ending(state, Some(self.reply(Parts::text(text))))
    }
}
