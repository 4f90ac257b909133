//! A task from parts that a store has written down.

use super::{Task, TurnStart};
use crate::content::{Artifact, Message};
use crate::ids::{ContextId, TaskKey, Version};
use crate::raw_json::RawJson;
use crate::state::TaskState;
use crate::time::Timestamp;
use std::sync::Arc;

/// Everything that a task consists of, for a store that has written it down and reads it back.
#[derive(Clone, Debug)]
pub struct TaskParts {
    /// See [`Task::key`].
    pub key: TaskKey,
    /// See [`Task::context`].
    pub context: ContextId,
    /// See [`Task::version`].
    pub version: Version,
    /// See [`Task::created`].
    pub created: Timestamp,
    /// See [`Task::deadline`].
    pub deadline: Option<Timestamp>,
    /// See [`Task::changed`].
    pub changed: Timestamp,
    /// See [`Task::state`].
    pub state: TaskState,
    /// See [`Task::status_at`].
    pub status_at: Timestamp,
    /// See [`Task::status_message`].
    pub status_message: Option<Arc<Message>>,
    /// See [`Task::is_parked`].
    pub parked: bool,
    /// See [`Task::turn`].
    pub turn: TurnStart,
    /// See [`Task::history`].
    pub history: Vec<Arc<Message>>,
    /// See [`Task::artifacts`].
    pub artifacts: Vec<Artifact>,
    /// See [`Task::metadata`].
    pub metadata: Option<RawJson>,
    /// See [`Task::weight`].
    pub weight: usize,
}

/// Parts that no task can consist of; the text says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Inconsistent(&'static str);

impl Task {
    /// A task as it was written down. What every sequence of changes keeps true is checked, so that a
    /// damaged record does not become a task.
    ///
    /// # Errors
    /// [`Inconsistent`] when no sequence of changes leads to these parts.
    pub fn restore(parts: TaskParts) -> Result<Self, Inconsistent> {
        if parts.version < Version::FIRST {
            return Err(Inconsistent("a version before the first"));
        }
        if parts.history.is_empty() {
            return Err(Inconsistent("no opening message"));
        }
        let turn = parts.turn;
        if turn.message >= parts.history.len() || turn.artifacts > parts.artifacts.len() {
            return Err(Inconsistent("a turn that begins after what there is"));
        }
        if parts.created > parts.status_at || parts.status_at > parts.changed {
            return Err(Inconsistent("times that are not in order"));
        }
        Ok(Self {
            key: parts.key,
            context: parts.context,
            version: parts.version,
            created: parts.created,
            deadline: parts.deadline,
            changed: parts.changed,
            state: parts.state,
            status_at: parts.status_at,
            status_message: parts.status_message,
            parked: parts.parked,
            turn: parts.turn,
            history: parts.history,
            artifacts: parts.artifacts,
            metadata: parts.metadata.map(Box::new),
            weight: parts.weight,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Parts, Role};
    use crate::ids::{AgentId, MessageId, Owner, Scope, TaskId};

    fn parts() -> TaskParts {
        let agent = AgentId::new("main").expect("an agent id");
        let scope = Scope::new(agent, None, Owner::anonymous());
        let id = MessageId::new("m").expect("a message id");
        let at = Timestamp::from_millis(5);
        TaskParts {
            key: TaskKey { scope, id: TaskId::from_u128(1) },
            context: ContextId::new("c").expect("a context id"),
            version: Version::FIRST,
            created: at,
            deadline: None,
            changed: at,
            state: TaskState::Submitted,
            status_at: at,
            status_message: None,
            parked: false,
            turn: TurnStart::FIRST,
            history: vec![Arc::new(Message::new(id, Role::User, Parts::text("hello")))],
            artifacts: Vec::new(),
            metadata: None,
            weight: 100,
        }
    }

    #[test]
    fn parts_that_no_changes_lead_to_are_no_task() {
        assert!(Task::restore(parts()).is_ok());
        let late = Timestamp::from_millis(6);
        let beyond = |message, artifacts| TurnStart { message, artifacts, ..TurnStart::FIRST };
        for (broken, reason) in [
            (TaskParts { version: Version(0), ..parts() }, "a version before the first"),
            (TaskParts { history: Vec::new(), ..parts() }, "no opening message"),
            (TaskParts { turn: beyond(1, 0), ..parts() }, "a turn that begins after what there is"),
            (TaskParts { turn: beyond(0, 1), ..parts() }, "a turn that begins after what there is"),
            (TaskParts { created: late, ..parts() }, "times that are not in order"),
            (TaskParts { status_at: late, ..parts() }, "times that are not in order"),
        ] {
            assert_eq!(Task::restore(broken), Err(Inconsistent(reason)));
        }
    }
}
