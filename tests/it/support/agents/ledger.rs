//! A memory store that writes down what it is asked for.

use a2ad_domain::ports::{
    Changes, Letter, Page, PushStore, Query, StoreError, Survey, TaskStore, TaskSummary,
};
use a2ad_domain::{AgentId, Recorded, Scope, Task, TaskId, TaskKey, Timestamp, Version};
use a2ad_domain::{PushConfig, PushConfigId, Webhook, WebhookName};
use a2ad_store::{Capacity, MemoryStore};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};

/// The store.
pub(crate) struct Ledger {
    inner: MemoryStore,
    asked: Mutex<Vec<&'static str>>,
}

impl Ledger {
    pub(crate) fn new() -> Arc<Self> {
        let inner = MemoryStore::new(Capacity::default());
        Arc::new(Self { inner, asked: Mutex::default() })
    }

    /// What it was asked for since the last look, in order.
    pub(crate) fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.asked.lock().expect("no panic under the lock"))
    }

    fn note(&self, what: &'static str) {
        self.asked.lock().expect("no panic under the lock").push(what);
    }
}

#[async_trait]
impl TaskStore for Ledger {
    async fn insert(&self, task: &Arc<Task>) -> Result<(), StoreError> {
        self.note("insert");
        self.inner.insert(task).await
    }

    async fn append(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
    ) -> Result<(), StoreError> {
        self.note("append");
        self.inner.append(key, expected, changes, task).await
    }

    async fn load(&self, key: &TaskKey) -> Result<Arc<Task>, StoreError> {
        self.note("load");
        self.inner.load(key).await
    }

    async fn changes_after(
        &self,
        key: &TaskKey,
        after: Version,
        limit: usize,
    ) -> Result<Changes, StoreError> {
        self.note("changes_after");
        self.inner.changes_after(key, after, limit).await
    }

    async fn list(&self, scope: &Scope, query: &Query) -> Result<Page, StoreError> {
        self.note("list");
        self.inner.list(scope, query).await
    }

    async fn waiting_since(
        &self,
        agent: &AgentId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskKey>, StoreError> {
        // Housekeeping asks for this whenever it likes.
        self.inner.waiting_since(agent, since, limit).await
    }

    async fn survey(&self, survey: &Survey) -> Result<Vec<TaskSummary>, StoreError> {
        self.note("survey");
        self.inner.survey(survey).await
    }

    async fn find(&self, id: TaskId) -> Result<TaskKey, StoreError> {
        self.note("find");
        self.inner.find(id).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, StoreError> {
        self.inner.agents().await
    }

    async fn purge_ended_before(&self, before: Timestamp) -> Result<usize, StoreError> {
        self.inner.purge_ended_before(before).await
    }
}

#[async_trait]
impl PushStore for Ledger {
    async fn set(
        &self,
        task: &TaskKey,
        config: &PushConfig,
        after: Option<Version>,
        most: usize,
    ) -> Result<bool, StoreError> {
        self.note("set");
        self.inner.set(task, config, after, most).await
    }

    async fn insert_with(&self, task: &Arc<Task>, config: &PushConfig) -> Result<i64, StoreError> {
        self.note("insert");
        self.inner.insert_with(task, config).await
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
        self.note("append");
        self.inner.append_with(key, expected, changes, task, config, most).await
    }

    async fn webhooks(&self, task: &TaskKey) -> Result<Vec<Webhook>, StoreError> {
        self.note("webhooks");
        self.inner.webhooks(task).await
    }

    async fn delete(&self, task: &TaskKey, id: &PushConfigId) -> Result<(), StoreError> {
        self.note("delete");
        self.inner.delete(task, id).await
    }

    // What follows is asked by whoever tells webhooks, at moments of its own.

    async fn webhook(&self, name: &WebhookName) -> Result<Option<Webhook>, StoreError> {
        self.inner.webhook(name).await
    }

    async fn told(&self, name: &WebhookName, upto: Version) -> Result<(), StoreError> {
        self.inner.told(name, upto).await
    }

    async fn give_up(&self, name: &WebhookName, letter: &Letter) -> Result<(), StoreError> {
        self.inner.give_up(name, letter).await
    }

    async fn told_after_all(&self, name: &WebhookName, change: Version) -> Result<(), StoreError> {
        self.inner.told_after_all(name, change).await
    }

    async fn open(&self) -> Result<Vec<WebhookName>, StoreError> {
        self.inner.open().await
    }

    async fn due(&self) -> Result<Vec<WebhookName>, StoreError> {
        self.inner.due().await
    }
}
