//! Follows one task: exactly the committed changes, in order, none twice, none missing.

use super::Core;
use crate::change::Recorded;
use crate::error::Error;
use crate::ids::{TaskKey, Version};
use crate::ports::{Changes, Delivery, Subscription};
use crate::state::TaskState;
use crate::task::Task;
use std::future::poll_fn;
use std::sync::Arc;

/// How many changes are read from the log at a time.
pub(super) const LOG_PAGE: usize = 4096;

/// When a stream is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// When the task has ended.
    Ended,
    /// When the task has ended or asks its client for input.
    EndedOrAsking,
}

/// What happens to a task, as it happens.
///
/// Everything is numbered: what is not newer than `seen` is dropped, and when a number is missing, the
/// bus has lost something or is ahead of itself, and the log is read instead. So it does not matter in
/// which order two writers reach the bus, or whether they reach it at all before the next one does.
pub struct Watch {
    core: Arc<Core>,
    key: TaskKey,
    events: Box<dyn Subscription>,
    seen: Version,
    until: Until,
    /// Changes that are known and not handed out yet.
    backlog: Option<Vec<Recorded>>,
    /// The log may hold more than was read.
    behind: bool,
    ended: bool,
}

impl Watch {
    pub(super) fn new(
        core: Arc<Core>,
        task: &Task,
        events: Box<dyn Subscription>,
        until: Until,
    ) -> Self {
        let (key, seen) = (task.key().clone(), task.version());
        Self { core, key, events, seen, until, backlog: None, behind: false, ended: false }
    }

    /// Hands out `backlog` first; it follows on `seen`.
    pub(super) fn with_backlog(mut self, seen: Version, backlog: Vec<Recorded>) -> Self {
        self.seen = seen;
        self.behind = backlog.len() == LOG_PAGE;
        self.backlog = Some(backlog);
        self
    }

    /// The task that is followed.
    #[must_use]
    pub fn key(&self) -> &TaskKey {
        &self.key
    }

    /// Whether the last change that was handed out ends the stream.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The changes since the last call, at least one; `None` when the stream is over. Dropping the
    /// future loses nothing.
    ///
    /// # Errors
    /// When the store fails, or has forgotten what this reader has not seen yet. Nothing follows.
    pub async fn next(&mut self) -> Option<Result<Vec<Recorded>, Error>> {
        while !self.ended {
            let changes = match self.changes().await {
                Ok(changes) => self.accept(changes),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            };
            if !changes.is_empty() {
                return Some(Ok(changes));
            }
        }
        None
    }

    async fn changes(&mut self) -> Result<Vec<Recorded>, Error> {
        if let Some(backlog) = self.backlog.take() {
            return Ok(backlog);
        }
        if self.behind {
            return self.log().await;
        }
        match poll_fn(|context| self.events.poll(context)).await {
            Delivery::Changes(mut changes) => {
                // Every change is looked at, not only the first: what several writers published since
                // the last look is in one delivery, in the order in which they reached the bus.
                let (mut last, mut gap) = (self.seen, false);
                changes.retain(|change| {
                    let next = change.version == last.next();
                    gap |= change.version > last.next();
                    if next {
                        last = change.version;
                    }
                    next
                });
                if gap { self.log().await } else { Ok(changes) }
            }
            Delivery::Lagged | Delivery::Rest(_) => self.log().await,
            Delivery::Closed => Err(self.core.internal("the task's changes cannot be stored")),
        }
    }

    /// Reads the log. Noted before the wait, so that a caller who drops it half-way reads it again.
    async fn log(&mut self) -> Result<Vec<Recorded>, Error> {
        self.behind = true;
        let store = &self.core.ports.store;
        match store.changes_after(&self.key, self.seen, LOG_PAGE).await {
            Ok(Changes::After(changes)) => {
                self.behind = changes.len() == LOG_PAGE;
                Ok(changes)
            }
            Ok(Changes::TooOld) => {
                Err(self.core.internal("a reader fell behind what the store's log holds"))
            }
            Err(error) => Err(self.core.store_error(error, &self.key.id.to_string())),
        }
    }

    /// Takes note of `changes` and cuts them after the one that ends the stream.
    fn accept(&mut self, mut changes: Vec<Recorded>) -> Vec<Recorded> {
        if let Some(end) = changes.iter().position(|change| self.ends(change)) {
            changes.truncate(end + 1);
            self.ended = true;
        }
        if let Some(last) = changes.last() {
            self.seen = last.version;
        }
        changes
    }

    fn ends(&self, change: &Recorded) -> bool {
        change.state().is_some_and(|state| {
            state.is_terminal()
                || self.until == Until::EndedOrAsking && state == TaskState::InputRequired
        })
    }
}
