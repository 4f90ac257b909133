//! A store in a file, for a clock that moves when everybody waits: whoever asks it stands still until it has
//! answered, since its threads are not among those that the clock knows of.

use a2ad_domain::ports::{
    Changes, Letter, Page, PushStore, Query, StoreError, Survey, TaskStore, TaskSummary,
};
use a2ad_domain::{
    AgentId, PushConfig, PushConfigId, Recorded, Scope, Task, TaskId, TaskKey, Timestamp, Version,
    Webhook, WebhookName,
};
use a2ad_store::SqliteStore;
use async_trait::async_trait;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// A folder that goes when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new one, in memory where the machine has a place for that.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let memory = PathBuf::from("/dev/shm");
        let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = place.join(format!("a2ad-fuzz-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Asking(Thread);

impl Wake for Asking {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for an answer of a store. The runtime must not take its turn away from it: nobody would give it back.
fn answer<T>(asked: impl Future<Output = T>) -> T {
    let mut asked = pin!(tokio::task::unconstrained(asked));
    let waker = Waker::from(Arc::new(Asking(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(answer) = asked.as_mut().poll(&mut context) {
            return answer;
        }
        std::thread::park();
    }
}

/// The store.
pub(crate) struct AtOnce(pub(crate) SqliteStore);

#[async_trait]
impl TaskStore for AtOnce {
    async fn insert(&self, task: &Arc<Task>) -> Result<(), StoreError> {
        answer(self.0.insert(task))
    }

    async fn append(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
    ) -> Result<(), StoreError> {
        answer(self.0.append(key, expected, changes, task))
    }

    async fn load(&self, key: &TaskKey) -> Result<Arc<Task>, StoreError> {
        answer(self.0.load(key))
    }

    async fn changes_after(
        &self,
        key: &TaskKey,
        after: Version,
        limit: usize,
    ) -> Result<Changes, StoreError> {
        answer(self.0.changes_after(key, after, limit))
    }

    async fn list(&self, scope: &Scope, query: &Query) -> Result<Page, StoreError> {
        answer(self.0.list(scope, query))
    }

    async fn waiting_since(
        &self,
        agent: &AgentId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskKey>, StoreError> {
        answer(self.0.waiting_since(agent, since, limit))
    }

    async fn survey(&self, survey: &Survey) -> Result<Vec<TaskSummary>, StoreError> {
        answer(self.0.survey(survey))
    }

    async fn find(&self, id: TaskId) -> Result<TaskKey, StoreError> {
        answer(self.0.find(id))
    }

    async fn agents(&self) -> Result<Vec<AgentId>, StoreError> {
        answer(self.0.agents())
    }

    async fn check(&self) -> Result<(), StoreError> {
        answer(self.0.check())
    }

    async fn purge_ended_before(&self, before: Timestamp) -> Result<usize, StoreError> {
        answer(self.0.purge_ended_before(before))
    }
}

#[async_trait]
impl PushStore for AtOnce {
    async fn set(
        &self,
        task: &TaskKey,
        config: &PushConfig,
        after: Option<Version>,
        most: usize,
    ) -> Result<bool, StoreError> {
        answer(self.0.set(task, config, after, most))
    }

    async fn insert_with(&self, task: &Arc<Task>, config: &PushConfig) -> Result<i64, StoreError> {
        answer(self.0.insert_with(task, config))
    }

    async fn append_with(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
        config: &PushConfig,
        most: usize,
    ) -> Result<Option<i64>, StoreError> {
        answer(self.0.append_with(key, expected, changes, task, config, most))
    }

    async fn webhooks(&self, task: &TaskKey) -> Result<Vec<Webhook>, StoreError> {
        answer(self.0.webhooks(task))
    }

    async fn delete(&self, task: &TaskKey, id: &PushConfigId) -> Result<(), StoreError> {
        answer(self.0.delete(task, id))
    }

    async fn webhook(&self, name: &WebhookName) -> Result<Option<Webhook>, StoreError> {
        answer(self.0.webhook(name))
    }

    async fn told(&self, name: &WebhookName, upto: Version) -> Result<(), StoreError> {
        answer(self.0.told(name, upto))
    }

    async fn give_up(&self, name: &WebhookName, letter: &Letter) -> Result<(), StoreError> {
        answer(self.0.give_up(name, letter))
    }

    async fn told_after_all(&self, name: &WebhookName, change: Version) -> Result<(), StoreError> {
        answer(self.0.told_after_all(name, change))
    }

    async fn open(&self) -> Result<Vec<WebhookName>, StoreError> {
        answer(self.0.open())
    }

    async fn due(&self) -> Result<Vec<WebhookName>, StoreError> {
        answer(self.0.due())
    }
}
