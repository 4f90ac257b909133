//! After a crash: a task whose run has ended with its process must not stay at work for ever. It fails, or
//! its turn begins again where the agent says so.

use super::Service;
use super::commit::NotCommitted;
use super::deadline::{self, Limit};
use super::run::{Failure, Run};
use crate::agent::{Agent, OnCrash, OnOverdue};
use crate::change::{Change, StatusChange};
use crate::error::Error;
use crate::ids::TaskKey;
use crate::ports::{Request, Slot, StoreError, Turn};
use crate::signal::CancelSignal;
use crate::state::{Phase, TaskState};
use crate::task::Task;
use std::num::NonZeroU32;
use std::sync::Arc;

/// What became of the tasks that an earlier process has left at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Those that have ended, with a reason.
    pub ended: usize,
    /// Those whose turn begins again.
    pub retried: usize,
}

/// What is to become of a task that was left at work.
enum Fate {
    /// It ends with this change.
    Ends(Change),
    /// Its turn begins again, in a place that is set aside for it.
    Again { attempt: NonZeroU32, agent: Arc<Agent>, slot: Box<dyn Slot>, limit: Option<Limit> },
}

impl Service {
    /// Ends the tasks among `left` that nobody works on any more, or begins their turns again. To be called
    /// before any message is taken: then every task that is at work was left by an earlier process. Tasks
    /// that wait for their client stay as they are.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recover(
        &self,
        left: impl IntoIterator<Item = TaskKey>,
    ) -> Result<Recovered, Error> {
        let stored = |error| self.0.store_error(error, "");
        let mut recovered = Recovered::default();
        self.adopt_waiting().await?;
        for key in left {
            let task = match self.0.ports.store.load(&key).await {
                Ok(task) => task,
                Err(StoreError::NotFound) => continue,
                Err(error) => return Err(stored(error)),
            };
            if !task.is_running() {
                continue;
            }
            let fate = self.fate(&task);
            let count = match &fate {
                Fate::Ends(_) => &mut recovered.ended,
                Fate::Again { .. } => &mut recovered.retried,
            };
            match Box::pin(self.meet(task, fate)).await {
                Ok(()) => *count += 1,
                // Somebody else has seen to it. Of two recoveries one begins the turn again.
                Err(NotCommitted::Conflict | NotCommitted::Refused(_) | NotCommitted::Gone) => {}
                Err(NotCommitted::Failed(error)) => return Err(stored(error)),
            }
        }
        Ok(recovered)
    }

    fn fate(&self, task: &Task) -> Fate {
        let core = &self.0;
        let attempts = task.turn().attempt;
        let lost = || Fate::Ends(core.failed(Failure::Lost(attempts)));
        let agents = core.agents.load();
        let Some(agent) = agents.get(task.key().scope.agent()) else { return lost() };
        let OnCrash::Retry { max_attempts } = agent.settings.on_crash else { return lost() };
        let now = core.ports.clock.now();
        let limit = task.deadline().map(|deadline| {
            let left = deadline.since(now);
            // What the agent says may have changed since; the task's own deadline holds.
            let whole = deadline::limit(&agent.settings, task.turn_message()).ok().flatten();
            Limit { whole: whole.unwrap_or(left), left }
        });
        let action = agent.settings.on_overdue;
        if let Some(limit) = limit.filter(|_| task.is_overdue(now) && action != OnOverdue::Report) {
            return Fate::Ends(core.overdue(action, limit.whole));
        }
        if attempts >= max_attempts {
            return lost();
        }
        // There is a place for every task that was at work, unless there are fewer than there were.
        let Ok(slot) = core.reserve(agent) else { return lost() };
        Fate::Again { attempt: attempts.saturating_add(1), agent: agent.clone(), slot, limit }
    }

    /// Commits what is to become of a task, and then lets it begin.
    async fn meet(&self, mut task: Arc<Task>, fate: Fate) -> Result<(), NotCommitted> {
        let (attempt, agent, slot, limit) = match fate {
            Fate::Ends(change) => return self.0.commit(&mut task, [change]).await,
            Fate::Again { attempt, agent, slot, limit } => (attempt, agent, slot, limit),
        };
        // What has waited in the queue waits there again.
        let state = match task.state().phase() {
            Phase::Active => task.state(),
            Phase::Interrupted | Phase::Terminal => TaskState::Working,
        };
        self.0.commit(&mut task, [StatusChange::again(state, attempt)]).await?;
        if let Some(shares) = &self.0.shares {
            shares.adopt(task.key());
        }
        let request = self.request_again(&task).await;
        let turn = Turn { request, task, cancel: CancelSignal::new() };
        slot.start(Run::new(self.0.clone(), agent, turn, limit));
        Ok(())
    }

    /// The request of the turn, as far as it is kept: the message is, and what the call said beside it is
    /// not.
    async fn request_again(&self, task: &Task) -> Request {
        let (key, message) = (task.key(), task.turn_message());
        Request {
            scope: key.scope.clone(),
            context: task.context().clone(),
            message: message.clone(),
            task: (task.turn().message > 0).then_some(key.id),
            references: self.visible(&key.scope, message).await,
            metadata: None,
            accepted_output_modes: Vec::new(),
        }
    }
}
