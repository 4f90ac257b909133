//! Tasks in memory, applied in place.

use crate::index::{Index, Known};
use crate::webhooks::{Hooked, Webhooks};
use a2ad_domain::ports::{
    Changes, Cursor, Letter, Page, PushStore, Query, StoreError, Survey, TaskStore, TaskSummary,
};
use a2ad_domain::{
    AgentId, IdMap, PushConfig, PushConfigId, Recorded, Scope, Task, TaskId, TaskKey, TaskState,
    Timestamp, Version, Webhook, WebhookName,
};
use async_trait::async_trait;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much a memory store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// How many tasks.
    pub tasks: usize,
    /// About how many bytes in all.
    pub bytes: usize,
    /// How many of a task's changes its log holds for readers that catch up.
    pub log: usize,
}

impl Default for Capacity {
    fn default() -> Self {
        Self { tasks: 10_000, bytes: 2 << 30, log: 65_536 }
    }
}

/// Keeps tasks until the process ends. At its capacity the task that ended first makes room; live tasks
/// are never removed.
///
/// Locks: a task's own lock may be held while the index is locked, never the other way round.
#[derive(Default)]
pub struct MemoryStore {
    capacity: Capacity,
    shelf: Mutex<Shelf>,
    hooked: Hooked,
}

#[derive(Default)]
struct Shelf {
    tasks: IdMap<TaskId, (Arc<Entry>, Known)>,
    index: Index,
}

struct Entry {
    scope: Scope,
    /// A short lock: what is done under it costs what the changes cost, except that a reader that still
    /// holds the task when it is written makes the writer copy it once.
    stored: Mutex<Stored>,
}

struct Stored {
    task: Arc<Task>,
    /// The newest changes, without gaps, up to the task's version.
    log: VecDeque<Recorded>,
    /// Few tasks have any.
    webhooks: Option<Box<Webhooks>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new(capacity: Capacity) -> Self {
        Self { capacity, shelf: Mutex::default(), hooked: Hooked::default() }
    }

