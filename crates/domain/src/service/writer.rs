//! What an executor writes with. Each method returns when the change is stored and handed out.

use super::Core;
use super::commit::NotCommitted;
use super::conversation::Wanted;
use super::run::Failure;
use crate::agent::Agent;
use crate::causes;
use crate::change::{ArtifactUpdate, Change, StatusChange};
use crate::content::{Message, Part, Parts, Role};
use crate::ids::{ArtifactId, Version};
use crate::ports::{Stopped, StoreError};
use crate::raw_json::RawJson;
use crate::state::TaskState;
use crate::task::{Refusal, Task};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// After how many changes a writer lets others run.
const TURN: u32 = 64;

/// Writes changes of one task, one after the other: it is lent to the executor exclusively, so the order
/// of an executor's writes is the order of its calls.
pub struct TaskWriter {
    core: Arc<Core>,
    agent: Arc<Agent>,
    /// The task as this run knows it. Others may commit too: a cancel, an appended message. Then the
    /// store reports a conflict, the task is read again and the change is tried again.
    task: Arc<Task>,
    /// False while `task` may be ahead of the store because a write was begun and not finished.
    clean: bool,
    /// Messages of the client that the executor has been shown.
    shown: usize,
    /// Artifacts that an earlier attempt at this turn has begun and this one has not. Their next piece
    /// begins them anew, so that nothing half-done is extended.
    left_over: Vec<ArtifactId>,
    /// What joins the task's metadata with the next status.
    metadata: Option<RawJson>,
    /// Artifacts that are written with the end of the run.
    results: Vec<Change>,
    /// How many changes were written.
    writes: u32,
    failure: Option<Failure>,
    /// The last change of this run that was handed out. What follows it in the store is somebody else's,
    /// or of unclear fate.
    told: Version,
}

impl TaskWriter {
    pub(super) fn new(core: Arc<Core>, agent: Arc<Agent>, task: Arc<Task>) -> Self {
        let turn = task.turn();
        let (shown, told) = (turn.message + 1, task.version());
        let left_over = task.artifacts()[turn.artifacts..].iter();
        let left_over = left_over.map(|artifact| artifact.id.clone()).collect();
        let (failure, metadata, results) = (None, None, Vec::new());
        Self {
            core,
            agent,
            task,
            clean: true,
            shown,
            left_over,
            metadata,
            results,
            writes: 0,
            failure,
            told,
        }
    }

    /// The task as this run knows it.
    #[must_use]
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Says that work has begun, or how it goes. Without a text, and when the task is working already,
    /// there is nothing to say and nothing is written.
    ///
    /// # Errors
    /// [`Stopped`] when the task takes no more changes.
    pub async fn working(&mut self, progress: Option<Parts>) -> Result<(), Stopped> {
        self.settle().await?;
        if progress.is_none() && self.task.state() == TaskState::Working {
            return Ok(());
        }
        let message = progress.map(|parts| self.message(parts));
        self.step(StatusChange::report(TaskState::Working, message)).await
    }

    /// Says that credentials are needed and that the run goes on by itself when it has them.
    ///
    /// # Errors
    /// [`Stopped`] when the task takes no more changes.
    pub async fn auth_required(&mut self, what: Parts) -> Result<(), Stopped> {
        let message = self.message(what);
        self.step(StatusChange::report(TaskState::AuthRequired, Some(message))).await
    }

    /// Notes members of the task's metadata; members of the same name are replaced. They are stored with
    /// the next status that is written, at the latest with the one that the run ends with.
    pub fn metadata(&mut self, members: RawJson) {
        let all = self.metadata.take().map_or_else(|| members.clone(), |old| old.merged(&members));
        self.metadata = Some(all);
    }

    /// Writes a whole artifact.
    ///
    /// # Errors
    /// [`Stopped`] when the task takes no more changes.
    pub async fn artifact(&mut self, id: ArtifactId, parts: Parts) -> Result<(), Stopped> {
        let update = ArtifactUpdate { id, parts, append: false, last: true, details: None };
        self.update(update).await
    }

