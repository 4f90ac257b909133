//! The accepted steps of a task. A task is the fold of its changes.

use crate::content::{Details, Message, Parts};
use crate::ids::{ArtifactId, Version};
use crate::raw_json::RawJson;
use crate::state::TaskState;
use crate::time::Timestamp;
use std::num::NonZeroU32;
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
            Self::Status(status) => {
                status.message.as_ref().map_or(0, |message| message.weight())
                    + status.metadata().map_or(0, |metadata| metadata.as_str().len())
            }
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
    /// What few statuses have; boxed, since most have nothing of it.
    pub details: Option<Box<StatusDetails>>,
}

/// What few statuses have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusDetails {
    /// When the run that begins with this status has to end.
    pub deadline: Option<Timestamp>,
    /// What joins the task's metadata; always an object.
    pub metadata: Option<RawJson>,
    /// Which attempt at its turn begins with this status, where it is not the first.
    pub attempt: Option<NonZeroU32>,
}

impl StatusChange {
    /// A status that the run reports and goes on.
    #[must_use]
    pub fn report(state: TaskState, message: Option<Arc<Message>>) -> Change {
        Change::Status(Self { state, message, parked: false, details: None })
    }

    /// The status that a run on a task that has waited begins with.
    #[must_use]
    pub fn resumed(deadline: Option<Timestamp>) -> Change {
        let details =
            deadline.map(|_| Box::new(StatusDetails { deadline, ..StatusDetails::default() }));
        Change::Status(Self { state: TaskState::Working, message: None, parked: false, details })
    }

    /// The status that a further attempt at a turn begins with. `state` is an active one.
    #[must_use]
    pub fn again(state: TaskState, attempt: NonZeroU32) -> Change {
        let attempt = Some(attempt);
        let details = Some(Box::new(StatusDetails { attempt, ..StatusDetails::default() }));
        Change::Status(Self { state, message: None, parked: false, details })
    }

    /// A status that the run ends with.
    #[must_use]
    pub fn ending(state: TaskState, message: Option<Arc<Message>>) -> Change {
        Change::Status(Self { state, message, parked: true, details: None })
    }

    /// This status with members for the task's metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: RawJson) -> Self {
        self.details.get_or_insert_default().metadata = Some(metadata);
        self
    }

    /// What it adds to the task's metadata.
    #[must_use]
    pub fn metadata(&self) -> Option<&RawJson> {
        self.details.as_ref()?.metadata.as_ref()
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