    /// How many tasks it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.shelf).tasks.len()
    }

    /// Whether it holds no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how many bytes its tasks take.
    #[must_use]
    pub fn weight(&self) -> usize {
        lock(&self.shelf).index.weight()
    }

    /// How many scopes have tasks.
    #[must_use]
    pub fn scopes(&self) -> usize {
        lock(&self.shelf).index.scopes()
    }

    /// Puts a new task on the shelf, as its entry is to be.
    fn shelve(&self, stored: Stored) -> Result<(), StoreError> {
        let task = stored.task.clone();
        let scope = task.key().scope.clone();
        let entry = Arc::new(Entry { scope, stored: Mutex::new(stored) });
        let mut shelf = lock(&self.shelf);
        if shelf.tasks.contains_key(&task.key().id) {
            return Err(StoreError::Exists);
        }
        let removed = shelf.make_room(self.capacity, task.weight())?;
        let known = shelf.index.add(&task);
        shelf.tasks.insert(task.key().id, (entry, known));
        drop(shelf);
        forgotten(removed);
        Ok(())
    }

    /// Writes changes on top of a task.
    fn write(&self, stored: &mut Stored, changes: &[Recorded]) -> Result<(), StoreError> {
        let task = Arc::make_mut(&mut stored.task);
        for change in changes {
            // Changes that were accepted on top of this very version fit.
            task.replay(change).map_err(|refusal| StoreError::Unavailable(refusal.into()))?;
        }
        stored.log.extend(changes.iter().cloned());
        while stored.log.len() > self.capacity.log {
            stored.log.pop_front();
        }
        if stored.task.state().is_terminal() {
            stored.log.shrink_to_fit();
        }
        if changes.iter().any(|change| change.state().is_some()) {
            let weight = stored.task.weight() + stored.log.capacity() * size_of::<Recorded>();
            let shelf = &mut *lock(&self.shelf);
            if let Some((_, known)) = shelf.tasks.get_mut(&stored.task.key().id) {
                shelf.index.update(known, &stored.task, weight);
            }
        }
        Ok(())
    }

    fn entry(&self, key: &TaskKey) -> Result<Arc<Entry>, StoreError> {
        let shelf = lock(&self.shelf);
        let entry = shelf.tasks.get(&key.id).filter(|(entry, _)| entry.scope == key.scope);
        entry.map(|(entry, _)| entry.clone()).ok_or(StoreError::NotFound)
    }

    /// A page of overdue tasks. Deadlines are in no index: the live tasks of the scope are looked through,
    /// of which there are few beside those that have ended.
    fn overdue(&self, scope: &Scope, query: &Query, now: Timestamp) -> Page {
        let everything = Query { limit: usize::MAX, after: None, ..query.clone() };
        let (places, ..) = lock(&self.shelf).index.page(scope, &everything);
        let mut tasks = self.tasks(places.into_iter().map(|place| place.id));
        tasks.retain(|task| task.is_overdue(now));
        let place = |task: &Arc<Task>| (task.status_at(), task.key().id);
        tasks.sort_by_key(|task| Reverse(place(task)));
        let total = tasks.len();
        tasks.retain(|task| query.after.is_none_or(|end| place(task) < (end.status_at, end.id)));
        let more = tasks.len() > query.limit;
        tasks.truncate(query.limit);
        let last = tasks.last().filter(|_| more);
        let next = last.map(|task| Cursor { status_at: task.status_at(), id: task.key().id });
        Page { tasks, next, total }
    }

    /// The webhooks that are of interest, and forgets the tasks that have none to be told any more.
    fn hooked(&self, of_interest: impl Fn(&Task, &Webhook) -> bool) -> Vec<WebhookName> {
        let mut names = Vec::new();
        self.hooked.retain(|key| {
            let Ok(entry) = self.entry(key) else { return false };
            let stored = lock(&entry.stored);
            let Some(all) = &stored.webhooks else { return false };
            let found = all.all().iter().filter(|webhook| of_interest(&stored.task, webhook));
            let name =
                |webhook: &Webhook| WebhookName { task: key.clone(), number: webhook.number };
            names.extend(found.map(name));
            !stored.task.state().is_terminal() || all.untold(stored.task.version()) > 0
        });
        names.sort_by_key(|name| name.number);
        names
    }

    fn tasks(&self, ids: impl IntoIterator<Item = TaskId>) -> Vec<Arc<Task>> {
        let entries: Vec<Arc<Entry>> = {
            let shelf = lock(&self.shelf);
            ids.into_iter().filter_map(|id| Some(shelf.tasks.get(&id)?.0.clone())).collect()
        };
        entries.iter().map(|entry| lock(&entry.stored).task.clone()).collect()
    }
}

impl Stored {
    fn check(&self, expected: Version) -> Result<(), StoreError> {
        let actual = self.task.version();
        if actual == expected { Ok(()) } else { Err(StoreError::Conflict { actual }) }
    }
}

impl Shelf {
    /// Removes the tasks that ended first until `room` fits. What is removed is handed back, so that it
    /// is freed after the lock.
    fn make_room(
        &mut self,
        capacity: Capacity,
        weight: usize,
    ) -> Result<Vec<Arc<Entry>>, StoreError> {
        let mut removed = Vec::new();
        while self.tasks.len() >= capacity.tasks
            || self.index.weight().saturating_add(weight) > capacity.bytes
        {
            removed.push(self.remove_oldest_ended().ok_or(StoreError::Full)?);
        }
        Ok(removed)
    }

    fn remove_oldest_ended(&mut self) -> Option<Arc<Entry>> {
        let id = self.index.pop_oldest_ended()?;
        let (entry, known) = self.tasks.remove(&id)?;
        self.index.remove(id, &known);
        Some(entry)
    }
}

#[async_trait]
impl TaskStore for MemoryStore {
    async fn insert(&self, task: &Arc<Task>) -> Result<(), StoreError> {
        self.shelve(Stored { task: task.clone(), log: VecDeque::new(), webhooks: None })
    }

