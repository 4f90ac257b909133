//! Callers who leave while the store is at work for them: what they have begun is seen through, so that no
//! task is stored without a run and no change without a word to those who follow.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::testing::sample::{call, call_for};
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, Step, World, all, poll_now};
use a2ad_domain::{CancelSignal, TaskState};

/// The store has done it, and answers only when this is raised.
fn hold(world: &World, op: Op) -> CancelSignal {
    let signal = CancelSignal::new();
    world.store.script(op, [Fault::Held(signal.clone())]);
    signal
}

#[tokio::test]
async fn a_task_whose_sender_leaves_while_it_is_stored_is_worked_on() {
    let world = World::new(ScriptedAgent::new([Step::complete("done")]));
    let stored = hold(&world, Op::Insert);
    assert!(poll_now(world.service.send(&world.scope, call("go"))).await.is_none());
    assert_eq!((world.store.tasks().len(), world.spawner.waiting()), (1, 0));
    stored.raise();
    world.spawner.see_through().await;
    world.spawner.finish_next().await;
    assert_eq!(world.store.tasks()[0].state(), TaskState::Completed);
    assert_eq!(world.spawner.taken(), 0, "a place is lost");
}

#[tokio::test]
async fn an_answer_whose_sender_leaves_while_it_is_stored_is_worked_on_and_shown() {
    let agent = ScriptedAgent::runs([vec![Step::ask("which?")], vec![Step::complete("done")]]);
    let world = World::new(agent);
    let key = world.open("go").await;
    world.spawner.finish_next().await;
    let attached = world.service.attach(&world.scope, &key.id.to_string(), None).await.unwrap();
    let (_, mut watch) = attached.into_task();
    let known = world.store.log(&key).len();
    let stored = hold(&world, Op::Append);
    let answer = world.service.send(&world.scope, call_for(&key, "this"));
    assert!(poll_now(answer).await.is_none());
    stored.raise();
    world.spawner.see_through().await;
    world.spawner.finish_next().await;
    assert_eq!(world.task(&key).state(), TaskState::Completed);
    assert_eq!(all(&mut watch).await, world.store.log(&key)[known..]);
    assert_eq!(world.spawner.taken(), 0, "a place is lost");
}

#[tokio::test]
async fn a_cancel_whose_caller_leaves_while_it_is_stored_reaches_the_run_and_whoever_follows() {
    let world = World::new(ScriptedAgent::new([Step::Forever]));
    let key = world.open("go").await;
    let id = key.id.to_string();
    let attached = world.service.attach(&world.scope, &id, None).await.unwrap();
    let (_, mut watch) = attached.into_task();
    let stored = hold(&world, Op::Append);
    assert!(poll_now(world.service.cancel(&world.scope, &id)).await.is_none());
    stored.raise();
    world.spawner.see_through().await;
    assert_eq!(world.spawner.stopped(), std::slice::from_ref(&key));
    assert_eq!(all(&mut watch).await, world.store.log(&key));
    assert_eq!(world.task(&key).state(), TaskState::Canceled);
    drop(world.spawner.next().await);
}

#[tokio::test]
async fn a_message_that_nobody_has_begun_to_store_is_not_stored() {
    let world = World::new(ScriptedAgent::new([]));
    drop(world.service.send(&world.scope, call("go")));
    world.spawner.see_through().await;
    assert!(world.store.tasks().is_empty());
}
