//! A store for tests: as plain as can be, so that it can be seen to be right, and able to fail, to race
//! and to be interrupted where a test wants it.

use super::webhooks::KeptWebhook;
use super::{lock, yield_once};
use crate::change::{Change, Recorded};
use crate::ids::{AgentId, Scope, TaskId, TaskKey, Version};
use crate::ports::{Changes, Cursor, Page, Query, StoreError, Survey, TaskStore, TaskSummary};
use crate::signal::CancelSignal;
use crate::state::Phase;
use crate::task::Task;
use crate::time::Timestamp;
use async_trait::async_trait;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

/// No test calls an operation that often: whoever does is in a loop that never ends.
const ENDLESS: usize = 20_000;

/// An operation of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// `insert`
    Insert,
    /// `append`
    Append,
    /// `load`
    Load,
    /// `changes_after`
    ChangesAfter,
    /// `list`
    List,
    /// `waiting_since`
    WaitingSince,
    /// `survey`
    Survey,
    /// `find`
    Find,
    /// `agents`
    Agents,
    /// `purge_ended_before`
    Purge,
    /// `set`, of a webhook
    SetWebhook,
}

/// What happens at an operation.
pub enum Fault {
    /// Nothing out of the ordinary.
    None,
    /// It fails and nothing is done.
    Down,
    /// It is done and reported as failed, as when a connection breaks after a commit.
    Unclear,
    /// It is done, and the answer comes when this is raised.
    Held(CancelSignal),
    /// It is refused for lack of room.
    Full,
    /// This happens first, as when somebody else is faster.
    First(Box<dyn FnOnce(&FakeStore) + Send>),
}

/// Tasks in a map.
#[derive(Default)]
pub struct FakeStore {
    kept: Mutex<BTreeMap<TaskKey, Kept>>,
    faults: Mutex<BTreeMap<Op, VecDeque<Fault>>>,
    calls: Mutex<BTreeMap<Op, usize>>,
    yields: Mutex<bool>,
    pub(super) webhooks: Mutex<Vec<KeptWebhook>>,
    /// The last number that a webhook was given.
    pub(super) numbers: AtomicI64,
}

#[derive(Clone)]
pub(super) struct Kept {
    task: Arc<Task>,
    log: Vec<Recorded>,
    /// The version that the log begins after.
    forgotten: Version,
}

