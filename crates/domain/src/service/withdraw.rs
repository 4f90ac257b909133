//! An agent is withdrawn: it takes no messages any more, and its tasks go on to their end or are canceled.

use super::Service;
use super::end::Ended;
use crate::agent::{Agent, Unfinished};
use crate::error::Error;
use crate::ports::{StoreError, Survey};

/// How many tasks are looked at in one go.
const BATCH: usize = 256;

impl Service {
    /// Withdraws an agent and says how many tasks that has canceled. A task that is opened meanwhile by a
    /// message which had passed before is ended as well (`begin.rs`).
    ///
    /// # Errors
    /// When the store fails. The agent is withdrawn all the same, and some of its tasks may be canceled.
    pub async fn withdraw(&self, agent: &Agent, tasks: Unfinished) -> Result<usize, Error> {
        agent.withdraw(tasks);
        match tasks {
            Unfinished::Drain => Ok(0),
            Unfinished::Cancel => self.cancel_all(agent).await,
        }
    }

    async fn cancel_all(&self, agent: &Agent) -> Result<usize, Error> {
        let core = &self.0;
        let stored = |error| core.store_error(error, "");
        let mut survey =
            Survey { agent: Some(agent.id.clone()), live: true, limit: BATCH, ..Survey::default() };
        let mut canceled = 0;
        loop {
            let tasks = core.ports.store.survey(&survey).await.map_err(stored)?;
            for task in &tasks {
                match core.cancel_key(&task.key).await {
                    Ok(Ended::Now(_)) => canceled += 1,
                    Ok(Ended::Before(_)) | Err(StoreError::NotFound) => {}
                    Err(error) => return Err(stored(error)),
                }
            }
            survey.after = tasks.last().map(|last| last.key.id);
            if tasks.len() < BATCH {
                return Ok(canceled);
            }
        }
    }
}
