//! Whoever is not the run and wants to write, a cancel above all, must not lose to a run that writes faster
//! than a task can be read: it claims the task, and the run's next write waits until it has had its turn.

use super::Core;
use crate::ids::TaskKey;
use crate::signal::CancelSignal;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tasks that are claimed. A claim is held for as long as it takes to read a task and to write it once
/// or twice, and goes with the call that made it, whatever becomes of that.
#[derive(Default)]
pub(super) struct Claims {
    /// How many claims there are. Nearly always none, and then a write costs one look at this. A write that
    /// looks just before a claim is made is one more conflict, and the next one waits.
    held: AtomicUsize,
    claimed: Mutex<HashMap<TaskKey, Claimed>>,
}

#[derive(Default)]
struct Claimed {
    by: usize,
    released: CancelSignal,
}

impl Claims {
    fn claimed(&self) -> MutexGuard<'_, HashMap<TaskKey, Claimed>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A claim; released when it is dropped.
pub(super) struct Claim<'c> {
    core: &'c Core,
    key: TaskKey,
}

impl Core {
    /// Claims a task after a conflict.
    pub(super) fn claim(&self, key: &TaskKey) -> Claim<'_> {
        self.claims.held.fetch_add(1, Ordering::SeqCst);
        self.claims.claimed().entry(key.clone()).or_default().by += 1;
        Claim { core: self, key: key.clone() }
    }

    /// Waits until nobody claims the task.
    pub(super) async fn give_way(&self, key: &TaskKey) {
        while self.claims.held.load(Ordering::SeqCst) > 0 {
            let released = self.claims.claimed().get(key).map(|claim| claim.released.clone());
            match released {
                Some(released) => released.raised().await,
                None => return,
            }
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let claims = &self.core.claims;
        let mut claimed = claims.claimed();
        if let Some(claim) = claimed.get_mut(&self.key) {
            claim.by -= 1;
            if claim.by == 0
                && let Some(claim) = claimed.remove(&self.key)
            {
                claim.released.raise();
            }
        }
        drop(claimed);
        claims.held.fetch_sub(1, Ordering::SeqCst);
    }
}
