//! What operators see of tasks, in all scopes: where a task stands, and nothing of what was said.

use crate::ids::{AgentId, ContextId, TaskId, TaskKey, Version};
use crate::state::TaskState;
use crate::task::Task;
use crate::time::Timestamp;

/// Which tasks an operator asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Only those of this agent.
    pub agent: Option<AgentId>,
    /// Only those in this state.
    pub state: Option<TaskState>,
    /// Only those that have not ended.
    pub live: bool,
    /// Only those that are overdue at this time ([`Task::is_overdue`]).
    pub overdue: Option<Timestamp>,
    /// How many at most.
    pub limit: usize,
    /// Only those with a lesser id: the order is that of the ids, the greatest first, which is the order in
    /// which they were opened, as ids are made here.
    pub after: Option<TaskId>,
}

impl Survey {
    /// The states that tasks of the survey can be in.
    pub fn states(&self) -> impl Iterator<Item = TaskState> {
        let live = self.live || self.overdue.is_some();
        let state = self.state;
        TaskState::ALL.into_iter().filter(move |each| {
            state.is_none_or(|wanted| wanted == *each) && !(live && each.is_terminal())
        })
    }

    /// Whether a task is one of those.
    #[must_use]
    pub fn fits(&self, task: &Task) -> bool {
        self.agent.as_ref().is_none_or(|agent| agent == task.key().scope.agent())
            && self.states().any(|state| state == task.state())
            && self.overdue.is_none_or(|now| task.is_overdue(now))
            && self.after.is_none_or(|after| task.key().id < after)
    }
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSummary {
    /// Its name, and with it whose it is.
    pub key: TaskKey,
    /// The conversation that it belongs to.
    pub context: ContextId,
    /// Its state.
    pub state: TaskState,
    /// When that was last written.
    pub status_at: Timestamp,
    /// When it was opened.
    pub created: Timestamp,
    /// When its run has to end.
    pub deadline: Option<Timestamp>,
    /// How many changes it has seen.
    pub version: Version,
    /// Whether a run is under way or queued, as far as the store knows.
    pub running: bool,
}

impl TaskSummary {
    /// The summary of a task.
    #[must_use]
    pub fn of(task: &Task) -> Self {
        Self {
            key: task.key().clone(),
            context: task.context().clone(),
            state: task.state(),
            status_at: task.status_at(),
            created: task.created(),
            deadline: task.deadline(),
            version: task.version(),
            running: task.is_running(),
        }
    }

    /// Whether a run is still under way after its deadline.
    #[must_use]
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        !self.state.is_terminal() && self.deadline.is_some_and(|deadline| deadline <= now)
    }
}
