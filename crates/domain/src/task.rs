//! The task: private fields, one way to change it.

use crate::change::{ArtifactUpdate, Change, Recorded, StatusChange};
use crate::content::{Artifact, Message};
use crate::ids::{ArtifactId, ContextId, TaskKey, Version};
use crate::raw_json::RawJson;
use crate::state::TaskState;
use crate::time::Timestamp;
use std::sync::Arc;

mod restore;
mod rewind;
mod turn;

pub use restore::{Inconsistent, TaskParts};
pub use turn::TurnStart;

/// A unit of work with a life (specification 1.0 §4.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    key: TaskKey,
    context: ContextId,
    version: Version,
    created: Timestamp,
    deadline: Option<Timestamp>,
    changed: Timestamp,
    state: TaskState,
    status_at: Timestamp,
    status_message: Option<Arc<Message>>,
    parked: bool,
    turn: TurnStart,
    history: Vec<Arc<Message>>,
    artifacts: Vec<Artifact>,
    metadata: Option<Box<RawJson>>,
    weight: usize,
}

/// Why a task did not take a change. A refusal changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The task has ended; it never changes again.
    #[error("the task is {0}, a terminal state")]
    Terminal(TaskState),
    /// The state may not follow the task's state.
    #[error("{to} may not follow {from}")]
    Transition {
        /// The task's state.
        from: TaskState,
        /// The state that was to be written.
        to: TaskState,
    },
    /// A piece extends an artifact that does not exist.
    #[error("artifact {0} is to be extended and does not exist")]
    UnknownArtifact(ArtifactId),
}

impl Task {
    /// A new task: submitted, with its first message, at version 1.
    #[must_use]
    pub fn open(
        key: TaskKey,
        context: ContextId,
        message: Arc<Message>,
        deadline: Option<Timestamp>,
        at: Timestamp,
    ) -> Self {
        let weight = size_of::<Task>() + context.as_str().len() + message.weight();
        Self {
            key,
            context,
            version: Version::FIRST,
            created: at,
            deadline,
            changed: at,
            state: TaskState::Submitted,
            status_at: at,
            status_message: None,
            parked: false,
            turn: TurnStart::FIRST,
            history: vec![message],
            artifacts: Vec::new(),
            metadata: None,
            weight,
        }
    }

    /// Takes one step: checks it, applies it and numbers it.
    ///
    /// # Errors
    /// A [`Refusal`]; the task is then exactly as before.
    pub fn apply(&mut self, change: Change, at: Timestamp) -> Result<Recorded, Refusal> {
        self.check(&change)?;
        let recorded = Recorded { version: self.version.next(), at: at.max(self.changed), change };
        self.fold(&recorded);
        Ok(recorded)
    }

    /// Repeats a step that this task took elsewhere, as a store does with what it has committed.
    ///
    /// # Errors
    /// A [`Refusal`] when the step does not fit. A store that compares versions never sees one.
    pub fn replay(&mut self, recorded: &Recorded) -> Result<(), Refusal> {
        self.check(&recorded.change)?;
        self.fold(recorded);
        Ok(())
    }

    fn check(&self, change: &Change) -> Result<(), Refusal> {
        if self.state.is_terminal() {
            return Err(Refusal::Terminal(self.state));
        }
        match change {
            Change::Status(status) if !self.state.may_become(status.state) => {
                Err(Refusal::Transition { from: self.state, to: status.state })
            }
            Change::Artifact(piece) if piece.append && self.artifact(&piece.id).is_none() => {
                Err(Refusal::UnknownArtifact(piece.id.clone()))
            }
            Change::Status(_) | Change::Artifact(_) | Change::Message(_) => Ok(()),
        }
    }

    fn fold(&mut self, recorded: &Recorded) {
        self.version = recorded.version;
        self.changed = recorded.at;
        match &recorded.change {
            Change::Message(message) => {
                self.retire_status_message();
                if self.parked {
                    let (message, artifacts) = (self.history.len(), self.artifacts.len());
                    self.turn = TurnStart { message, artifacts, ..TurnStart::FIRST };
                }
                self.weight += message.weight();
                self.history.push(message.clone());
            }
            Change::Status(status) => self.fold_status(status, recorded.at),
            Change::Artifact(piece) => self.fold_artifact(piece),
        }
    }

