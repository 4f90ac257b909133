//! What every bus holds to.

use crate::change::Recorded;
use crate::ports::{Delivery, EventBus, Interest, Subscription};
use crate::state::TaskState;
use crate::task::Task;
use crate::testing::sample::{applied, at, key, opened, piece, status};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Polls without being woken.
fn poll(subscription: &mut dyn Subscription) -> Poll<Delivery> {
    subscription.poll(&mut Context::from_waker(Waker::noop()))
}

/// All versions that are there, and how often the subscriber was told that it lags.
fn heard(subscription: &mut dyn Subscription) -> (Vec<u64>, usize) {
    let (mut versions, mut lagged) = (Vec::new(), 0);
    loop {
        match poll(subscription) {
            Poll::Ready(Delivery::Changes(changes)) => {
                assert!(!changes.is_empty(), "a delivery without a change");
                versions.extend(changes.iter().map(|change| change.version.0));
            }
            Poll::Ready(Delivery::Lagged) => lagged += 1,
            Poll::Ready(other) => panic!("{other:?}"),
            Poll::Pending => return (versions, lagged),
        }
    }
}

/// A task and the next change of it.
fn next(task: &Task) -> (Arc<Task>, Vec<Recorded>) {
    let (task, changes) = applied(task.clone(), &[piece("a", "x", false)], 1);
    (Arc::new(task), changes)
}

/// What is published after the subscription is heard, in order, and nothing from before.
pub async fn changes_arrive_in_order_and_once(bus: impl EventBus) {
    let (task, early) = next(&opened(key(1), 0));
    bus.publish(&key(1), &early, &task);
    let mut subscription = bus.subscribe(&key(1), Interest::Changes);
    assert!(poll(&mut *subscription).is_pending(), "heard what was published before");
    let mut task = (*task).clone();
    for _ in 0..5 {
        let (after, changes) = next(&task);
        bus.publish(&key(1), &changes, &after);
        task = (*after).clone();
    }
    let (after, pair) = applied(task, &[piece("a", "x", true), status(TaskState::Working)], 2);
    bus.publish(&key(1), &pair, &Arc::new(after));
    assert_eq!(heard(&mut *subscription), (vec![3, 4, 5, 6, 7, 8, 9], 0));
    assert_eq!(heard(&mut *subscription), (vec![], 0));
}

/// Changes of other tasks, also of the same id in another scope, are not heard.
pub async fn a_subscriber_hears_only_its_task(bus: impl EventBus) {
    let mut subscription = bus.subscribe(&key(1), Interest::Changes);
    let foreign = crate::testing::sample::key_in(&crate::testing::sample::foreign_scopes()[0], 1);
    for other in [key(2), foreign] {
        let (task, changes) = next(&opened(other.clone(), 0));
        bus.publish(&other, &changes, &task);
        bus.close(&other);
    }
    assert!(poll(&mut *subscription).is_pending());
}

