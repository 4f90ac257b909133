//! The bus within one process: a bounded queue per subscriber.

use a2ad_domain::ports::{Delivery, EventBus, Interest, Subscription};
use a2ad_domain::{IdMap, Recorded, Task, TaskKey};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// How many changes wait for one subscriber. One that has more to catch up with reads the log instead.
const QUEUE: usize = 1024;

/// Hands committed changes to the subscribers of a task. A publisher only takes short locks: nobody waits
/// for a subscriber. A task without subscribers has no entry.
#[derive(Default)]
pub struct LocalBus {
    topics: Arc<Topics>,
}

#[derive(Default)]
struct Topics {
    /// Locked before any inbox, never after one.
    by_task: Mutex<IdMap<TaskKey, Vec<Arc<Inbox>>>>,
}

struct Inbox {
    interest: Interest,
    state: Mutex<InboxState>,
}

#[derive(Default)]
struct InboxState {
    changes: Vec<Recorded>,
    rest: Option<Arc<Task>>,
    lagged: bool,
    closed: bool,
    waker: Option<Waker>,
}

impl LocalBus {
    /// A bus without subscribers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many tasks have subscribers.
    #[must_use]
    pub fn topics(&self) -> usize {
        lock(&self.topics.by_task).len()
    }

    fn inboxes(&self, key: &TaskKey, deliver: impl Fn(&Inbox, &mut InboxState) -> bool) {
        let topics = lock(&self.topics.by_task);
        for inbox in topics.get(key).into_iter().flatten() {
            let waker = {
                let mut state = lock(&inbox.state);
                if deliver(inbox, &mut state) { state.waker.take() } else { None }
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl EventBus for LocalBus {
    fn publish(&self, key: &TaskKey, changes: &[Recorded], task: &Arc<Task>) {
        self.inboxes(key, |inbox, state| match inbox.interest {
            Interest::Changes => {
                if state.changes.len() + changes.len() > QUEUE {
                    state.changes = Vec::new();
                    state.lagged = true;
                } else if !state.lagged {
                    state.changes.extend_from_slice(changes);
                }
                true
            }
            Interest::Rest if task.state().is_active() => false,
            Interest::Rest => {
                state.rest = Some(task.clone());
                true
            }
        });
    }

    fn close(&self, key: &TaskKey) {
        self.inboxes(key, |_, state| {
            state.closed = true;
            true
        });
    }

    fn subscribe(&self, key: &TaskKey, interest: Interest) -> Box<dyn Subscription> {
        let inbox = Arc::new(Inbox { interest, state: Mutex::default() });
        lock(&self.topics.by_task).entry(key.clone()).or_default().push(inbox.clone());
        Box::new(Local { topics: self.topics.clone(), key: key.clone(), inbox })
    }
}

/// One subscriber; leaves its topic when dropped.
struct Local {
    topics: Arc<Topics>,
    key: TaskKey,
    inbox: Arc<Inbox>,
}

impl Subscription for Local {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Delivery> {
        let mut state = lock(&self.inbox.state);
        if let Some(task) = state.rest.take() {
            return Poll::Ready(Delivery::Rest(task));
        }
        if std::mem::take(&mut state.lagged) {
            return Poll::Ready(Delivery::Lagged);
        }
        if !state.changes.is_empty() {
            return Poll::Ready(Delivery::Changes(std::mem::take(&mut state.changes)));
        }
        if state.closed {
            return Poll::Ready(Delivery::Closed);
        }
        // Under the lock that a publisher takes, so no wake-up is lost.
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let mut topics = lock(&self.topics.by_task);
        if let Some(inboxes) = topics.get_mut(&self.key) {
            inboxes.retain(|inbox| !Arc::ptr_eq(inbox, &self.inbox));
            if inboxes.is_empty() {
                topics.remove(&self.key);
            }
        }
    }
}

/// A panic under one of these short locks cannot leave the data half-written, so it is used on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
