//! Housekeeping: tasks that have waited too long for their client fail, and ended tasks are removed when
//! their time is up. Deadlines of runs are kept by the spawner.

use super::Service;
use super::commit::NotCommitted;
use super::run::Failure;
use crate::error::Error;
use crate::ports::StoreError;
use crate::state::Phase;
use crate::task::Task;
use crate::time::Timestamp;
use std::sync::Arc;

/// How many waiting tasks of an agent are looked at in one go.
const BATCH: usize = 256;

/// What a sweep has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Tasks that failed because nobody answered them.
    pub failed: usize,
    /// Ended tasks that were removed.
    pub removed: usize,
}

impl Service {
    /// One round of housekeeping, to be called every now and then.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn sweep(&self) -> Result<Swept, Error> {
        let core = &self.0;
        let stored = |error| core.store_error(error, "");
        let now = core.ports.clock.now();
        let mut swept = Swept::default();
        for agent in core.agents() {
            let idle = agent.settings.idle.unwrap_or(core.limits.idle);
            let since = now.before(idle);
            let store = &core.ports.store;
            for key in store.waiting_since(&agent.id, since, BATCH).await.map_err(stored)? {
                let task = match store.load(&key).await {
                    Ok(task) => task,
                    Err(StoreError::NotFound) => continue,
                    Err(error) => return Err(stored(error)),
                };
                let still = task.state().phase() == Phase::Interrupted && !task.is_running();
                if still
                    && task.status_at() < since
                    && self.give_up(task, Failure::Unanswered(idle)).await?
                {
                    swept.failed += 1;
                }
            }
        }
        self.mend_shares().await;
        swept.failed += self.abandon_strays().await?;
        let kept_since = now.before(core.limits.retention);
        swept.removed = core.ports.store.purge_ended_before(kept_since).await.map_err(stored)?;
        Ok(swept)
    }

    /// Fails the tasks that wait for their client at an agent that is not there any more: nobody can answer
    /// them. What is at work there still goes on to its end. Says how many.
    async fn abandon_strays(&self) -> Result<usize, Error> {
        let store = &self.0.ports.store;
        let stored = |error| self.0.store_error(error, "");
        let known = self.0.agents.load_full();
        let mut failed = 0;
        for agent in store.agents().await.map_err(stored)? {
            if known.contains_key(&agent) {
                continue;
            }
            for key in store
                .waiting_since(&agent, Timestamp::from_millis(i64::MAX), BATCH)
                .await
                .map_err(stored)?
            {
                match store.load(&key).await {
                    Ok(task) if !task.is_running() => {
                        failed += usize::from(self.give_up(task, Failure::Removed).await?);
                    }
                    Ok(_) | Err(StoreError::NotFound) => {}
                    Err(error) => return Err(stored(error)),
                }
            }
        }
        Ok(failed)
    }

    /// Fails a task that nobody answered; says whether it did. If somebody just did something to it,
    /// it is not idle any more and is left alone.
    async fn give_up(&self, mut task: Arc<Task>, why: Failure) -> Result<bool, Error> {
        let failed = self.0.failed(why);
        match self.0.commit(&mut task, [failed]).await {
            Ok(()) => Ok(true),
            Err(NotCommitted::Conflict | NotCommitted::Refused(_) | NotCommitted::Gone) => {
                Ok(false)
            }
            Err(NotCommitted::Failed(error)) => Err(self.0.store_error(error, "")),
        }
    }
}
