//! Runs whose end cannot be stored: the runtime tries again until it can, and only a shutdown leaves a task
//! at work. Callers who have left are waited for as well.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::testing::sample::{call, scope};
use a2ad_domain::testing::{FakeStore, Fault, Op, ScriptedAgent, Step, poll_now};
use a2ad_domain::{CancelSignal, TaskState};
use a2ad_store::{Capacity, MemoryStore};
use std::sync::Arc;
use std::time::Duration;
use support::Server;

const LIMIT: Duration = Duration::from_secs(10);

/// A server whose run ends at once, over a store that fails so many appends.
fn failing(appends: usize) -> (Server, Arc<FakeStore>) {
    let store = Arc::new(FakeStore::new());
    store.script(Op::Append, (0..appends).map(|_| Fault::Down));
    let unused = Arc::new(MemoryStore::new(Capacity::default()));
    let agent = ScriptedAgent::new([Step::complete("done")]);
    (Server::over(store.clone(), unused, agent, |_| {}), store)
}

/// Lets the tries pass that come one shortly after the other.
async fn first_tries(server: &Server) {
    for _ in 0..5 {
        server.clock.advance_when_awaited(Duration::from_secs(1)).await;
        server.quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_end_cannot_be_stored_ends_when_the_store_works_again() {
    let (server, store) = failing(40);
    let key = server.open("go").await.unwrap();
    first_tries(&server).await;
    assert_eq!(server.task(&key).await.state(), TaskState::Submitted);
    assert_eq!(server.runtime.live(), 1, "nobody cares for the task any more");
    // Time passes by itself as long as something waits for it.
    server.runtime.idle().await;
    assert_eq!(server.task(&key).await.state(), TaskState::Completed);
    assert!(store.calls(Op::Append) > 40);
    server.assert_empty().await;
    assert_eq!(server.free_places(support::MAX_RUNNING), support::MAX_RUNNING);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_a_store_that_stays_broken() {
    let (server, _store) = failing(1_000_000);
    let key = server.open("go").await.unwrap();
    first_tries(&server).await;
    let drained = server.runtime.drain(LIMIT).await;
    assert_eq!((drained.cut_off, drained.left), (1, 1));
    assert_eq!(server.task(&key).await.state(), TaskState::Submitted);
    server.assert_empty().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_sender_has_left_is_worked_on_and_waited_for() {
    let (server, store) = failing(0);
    let stored = CancelSignal::new();
    store.script(Op::Insert, [Fault::Held(stored.clone())]);
    assert!(poll_now(server.service.send(&scope(), call("go"))).await.is_none());
    let opening = async {
        server.quiet().await;
        assert_eq!(server.runtime.live(), 0);
        stored.raise();
    };
    let (drained, ()) = tokio::join!(server.runtime.drain(LIMIT), opening);
    assert_eq!((drained.cut_off, drained.left), (0, 0));
    assert_eq!(store.tasks()[0].state(), TaskState::Completed);
    server.assert_empty().await;
}
