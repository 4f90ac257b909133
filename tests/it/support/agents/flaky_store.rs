//! A memory store that fails or takes its time when a test says so, and counts what it is given.

use a2ad_domain::ports::{Changes, Page, Query, StoreError, Survey, TaskStore, TaskSummary};
use a2ad_domain::{
    AgentId, CancelSignal, Recorded, Scope, Task, TaskId, TaskKey, Timestamp, Version,
};
use a2ad_store::{Capacity, MemoryStore};
use async_trait::async_trait;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What becomes of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is done.
    Commit,
    /// It fails and nothing is written.
    Fail,
    /// It is written, and the answer is lost.
    CommitAndFail,
}

type Meanwhile = Pin<Box<dyn Future<Output = ()> + Send>>;
type Rule = Box<dyn FnMut(&[Recorded]) -> Verdict + Send>;

/// The store.
pub(crate) struct FlakyStore {
    inner: MemoryStore,
    rule: Mutex<Option<Rule>>,
    down: AtomicBool,
    /// Until this is raised no write is answered.
    held: Mutex<Option<CancelSignal>>,
    waiting: AtomicUsize,
    /// What happens after the next load has read and before it returns.
    meanwhile: Mutex<Option<Meanwhile>>,
    changes: AtomicUsize,
    refused: AtomicUsize,
}

impl FlakyStore {
    /// A store that does not fail yet.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStore::new(Capacity::default()),
            rule: Mutex::default(),
            down: AtomicBool::new(false),
            held: Mutex::default(),
            waiting: AtomicUsize::new(0),
            meanwhile: Mutex::default(),
            changes: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
        })
    }

    /// From now on `rule` says what becomes of each append.
    pub(crate) fn judge(&self, rule: impl FnMut(&[Recorded]) -> Verdict + Send + 'static) {
        *self.rule.lock().expect("no panic under the lock") = Some(Box::new(rule));
    }

    /// From now on every call fails.
    pub(crate) fn break_down(&self) {
        self.down.store(true, Ordering::SeqCst);
    }

    /// From now on everything works again.
    pub(crate) fn recover(&self) {
        *self.rule.lock().expect("no panic under the lock") = None;
        self.down.store(false, Ordering::SeqCst);
    }

    /// The next load reads, lets this happen, and returns what it has read.
    pub(crate) fn meanwhile(&self, happens: impl Future<Output = ()> + Send + 'static) {
        *self.meanwhile.lock().expect("no panic under the lock") = Some(Box::pin(happens));
    }

    /// From now on writes are done at once and answered only when the signal that this gives is raised.
    pub(crate) fn hold(&self) -> CancelSignal {
        let signal = CancelSignal::new();
        *self.held.lock().expect("no panic under the lock") = Some(signal.clone());
        signal
    }

    /// How many writes have been done and not answered yet.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    async fn take_time(&self) {
        let held = self.held.lock().expect("no panic under the lock").clone();
        if let Some(held) = held {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            held.raised().await;
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn works(&self) -> Result<(), StoreError> {
        if self.down.load(Ordering::SeqCst) { Err(broken()) } else { Ok(()) }
    }

    /// How many changes were appended.
    pub(crate) fn changes(&self) -> usize {
        self.changes.load(Ordering::SeqCst)
    }

    /// How many appends have failed on command.
    pub(crate) fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }
}

fn broken() -> StoreError {
    StoreError::Unavailable("the disk is full of secrets".into())
}

#[async_trait]
impl TaskStore for FlakyStore {
    async fn insert(&self, task: &Arc<Task>) -> Result<(), StoreError> {
        self.works()?;
        let inserted = self.inner.insert(task).await;
        self.take_time().await;
        inserted
    }

    async fn append(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
    ) -> Result<(), StoreError> {
        self.works()?;
        let verdict = match &mut *self.rule.lock().expect("no panic under the lock") {
            Some(rule) => rule(changes),
            None => Verdict::Commit,
        };
        if verdict != Verdict::Commit {
            self.refused.fetch_add(1, Ordering::SeqCst);
        }
        if verdict == Verdict::Fail {
            return Err(broken());
        }
        self.inner.append(key, expected, changes, task).await?;
        self.changes.fetch_add(changes.len(), Ordering::SeqCst);
        self.take_time().await;
        if verdict == Verdict::CommitAndFail { Err(broken()) } else { Ok(()) }
    }

    async fn load(&self, key: &TaskKey) -> Result<Arc<Task>, StoreError> {
        self.works()?;
        let loaded = self.inner.load(key).await;
        let meanwhile = self.meanwhile.lock().expect("no panic under the lock").take();
        if let Some(meanwhile) = meanwhile {
            meanwhile.await;
        }
        loaded
    }

    async fn changes_after(
        &self,
        key: &TaskKey,
        after: Version,
        limit: usize,
    ) -> Result<Changes, StoreError> {
        self.works()?;
        self.inner.changes_after(key, after, limit).await
    }

    async fn list(&self, scope: &Scope, query: &Query) -> Result<Page, StoreError> {
        self.works()?;
        self.inner.list(scope, query).await
    }

    async fn waiting_since(
        &self,
        agent: &AgentId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskKey>, StoreError> {
        self.works()?;
        self.inner.waiting_since(agent, since, limit).await
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.works()
    }

    async fn survey(&self, survey: &Survey) -> Result<Vec<TaskSummary>, StoreError> {
        self.works()?;
        self.inner.survey(survey).await
    }

    async fn find(&self, id: TaskId) -> Result<TaskKey, StoreError> {
        self.works()?;
        self.inner.find(id).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, StoreError> {
        self.works()?;
        self.inner.agents().await
    }

    async fn purge_ended_before(&self, before: Timestamp) -> Result<usize, StoreError> {
        self.works()?;
        self.inner.purge_ended_before(before).await
    }
}
