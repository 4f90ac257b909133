//! Webhooks of tasks in memory.

use a2ad_domain::{PushConfig, PushConfigId, TaskKey, Version, Webhook};
use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The webhooks of one task, the first one first.
#[derive(Default)]
pub(crate) struct Webhooks(Vec<Webhook>);

impl Webhooks {
    /// Keeps a webhook; `false` when there are as many as there may be.
    pub(crate) fn set(
        &mut self,
        number: i64,
        config: &PushConfig,
        after: Version,
        most: usize,
    ) -> bool {
        if !self.has_room(config, most) {
            return false;
        }
        let old = self.0.iter().position(|known| known.config.id == config.id);
        let told = old.map_or(after, |old| self.0.remove(old).told);
        self.0.push(Webhook { number, config: config.clone(), told, again: Vec::new() });
        true
    }

    /// Whether a webhook can be kept without one too many.
    pub(crate) fn has_room(&self, config: &PushConfig, most: usize) -> bool {
        self.0.len() < most || self.0.iter().any(|known| known.config.id == config.id)
    }

    pub(crate) fn all(&self) -> &[Webhook] {
        &self.0
    }

    pub(crate) fn find(&self, number: i64) -> Option<&Webhook> {
        self.0.iter().find(|webhook| webhook.number == number)
    }

    pub(crate) fn delete(&mut self, id: &PushConfigId) {
        self.0.retain(|webhook| webhook.config.id != *id);
    }

    pub(crate) fn told(&mut self, number: i64, upto: Version) {
        if let Some(webhook) = self.0.iter_mut().find(|webhook| webhook.number == number) {
            webhook.told = webhook.told.max(upto);
        }
    }

    /// How many were not told everything up to a version.
    pub(crate) fn untold(&self, upto: Version) -> usize {
        self.0.iter().filter(|webhook| webhook.told < upto).count()
    }
}

/// Which tasks have webhooks, so that nobody has to look through all tasks for them. Nothing else is locked
/// while this is: what is looked at is taken out, and put back beside what has been added meanwhile.
#[derive(Default)]
pub(crate) struct Hooked {
    tasks: Mutex<HashSet<TaskKey>>,
    numbers: AtomicI64,
}

impl Hooked {
    /// A number that no webhook has had.
    pub(crate) fn number(&self) -> i64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn add(&self, task: &TaskKey) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).insert(task.clone());
    }

    /// Goes through all of them and forgets those for which `keep` is not true.
    pub(crate) fn retain(&self, keep: impl FnMut(&TaskKey) -> bool) {
        let lock = || self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = std::mem::take(&mut *lock());
        seen.retain(keep);
        let mut added = lock();
        seen.extend(added.drain());
        *added = seen;
    }
}
