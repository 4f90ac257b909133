//! The script agent behind a gate: a text that begins with `gate` is worked on when the test says so.

use super::soon;
use a2ad_domain::ports::{
    Acceptance, AgentError, AgentExecutor, Outcome, Rejection, Request, Stopped, Turn,
};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{Message, Parts};
use a2ad_executor::Script;
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// The executor. `gate …` works and waits at a gate, `auth-gate …` requires credentials and waits at a
/// gate; then, and for any other text, the rest is done as the script agent does it.
pub(crate) struct Gated(mpsc::UnboundedSender<Gate>);

/// A run that waits.
pub(crate) struct Gate {
    /// The task's id.
    pub(crate) task: String,
    open: oneshot::Sender<()>,
}

impl Gate {
    /// Lets the run go on; one that has ended meanwhile does not mind.
    pub(crate) fn open(self) {
        let _ = self.open.send(());
    }
}

/// Where runs that wait come out.
pub(crate) struct Gates(mpsc::UnboundedReceiver<Gate>);

impl Gates {
    /// The next run that waits. It has said that it works, or that it requires credentials.
    pub(crate) async fn next(&mut self) -> Gate {
        soon("a run that waits", self.0.recv()).await.expect("the agent is there")
    }
}

impl Gated {
    /// The executor and where its waiting runs come out. Several agents may share it.
    pub(crate) fn new() -> (Arc<Self>, Gates) {
        let (waiting, gates) = mpsc::unbounded_channel();
        (Arc::new(Self(waiting)), Gates(gates))
    }
}

#[async_trait]
impl AgentExecutor for Gated {
    async fn accept(&self, request: &Request) -> Result<Acceptance, Rejection> {
        Script.accept(request).await
    }

    async fn run(&self, mut turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let text = turn.request.text();
        let (rest, requires) = match (text.strip_prefix("gate "), text.strip_prefix("auth-gate ")) {
            (Some(rest), _) => (rest, false),
            (None, Some(rest)) => (rest, true),
            (None, None) => return Script.run(turn, out).await,
        };
        if requires {
            out.auth_required(Parts::text("papers")).await?;
        } else {
            out.working(None).await?;
        }
        let (open, opened) = oneshot::channel();
        let _ = self.0.send(Gate { task: turn.task.key().id.to_string(), open });
        tokio::select! {
            biased;
            () = turn.cancel.raised() => return Err(Stopped.into()),
            // A gate that the test has let go of stays shut.
            Ok(()) = opened => {}
        }
        let message = &turn.request.message;
        turn.request.message =
            Arc::new(Message::new(message.id.clone(), message.role, Parts::text(rest)));
        Script.run(turn, out).await
    }
}