    /// Notes a whole artifact that is stored together with the end of the run, whatever the end is. A task
    /// that is not working by then is first said to be. Clients see the same as after [`Self::working`],
    /// [`Self::artifact`] and the end, and a durable store commits once instead of three times.
    ///
    /// # Errors
    /// [`Stopped`] when the task has no room for it.
    pub fn result(&mut self, id: ArtifactId, parts: Parts) -> Result<(), Stopped> {
        let update = ArtifactUpdate { id, parts, append: false, last: true, details: None };
        let change = Change::Artifact(Arc::new(update));
        let noted: usize = self.results.iter().map(Change::weight).sum();
        self.check_room(noted.saturating_add(change.weight()))?;
        self.results.push(change);
        Ok(())
    }

    /// Whether an artifact is one that an earlier attempt at this turn has begun and this one has not.
    #[must_use]
    pub fn is_left_over(&self, id: &ArtifactId) -> bool {
        self.left_over.contains(id)
    }

    /// Writes the next piece of an artifact: makes it, or extends it. What an earlier attempt at this turn
    /// has left of it is replaced by the first piece. The last piece should say so.
    ///
    /// # Errors
    /// [`Stopped`] when the task takes no more changes.
    pub async fn chunk(
        &mut self,
        id: &ArtifactId,
        parts: Parts,
        last: bool,
    ) -> Result<(), Stopped> {
        self.settle().await?;
        let append = self.task.artifact(id).is_some() && !self.is_left_over(id);
        self.update(ArtifactUpdate { id: id.clone(), parts, append, last, details: None }).await
    }

    /// Writes a piece of an artifact as it is given. Extending an artifact that does not exist is against
    /// the protocol: the task then fails.
    ///
    /// # Errors
    /// [`Stopped`] when the task takes no more changes.
    pub async fn update(&mut self, update: ArtifactUpdate) -> Result<(), Stopped> {
        let update = Arc::new(update);
        self.step(Change::Artifact(update.clone())).await?;
        self.left_over.retain(|id| *id != update.id);
        Ok(())
    }

    /// The client's messages that came while the run was under way and that were not shown yet.
    ///
    /// # Errors
    /// [`Stopped`] when the task takes no more changes.
    pub async fn inbox(&mut self) -> Result<Vec<Arc<Message>>, Stopped> {
        if !self.reload().await.map_err(|error| self.give_up(error))? {
            return Err(Stopped);
        }
        let history = self.task.history();
        let new = history[self.shown.min(history.len())..].iter();
        let new = new.filter(|message| message.role == Role::User).cloned().collect();
        self.shown = history.len();
        Ok(new)
    }

    /// What was said in the conversation before the message of this run: the newest `limit` messages,
    /// oldest first, task by task. Tasks that failed, were canceled or are at work are no part of it.
    ///
    /// # Errors
    /// [`Stopped`] when the store fails.
    pub async fn conversation(&mut self, limit: usize) -> Result<Vec<Arc<Message>>, Stopped> {
        self.conversation_within(limit, usize::MAX, |_| 0).await
    }

    /// The same, with at most `bytes` in all; `weigh` says how many a part counts for. What does not fit
    /// is not put together first.
    ///
    /// # Errors
    /// [`Stopped`] when the store fails.
    pub async fn conversation_within(
        &mut self,
        limit: usize,
        bytes: usize,
        weigh: impl Fn(&Part) -> usize + Send + Sync,
    ) -> Result<Vec<Arc<Message>>, Stopped> {
        let wanted = Wanted { messages: limit, bytes, weigh: &weigh };
        let said = self.core.conversation(&self.task, wanted).await;
        said.map_err(|error| self.give_up(error))
    }