    async fn append(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        _task: &Task,
    ) -> Result<(), StoreError> {
        let entry = self.entry(key)?;
        let mut stored = lock(&entry.stored);
        stored.check(expected)?;
        self.write(&mut stored, changes)
    }

    async fn load(&self, key: &TaskKey) -> Result<Arc<Task>, StoreError> {
        let entry = self.entry(key)?;
        let task = lock(&entry.stored).task.clone();
        Ok(task)
    }

    async fn changes_after(
        &self,
        key: &TaskKey,
        after: Version,
        limit: usize,
    ) -> Result<Changes, StoreError> {
        let entry = self.entry(key)?;
        let stored = lock(&entry.stored);
        let missing = stored.task.version().0.saturating_sub(after.0);
        let Some(skip) = (stored.log.len() as u64).checked_sub(missing) else {
            return Ok(Changes::TooOld);
        };
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        Ok(Changes::After(stored.log.iter().skip(skip).take(limit).cloned().collect()))
    }

    async fn list(&self, scope: &Scope, query: &Query) -> Result<Page, StoreError> {
        if let Some(now) = query.overdue {
            return Ok(self.overdue(scope, query, now));
        }
        let (places, more, total) = lock(&self.shelf).index.page(scope, query);
        let next = places.last().copied().filter(|_| more);
        let mut tasks = self.tasks(places.into_iter().map(|place| place.id));
        // Between the two locks a task may have moved on; what is shown is shown as it is.
        tasks.retain(|task| query.state.is_none_or(|state| state == task.state()));
        tasks.sort_by_key(|task| Reverse((task.status_at(), task.key().id)));
        Ok(Page { tasks, next, total })
    }

    async fn waiting_since(
        &self,
        agent: &AgentId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskKey>, StoreError> {
        let shelf = lock(&self.shelf);
        let waiting = [TaskState::InputRequired, TaskState::AuthRequired];
        let found =
            waiting.into_iter().flat_map(|state| shelf.index.in_state_since(agent, state, since));
        Ok(found.take(limit).map(|(scope, id)| TaskKey { scope: scope.clone(), id }).collect())
    }

    async fn survey(&self, survey: &Survey) -> Result<Vec<TaskSummary>, StoreError> {
        let mut ids: Vec<TaskId> = {
            let shelf = lock(&self.shelf);
            let known = shelf.tasks.iter().filter(|(_, (_, known))| known.may_fit(survey));
            known.map(|(id, _)| *id).collect()
        };
        ids.sort_unstable_by_key(|id| Reverse(*id));
        let mut found = Vec::new();
        // A task may have gone on since; what it is now decides.
        for some in ids.chunks(survey.limit.max(1)) {
            let tasks = self.tasks(some.iter().copied());
            found.extend(tasks.iter().filter(|it| survey.fits(it)).map(|it| TaskSummary::of(it)));
            if found.len() >= survey.limit {
                break;
            }
        }
        found.truncate(survey.limit);
        Ok(found)
    }

    async fn find(&self, id: TaskId) -> Result<TaskKey, StoreError> {
        let shelf = lock(&self.shelf);
        let (entry, _) = shelf.tasks.get(&id).ok_or(StoreError::NotFound)?;
        Ok(TaskKey { scope: entry.scope.clone(), id })
    }

    async fn agents(&self) -> Result<Vec<AgentId>, StoreError> {
        Ok(lock(&self.shelf).index.agents().into_iter().collect())
    }

    async fn purge_ended_before(&self, before: Timestamp) -> Result<usize, StoreError> {
        let mut removed = Vec::new();
        let mut shelf = lock(&self.shelf);
        while shelf.index.oldest_ended().is_some_and(|(ended, _)| ended < before) {
            removed.extend(shelf.remove_oldest_ended());
        }
        drop(shelf);
        let count = removed.len();
        forgotten(removed);
        Ok(count)
    }
}

/// Frees what was removed. Webhooks that were not told everything will not be, and that is said.
fn forgotten(removed: Vec<Arc<Entry>>) {
    for entry in removed {
        let stored = lock(&entry.stored);
        let untold = stored.webhooks.as_ref().map_or(0, |all| all.untold(stored.task.version()));
        if untold > 0 {
            tracing::warn!(untold, "a task was removed before its webhooks were told of its end");
        }
    }
}

#[async_trait]
impl PushStore for MemoryStore {
    async fn set(
        &self,
        task: &TaskKey,
        config: &PushConfig,
        after: Option<Version>,
        most: usize,
    ) -> Result<bool, StoreError> {
        let entry = self.entry(task)?;
        let mut stored = lock(&entry.stored);
        let after = after.unwrap_or(stored.task.version());
        let all = stored.webhooks.get_or_insert_default();
        let kept = all.set(self.hooked.number(), config, after, most);
        drop(stored);
        // Only now, so that whoever finds the task in the list finds its webhook.
        self.hooked.add(task);
        Ok(kept)
    }

