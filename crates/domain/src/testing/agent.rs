//! An executor that does what a test tells it.

use super::lock;
use super::sample::artifact_id;
use crate::change::ArtifactUpdate;
use crate::content::{Message, Parts};
use crate::ports::{Acceptance, AgentError, AgentExecutor, Outcome, Rejection, Request, Turn};
use crate::service::TaskWriter;
use crate::signal::CancelSignal;
use async_trait::async_trait;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// One thing that a run does.
#[derive(Clone, Debug)]
pub enum Step {
    /// Say that work goes on, perhaps with a text.
    Working(Option<&'static str>),
    /// Report that credentials are needed, and go on.
    NeedAuth(&'static str),
    /// Write a whole artifact of this id.
    Artifact(&'static str, String),
    /// Note a whole artifact of this id for the end.
    Result(&'static str, String),
    /// Write the next piece of an artifact of this id.
    Chunk(&'static str, String),
    /// Write a piece as it is.
    Update(ArtifactUpdate),
    /// Start to write and give up after so many polls, as an executor with a time limit of its own does.
    AbandonedChunk(usize, &'static str, String),
    /// Read the client's messages that came meanwhile.
    Inbox,
    /// Wait until the test raises this.
    Wait(CancelSignal),
    /// Raise this, for a test that waits.
    Tell(CancelSignal),
    /// Wait until the task is over.
    UntilCanceled,
    /// Never go on.
    Forever,
    /// Panic.
    Panic(&'static str),
    /// End with an outcome.
    End(Outcome),
    /// End with an error.
    Fail(&'static str),
}

impl Step {
    /// Ends as completed, with a reply.
    #[must_use]
    pub fn complete(text: &str) -> Self {
        Self::End(Outcome::Completed(Some(Parts::text(text))))
    }

    /// Ends with a question.
    #[must_use]
    pub fn ask(text: &str) -> Self {
        Self::End(Outcome::InputRequired(Parts::text(text)))
    }
}

/// Follows a script for each run; the last script serves all further runs. A script that comes to its end
/// completes the task without a reply.
pub struct ScriptedAgent {
    scripts: Mutex<VecDeque<Vec<Step>>>,
    acceptance: Mutex<Result<Acceptance, Rejection>>,
    asked: Mutex<Vec<Request>>,
    turns: Mutex<Vec<Turn>>,
    inbox: Mutex<Vec<Arc<Message>>>,
}

impl ScriptedAgent {
    /// Follows one script, again and again.
    #[must_use]
    pub fn new(script: impl IntoIterator<Item = Step>) -> Arc<Self> {
        Self::runs([script.into_iter().collect()])
    }

    /// Follows one script after the other.
    #[must_use]
    pub fn runs(scripts: impl IntoIterator<Item = Vec<Step>>) -> Arc<Self> {
        Arc::new(Self {
            scripts: Mutex::new(scripts.into_iter().collect()),
            acceptance: Mutex::new(Ok(Acceptance::Task)),
            asked: Mutex::default(),
            turns: Mutex::default(),
            inbox: Mutex::default(),
        })
    }

    /// How first messages are taken from now on.
    pub fn accepts(&self, acceptance: Result<Acceptance, Rejection>) {
        *lock(&self.acceptance) = acceptance;
    }

    /// The messages that it was asked to take.
    #[must_use]
    pub fn asked(&self) -> Vec<Request> {
        lock(&self.asked).clone()
    }

    /// The runs that have begun.
    #[must_use]
    pub fn turns(&self) -> Vec<Turn> {
        lock(&self.turns).clone()
    }

    /// What it found in its inbox.
    #[must_use]
    pub fn inbox(&self) -> Vec<Arc<Message>> {
        lock(&self.inbox).clone()
    }

    fn script(&self) -> Vec<Step> {
        let mut scripts = lock(&self.scripts);
        if scripts.len() > 1 {
            return scripts.pop_front().unwrap_or_default();
        }
        scripts.front().cloned().unwrap_or_default()
    }
}

#[async_trait]
impl AgentExecutor for ScriptedAgent {
    async fn accept(&self, request: &Request) -> Result<Acceptance, Rejection> {
        lock(&self.asked).push(request.clone());
        lock(&self.acceptance).clone()
    }

    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let cancel = turn.cancel.clone();
        lock(&self.turns).push(turn);
        for step in self.script() {
            match step {
                Step::Working(text) => out.working(text.map(Parts::text)).await?,
                Step::NeedAuth(what) => out.auth_required(Parts::text(what)).await?,
                Step::Artifact(id, text) => {
                    out.artifact(artifact_id(id), Parts::text(text)).await?;
                }
                Step::Result(id, text) => out.result(artifact_id(id), Parts::text(text))?,
                Step::Chunk(id, text) => {
                    out.chunk(&artifact_id(id), Parts::text(text), false).await?;
                }
                Step::Update(update) => out.update(update).await?,
                Step::AbandonedChunk(polls, id, text) => {
                    let id = artifact_id(id);
                    abandon(polls, out.chunk(&id, Parts::text(text), false)).await;
                }
                Step::Inbox => {
                    let new = out.inbox().await?;
                    lock(&self.inbox).extend(new);
                }
                Step::Wait(signal) => signal.raised().await,
                Step::Tell(signal) => signal.raise(),
                Step::UntilCanceled => cancel.raised().await,
                Step::Forever => std::future::pending().await,
                Step::Panic(text) => panic!("{text}"),
                Step::End(outcome) => return Ok(outcome),
                Step::Fail(why) => return Err(AgentError::failed(why)),
            }
        }
        Ok(Outcome::Completed(None))
    }
}

/// Polls so many times and drops.
async fn abandon<T>(polls: usize, work: impl Future<Output = T>) {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|context| {
        for _ in 0..polls {
            assert!(work.as_mut().poll(context).is_pending(), "there was nothing to give up");
        }
        std::task::Poll::Ready(())
    })
    .await;
}
