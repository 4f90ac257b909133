//! How many live tasks an owner may have, over the ways in which tasks begin and end.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::error::Busy;
use a2ad_domain::service::{Limits, SendMessage};
use a2ad_domain::testing::sample::{AGENT, OTHER_AGENT, call, scope_of};
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, Setup, World};
use a2ad_domain::{Error, Scope, TaskState};

fn world(most: usize) -> World {
    let limits = Limits { owner_tasks: Some(most), ..Limits::default() };
    World::with(ScriptedAgent::new([]), Setup { limits, ..Setup::default() })
}

fn message() -> SendMessage {
    SendMessage { wait: Some(false), ..call("x") }
}

/// Whether a message of this scope is taken; a refusal must be the one for too many tasks.
async fn taken(world: &World, scope: &Scope) -> bool {
    match world.service.send(scope, message()).await {
        Ok(_) => true,
        Err(Error::Unavailable(Busy::Tasks)) => false,
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_owner_has_so_many_live_tasks_at_all_agents_and_others_are_not_touched() {
    let world = world(2);
    let (ann, elsewhere) = (scope_of(AGENT, "ann"), scope_of(OTHER_AGENT, "ann"));
    assert!(taken(&world, &ann).await && taken(&world, &elsewhere).await);
    assert!(!taken(&world, &ann).await && !taken(&world, &elsewhere).await);
    assert_eq!(world.store.tasks().len(), 2, "a refusal leaves nothing");
    assert!(taken(&world, &scope_of(AGENT, "bob")).await);
    let ended = world.store.tasks().into_iter().find(|task| task.key().scope == ann).unwrap();
    world.service.cancel(&ann, &ended.key().id.to_string()).await.unwrap();
    assert!(taken(&world, &elsewhere).await && !taken(&world, &ann).await);
}

#[tokio::test]
async fn a_task_that_was_not_stored_takes_no_share() {
    let world = world(1);
    world.store.script(Op::Insert, [Fault::Down]);
    assert!(world.service.send(&world.scope, message()).await.is_err());
    assert!(taken(&world, &world.scope).await);
}

#[tokio::test]
async fn an_end_whose_commit_got_lost_on_its_way_back_is_found() {
    let world = world(1);
    assert!(taken(&world, &world.scope).await);
    let key = world.store.tasks()[0].key().clone();
    world.store.script(Op::Append, [Fault::Unclear]);
    let _ = world.service.cancel(&world.scope, &key.id.to_string()).await;
    assert_eq!(world.task(&key).state(), TaskState::Canceled);
    world.service.sweep().await.unwrap();
    assert!(taken(&world, &world.scope).await);
}

#[tokio::test]
async fn tasks_that_wait_since_before_the_server_started_count() {
    let world = world(1);
    let waiting = world.task_in(TaskState::InputRequired);
    let _ended = world.task_in(TaskState::Completed);
    world.service.recover([]).await.unwrap();
    assert!(!taken(&world, &world.scope).await);
    world.service.cancel(&world.scope, &waiting.id.to_string()).await.unwrap();
    assert!(taken(&world, &world.scope).await);
}
