//! What the local bus promises beyond its contract: no entry is left of tasks that nobody follows, and
//! publishers and subscribers of many threads lose nothing.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::ports::{Delivery, EventBus, Interest, Subscription};
use a2ad_domain::testing::sample::{applied, key, opened, piece};
use a2ad_store::LocalBus;
use std::sync::Arc;

#[test]
fn a_task_that_nobody_follows_has_no_entry() {
    let bus = LocalBus::new();
    let task = opened(key(1), 0);
    let (task, changes) = applied(task, &[piece("a", "x", false)], 1);
    bus.publish(&key(1), &changes, &Arc::new(task));
    bus.close(&key(1));
    assert_eq!(bus.topics(), 0);
    let first = bus.subscribe(&key(1), Interest::Changes);
    let second = bus.subscribe(&key(1), Interest::Rest);
    let other = bus.subscribe(&key(2), Interest::Changes);
    assert_eq!(bus.topics(), 2);
    drop(first);
    assert_eq!(bus.topics(), 2);
    drop((second, other));
    assert_eq!(bus.topics(), 0);
}

#[test]
fn a_subscription_outlives_the_handle_on_the_bus() {
    let bus = LocalBus::new();
    let subscription = bus.subscribe(&key(1), Interest::Changes);
    drop(bus);
    drop(subscription);
}

/// The versions that a subscriber hears until the task is closed; `None` where it lagged.
async fn heard(mut subscription: Box<dyn Subscription>) -> Vec<Option<u64>> {
    let mut heard = Vec::new();
    loop {
        match std::future::poll_fn(|context| subscription.poll(context)).await {
            Delivery::Changes(changes) => {
                heard.extend(changes.iter().map(|change| Some(change.version.0)));
            }
            Delivery::Lagged => heard.push(None),
            Delivery::Closed => return heard,
            Delivery::Rest(task) => panic!("{task:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_of_many_threads_hear_everything_or_that_they_lag() {
    const TASKS: u128 = 4;
    const LAST: u64 = 3_000;
    let bus = Arc::new(LocalBus::new());
    let readers: Vec<_> = (0..TASKS * 4)
        .map(|n| bus.subscribe(&key(n % TASKS), Interest::Changes))
        .map(|subscription| tokio::spawn(heard(subscription)))
        .collect();
    let writers = (0..TASKS).map(|number| {
        let bus = bus.clone();
        tokio::spawn(async move {
            let mut task = opened(key(number), 0);
            while task.version().0 < LAST {
                let (next, changes) = applied(task, &[piece("a", "", false)], 1);
                bus.publish(&key(number), &changes, &Arc::new(next.clone()));
                task = next;
            }
            bus.close(&key(number));
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    for reader in readers {
        let heard = reader.await.unwrap();
        let mut expected = 2;
        for version in heard {
            match version {
                // After a gap that was announced, versions go on anywhere further on.
                None => expected = 0,
                Some(version) if expected == 0 => expected = version + 1,
                Some(version) => {
                    assert_eq!(version, expected);
                    expected += 1;
                }
            }
        }
        assert!(expected == LAST + 1 || expected == 0, "the end is missing: {expected}");
    }
    assert_eq!(bus.topics(), 0);
}
