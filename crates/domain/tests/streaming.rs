//! A stream shows the task as it was opened and then exactly what was committed, whatever the bus and the
//! reader do, and is over when the task has ended or asks its client.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::ports::{Acceptance, EventBus};
use a2ad_domain::service::{Streamed, Watch};
use a2ad_domain::testing::sample::{at, call, piece, status};
use a2ad_domain::testing::{
    Fault, Op, PATIENCE, ScriptedAgent, Step, World, next_changes, poll_now,
};
use a2ad_domain::{CancelSignal, ErrorCode, Parts, Recorded, Task, TaskState};
use std::sync::Arc;

async fn stream(world: &World) -> (Arc<Task>, Watch) {
    let streamed = world.service.stream(&world.scope, call("go")).await.unwrap();
    let (snapshot, watch) = streamed.into_task();
    (snapshot.unwrap(), watch)
}

/// Everything that a stream still shows; one that never ends fails the test instead of hanging it.
async fn all(watch: &mut Watch) -> Vec<Recorded> {
    let shown = Box::pin(a2ad_domain::testing::all(watch));
    tokio::time::timeout(PATIENCE, shown).await.expect("a stream that ends")
}

fn versions(changes: &[Recorded]) -> Vec<u64> {
    changes.iter().map(|change| change.version.0).collect()
}

fn ten_chunks() -> Vec<Step> {
    let chunks = (0..10).map(|n| Step::Chunk("out", n.to_string()));
    [Step::Working(None)].into_iter().chain(chunks).chain([Step::complete("done")]).collect()
}

#[tokio::test]
async fn a_stream_is_the_opened_task_and_every_change_of_it() {
    let world = World::new(ScriptedAgent::new(ten_chunks()));
    let (opened, mut watch) = stream(&world).await;
    assert_eq!((opened.state(), opened.version().0), (TaskState::Submitted, 1));
    assert_eq!(opened.history().len(), 1);
    let (changes, ()) = tokio::join!(all(&mut watch), world.spawner.finish_next());
    assert_eq!(changes, world.store.log(opened.key()));
    assert_eq!(changes.last().unwrap().state(), Some(TaskState::Completed));
    assert!(watch.has_ended());
    assert!(watch.next().await.is_none(), "something after the end");
}

#[tokio::test]
async fn the_opening_task_is_there_before_the_run_begins() {
    let agent = ScriptedAgent::new([]);
    let world = World::new(agent.clone());
    let (opened, _watch) = stream(&world).await;
    assert_eq!(*world.task(opened.key()), *opened);
    assert!(agent.turns().is_empty());
}

#[tokio::test]
async fn a_stream_ends_with_every_end_and_with_a_question() {
    for (last, state) in [
        (Step::complete("x"), TaskState::Completed),
        (Step::Fail("x"), TaskState::Failed),
        (Step::ask("which?"), TaskState::InputRequired),
    ] {
        let world = World::new(ScriptedAgent::new([Step::Working(None), last]));
        let (_, mut watch) = stream(&world).await;
        let (changes, ()) = tokio::join!(all(&mut watch), world.spawner.finish_next());
        assert_eq!(changes.last().unwrap().state(), Some(state));
        assert!(watch.has_ended());
    }
}

#[tokio::test]
async fn a_stream_stays_open_while_credentials_are_awaited() {
    let given = CancelSignal::new();
    let agent = ScriptedAgent::new([
        Step::NeedAuth("a key"),
        Step::Wait(given.clone()),
        Step::Working(None),
        Step::complete("done"),
    ]);
    let world = World::new(agent);
    let (_, mut watch) = stream(&world).await;
    let reading = async {
        let first = watch.next().await.unwrap().unwrap();
        assert_eq!(first[0].state(), Some(TaskState::AuthRequired));
        assert!(!watch.has_ended());
        given.raise();
        all(&mut watch).await
    };
    let (rest, ()) = tokio::join!(reading, world.spawner.finish_next());
    assert_eq!(rest.last().unwrap().state(), Some(TaskState::Completed));
}