impl FakeStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on every operation can be interrupted before and after it is done.
    pub fn set_yielding(&self) {
        *lock(&self.yields) = true;
    }

    /// What happens at the next operations of this kind, one after the other.
    pub fn script(&self, op: Op, faults: impl IntoIterator<Item = Fault>) {
        lock(&self.faults).entry(op).or_default().extend(faults);
    }

    /// How often an operation was called.
    #[must_use]
    pub fn calls(&self, op: Op) -> usize {
        lock(&self.calls).get(&op).copied().unwrap_or_default()
    }

    /// All tasks of all scopes.
    #[must_use]
    pub fn tasks(&self) -> Vec<Arc<Task>> {
        lock(&self.kept).values().map(|kept| kept.task.clone()).collect()
    }

    /// A task as it is kept.
    #[must_use]
    pub fn task(&self, key: &TaskKey) -> Option<Arc<Task>> {
        lock(&self.kept).get(key).map(|kept| kept.task.clone())
    }

    /// All changes of a task that the log holds.
    #[must_use]
    pub fn log(&self, key: &TaskKey) -> Vec<Recorded> {
        lock(&self.kept).get(key).map(|kept| kept.log.clone()).unwrap_or_default()
    }

    /// Keeps a task as it is, and what led to it.
    pub fn put(&self, task: Task, log: Vec<Recorded>) {
        let (key, task) = (task.key().clone(), Arc::new(task));
        lock(&self.kept).insert(key, Kept { task, log, forgotten: Version::FIRST });
    }

    /// Commits a change behind everybody's back, as another process would.
    pub fn commit(&self, key: &TaskKey, change: Change, at: Timestamp) {
        let mut all = lock(&self.kept);
        let kept = all.get_mut(key).expect("a task to change");
        let recorded = Arc::make_mut(&mut kept.task).apply(change, at).expect("a step that fits");
        kept.log.push(recorded);
    }

    /// Drops the log of a task.
    pub fn forget_log(&self, key: &TaskKey) {
        if let Some(kept) = lock(&self.kept).get_mut(key) {
            kept.forgotten = kept.task.version();
            kept.log.clear();
        }
    }

    /// Drops a task.
    pub fn remove(&self, key: &TaskKey) {
        lock(&self.kept).remove(key);
    }

    /// One operation, with what the test wants to happen at it.
    pub(super) async fn op<T: Send>(
        &self,
        op: Op,
        work: impl FnOnce(&mut BTreeMap<TaskKey, Kept>) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        let yields = *lock(&self.yields);
        if yields {
            yield_once().await;
        }
        let calls = {
            let mut calls = lock(&self.calls);
            let calls = calls.entry(op).or_default();
            *calls += 1;
            *calls
        };
        assert!(calls < ENDLESS, "somebody calls {op:?} again and again");
        let fault = lock(&self.faults).get_mut(&op).and_then(VecDeque::pop_front);
        let done = match fault.unwrap_or(Fault::None) {
            Fault::Down => Err(down()),
            Fault::Full => Err(StoreError::Full),
            Fault::None => work(&mut lock(&self.kept)),
            Fault::Unclear => work(&mut lock(&self.kept)).and_then(|_| Err(down())),
            Fault::Held(until) => {
                let done = work(&mut lock(&self.kept));
                until.raised().await;
                done
            }
            Fault::First(first) => {
                first(self);
                work(&mut lock(&self.kept))
            }
        };
        if yields {
            yield_once().await;
        }
        done
    }
}

impl Kept {
    pub(super) fn write(&mut self, changes: &[Recorded], task: &Task) {
        let stored = Arc::make_mut(&mut self.task);
        for change in changes {
            stored.replay(change).expect("changes that were accepted on top of this version");
        }
        assert_eq!(*stored, *task, "the writer's copy has gone another way than the store");
        self.log.extend_from_slice(changes);
    }
}

pub(super) fn insert(
    all: &mut BTreeMap<TaskKey, Kept>,
    task: &Arc<Task>,
) -> Result<(), StoreError> {
    if all.keys().any(|known| known.id == task.key().id) {
        return Err(StoreError::Exists);
    }
    let kept = Kept { task: task.clone(), log: Vec::new(), forgotten: task.version() };
    all.insert(task.key().clone(), kept);
    Ok(())
}

/// A task that is to be at a version.
pub(super) fn find<'a>(
    all: &'a mut BTreeMap<TaskKey, Kept>,
    key: &TaskKey,
    expected: Version,
) -> Result<&'a mut Kept, StoreError> {
    let kept = all.get_mut(key).ok_or(StoreError::NotFound)?;
    let actual = kept.task.version();
    if actual == expected { Ok(kept) } else { Err(StoreError::Conflict { actual }) }
}

fn down() -> StoreError {
    StoreError::Unavailable("secret-connection-text".into())
}

fn cursor(task: &Task) -> Cursor {
    Cursor { status_at: task.status_at(), id: task.key().id }
}

/// Whether `task` comes after `place` in a list.
fn follows(task: &Task, place: Cursor) -> bool {
    (task.status_at(), task.key().id) < (place.status_at, place.id)
}

#[async_trait]
impl TaskStore for FakeStore {
    async fn insert(&self, task: &Arc<Task>) -> Result<(), StoreError> {
        self.op(Op::Insert, |all| insert(all, task)).await
    }

