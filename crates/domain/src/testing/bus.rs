//! A bus for tests: keeps the rules of the port, can be deaf, and can check what it is told.

use super::lock;
use crate::change::Recorded;
use crate::ids::TaskKey;
use crate::ports::{Delivery, EventBus, Interest, Subscription};
use crate::task::Task;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

type Check = Arc<dyn Fn(&TaskKey, &[Recorded]) + Send + Sync>;

/// Delivers at once and in order. Cloning gives another handle on the same bus.
#[derive(Clone, Default)]
pub struct FakeBus(Arc<Mutex<State>>);

struct State {
    room: usize,
    deaf: bool,
    check: Option<Check>,
    inboxes: Vec<Inbox>,
    numbers: u64,
    published: Vec<(TaskKey, Recorded)>,
    closed: Vec<TaskKey>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            room: 64,
            deaf: false,
            check: None,
            inboxes: Vec::new(),
            numbers: 0,
            published: Vec::new(),
            closed: Vec::new(),
        }
    }
}

struct Inbox {
    number: u64,
    key: TaskKey,
    interest: Interest,
    changes: Vec<Recorded>,
    rest: Option<Arc<Task>>,
    lagged: bool,
    closed: bool,
    waker: Option<Waker>,
}

impl FakeBus {
    /// A bus whose subscribers have room for a few changes each.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Loses everything that is published from now on, or hears again.
    pub fn set_deaf(&self, deaf: bool) {
        lock(&self.0).deaf = deaf;
    }

    /// Calls `check` with everything that is published, before it is delivered.
    pub fn check_with(&self, check: impl Fn(&TaskKey, &[Recorded]) + Send + Sync + 'static) {
        lock(&self.0).check = Some(Arc::new(check));
    }

    /// How many listen.
    #[must_use]
    pub fn subscribers(&self) -> usize {
        lock(&self.0).inboxes.len()
    }

    /// Everything that was published.
    #[must_use]
    pub fn published(&self) -> Vec<(TaskKey, Recorded)> {
        lock(&self.0).published.clone()
    }

    /// The tasks that were closed.
    #[must_use]
    pub fn closed(&self) -> Vec<TaskKey> {
        lock(&self.0).closed.clone()
    }

    fn deliver(&self, key: &TaskKey, deliver: impl Fn(&mut Inbox, usize)) {
        let mut state = lock(&self.0);
        let room = state.room;
        let inboxes = state.inboxes.iter_mut().filter(|inbox| inbox.key == *key);
        let wakers: Vec<Waker> = inboxes
            .filter_map(|inbox| {
                deliver(inbox, room);
                inbox.waker.take()
            })
            .collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl EventBus for FakeBus {
    fn publish(&self, key: &TaskKey, changes: &[Recorded], task: &Arc<Task>) {
        let check = lock(&self.0).check.clone();
        if let Some(check) = check {
            check(key, changes);
        }
        let deaf = {
            let mut state = lock(&self.0);
            state.published.extend(changes.iter().map(|change| (key.clone(), change.clone())));
            state.deaf
        };
        if deaf {
            return;
        }
        self.deliver(key, |inbox, room| match inbox.interest {
            Interest::Rest if !task.state().is_active() => inbox.rest = Some(task.clone()),
            Interest::Rest => {}
            Interest::Changes if inbox.changes.len() + changes.len() > room => {
                inbox.changes.clear();
                inbox.lagged = true;
            }
            Interest::Changes if inbox.lagged => {}
            Interest::Changes => inbox.changes.extend_from_slice(changes),
        });
    }

    fn close(&self, key: &TaskKey) {
        lock(&self.0).closed.push(key.clone());
        self.deliver(key, |inbox, _| inbox.closed = true);
    }

    fn subscribe(&self, key: &TaskKey, interest: Interest) -> Box<dyn Subscription> {
        let mut state = lock(&self.0);
        let number = state.numbers;
        state.numbers += 1;
        state.inboxes.push(Inbox {
            number,
            key: key.clone(),
            interest,
            changes: Vec::new(),
            rest: None,
            lagged: false,
            closed: false,
            waker: None,
        });
        Box::new(Subscriber { bus: self.clone(), number })
    }
}

struct Subscriber {
    bus: FakeBus,
    number: u64,
}

impl Subscription for Subscriber {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Delivery> {
        let mut state = lock(&self.bus.0);
        let Some(inbox) = state.inboxes.iter_mut().find(|inbox| inbox.number == self.number) else {
            return Poll::Ready(Delivery::Closed);
        };
        if let Some(task) = inbox.rest.take() {
            return Poll::Ready(Delivery::Rest(task));
        }
        if std::mem::take(&mut inbox.lagged) {
            return Poll::Ready(Delivery::Lagged);
        }
        if !inbox.changes.is_empty() {
            return Poll::Ready(Delivery::Changes(std::mem::take(&mut inbox.changes)));
        }
        if inbox.closed {
            return Poll::Ready(Delivery::Closed);
        }
        inbox.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        lock(&self.bus.0).inboxes.retain(|inbox| inbox.number != self.number);
    }
}
