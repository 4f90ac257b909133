//! Who sees to it that webhooks are told: one worker for each webhook that may still be told something.
//!
//! A worker tells its webhook one thing after the other, which is what keeps them in order, and sleeps until
//! its task has changed. Nothing waits for a worker but the end of the server; a run and its readers only
//! ring a bell. What a worker has to do stands in the store, so one that is lost loses nothing: the next
//! start, or the next look around, finds what is due.

use a2ad_domain::ports::{Bell, EventBus, Interest, StoreError, Subscription};
use a2ad_domain::service::{Outbox, Standing};
use a2ad_domain::{CancelSignal, IdMap, Recorded, Task, TaskId, TaskKey, WebhookName, causes};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Tells webhooks. Cheap to clone.
#[derive(Clone)]
pub struct Courier(Arc<Office>);

struct Office {
    outbox: Outbox,
    /// Raised when the server is about to end.
    closing: CancelSignal,
    /// A short lock: nobody waits while it is held. A bell that was rung stays rung until its worker looks,
    /// so a worker that looks for changes before it sleeps misses none that come in between.
    rounds: Mutex<Rounds>,
    /// How many tasks have workers, so that the changes of a server without webhooks cost no lock.
    tasks: AtomicUsize,
}

#[derive(Default)]
struct Rounds {
    /// The bells of a task's workers, by the numbers of their webhooks.
    bells: IdMap<TaskId, HashMap<i64, Arc<Notify>>>,
    workers: JoinSet<()>,
    closed: bool,
}

impl Courier {
    /// Nobody works yet.
    #[must_use]
    pub fn new(outbox: Outbox) -> Self {
        Self(Arc::new(Office {
            outbox,
            closing: CancelSignal::new(),
            rounds: Mutex::default(),
            tasks: AtomicUsize::new(0),
        }))
    }

    /// Begins with every webhook that may still be told something.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn start(&self) -> Result<(), StoreError> {
        let open = self.0.outbox.webhooks.open().await?;
        open.into_iter().for_each(|webhook| self.follow(webhook));
        Ok(())
    }

    /// Looks for what is due and nobody works on: after the store has failed, or when an operator has asked
    /// for something to be told after all.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn look_around(&self) -> Result<(), StoreError> {
        let due = self.0.outbox.webhooks.due().await?;
        due.into_iter().for_each(|webhook| self.follow(webhook));
        Ok(())
    }

    /// Lets workers finish what needs no waiting, within a time, and ends them. What is left is due at the
    /// next start, if the store still has it then.
    pub async fn close(&self, limit: Duration) {
        let mut workers = {
            let mut rounds = self.rounds();
            rounds.closed = true;
            std::mem::take(&mut rounds.workers)
        };
        self.0.closing.raise();
        let all_done = async { while workers.join_next().await.is_some() {} };
        let _ = timeout(limit, all_done).await;
        workers.shutdown().await;
    }

    /// How many webhooks are followed.
    #[must_use]
    pub fn followed(&self) -> usize {
        self.rounds().bells.values().map(HashMap::len).sum()
    }

    /// The bus that rings for the changes it carries.
    #[must_use]
    pub fn listening(&self, bus: Arc<dyn EventBus>) -> Arc<dyn EventBus> {
        Arc::new(Listening { bus, courier: self.clone() })
    }

    fn rounds(&self) -> MutexGuard<'_, Rounds> {
        self.0.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rings for the workers of a task.
    fn ring(&self, task: &TaskKey) {
        if self.0.tasks.load(Ordering::Acquire) == 0 {
            return;
        }
        if let Some(bells) = self.rounds().bells.get(&task.id) {
            bells.values().for_each(|bell| bell.notify_one());
        }
    }

    /// Makes sure that somebody works for a webhook, and looks now.
    fn follow(&self, webhook: WebhookName) {
        let mut rounds = self.rounds();
        if rounds.closed {
            return;
        }
        while rounds.workers.try_join_next().is_some() {}
        let bells = rounds.bells.entry(webhook.task.id).or_default();
        if let Some(bell) = bells.get(&webhook.number) {
            bell.notify_one();
            return;
        }
        let bell = Arc::new(Notify::new());
        bells.insert(webhook.number, bell.clone());
        self.0.tasks.store(rounds.bells.len(), Ordering::Release);
        let worker = self.clone().work(webhook, bell);
        rounds.workers.spawn(worker);
    }

    /// A worker.
    async fn work(self, webhook: WebhookName, bell: Arc<Notify>) {
        let _leaves = Leaves { courier: &self, webhook: &webhook };
        let Office { outbox, closing, .. } = &*self.0;
        loop {
            // Boxed, so that a worker that sleeps is small.
            match Box::pin(outbox.tell(&webhook, closing)).await {
                Ok(Standing::Waits) => {}
                Ok(Standing::Over | Standing::PutOff) => return,
                // The next change or the next look around tries again.
                Err(error) => {
                    tracing::warn!(
                        error = %causes(&error),
                        "a webhook cannot be told for the store"
                    );
                }
            }
            tokio::select! {
                biased;
                () = bell.notified() => {}
                () = closing.raised() => return,
            }
        }
    }
}

/// Takes a worker's bell away when it ends, however it ends.
struct Leaves<'w> {
    courier: &'w Courier,
    webhook: &'w WebhookName,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        let mut rounds = self.courier.rounds();
        if let Some(bells) = rounds.bells.get_mut(&self.webhook.task.id) {
            bells.remove(&self.webhook.number);
            if bells.is_empty() {
                rounds.bells.remove(&self.webhook.task.id);
            }
        }
        self.courier.0.tasks.store(rounds.bells.len(), Ordering::Release);
    }
}

impl Bell for Courier {
    fn set(&self, webhook: WebhookName) {
        self.follow(webhook);
    }
}

/// A bus whose changes ring.
struct Listening {
    bus: Arc<dyn EventBus>,
    courier: Courier,
}

impl EventBus for Listening {
    fn publish(&self, key: &TaskKey, changes: &[Recorded], task: &Arc<Task>) {
        self.bus.publish(key, changes, task);
        self.courier.ring(key);
    }

    fn close(&self, key: &TaskKey) {
        self.bus.close(key);
    }

    fn subscribe(&self, key: &TaskKey, interest: Interest) -> Box<dyn Subscription> {
        self.bus.subscribe(key, interest)
    }
}
