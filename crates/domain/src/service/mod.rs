//! The use cases of the protocol, one file each, over ports only. Start with `begin.rs`: send, stream and
//! continue share it, so there is one way a message reaches a task.

mod attach;
mod begin;
mod cancel;
mod claims;
mod commit;
mod conversation;
mod deadline;
mod end;
mod expire;
mod operate;
mod outbox;
mod overdue;
mod push;
mod read;
mod recover;
mod run;
mod send;
mod shares;
mod through;
mod unended;
mod watch;
mod withdraw;
mod writer;

use crate::agent::Agent;
use crate::causes;
use crate::content::Message;
use crate::error::{Busy, Error};
use crate::ids::{AgentId, ContextId, Scope, TaskId, TaskKey, Version};
use crate::ports::{Clock, EventBus, IdGenerator, Spawner, StoreError, TaskStore};
use crate::raw_json::RawJson;
use crate::task::Task;
use arc_swap::ArcSwap;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use deadline::DEADLINE_EXTENSION;
pub use expire::Swept;
pub use operate::Surveyed;
pub use outbox::{Outbox, Patience, Standing};
pub use overdue::Overdue;
pub use push::{Push, SetPush};
pub use read::ListTasks;
pub use recover::Recovered;
pub use run::{Run, RunEnd};
pub use unended::Unended;
pub use watch::Watch;
pub use writer::TaskWriter;

/// Limits that hold for every agent. `docs/configuration.md` gives the reason of each default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a send waits at most; then it returns the task as it is.
    pub wait: Duration,
    /// How many messages a task may hold.
    pub history: usize,
    /// About how many bytes a task may keep.
    pub task_bytes: usize,
    /// How long a task may wait for its client, unless its agent says otherwise; then it fails.
    pub idle: Duration,
    /// How long an ended task is kept.
    pub retention: Duration,
    /// How many live tasks an owner may have.
    pub owner_tasks: Option<usize>,
    /// How many webhooks a task may have.
    pub webhooks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(600),
            history: 1000,
            task_bytes: 256 << 20,
            idle: Duration::from_secs(24 * 3600),
            retention: Duration::from_secs(30 * 24 * 3600),
            owner_tasks: None,
            webhooks: 10,
        }
    }
}

/// A message on its way in (specification 1.0 §3.1.1, 0.3 §7.1).
#[derive(Clone, Debug)]
pub struct SendMessage {
    /// The message.
    pub message: Message,
    /// The task that it continues, as the client wrote the id.
    pub task: Option<Arc<str>>,
    /// The conversation that it belongs to.
    pub context: Option<ContextId>,
    /// Whether a send waits; `None` where the client did not say.
    pub wait: Option<bool>,
    /// Free-form members of the call.
    pub metadata: Option<RawJson>,
    /// The media types that the client takes; empty for any.
    pub accepted_output_modes: Vec<String>,
    /// A webhook that is told of what happens to the task.
    pub push: Option<Box<SetPush>>,
}

/// What became of a message.
#[derive(Clone, Debug)]
pub enum Sent {
    /// A task.
    Task(Arc<Task>),
    /// An answer without a task.
    Message {
        /// The agent's message.
        message: Message,
        /// The conversation.
        context: ContextId,
    },
}

/// What a streaming call begins with.
pub enum Streamed {
    /// A task: first this snapshot, if there is one, then the changes after it.
    Task {
        /// The snapshot that opens the stream.
        snapshot: Option<Arc<Task>>,
        /// What follows.
        watch: Watch,
        /// The conversation, which every event names.
        context: ContextId,
    },
    /// An answer without a task.
    Message {
        /// The agent's message.
        message: Message,
        /// The conversation.
        context: ContextId,
    },
}

/// Everything the use cases need.
pub struct Ports {
    /// Keeps tasks.
    pub store: Arc<dyn TaskStore>,
    /// Tells subscribers.
    pub bus: Arc<dyn EventBus>,
    /// Runs executors.
    pub spawner: Arc<dyn Spawner>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn IdGenerator>,
    /// What push notifications need, where there are any.
    pub push: Option<Push>,
}