    /// Commits one change; looks again as often as somebody else was faster.
    async fn step(&mut self, change: Change) -> Result<(), Stopped> {
        let change = match change {
            Change::Status(status) => Change::Status(match self.metadata.take() {
                Some(metadata) => status.with_metadata(metadata),
                None => status,
            }),
            Change::Artifact(_) | Change::Message(_) => change,
        };
        self.pause().await;
        loop {
            self.core.give_way(self.task.key()).await;
            self.settle().await?;
            self.check_room(change.weight())?;
            let refused = match self.write([change.clone()]).await {
                Ok(()) => return Ok(()),
                Err(NotCommitted::Conflict) => continue,
                Err(NotCommitted::Gone) => return Err(Stopped),
                Err(NotCommitted::Failed(error)) => return Err(self.give_up(error)),
                Err(NotCommitted::Refused(refusal)) => refusal,
            };
            if !matches!(refused, Refusal::Terminal(_)) {
                let reference = self.core.ports.ids.uuid();
                let task = self.task.key().id;
                tracing::error!(%reference, %task, %refused, "an executor broke the protocol");
                self.failure = Some(Failure::IllegalStep(reference));
            }
            return Err(Stopped);
        }
    }

    /// Refuses what would make the task larger than tasks may be; the run then ends with that.
    fn check_room(&mut self, weight: usize) -> Result<(), Stopped> {
        if self.task.weight().saturating_add(weight) > self.core.limits.task_bytes {
            self.failure = Some(Failure::TooLarge);
            return Err(Stopped);
        }
        Ok(())
    }

    /// Lets others run every now and then: an executor that writes without a pause, into a store that makes
    /// it wait for nothing, would otherwise keep a thread for itself.
    async fn pause(&mut self) {
        self.writes = self.writes.wrapping_add(1);
        if self.writes.is_multiple_of(TURN) {
            let mut paused = false;
            poll_fn(|context| {
                if std::mem::replace(&mut paused, true) {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
    }

    /// Reads the task again where `task` may be ahead of the store: after a conflict, and after a write
    /// that the executor has dropped half-way.
    async fn settle(&mut self) -> Result<(), Stopped> {
        if !self.clean && !self.reload().await.map_err(|error| self.give_up(error))? {
            return Err(Stopped);
        }
        Ok(())
    }

    fn give_up(&mut self, error: StoreError) -> Stopped {
        let (task, reference) = (self.task.key().id, self.core.ports.ids.uuid());
        self.failure = Some(Failure::NotStored(reference));
        tracing::error!(%reference, %task, error = %causes(&error), "a change could not be stored");
        Stopped
    }

    fn message(&self, parts: Parts) -> Arc<Message> {
        Arc::new(self.core.message(Role::Agent, parts))
    }

    pub(super) async fn write(
        &mut self,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<(), NotCommitted> {
        self.clean = false;
        let written = self.core.commit(&mut self.task, changes).await;
        // A refusal of a single change leaves the task as it was; everything else needs a look.
        self.clean = written.is_ok();
        if self.clean {
            self.told = self.task.version();
        }
        written
    }

    /// Reads the task again; says whether it is still there.
    pub(super) async fn reload(&mut self) -> Result<bool, StoreError> {
        match self.core.ports.store.load(self.task.key()).await {
            Ok(task) => {
                self.task = task;
                self.clean = true;
                Ok(true)
            }
            Err(StoreError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The task and the last change of this run that was handed out.
    pub(super) fn told(&self) -> (&Arc<Task>, Version) {
        (&self.task, self.told)
    }

    pub(super) fn is_clean(&self) -> bool {
        self.clean
    }

    pub(super) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    pub(super) fn agent(&self) -> &Arc<Agent> {
        &self.agent
    }

    /// What was noted for the end of the run, and the end after it.
    pub(super) fn complete(&mut self, mut end: Vec<Change>) -> Vec<Change> {
        // The last change is the status that the run ends with.
        if let (Some(Change::Status(status)), Some(metadata)) =
            (end.last_mut(), self.metadata.take())
        {
            *status = status.clone().with_metadata(metadata);
        }
        if self.results.is_empty() {
            return end;
        }
        let mut changes = std::mem::take(&mut self.results);
        if self.task.state() != TaskState::Working {
            changes.insert(0, StatusChange::report(TaskState::Working, None));
        }
        changes.append(&mut end);
        changes
    }

    pub(super) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}