    async fn insert_with(&self, task: &Arc<Task>, config: &PushConfig) -> Result<i64, StoreError> {
        let (number, mut webhooks) = (self.hooked.number(), Box::<Webhooks>::default());
        webhooks.set(number, config, task.version(), 1);
        let (task, log) = (task.clone(), VecDeque::new());
        let key = task.key().clone();
        self.shelve(Stored { task, log, webhooks: Some(webhooks) })?;
        self.hooked.add(&key);
        Ok(number)
    }

    async fn append_with(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        _task: &Task,
        config: &PushConfig,
        most: usize,
    ) -> Result<Option<i64>, StoreError> {
        let entry = self.entry(key)?;
        let mut stored = lock(&entry.stored);
        stored.check(expected)?;
        if !stored.webhooks.get_or_insert_default().has_room(config, most) {
            return Ok(None);
        }
        self.write(&mut stored, changes)?;
        let number = self.hooked.number();
        stored.webhooks.get_or_insert_default().set(number, config, expected, most);
        drop(stored);
        self.hooked.add(key);
        Ok(Some(number))
    }

    async fn webhooks(&self, task: &TaskKey) -> Result<Vec<Webhook>, StoreError> {
        let entry = self.entry(task)?;
        let stored = lock(&entry.stored);
        Ok(stored.webhooks.as_ref().map(|all| all.all().to_vec()).unwrap_or_default())
    }

    async fn delete(&self, task: &TaskKey, id: &PushConfigId) -> Result<(), StoreError> {
        let entry = self.entry(task)?;
        if let Some(all) = &mut lock(&entry.stored).webhooks {
            all.delete(id);
        }
        Ok(())
    }

    async fn webhook(&self, name: &WebhookName) -> Result<Option<Webhook>, StoreError> {
        let Ok(entry) = self.entry(&name.task) else { return Ok(None) };
        let stored = lock(&entry.stored);
        Ok(stored.webhooks.as_ref().and_then(|all| all.find(name.number)).cloned())
    }

    async fn told(&self, name: &WebhookName, upto: Version) -> Result<(), StoreError> {
        if let Ok(entry) = self.entry(&name.task)
            && let Some(all) = &mut lock(&entry.stored).webhooks
        {
            all.told(name.number, upto);
        }
        Ok(())
    }

    /// The letter is in the log of the process only: nobody could ask for it before this store is gone.
    async fn give_up(&self, name: &WebhookName, letter: &Letter) -> Result<(), StoreError> {
        self.told(name, letter.version).await
    }

    async fn told_after_all(&self, _: &WebhookName, _: Version) -> Result<(), StoreError> {
        Ok(())
    }

    async fn open(&self) -> Result<Vec<WebhookName>, StoreError> {
        Ok(self
            .hooked(|task, webhook| !task.state().is_terminal() || webhook.told < task.version()))
    }

    async fn due(&self) -> Result<Vec<WebhookName>, StoreError> {
        Ok(self.hooked(|task, webhook| webhook.told < task.version()))
    }
}

/// Nothing that is done under these locks panics half-way, so a poisoned one is used on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