/// Subscribers do not take from one another, and one that leaves changes nothing for the rest.
pub async fn every_subscriber_hears_everything(bus: impl EventBus) {
    let mut first = bus.subscribe(&key(1), Interest::Changes);
    let second = bus.subscribe(&key(1), Interest::Changes);
    let mut third = bus.subscribe(&key(1), Interest::Changes);
    let (task, changes) = next(&opened(key(1), 0));
    bus.publish(&key(1), &changes, &task);
    drop(second);
    let (task, changes) = next(&task);
    bus.publish(&key(1), &changes, &task);
    assert_eq!(heard(&mut *first), (vec![2, 3], 0));
    assert_eq!(heard(&mut *third), (vec![2, 3], 0));
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A waiting subscriber is woken by a change, by rest and by the end, and each time it waits again.
pub async fn a_subscriber_that_waits_is_woken(bus: impl EventBus) {
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(count.clone());
    let mut context = Context::from_waker(&waker);
    let mut changes = bus.subscribe(&key(1), Interest::Changes);
    let mut task = Arc::new(opened(key(1), 0));
    for round in 1..=3 {
        assert!(changes.poll(&mut context).is_pending());
        let (after, change) = next(&task);
        bus.publish(&key(1), &change, &after);
        task = after;
        assert_eq!(count.0.load(Ordering::SeqCst), round);
        assert!(changes.poll(&mut context).is_ready());
    }
    drop(changes);
    let mut rest = bus.subscribe(&key(1), Interest::Rest);
    assert!(rest.poll(&mut context).is_pending());
    let (ended, end) = applied((*task).clone(), &[status(TaskState::Completed)], 1);
    bus.publish(&key(1), &end, &Arc::new(ended));
    assert_eq!(count.0.load(Ordering::SeqCst), 4);
    assert!(rest.poll(&mut context).is_ready());
    assert!(rest.poll(&mut context).is_pending());
    bus.close(&key(1));
    assert_eq!(count.0.load(Ordering::SeqCst), 5);
}

/// A subscriber that does not read: publishing never waits, what it misses is announced, and after that it
/// hears again.
pub async fn a_slow_subscriber_is_told_that_it_lags_and_nobody_waits_for_it(bus: impl EventBus) {
    const BURST: u64 = 20_000;
    let mut slow = bus.subscribe(&key(1), Interest::Changes);
    let mut quick = bus.subscribe(&key(1), Interest::Changes);
    let mut task = Arc::new(opened(key(1), 0));
    let mut quick_heard = Vec::new();
    let template = next(&task).1.remove(0);
    for version in 2..2 + BURST {
        let change = Recorded {
            version: crate::ids::Version(version),
            at: at(1),
            change: template.change.clone(),
        };
        bus.publish(&key(1), &[change], &task);
        quick_heard.extend(heard(&mut *quick).0);
    }
    assert_eq!(quick_heard, (2..2 + BURST).collect::<Vec<_>>(), "one lags and another misses out");
    let (versions, lagged) = heard(&mut *slow);
    if lagged == 0 {
        assert_eq!(versions, quick_heard, "changes are missing and nobody said so");
    }
    let (after, change) = next(&task);
    task = after;
    bus.publish(&key(1), &change, &task);
    assert_eq!(heard(&mut *slow), (vec![2], 0), "deaf after it lagged");
}

/// Of active states nothing is heard; of each rest, the task as it then is.
pub async fn whoever_waits_for_rest_hears_only_of_rest(bus: impl EventBus) {
    for state in TaskState::ALL.into_iter().filter(|state| !state.is_active()) {
        let mut subscription = bus.subscribe(&key(1), Interest::Rest);
        let active = [status(TaskState::Working), piece("a", "x", false)];
        let (task, changes) = applied(opened(key(1), 0), &active, 1);
        bus.publish(&key(1), &changes, &Arc::new(task.clone()));
        assert!(poll(&mut *subscription).is_pending(), "{state}");
        let (rested, changes) = applied(task, &[status(state)], 2);
        bus.publish(&key(1), &changes, &Arc::new(rested.clone()));
        match poll(&mut *subscription) {
            Poll::Ready(Delivery::Rest(task)) => assert_eq!(*task, rested),
            Poll::Ready(other) => panic!("{state}: {other:?}"),
            Poll::Pending => panic!("{state}: nobody said so"),
        }
        assert!(poll(&mut *subscription).is_pending(), "{state}: told twice");
    }
}

/// The end without an end of the task comes last, and to everybody.
pub async fn what_was_published_is_heard_before_the_end(bus: impl EventBus) {
    let mut changes = bus.subscribe(&key(1), Interest::Changes);
    let mut rest = bus.subscribe(&key(1), Interest::Rest);
    let (task, change) = next(&opened(key(1), 0));
    bus.publish(&key(1), &change, &task);
    bus.close(&key(1));
    assert!(matches!(poll(&mut *changes), Poll::Ready(Delivery::Changes(_))));
    assert!(matches!(poll(&mut *changes), Poll::Ready(Delivery::Closed)));
    assert!(matches!(poll(&mut *rest), Poll::Ready(Delivery::Closed)));
}

/// After the last subscriber has left, publishing goes on, and a new one begins anew.
pub async fn a_subscriber_that_left_is_not_missed(bus: impl EventBus) {
    let mut task = Arc::new(opened(key(1), 0));
    for _ in 0..3 {
        let mut subscription = bus.subscribe(&key(1), Interest::Changes);
        let (after, changes) = next(&task);
        bus.publish(&key(1), &changes, &after);
        assert_eq!(heard(&mut *subscription).0, [after.version().0]);
        drop(subscription);
        let (after, changes) = next(&after);
        bus.publish(&key(1), &changes, &after);
        bus.close(&key(1));
        task = after;
    }
}