#[tokio::test]
async fn a_cancel_ends_the_stream_with_the_canceled_status() {
    let world = World::new(ScriptedAgent::new([Step::Working(None), Step::UntilCanceled]));
    let (opened, mut watch) = stream(&world).await;
    let id = opened.key().id.to_string();
    let canceling = async {
        tokio::task::yield_now().await;
        world.service.cancel(&world.scope, &id).await.unwrap()
    };
    let (changes, (), _) = tokio::join!(all(&mut watch), world.spawner.finish_next(), canceling);
    assert_eq!(changes.last().unwrap().state(), Some(TaskState::Canceled));
    assert_eq!(changes, world.store.log(opened.key()));
}

#[tokio::test]
async fn an_answer_without_a_task_is_the_whole_stream() {
    let agent = ScriptedAgent::new([]);
    agent.accepts(Ok(Acceptance::Message(Parts::text("hi"))));
    let world = World::new(agent);
    match world.service.stream(&world.scope, call("hello")).await.unwrap() {
        Streamed::Message { message, .. } => assert_eq!(message.parts, Parts::text("hi")),
        Streamed::Task { .. } => panic!("a task"),
    }
    assert!(world.store.tasks().is_empty());
}

#[tokio::test]
async fn a_reader_that_falls_behind_misses_nothing() {
    let chunks = (0..500).map(|n| Step::Chunk("out", n.to_string()));
    let world = World::new(ScriptedAgent::new(chunks.chain([Step::complete("done")])));
    let (opened, mut watch) = stream(&world).await;
    world.spawner.finish_next().await;
    assert_eq!(all(&mut watch).await, world.store.log(opened.key()));
    assert!(world.store.calls(Op::ChangesAfter) > 0, "the bus had room for everything");
}

#[tokio::test]
async fn what_the_bus_loses_is_read_from_the_log() {
    let world = World::new(ScriptedAgent::new([Step::Forever]));
    let (opened, mut watch) = stream(&world).await;
    let key = opened.key().clone();
    world.bus.set_deaf(true);
    world.store.commit(&key, status(TaskState::Working), at(1));
    world.store.commit(&key, piece("a", "x", false), at(2));
    world.bus.set_deaf(false);
    assert!(next_changes(&mut watch).await.is_empty());
    world.store.commit(&key, piece("a", "y", true), at(3));
    let last = world.store.log(&key).split_off(2);
    world.bus.publish(&key, &last, &world.task(&key));
    assert_eq!(versions(&next_changes(&mut watch).await), [2, 3, 4]);
}

#[tokio::test]
async fn what_the_bus_says_twice_or_late_is_shown_once_and_in_order() {
    let world = World::new(ScriptedAgent::new([Step::Forever]));
    let (opened, mut watch) = stream(&world).await;
    let key = opened.key().clone();
    for number in 0..4 {
        world.store.commit(&key, piece("a", "x", number > 0), at(number));
    }
    let (log, task) = (world.store.log(&key), world.task(&key));
    let mut seen = Vec::new();
    // The third comes first, the first two late, the third again, and the fourth with the second.
    for range in [2..3, 0..1, 0..2, 2..3, 1..4] {
        world.bus.publish(&key, &log[range], &task);
        seen.extend(next_changes(&mut watch).await);
    }
    assert_eq!(seen, log);
}

#[tokio::test]
async fn what_piles_up_before_the_reader_looks_is_shown_once_and_in_order() {
    // The places in the log, in the order in which writers reach the bus, all before a single poll.
    for order in [&[0, 2, 1, 3][..], &[0, 1, 0, 1, 2, 3], &[0, 0, 1, 2, 3], &[0, 3, 3], &[3, 0, 1]]
    {
        let world = World::new(ScriptedAgent::new([Step::Forever]));
        let (opened, mut watch) = stream(&world).await;
        let key = opened.key().clone();
        for number in 0..4 {
            world.store.commit(&key, piece("a", "x", number > 0), at(number));
        }
        let (log, task) = (world.store.log(&key), world.task(&key));
        for place in order {
            world.bus.publish(&key, &log[*place..=*place], &task);
        }
        let mut seen = next_changes(&mut watch).await;
        seen.extend(next_changes(&mut watch).await);
        assert_eq!(versions(&seen), versions(&log), "{order:?}");
    }
}