    async fn append(
        &self,
        key: &TaskKey,
        expected: Version,
        changes: &[Recorded],
        task: &Task,
    ) -> Result<(), StoreError> {
        self.op(Op::Append, |all| {
            let kept = find(all, key, expected)?;
            kept.write(changes, task);
            Ok(())
        })
        .await
    }

    async fn load(&self, key: &TaskKey) -> Result<Arc<Task>, StoreError> {
        let load = |all: &mut BTreeMap<TaskKey, Kept>| {
            all.get(key).map(|kept| kept.task.clone()).ok_or(StoreError::NotFound)
        };
        self.op(Op::Load, load).await
    }

    async fn changes_after(
        &self,
        key: &TaskKey,
        after: Version,
        limit: usize,
    ) -> Result<Changes, StoreError> {
        self.op(Op::ChangesAfter, |all| {
            let kept = all.get(key).ok_or(StoreError::NotFound)?;
            if after < kept.forgotten {
                return Ok(Changes::TooOld);
            }
            let newer = kept.log.iter().filter(|change| change.version > after);
            Ok(Changes::After(newer.take(limit).cloned().collect()))
        })
        .await
    }

    async fn list(&self, scope: &Scope, query: &Query) -> Result<Page, StoreError> {
        self.op(Op::List, |all| {
            let mine = all.iter().filter(|(key, _)| key.scope == *scope);
            let mut fits: Vec<Arc<Task>> = mine
                .map(|(_, kept)| kept.task.clone())
                .filter(|task| query.context.as_ref().is_none_or(|c| c == task.context()))
                .filter(|task| query.state.is_none_or(|state| state == task.state()))
                .filter(|task| query.since.is_none_or(|since| task.status_at() >= since))
                .filter(|task| query.overdue.is_none_or(|now| task.is_overdue(now)))
                .collect();
            fits.sort_by_key(|task| Reverse((task.status_at(), task.key().id)));
            let total = fits.len();
            fits.retain(|task| query.after.is_none_or(|place| follows(task, place)));
            let more = fits.len() > query.limit;
            fits.truncate(query.limit);
            let next = fits.last().filter(|_| more).map(|task| cursor(task));
            Ok(Page { tasks: fits, next, total })
        })
        .await
    }

    async fn waiting_since(
        &self,
        agent: &AgentId,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskKey>, StoreError> {
        self.op(Op::WaitingSince, |all| {
            let waiting = all.iter().filter(|(key, kept)| {
                key.scope.agent() == agent
                    && kept.task.state().phase() == Phase::Interrupted
                    && kept.task.status_at() < since
            });
            Ok(waiting.map(|(key, _)| key.clone()).take(limit).collect())
        })
        .await
    }

    async fn survey(&self, survey: &Survey) -> Result<Vec<TaskSummary>, StoreError> {
        self.op(Op::Survey, |all| {
            let fits = all.values().filter(|kept| survey.fits(&kept.task));
            let mut found: Vec<_> = fits.map(|kept| TaskSummary::of(&kept.task)).collect();
            found.sort_by_key(|summary| Reverse(summary.key.id));
            found.truncate(survey.limit);
            Ok(found)
        })
        .await
    }

    async fn find(&self, id: TaskId) -> Result<TaskKey, StoreError> {
        let find = |all: &mut BTreeMap<TaskKey, Kept>| {
            all.keys().find(|key| key.id == id).cloned().ok_or(StoreError::NotFound)
        };
        self.op(Op::Find, find).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, StoreError> {
        self.op(Op::Agents, |all| {
            let agents: BTreeSet<_> = all.keys().map(|key| key.scope.agent().clone()).collect();
            Ok(agents.into_iter().collect())
        })
        .await
    }

    async fn purge_ended_before(&self, before: Timestamp) -> Result<usize, StoreError> {
        self.op(Op::Purge, |all| {
            let had = all.len();
            all.retain(|_, kept| {
                !kept.task.state().is_terminal() || kept.task.status_at() >= before
            });
            Ok(had - all.len())
        })
        .await
    }
}
