//! One run: an executor at work on one message, and what its end means for the task. Every run ends in
//! a decision.

use super::Core;
use super::Overdue;
use super::commit::NotCommitted;
use super::deadline::{Limit, spoken};
use super::unended::Unended;
use super::watch::LOG_PAGE;
use super::writer::TaskWriter;
use crate::agent::Agent;
use crate::causes;
use crate::change::{Change, StatusChange};
use crate::content::{Message, Parts, Role};
use crate::ids::{MessageId, TaskKey};
use crate::ports::{AgentError, Changes, Outcome, StoreError, Turn};
use crate::signal::CancelSignal;
use crate::state::TaskState;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// How a run came to its end.
#[derive(Debug)]
pub enum RunEnd {
    /// The executor returned.
    Returned(Result<Outcome, AgentError>),
    /// The executor panicked, with this text.
    Panicked(String),
    /// The run took longer than the agent allows.
    DeadlinePassed,
    /// The task was over before the run was.
    Stopped,
    /// The server shut down before the run had ended.
    ShutDown,
}

/// Why a task fails, in words for its client. What an executor or a library said is in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Agent(Uuid),
    /// The store failed while the agent was at work.
    NotStored(Uuid),
    Explained(String, Uuid),
    IllegalStep(Uuid),
    TooLarge,
    Deadline(Duration),
    ShutDown,
    /// The process ended and nobody was told, and this was that many attempts.
    Lost(NonZeroU32),
    Unanswered(Duration),
    Removed,
}

impl Failure {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Agent(reference) => format!("The agent failed (reference {reference})."),
            Self::NotStored(reference) => {
                format!("What the agent did could not be stored (reference {reference}).")
            }
            Self::Explained(reason, reference) => format!("{reason} (reference {reference})"),
            Self::IllegalStep(reference) => {
                format!("The agent gave an invalid response (reference {reference}).")
            }
            Self::TooLarge => "The agent's results are larger than a task may be.".to_owned(),
            Self::Deadline(limit) => format!("The agent did not finish within {}.", spoken(*limit)),
            Self::ShutDown => "The server shut down before the agent had finished.".to_owned(),
            Self::Lost(NonZeroU32::MIN) => {
                "The server ended before the agent had finished.".to_owned()
            }
            Self::Lost(attempts) => {
                format!("The server ended {attempts} times before the agent had finished.")
            }
            Self::Unanswered(limit) => format!("Nobody answered within {}.", spoken(*limit)),
            Self::Removed => "The agent has been removed.".to_owned(),
        }
    }
}

/// How often the end of a run is written again when the store fails, and the first pause; it doubles.
const END_TRIES: u32 = 6;
const END_PAUSE: Duration = Duration::from_millis(50);

/// An executor at work on one message. The spawner calls [`Run::work`] once and then, whatever became of
/// that future, [`Run::end`].
pub struct Run {
    turn: Option<Turn>,
    cancel: CancelSignal,
    writer: TaskWriter,
    limit: Option<Limit>,
}

impl Run {
    pub(super) fn new(
        core: Arc<Core>,
        agent: Arc<Agent>,
        turn: Turn,
        limit: Option<Limit>,
    ) -> Self {
        let writer = TaskWriter::new(core, agent, turn.task.clone());
        Self { cancel: turn.cancel.clone(), turn: Some(turn), writer, limit }
    }

    /// The task.
    #[must_use]
    pub fn key(&self) -> &TaskKey {
        self.writer.task().key()
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &Arc<Agent> {
        self.writer.agent()
    }

    /// How long after its message was taken the run has to end; `None` for no limit.
    #[must_use]
    pub fn limit(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.whole)
    }

    /// How much of that is left when it starts. Less than all of it when the run begins again after a crash.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.left)
    }

    /// What ends the task when the run's time is up, while the executor is at work.
    #[must_use]
    pub fn overdue(&self) -> Overdue {
        Overdue {
            core: self.writer.core().clone(),
            key: self.key().clone(),
            action: self.agent().settings.on_overdue,
            limit: self.limit().unwrap_or_default(),
        }
    }

    /// What tells the executor that the task is over.
    #[must_use]
    pub fn cancel_signal(&self) -> &CancelSignal {
        &self.cancel
    }

    /// Lets the executor work. May be dropped at any point.
    pub async fn work(&mut self) -> RunEnd {
        let Some(turn) = self.turn.take() else { return RunEnd::Stopped };
        // A cancel that was stored before the spawner knew of this run could not stop it.
        let is_known = turn.request.task.is_some() || turn.attempt() > 1;
        if is_known && self.is_over().await {
            return RunEnd::Stopped;
        }
        let executor = self.writer.agent().executor.clone();
        RunEnd::Returned(executor.run(turn, &mut self.writer).await)
    }

    /// Whether the task has ended already. A store that cannot say so is no reason not to begin.
    async fn is_over(&self) -> bool {
        let stored = self.writer.core().ports.store.load(self.key()).await;
        stored.is_ok_and(|task| task.state().is_terminal())
    }

    /// Writes what the end of the run means. A task that has ended meanwhile stays as it is. When the
    /// store fails, this tries again for a while and then tells the subscribers that nothing will come
    /// for now.
    ///
    /// # Errors
    /// What is still to be stored, when all tries have failed.
    pub async fn end(self, end: RunEnd) -> Result<(), Box<Unended>> {
        let limit = self.limit().unwrap_or_default();
        let Self { mut writer, .. } = self;
        let core = writer.core().clone();
        let end = core.decide(&writer, end, limit);
        let changes = writer.complete(end);
        let mut pause = END_PAUSE;
        for attempt in 1..=END_TRIES {
            let error = match core.conclude(&mut writer, &changes).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            tracing::error!(task = %writer.task().key().id, attempt, error = %causes(&error), "the end of a run could not be stored");
            if attempt < END_TRIES {
                core.ports.clock.sleep(pause).await;
                pause *= 2;
            }
        }
        core.ports.bus.close(writer.task().key());
        Err(Box::new(Unended::new(writer, changes)))
    }
}