#[tokio::test]
async fn streams_of_one_task_show_the_same_and_do_not_depend_on_each_other() {
    let world = World::new(ScriptedAgent::new(ten_chunks()));
    let (opened, mut watch) = stream(&world).await;
    let id = opened.key().id.to_string();
    let attach = async || {
        let streamed = world.service.attach(&world.scope, &id, None).await.unwrap();
        streamed.into_task().1
    };
    let (mut second, third) = (attach().await, attach().await);
    let mut run = world.spawner.next().await;
    drop(third);
    let (first, other, end) = tokio::join!(all(&mut watch), all(&mut second), async {
        let end = run.work().await;
        run.end(end).await;
    });
    assert_eq!(first, other);
    assert_eq!(first, world.store.log(opened.key()));
    let () = end;
}

#[tokio::test]
async fn a_reader_that_leaves_does_not_touch_the_task() {
    let world = World::new(ScriptedAgent::new(ten_chunks()));
    let (opened, watch) = stream(&world).await;
    drop(watch);
    world.spawner.finish_next().await;
    assert_eq!(world.task(opened.key()).state(), TaskState::Completed);
}

#[tokio::test]
async fn a_wait_for_changes_may_be_given_up_and_taken_up_again() {
    let world = World::new(ScriptedAgent::new(ten_chunks()));
    world.store.set_yielding();
    let (opened, mut watch) = stream(&world).await;
    let mut seen = Vec::new();
    let reading = async {
        while !watch.has_ended() {
            // Every wait is dropped after a single poll, also in the middle of a read of the log.
            if let Some(Some(changes)) = poll_now(watch.next()).await {
                seen.extend(changes.unwrap());
            }
            tokio::task::yield_now().await;
        }
    };
    let lossy = async {
        let mut run = world.spawner.next().await;
        world.bus.set_deaf(true);
        let end = run.work().await;
        world.bus.set_deaf(false);
        run.end(end).await;
        // The end came over the bus with a gap before it; the reader gives up while it reads the log, so
        // from here the store does not make it wait.
    };
    tokio::select! {
        () = async { tokio::join!(reading, lossy); } => panic!("a read that always waits was finished"),
        () = async { for _ in 0..200 { tokio::task::yield_now().await; } } => {}
    }
    seen.extend(all(&mut watch).await);
    assert_eq!(seen, world.store.log(opened.key()));
}

#[tokio::test]
async fn a_store_that_fails_ends_the_stream_with_an_error() {
    let world = World::new(ScriptedAgent::new([Step::Forever]));
    let (opened, mut watch) = stream(&world).await;
    world.store.commit(opened.key(), status(TaskState::Working), at(1));
    world.store.commit(opened.key(), piece("a", "x", false), at(1));
    world.store.script(Op::ChangesAfter, [Fault::Down]);
    let last = world.store.log(opened.key()).split_off(1);
    world.bus.publish(opened.key(), &last, &world.task(opened.key()));
    let error = watch.next().await.unwrap().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal);
    assert!(!error.to_string().contains("secret"), "{error}");
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn a_reader_behind_a_forgotten_log_is_told_and_shown_nothing_wrong() {
    let world = World::new(ScriptedAgent::new([Step::Forever]));
    let (opened, mut watch) = stream(&world).await;
    let key = opened.key();
    world.store.commit(key, status(TaskState::Working), at(1));
    world.store.forget_log(key);
    world.store.commit(key, piece("a", "x", false), at(1));
    world.bus.publish(key, &world.store.log(key), &world.task(key));
    assert!(watch.next().await.unwrap().is_err());
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn when_nothing_can_be_stored_any_more_the_stream_says_so() {
    let world = World::new(ScriptedAgent::new([Step::Forever]));
    let (opened, mut watch) = stream(&world).await;
    world.bus.close(opened.key());
    let error = watch.next().await.unwrap().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal);
    assert!(watch.next().await.is_none());
}
