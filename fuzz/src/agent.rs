//! An agent that does what the letters of a message say, so that an input reaches every state of a task without
//! ever taking long.

use a2ad_domain::ports::{
    Acceptance, AgentError, AgentExecutor, Outcome, Rejection, Request, Turn,
};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{ArtifactId, Parts, RawJson};
use async_trait::async_trait;
use std::future::pending;
use std::time::Duration;

/// How many letters are looked at.
const LETTERS: usize = 24;

/// Does a step for each letter.
pub(crate) struct Walker;

#[async_trait]
impl AgentExecutor for Walker {
    async fn accept(&self, request: &Request) -> Result<Acceptance, Rejection> {
        let text = request.text();
        match text.as_bytes().first() {
            Some(b'=') => Ok(Acceptance::Message(Parts::text(text))),
            Some(b'!') => Err(Rejection::Unsupported),
            Some(b'%') => Err(Rejection::ContentType),
            _ => Ok(Acceptance::Task),
        }
    }

    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let walked = self.walk(&turn, out);
        tokio::select! {
            biased;
            outcome = walked => outcome,
            () = turn.cancel.raised() => Err(a2ad_domain::ports::Stopped.into()),
        }
    }
}

impl Walker {
    async fn walk(&self, turn: &Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let text = turn.request.text();
        let parts = turn.request.message.parts.clone();
        let id = |name: &str| ArtifactId::new(name).map_err(AgentError::failed);
        for letter in text.bytes().take(LETTERS) {
            match letter {
                b'w' => out.working(Some(parts.clone())).await?,
                b'c' => out.chunk(&id("pieces")?, parts.clone(), false).await?,
                b'C' => out.chunk(&id("pieces")?, parts.clone(), true).await?,
                b'a' => out.artifact(id("whole")?, parts.clone()).await?,
                b'm' => out.metadata(RawJson::parse(r#"{"steps":1}"#).map_err(AgentError::failed)?),
                b'u' => out.auth_required(parts.clone()).await?,
                b's' => tokio::time::sleep(Duration::from_secs(2)).await,
                b'i' => return Ok(Outcome::InputRequired(parts)),
                b'A' => return Ok(Outcome::AuthRequired(parts)),
                b'r' => return Ok(Outcome::Rejected(parts)),
                b'f' => return Err(AgentError::failed("what only the log says")),
                b'h' => pending().await,
                _ => {}
            }
        }
        Ok(Outcome::Completed(Some(parts)))
    }
}