/// The agents, by id.
type Agents = BTreeMap<AgentId, Arc<Agent>>;

pub(crate) struct Core {
    pub(crate) ports: Ports,
    /// A table that never changes and is replaced as a whole. Whoever reads takes the table of that moment
    /// without a lock, so a change of the agents keeps no message waiting, and none sees half of it.
    agents: ArcSwap<Agents>,
    pub(crate) limits: Limits,
    draining: AtomicBool,
    claims: claims::Claims,
    /// `None` where owners are not limited.
    shares: Option<shares::Shares>,
}

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub struct Service(Arc<Core>);

impl Service {
    /// The use cases for `agents` over `ports`.
    #[must_use]
    pub fn new(ports: Ports, agents: impl IntoIterator<Item = Arc<Agent>>, limits: Limits) -> Self {
        let shares = limits.owner_tasks.map(shares::Shares::new);
        Self(Arc::new(Core {
            shares,
            ports,
            agents: ArcSwap::from_pointee(by_id(agents)),
            limits,
            draining: AtomicBool::new(false),
            claims: claims::Claims::default(),
        }))
    }

    /// The agents as they are now, by id.
    pub fn agents(&self) -> impl Iterator<Item = Arc<Agent>> {
        self.0.agents().into_iter()
    }

    /// One agent, published or not.
    #[must_use]
    pub fn agent(&self, id: &AgentId) -> Option<Arc<Agent>> {
        self.0.agents.load().get(id).cloned()
    }

    /// From now on these are the agents. Runs under way go on with the agent that they began with.
    pub fn set_agents(&self, agents: impl IntoIterator<Item = Arc<Agent>>) {
        self.0.agents.store(Arc::new(by_id(agents)));
    }

    /// From now on messages are refused; tasks can still be read, watched and canceled.
    pub fn drain(&self) {
        self.0.draining.store(true, Ordering::SeqCst);
    }

    /// Whether messages are refused because the server is shutting down.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.draining.load(Ordering::SeqCst)
    }
}

fn by_id(agents: impl IntoIterator<Item = Arc<Agent>>) -> Agents {
    agents.into_iter().map(|agent| (agent.id.clone(), agent)).collect()
}

impl Core {
    /// The agent of a scope, for a message. A scope is made from the route of a published agent, so one that
    /// is not there, or not published, was withdrawn while the message was on its way.
    fn agent(&self, scope: &Scope) -> Result<Arc<Agent>, Error> {
        let agents = self.agents.load();
        let agent = agents.get(scope.agent()).filter(|agent| agent.is_published());
        agent.cloned().ok_or(Error::Unavailable(Busy::Withdrawn))
    }

    /// The agents as they are now.
    fn agents(&self) -> Vec<Arc<Agent>> {
        self.agents.load().values().cloned().collect()
    }

    /// Logs what went wrong and gives the caller an id to find it by.
    pub(crate) fn internal(
        &self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Error {
        let (reference, source) = (self.ports.ids.uuid(), source.into());
        tracing::error!(%reference, error = %causes(&*source), "internal error");
        Error::Internal { reference, source }
    }

    /// What a failing store means to the caller. `id` is the task's id as the caller wrote it.
    fn store_error(&self, error: StoreError, id: &str) -> Error {
        match error {
            StoreError::NotFound => Error::TaskNotFound { id: id.into() },
            StoreError::Full => Error::Unavailable(Busy::Store),
            StoreError::Exists | StoreError::Conflict { .. } | StoreError::Unavailable(_) => {
                self.internal(error)
            }
        }
    }

    /// The key of a task that a client named.
    fn key(scope: &Scope, id: &str) -> Result<TaskKey, Error> {
        let not_found = || Error::TaskNotFound { id: id.into() };
        let id = TaskId::parse(id).ok_or_else(not_found)?;
        Ok(TaskKey { scope: scope.clone(), id })
    }
}

/// Where a re-attaching client has got to: the id of the last event it saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The version that the event carried.
    pub seen: Version,
    /// Whether the stream must open with a snapshot all the same, as the 1.0 line demands.
    pub snapshot: bool,
}