impl Core {
    /// The changes that the end of a run means.
    fn decide(&self, writer: &TaskWriter, end: RunEnd, limit: Duration) -> Vec<Change> {
        let status = |state, parts| vec![StatusChange::ending(state, Some(self.reply(parts)))];
        let id = writer.task().key().id;
        match end {
            RunEnd::Returned(Ok(Outcome::Completed(reply))) => {
                let completed = StatusChange::ending(TaskState::Completed, None);
                let reply = reply.map(|parts| Change::Message(self.reply(parts)));
                reply.into_iter().chain([completed]).collect()
            }
            RunEnd::Returned(Ok(Outcome::InputRequired(parts))) => {
                status(TaskState::InputRequired, parts)
            }
            RunEnd::Returned(Ok(Outcome::AuthRequired(parts))) => {
                status(TaskState::AuthRequired, parts)
            }
            RunEnd::Returned(Ok(Outcome::Rejected(parts))) => status(TaskState::Rejected, parts),
            RunEnd::Returned(Err(AgentError::Stopped(_))) => {
                let unknown = || Failure::Agent(self.ports.ids.uuid());
                vec![self.failed(writer.failure().cloned().unwrap_or_else(unknown))]
            }
            RunEnd::Returned(Err(AgentError::Failed(error))) => {
                let reference = self.ports.ids.uuid();
                tracing::error!(%reference, task = %id, error = %causes(&*error), "an executor failed");
                vec![self.failed(Failure::Agent(reference))]
            }
            RunEnd::Returned(Err(AgentError::Explained { reason, source })) => {
                let reference = self.ports.ids.uuid();
                tracing::error!(%reference, task = %id, reason, error = %causes(&*source), "an executor failed");
                vec![self.failed(Failure::Explained(reason, reference))]
            }
            RunEnd::Panicked(text) => {
                let reference = self.ports.ids.uuid();
                tracing::error!(%reference, task = %id, panic = text, "an executor panicked");
                vec![self.failed(Failure::Agent(reference))]
            }
            RunEnd::DeadlinePassed => {
                tracing::warn!(task = %id, "a run passed its deadline");
                vec![self.overdue(writer.agent().settings.on_overdue, limit)]
            }
            // The task was over when the run was stopped; should it not be, it fails like any other.
            RunEnd::Stopped | RunEnd::ShutDown => vec![self.failed(Failure::ShutDown)],
        }
    }

    pub(super) async fn conclude(
        &self,
        writer: &mut TaskWriter,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        loop {
            // A future that was dropped between applying and storing leaves a copy that is ahead.
            if !writer.is_clean() && !writer.reload().await? {
                return Ok(());
            }
            if self.is_concluded(writer, changes).await? {
                return Ok(());
            }
            match writer.write(changes.iter().cloned()).await {
                Ok(()) => return Ok(()),
                Err(NotCommitted::Refused(refusal)) => {
                    tracing::debug!(%refusal, "the end of a run came too late");
                    return Ok(());
                }
                Err(NotCommitted::Gone) => return Ok(()),
                Err(NotCommitted::Conflict) => {}
                Err(NotCommitted::Failed(error)) => return Err(error),
            }
        }
    }

    /// Whether there is nothing left to write: the task has ended, or the end of this run is stored since
    /// a try of which the store said that it failed. Whoever wrote that may not have known that it was
    /// stored, and then has told nobody; so it is handed out here. Who has heard of it drops it.
    async fn is_concluded(&self, writer: &TaskWriter, end: &[Change]) -> Result<bool, StoreError> {
        let (task, told) = writer.told();
        if task.version() == told {
            return Ok(task.state().is_terminal());
        }
        let log = match self.ports.store.changes_after(task.key(), told, LOG_PAGE).await? {
            Changes::After(log) => log,
            Changes::TooOld => Vec::new(),
        };
        let stored = log.iter().any(|recorded| end.last() == Some(&recorded.change));
        let concluded = stored || task.state().is_terminal();
        if concluded {
            self.ports.bus.publish(task.key(), &log, task);
        }
        Ok(concluded)
    }

    /// The last status of a task that fails.
    pub(super) fn failed(&self, failure: Failure) -> Change {
        let message = self.reply(Parts::text(failure.text()));
        StatusChange::ending(TaskState::Failed, Some(message))
    }

    pub(super) fn reply(&self, parts: Parts) -> Arc<Message> {
        Arc::new(self.message(Role::Agent, parts))
    }

    /// A message of the server's own making.
    pub(super) fn message(&self, role: Role, parts: Parts) -> Message {
        // A formatted UUID is never empty, which is all that a message id must not be.
        match MessageId::new(self.fresh_name()) {
            Ok(id) => Message::new(id, role, parts),
            Err(rule) => unreachable!("a fresh id {rule}"),
        }
    }
}
