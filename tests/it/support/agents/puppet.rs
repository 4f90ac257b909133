//! An executor on strings: every run is handed to the test, which tells it what to do next.

use super::soon;
use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Stopped, Turn};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{ArtifactId, ArtifactUpdate, CancelSignal, Content, Parts};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// The executor. Its runs come out at its [`Stage`].
pub(crate) struct Puppet {
    runs: mpsc::UnboundedSender<PuppetRun>,
    /// Whether it goes on although its task is over.
    stubborn: bool,
}

/// Where the runs of a puppet come out.
pub(crate) struct Stage(mpsc::UnboundedReceiver<PuppetRun>);

/// One run in the hands of the test. When it is let go of, the run does nothing any more until it is
/// stopped.
pub(crate) struct PuppetRun {
    /// The task's id.
    pub(crate) task: String,
    orders: mpsc::UnboundedSender<(Order, oneshot::Sender<Done>)>,
    cancel: CancelSignal,
    /// Closed when the run's future has returned or was dropped.
    alive: watch::Receiver<()>,
}

type Done = Result<Vec<String>, Stopped>;

enum Order {
    Working(Option<Parts>),
    NeedAuth(Parts),
    Update(ArtifactUpdate),
    Chunk(ArtifactId, Parts, bool),
    Inbox,
    End(Ending),
}

enum Ending {
    Outcome(Outcome),
    Error(String),
    /// Claims that it was stopped.
    Stopped,
    Panic,
}

impl Puppet {
    /// A puppet that ends when its task is over.
    pub(crate) fn new() -> (Arc<Self>, Stage) {
        Self::made(false)
    }

    /// A puppet that takes no notice of a cancel.
    pub(crate) fn stubborn() -> (Arc<Self>, Stage) {
        Self::made(true)
    }

    fn made(stubborn: bool) -> (Arc<Self>, Stage) {
        let (runs, stage) = mpsc::unbounded_channel();
        (Arc::new(Self { runs, stubborn }), Stage(stage))
    }
}

impl Stage {
    /// The next run.
    pub(crate) async fn next(&mut self) -> PuppetRun {
        soon("the start of a run", self.0.recv()).await.expect("the agent is there")
    }

    /// The next run, if one has started.
    pub(crate) fn try_next(&mut self) -> Option<PuppetRun> {
        self.0.try_recv().ok()
    }
}

/// The artifact that a run writes unless told otherwise, as the built-in agents do.
fn out() -> ArtifactId {
    ArtifactId::new("out-1").expect("an artifact id")
}

impl PuppetRun {
    async fn order(&self, order: Order) -> Done {
        let (done, told) = oneshot::channel();
        if self.orders.send((order, done)).is_err() {
            return Err(Stopped);
        }
        soon("an order", told).await.unwrap_or(Err(Stopped))
    }

    async fn does(&self, order: Order) -> Result<(), Stopped> {
        self.order(order).await.map(|_| ())
    }

    pub(crate) async fn working(&self) -> Result<(), Stopped> {
        self.does(Order::Working(None)).await
    }

    pub(crate) async fn progress(&self, text: &str) -> Result<(), Stopped> {
        self.does(Order::Working(Some(Parts::text(text)))).await
    }

    pub(crate) async fn need_auth(&self, text: &str) -> Result<(), Stopped> {
        self.does(Order::NeedAuth(Parts::text(text))).await
    }

    pub(crate) async fn chunk(&self, text: &str, last: bool) -> Result<(), Stopped> {
        self.does(Order::Chunk(out(), Parts::text(text), last)).await
    }

    /// Writes a piece as it is.
    pub(crate) async fn update(&self, update: ArtifactUpdate) -> Result<(), Stopped> {
        self.does(Order::Update(update)).await
    }

    /// Writes a whole artifact.
    pub(crate) async fn artifact(&self, text: &str) -> Result<(), Stopped> {
        let (id, parts) = (out(), Parts::text(text));
        self.update(ArtifactUpdate { id, parts, append: false, last: true, details: None }).await
    }

    /// What the client has said meanwhile.
    pub(crate) async fn inbox(&self) -> Result<Vec<String>, Stopped> {
        self.order(Order::Inbox).await
    }

    async fn end(mut self, ending: Ending) {
        let (done, _) = oneshot::channel();
        let _ = self.orders.send((Order::End(ending), done));
        self.gone().await;
    }

    pub(crate) async fn complete(self) {
        self.end(Ending::Outcome(Outcome::Completed(None))).await;
    }

    pub(crate) async fn complete_with(self, text: &str) {
        self.end(Ending::Outcome(Outcome::Completed(Some(Parts::text(text))))).await;
    }

    pub(crate) async fn ask(self, text: &str) {
        self.end(Ending::Outcome(Outcome::InputRequired(Parts::text(text)))).await;
    }

    /// Ends and waits for credentials.
    pub(crate) async fn wait_for_auth(self, text: &str) {
        self.end(Ending::Outcome(Outcome::AuthRequired(Parts::text(text)))).await;
    }

    pub(crate) async fn fail(self, secret: &str) {
        self.end(Ending::Error(secret.to_owned())).await;
    }

    pub(crate) async fn claim_to_be_stopped(self) {
        self.end(Ending::Stopped).await;
    }

    pub(crate) async fn panic(self) {
        self.end(Ending::Panic).await;
    }

    /// Waits until the run was told that its task is over.
    pub(crate) async fn canceled(&self) {
        soon("the signal that the task is over", self.cancel.raised()).await;
    }

    /// Waits until the run's future has returned or was dropped.
    pub(crate) async fn gone(&mut self) {
        let _ = soon("the end of a run", self.alive.changed()).await;
    }
}

#[async_trait]
impl AgentExecutor for Puppet {
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let (orders, mut ordered) = mpsc::unbounded_channel();
        let (_living, alive) = watch::channel(());
        let run = PuppetRun {
            task: turn.task.key().id.to_string(),
            orders,
            cancel: turn.cancel.clone(),
            alive,
        };
        let _ = self.runs.send(run);
        loop {
            let (order, told) = tokio::select! {
                biased;
                () = turn.cancel.raised(), if !self.stubborn => return Err(Stopped.into()),
                order = ordered.recv() => match order {
                    Some(order) => order,
                    // The test has let go.
                    None => std::future::pending().await,
                },
            };
            let done = match order {
                Order::Working(text) => out.working(text).await.map(|()| Vec::new()),
                Order::NeedAuth(text) => out.auth_required(text).await.map(|()| Vec::new()),
                Order::Update(update) => out.update(update).await.map(|()| Vec::new()),
                Order::Chunk(id, parts, last) => {
                    out.chunk(&id, parts, last).await.map(|()| Vec::new())
                }
                Order::Inbox => out
                    .inbox()
                    .await
                    .map(|messages| messages.iter().map(|message| text(&message.parts)).collect()),
                Order::End(Ending::Outcome(outcome)) => return Ok(outcome),
                Order::End(Ending::Error(text)) => return Err(AgentError::failed(text)),
                Order::End(Ending::Stopped) => return Err(Stopped.into()),
                Order::End(Ending::Panic) => panic!("told to panic"),
            };
            let stopped = done.is_err();
            let _ = told.send(done);
            if stopped && !self.stubborn {
                return Err(Stopped.into());
            }
        }
    }
}

fn text(parts: &Parts) -> String {
    let texts = parts.as_slice().iter().map(|part| match &part.content {
        Content::Text(text) => text.to_string(),
        Content::Bytes(_) | Content::Url(_) | Content::Data(_) => String::new(),
    });
    texts.collect()
}
