//! Keeps webhooks and how far each has been told, tells them, and says when there is something to tell.
//!
//! What a webhook is to be told is no record of its own: the task's log has every change, and a webhook has
//! the version that it has got to. So a change and its announcement are committed as one, and a task
//! without webhooks costs nothing.

use crate::change::Recorded;
use crate::ids::{ContextId, PushConfigId, TaskKey, Version};
use crate::ports::StoreError;
use crate::push::{PushConfig, Webhook, WebhookName};
use crate::task::Task;
use crate::time::Timestamp;
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;

/// A change that a webhook was not told of and will not be, unless somebody asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The change.
    pub version: Version,
    /// When it was given up.
    pub at: Timestamp,
    /// Why, for operators. Nothing of it is secret.
    pub why: String,
}

/// Keeps the webhooks of tasks. They go with their task. `testing::contract::push` is the suite that every
/// implementation passes.
#[async_trait]
pub trait PushStore: Send + Sync {
    /// Keeps a webhook; the one of the same id is replaced, and what that one was not told yet the new one
    /// is told. Otherwise it is told of what comes after `after`, or after now. `false` when the task has
    /// `most` already; then nothing is kept.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    async fn set(
        &self,
        task: &TaskKey,
        config: &PushConfig,
        after: Option<Version>,
        most: usize,
    ) -> Result<bool, StoreError>;

    /// Keeps a task that was just opened, as [`TaskStore::insert`](super::TaskStore::insert) does, and the
    /// webhook that its message has brought along, which is told of what comes after: both or nothing. Gives
    /// the number of the webhook.
    ///
    /// # Errors
    /// `Exists`, `Full`, `Unavailable`.
    async fn insert_with(&self, task: &Arc<Task>, config: &PushConfig) -> Result<i64, StoreError>;

    /// Commits changes, as [`TaskStore::append`](super::TaskStore::append) does, and the webhook that they
    /// have brought along, as `set` does after `expected`: all or nothing. Gives the number of the webhook;
    /// `None` when the task has `most` already.
    ///
    /// # Errors
    /// `Conflict`, `NotFound`, `Unavailable`.
    async fn append_with(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
        config: &PushConfig,
        most: usize,
    ) -> Result<Option<i64>, StoreError>;

    /// The webhooks of a task in the order in which they were made.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    async fn webhooks(&self, task: &TaskKey) -> Result<Vec<Webhook>, StoreError>;

    /// Forgets a webhook; one that is not there is forgotten already.
    ///
    /// # Errors
    /// `NotFound` when there is no such task, `Unavailable`.
    async fn delete(&self, task: &TaskKey, id: &PushConfigId) -> Result<(), StoreError>;

    /// A webhook as it is now; `None` when it is gone.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn webhook(&self, name: &WebhookName) -> Result<Option<Webhook>, StoreError>;

    /// The webhook has been told of everything up to a change. Once that is the last change of its task
    /// there is nothing more to tell. One that is gone stays gone.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn told(&self, name: &WebhookName, upto: Version) -> Result<(), StoreError>;

    /// The webhook could not be told of a change, and goes on after it. The letter is kept with it.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn give_up(&self, name: &WebhookName, letter: &Letter) -> Result<(), StoreError>;

    /// The webhook has been told of a change that was given up before: its letter goes.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn told_after_all(&self, name: &WebhookName, change: Version) -> Result<(), StoreError>;

    /// The webhooks that may still be told something, also when there is nothing now.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn open(&self) -> Result<Vec<WebhookName>, StoreError>;

    /// Those among them that there is something for now.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn due(&self) -> Result<Vec<WebhookName>, StoreError>;
}

/// Is told when there may be something to tell. Never waits: it is called while messages are taken.
pub trait Bell: Send + Sync {
    /// A task has a webhook that was not there before.
    fn set(&self, webhook: WebhookName);
}

/// What a webhook is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The task as it was after a change.
    Task(Arc<Task>),
    /// A change.
    Change {
        /// The task.
        task: TaskKey,
        /// Its conversation.
        context: ContextId,
        /// The change.
        change: Recorded,
    },
}

impl Notice {
    /// Which change of which task it is about.
    #[must_use]
    pub fn subject(&self) -> (&TaskKey, Version) {
        match self {
            Self::Task(task) => (task.key(), task.version()),
            Self::Change { task, change, .. } => (task, change.version),
        }
    }
}

/// Why a webhook was not told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    /// What happened, for operators. Nothing of it is secret.
    pub why: String,
    /// How long the webhook wants to be left alone before another attempt; `None` when another attempt
    /// would end the same way.
    pub retry: Option<Duration>,
}

/// Tells webhooks.
#[async_trait]
pub trait PushSender: Send + Sync {
    /// Tells a webhook, once. Waits until it has answered or the time for that is over.
    ///
    /// # Errors
    /// [`Undelivered`] when it has not said that it has got the notice.
    async fn send(&self, config: &PushConfig, notice: &Notice) -> Result<(), Undelivered>;
}
