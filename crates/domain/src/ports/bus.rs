//! Tells subscribers what was committed. The bus carries copies for speed; the store's log is the truth.

use crate::change::Recorded;
use crate::ids::TaskKey;
use crate::task::Task;
use std::sync::Arc;
use std::task::{Context, Poll};

/// What a subscriber wants to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Every change.
    Changes,
    /// Only that the task is not active any more, with the task as it then is.
    Rest,
}

/// What a subscriber hears.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// These were committed, in this order. Only with [`Interest::Changes`].
    Changes(Vec<Recorded>),
    /// The task came to rest. Only with [`Interest::Rest`].
    Rest(Arc<Task>),
    /// More was committed than the subscriber had room for: read the log.
    Lagged,
    /// The task's writer could not commit and nothing more will come.
    Closed,
}

/// Carries committed changes from the writer of a task to its subscribers, in one process.
///
/// `publish` and `close` never wait: a subscriber that does not keep up is told [`Delivery::Lagged`].
pub trait EventBus: Send + Sync {
    /// Hands out what was committed. `task` is the task after `changes`.
    fn publish(&self, key: &TaskKey, changes: &[Recorded], task: &Arc<Task>);
    /// Tells the subscribers that nothing more will come although the task has not ended.
    fn close(&self, key: &TaskKey);
    /// Starts to listen. Everything published after this call returned is delivered. Dropping the
    /// subscription ends it.
    fn subscribe(&self, key: &TaskKey, interest: Interest) -> Box<dyn Subscription>;
}

/// A subscriber's end.
pub trait Subscription: Send {
    /// Is ready when something was published since the last call.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Delivery>;
}
