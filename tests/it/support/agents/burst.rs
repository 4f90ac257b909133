//! An executor that writes as fast as it can.

use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Turn};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{ArtifactId, Parts};
use async_trait::async_trait;

/// Writes one artifact in many pieces without a pause. Each begins with its number, so that a missing or
/// misplaced one shows.
pub(crate) struct Burst {
    pub(crate) pieces: usize,
    /// The length of a piece, in bytes.
    pub(crate) length: usize,
}

impl Burst {
    /// The whole artifact.
    pub(crate) fn whole(&self) -> String {
        (0..self.pieces).map(|index| self.piece(index)).collect()
    }

    fn piece(&self, index: usize) -> String {
        format!("{:.<width$}", format!("{index}|"), width = self.length)
    }
}

#[async_trait]
impl AgentExecutor for Burst {
    async fn run(&self, _turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        out.working(None).await?;
        let id = ArtifactId::new("out-1").map_err(AgentError::failed)?;
        for index in 0..self.pieces {
            let last = index + 1 == self.pieces;
            out.chunk(&id, Parts::text(self.piece(index)), last).await?;
            // Nothing that is stored in memory makes a run wait, and the others want to run as well.
            tokio::task::yield_now().await;
        }
        Ok(Outcome::Completed(None))
    }
}
