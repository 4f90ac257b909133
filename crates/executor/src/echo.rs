//! The echo agent: what comes in is the artifact, text first, and the agent's reply.

use crate::cancel::unless_canceled;
use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Turn};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{ArtifactId, Content, Parts};
use async_trait::async_trait;
use std::time::Duration;

/// The id of the artifact that the built-in agents write.
pub(crate) const ARTIFACT: &str = "out-1";

pub(crate) fn artifact_id() -> Result<ArtifactId, AgentError> {
    ArtifactId::new(ARTIFACT).map_err(AgentError::failed)
}

/// Gives back what it gets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo {
    pace: Duration,
}

impl Echo {
    /// An echo that takes `pace` for each MiB of text, so that a run can be made to last.
    #[must_use]
    pub fn new(pace: Duration) -> Self {
        Self { pace }
    }
}

#[async_trait]
impl AgentExecutor for Echo {
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let parts = text_first(&turn.request.message.parts);
        if !self.pace.is_zero() {
            out.working(None).await?;
            let mebibytes = parts.weight() as f64 / f64::from(1 << 20);
            let time = tokio::time::sleep(self.pace.mul_f64(mebibytes));
            let paced = async {
                time.await;
                Ok::<_, AgentError>(())
            };
            unless_canceled(&turn.cancel, paced).await?;
        }
        out.result(artifact_id()?, parts.clone())?;
        Ok(Outcome::Completed(Some(parts)))
    }
}

/// The same parts with the texts in front. They are shared, not copied, where the order is right already.
pub(crate) fn text_first(parts: &Parts) -> Parts {
    let is_text = |part: &a2ad_domain::Part| matches!(part.content, Content::Text(_));
    if parts.as_slice().is_sorted_by_key(|part| !is_text(part)) {
        return parts.clone();
    }
    let (mut first, rest): (Vec<_>, Vec<_>) = parts.as_slice().iter().cloned().partition(is_text);
    first.extend(rest);
    Parts::new(first).unwrap_or_else(|| parts.clone())
}
