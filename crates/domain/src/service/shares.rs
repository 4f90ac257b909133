//! How many live tasks each owner may have, where that is limited: so that one of many cannot take the whole
//! store. Kept beside the store and not in it, so that a send costs one look into a map.

use super::{Core, Service};
use crate::error::{Busy, Error};
use crate::ids::{IdMap, Owner, TaskId, TaskKey};
use crate::ports::StoreError;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// More than are alive in any store.
const ALL: usize = 1_000_000;

/// The live tasks of each owner. Ids instead of a number: a task that is told twice counts once, and what was
/// not told can be found.
pub(crate) struct Shares {
    most: usize,
    live: Mutex<HashMap<Owner, IdMap<TaskId, TaskKey>>>,
}

impl Shares {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, live: Mutex::default() }
    }

    /// Counts a task that is about to be opened, if its owner may have one more.
    pub(super) fn open(&self, key: &TaskKey) -> Result<(), Error> {
        let mut live = self.lock();
        let own = live.entry(key.scope.owner().clone()).or_default();
        if own.len() >= self.most {
            return Err(Error::Unavailable(Busy::Tasks));
        }
        own.insert(key.id, key.clone());
        Ok(())
    }

    /// Counts a task that was there before, whatever its owner may have now.
    pub(super) fn adopt(&self, key: &TaskKey) {
        self.lock().entry(key.scope.owner().clone()).or_default().insert(key.id, key.clone());
    }

    /// A task has ended, or there is none after all.
    pub(super) fn close(&self, key: &TaskKey) {
        let mut live = self.lock();
        if let Some(own) = live.get_mut(key.scope.owner()) {
            own.remove(&key.id);
            if own.is_empty() {
                live.remove(key.scope.owner());
            }
        }
    }

    /// The tasks of owners who may have no more.
    fn of_the_full(&self) -> Vec<TaskKey> {
        let live = self.lock();
        let full = live.values().filter(|own| own.len() >= self.most);
        full.flat_map(IdMap::values).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, IdMap<TaskId, TaskKey>>> {
        // Nothing panics while the lock is held.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    /// Counts a task that is about to be opened.
    pub(super) fn share(&self, key: &TaskKey) -> Result<(), Error> {
        self.shares.as_ref().map_or(Ok(()), |shares| shares.open(key))
    }

    /// Gives back the share of a task.
    pub(super) fn unshare(&self, key: &TaskKey) {
        if let Some(shares) = &self.shares {
            shares.close(key);
        }
    }
}

impl Service {
    /// Counts the tasks that wait for their clients since before the server started.
    pub(super) async fn adopt_waiting(&self) -> Result<(), Error> {
        let core = &self.0;
        let Some(shares) = &core.shares else { return Ok(()) };
        let soon = core.ports.clock.now().after(Duration::from_secs(3600));
        for agent in core.agents() {
            let waiting = core.ports.store.waiting_since(&agent.id, soon, ALL).await;
            for key in waiting.map_err(|error| core.store_error(error, ""))? {
                shares.adopt(&key);
            }
        }
        Ok(())
    }

    /// Looks for tasks that have ended without a word, as when a store has failed after it had committed.
    /// Only owners who are at their limit would notice, so only their tasks are looked at.
    pub(super) async fn mend_shares(&self) {
        let core = &self.0;
        let Some(shares) = &core.shares else { return };
        for key in shares.of_the_full() {
            match core.ports.store.load(&key).await {
                Ok(task) if !task.state().is_terminal() => {}
                Ok(_) | Err(StoreError::NotFound) => shares.close(&key),
                Err(_) => {}
            }
        }
    }
}
