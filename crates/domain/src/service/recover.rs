//! After a crash: a task whose run has ended with its process must not stay at work for ever.

use super::Service;
use super::commit::NotCommitted;
use super::run::Failure;
use crate::error::Error;
use crate::ids::TaskKey;
use crate::ports::StoreError;

impl Service {
    /// Fails the tasks among `left` that nobody works on any more, and says how many. To be called before
    /// any message is taken: then every task that is at work was left by an earlier process. Tasks that
    /// wait for their client stay as they are.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recover(&self, left: impl IntoIterator<Item = TaskKey>) -> Result<usize, Error> {
        let core = &self.0;
        let stored = |error| core.store_error(error, "");
        let mut failed = 0;
        for key in left {
            let mut task = match core.ports.store.load(&key).await {
                Ok(task) => task,
                Err(StoreError::NotFound) => continue,
                Err(error) => return Err(stored(error)),
            };
            if !task.is_running() {
                continue;
            }
            match core.commit(&mut task, [core.failed(Failure::Lost)]).await {
                Ok(()) => failed += 1,
                Err(NotCommitted::Conflict | NotCommitted::Refused(_) | NotCommitted::Gone) => {}
                Err(NotCommitted::Failed(error)) => return Err(stored(error)),
            }
        }
        Ok(failed)
    }
}