    fn fold_status(&mut self, status: &StatusChange, at: Timestamp) {
        self.retire_status_message();
        self.weight += status.message.as_ref().map_or(0, |message| message.weight());
        self.state = status.state;
        self.status_at = at;
        self.status_message.clone_from(&status.message);
        self.parked = status.parked;
        if self.parked {
            self.deadline = None;
        }
        if let Some(details) = status.details.as_deref() {
            self.deadline = details.deadline.or(self.deadline);
            self.turn.attempt = details.attempt.unwrap_or(self.turn.attempt);
            if let Some(newer) = &details.metadata {
                let all =
                    self.metadata.as_ref().map_or_else(|| newer.clone(), |old| old.merged(newer));
                let before = self.metadata.as_ref().map_or(0, |old| old.as_str().len());
                self.weight = (self.weight + all.as_str().len()).saturating_sub(before);
                self.metadata = Some(Box::new(all));
            }
        }
    }

    /// What a status said joins the history when something newer is said, so that the history is the
    /// conversation in order and nothing is in it twice.
    fn retire_status_message(&mut self) {
        self.history.extend(self.status_message.take());
    }

    fn fold_artifact(&mut self, piece: &ArtifactUpdate) {
        self.weight += piece.parts.weight();
        let known = self.artifacts.iter_mut().find(|artifact| artifact.id == piece.id);
        match known {
            Some(artifact) if piece.append => {
                artifact.chunks.push(piece.parts.clone());
                if let Some(newer) = &piece.details {
                    let old = artifact.details.take().unwrap_or_default();
                    artifact.details = Some(Box::new(old.merged(newer)));
                }
            }
            Some(artifact) => {
                let replaced: usize = artifact.chunks.iter().map(|c| c.weight()).sum();
                self.weight = self.weight.saturating_sub(replaced);
                artifact.chunks = vec![piece.parts.clone()];
                artifact.details.clone_from(&piece.details);
            }
            None => self.artifacts.push(Artifact {
                id: piece.id.clone(),
                details: piece.details.clone(),
                chunks: vec![piece.parts.clone()],
            }),
        }
    }

    /// Its full name.
    #[must_use]
    pub fn key(&self) -> &TaskKey {
        &self.key
    }

    /// The conversation that it belongs to.
    #[must_use]
    pub fn context(&self) -> &ContextId {
        &self.context
    }

    /// How many changes it has taken.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// When it was opened.
    #[must_use]
    pub fn created(&self) -> Timestamp {
        self.created
    }

    /// When its run has to end, if it has to. A task that waits for its client has no deadline.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.deadline
    }

    /// Whether a run is still under way after its deadline.
    #[must_use]
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        !self.state.is_terminal() && self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// When its newest change was accepted; when it was opened, if it has none.
    #[must_use]
    pub fn changed(&self) -> Timestamp {
        self.changed
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> TaskState {
        self.state
    }

    /// When its status was last written.
    #[must_use]
    pub fn status_at(&self) -> Timestamp {
        self.status_at
    }

    /// What the agent says about its status.
    #[must_use]
    pub fn status_message(&self) -> Option<&Arc<Message>> {
        self.status_message.as_ref()
    }

    /// Whether a run is under way or about to start, so that no other may be started.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.state.is_terminal() && !self.parked
    }

    /// How its newest turn began.
    #[must_use]
    pub fn turn(&self) -> TurnStart {
        self.turn
    }

    /// The message that its newest turn is about.
    #[must_use]
    pub fn turn_message(&self) -> &Arc<Message> {
        &self.history[self.turn.message]
    }

    /// Whether its last run has ended with its status.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        self.parked
    }

    /// All messages, oldest first. What the status says is not among them yet.
    #[must_use]
    pub fn history(&self) -> &[Arc<Message>] {
        &self.history
    }

    /// The newest `limit` messages, oldest first; all of them without a limit.
    #[must_use]
    pub fn history_tail(&self, limit: Option<usize>) -> &[Arc<Message>] {
        let skip = limit.map_or(0, |limit| self.history.len().saturating_sub(limit));
        &self.history[skip..]
    }

    /// Its results in the order they were first written.
    #[must_use]
    pub fn artifacts(&self) -> &[Artifact] {
        &self.artifacts
    }

    /// One result.
    #[must_use]
    pub fn artifact(&self, id: &ArtifactId) -> Option<&Artifact> {
        self.artifacts.iter().find(|artifact| artifact.id == *id)
    }

    /// What the agent says about it as a whole; always an object.
    #[must_use]
    pub fn metadata(&self) -> Option<&RawJson> {
        self.metadata.as_deref()
    }

    /// About how many bytes it keeps alive.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.weight
    }
}
