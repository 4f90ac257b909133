//! The port that teams implement: what does an agent's work.

use crate::content::{Content, Message, Parts};
use crate::ids::{ContextId, Scope, TaskId};
use crate::raw_json::RawJson;
use crate::service::TaskWriter;
use crate::signal::CancelSignal;
use crate::task::Task;
use async_trait::async_trait;
use std::sync::Arc;

/// What a client asks for with a message.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who asks whom.
    pub scope: Scope,
    /// The conversation.
    pub context: ContextId,
    /// The message.
    pub message: Arc<Message>,
    /// The task that the message continues; `None` when it opens one.
    pub task: Option<TaskId>,
    /// Other tasks that the message refers to and that the caller may see.
    pub references: Vec<TaskId>,
    /// Free-form members of the call; always an object.
    pub metadata: Option<RawJson>,
    /// The media types that the client takes; empty for any.
    pub accepted_output_modes: Vec<String>,
}

impl Request {
    /// All plain text of the message, one line per part.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.message.parts.as_slice().iter().filter_map(|part| match &part.content {
            Content::Text(text) => Some(&**text),
            Content::Bytes(_) | Content::Url(_) | Content::Data(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// How an agent takes a first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// A task is opened and run.
    Task,
    /// This is the answer; nothing is stored.
    Message(Parts),
}

/// Why an agent does not take a message. Nothing is stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// A field does not fit. Both texts reach the caller.
    #[error("{field}: {problem}")]
    Invalid {
        /// The path of the field.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The agent does not do this.
    #[error("the agent does not do this")]
    Unsupported,
    /// A media type does not fit.
    #[error("the media type does not fit")]
    ContentType,
}

/// One run: a message to work on.
#[derive(Clone, Debug)]
pub struct Turn {
    /// What the client asks for.
    pub request: Request,
    /// The task as it was when the run began; with the message in its history.
    pub task: Arc<Task>,
    /// Raised when the task is over before the run is. The executor may then clean up; when its grace
    /// period has passed, its future is dropped.
    pub cancel: CancelSignal,
}

impl Turn {
    /// Which attempt at this message this is: 1, unless the server ended while earlier ones were at work
    /// and the agent says [`OnCrash::Retry`](crate::OnCrash::Retry).
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.task.turn().attempt.get()
    }
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The task is completed; the message joins the history.
    Completed(Option<Parts>),
    /// The task waits for the client's next message.
    InputRequired(Parts),
    /// The task waits for credentials; the client's next message continues it.
    AuthRequired(Parts),
    /// The agent will not do it.
    Rejected(Parts),
}

/// The task takes no more changes: it has ended, or it can no longer be stored. An executor passes this
/// on with `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task takes no more changes")]
pub struct Stopped;

/// A run that went wrong. The text is for the log; the caller gets a general sentence and an id.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The task took no more changes.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The work failed.
    #[error("{0}")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The work failed, and the caller may know why. `reason` is a sentence of the executor's own making;
    /// what a program, a service or a library said goes into `source`.
    #[error("{reason}")]
    Explained {
        /// One sentence for the caller.
        reason: String,
        /// The cause, for the log.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl AgentError {
    /// A failure with a text or an error for the log.
    pub fn failed(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(why.into())
    }

    /// A failure with a sentence for the caller and a text or an error for the log.
    pub fn explained(
        reason: impl Into<String>,
        why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Explained { reason: reason.into(), source: why.into() }
    }
}

/// Does an agent's work. `testing::contract::executor` is the suite every implementation passes.
#[async_trait]
pub trait AgentExecutor: Send + Sync {
    /// Decides, quickly, how to take a message that opens a task. By default every message does.
    ///
    /// # Errors
    /// A [`Rejection`]; nothing is stored then.
    async fn accept(&self, _request: &Request) -> Result<Acceptance, Rejection> {
        Ok(Acceptance::Task)
    }

    /// Works on one message. Dropping the future must always be a safe stop.
    ///
    /// # Errors
    /// An [`AgentError`]; the task then fails.
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError>;
}
