//! The accepted steps of a task. A task is the fold of its changes.

use crate::content::{Details, Message, Parts};
use crate::ids::{ArtifactId, Version};
use crate::state::TaskState;
use crate::time::Timestamp;
use std::sync::Arc;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A message joins the history.
    Message(Arc<Message>),
    /// The status is written, perhaps with a message.
    Status(StatusChange),
    /// An artifact is made, replaced or extended.
    Artifact(Arc<ArtifactUpdate>),
}

impl Change {
    /// About how many bytes a task keeps alive for it.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::Message(message) => message.weight(),
            Self::Status(status) => status.message.as_ref().map_or(0, |message| message.weight()),
            Self::Artifact(piece) => piece.parts.weight(),
        }
    }
}

/// A new status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// The new state.
    pub state: TaskState,
    /// What the agent says about it.
    pub message: Option<Arc<Message>>,
    /// Whether the run has ended with this status. Tells a task that waits for its next message from
    /// one whose executor still works and only reports that it waits for something.
    pub parked: bool,
}

impl StatusChange {
    /// A status that the run reports and goes on.
    #[must_use]
    pub fn report(state: TaskState, message: Option<Arc<Message>>) -> Change {
        Change::Status(Self { state, message, parked: false })
    }

    /// A status that the run ends with.
    #[must_use]
    pub fn ending(state: TaskState, message: Option<Arc<Message>>) -> Change {
        Change::Status(Self { state, message, parked: true })
    }
}

/// A piece of an artifact (specification 1.0 §4.2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactUpdate {
    /// Which artifact.
    pub id: ArtifactId,
    /// The parts of this piece.
    pub parts: Parts,
    /// Whether the parts extend the artifact; otherwise they are all of it.
    pub append: bool,
    /// Whether no more pieces follow.
    pub last: bool,
    /// What the artifact says about itself.
    pub details: Option<Box<Details>>,
}

/// A change that a task has accepted: its place in the task's life and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The task's version with this change; also the change's id.
    pub version: Version,
    /// When it was accepted; never earlier than the change before it.
    pub at: Timestamp,
    /// The step.
    pub change: Change,
}

impl Recorded {
    /// The state that this change writes, if it writes one.
    #[must_use]
    pub fn state(&self) -> Option<TaskState> {
        match &self.change {
            Change::Status(status) => Some(status.state),
            Change::Message(_) | Change::Artifact(_) => None,
        }
    }

    /// About how many bytes the change keeps alive beyond what the task holds anyway.
    #[must_use]
    pub fn weight(&self) -> usize {
        size_of::<Recorded>()
    }
}
