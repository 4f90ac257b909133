//! Agents come, change and go while the service runs, and operators see tasks of every scope.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::error::Busy;
use a2ad_domain::ports::Survey;
use a2ad_domain::testing::sample::{AGENT, OTHER_AGENT, agent_id, call, key_in, opened, scope_of};
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, Setup, World};
use a2ad_domain::{Agent, Error, Scope, TaskKey, TaskState, Unfinished};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

fn world() -> World {
    World::new(ScriptedAgent::new([]))
}

fn agent(world: &World) -> Arc<Agent> {
    world.service.agent(&agent_id(AGENT)).unwrap()
}

/// A task in each state, of the usual scope.
fn one_in_each_state(world: &World) -> Vec<TaskKey> {
    TaskState::ALL.into_iter().map(|state| world.task_in(state)).collect()
}

/// A task that is open in a scope.
fn open_in(world: &World, scope: &Scope, number: u128) -> TaskKey {
    let key = key_in(scope, number);
    world.store.put(opened(key.clone(), 1), Vec::new());
    key
}

fn is_withdrawn(error: &Error) -> bool {
    matches!(error, Error::Unavailable(Busy::Withdrawn))
}

#[tokio::test]
async fn a_message_for_an_agent_that_is_withdrawn_or_gone_is_refused_and_nothing_is_stored() {
    for gone in [false, true] {
        let world = world();
        if gone {
            world.service.set_agents([]);
        } else {
            world.service.withdraw(&agent(&world), Unfinished::Drain).await.unwrap();
        }
        assert!(is_withdrawn(&world.service.send(&world.scope, call("x")).await.unwrap_err()));
        let streamed = world.service.stream(&world.scope, call("x")).await;
        assert!(streamed.is_err_and(|error| is_withdrawn(&error)));
        assert_eq!(world.store.tasks(), []);
    }
}

#[tokio::test]
async fn a_withdrawn_agent_leaves_its_tasks_alone_or_cancels_those_that_live() {
    for tasks in [Unfinished::Drain, Unfinished::Cancel] {
        let world = world();
        let keys = one_in_each_state(&world);
        let before: Vec<_> = keys.iter().map(|key| world.task(key)).collect();
        let others = [
            open_in(&world, &scope_of(AGENT, "bob"), 1),
            open_in(&world, &scope_of(OTHER_AGENT, "alice"), 2),
        ];
        let canceled = world.service.withdraw(&agent(&world), tasks).await.unwrap();
        let mut live = 0;
        for (key, before) in keys.iter().zip(&before) {
            let ends = tasks == Unfinished::Cancel && !before.state().is_terminal();
            live += usize::from(ends);
            let expected = if ends { TaskState::Canceled } else { before.state() };
            assert_eq!(world.task(key).state(), expected);
            assert_eq!(world.spawner.stopped().contains(key), ends, "{:?}", before.state());
        }
        let states = others.map(|key| world.task(&key).state());
        let bobs =
            if tasks == Unfinished::Cancel { TaskState::Canceled } else { TaskState::Submitted };
        assert_eq!(states, [bobs, TaskState::Submitted], "another owner, another agent");
        assert_eq!(canceled, live + usize::from(tasks == Unfinished::Cancel));
    }
}

#[tokio::test]
async fn more_tasks_than_are_looked_at_in_one_go_are_all_canceled() {
    let world = world();
    let keys: Vec<_> = (1..600).map(|number| open_in(&world, &world.scope, number)).collect();
    let canceled = world.service.withdraw(&agent(&world), Unfinished::Cancel).await.unwrap();
    assert_eq!(canceled, keys.len());
    assert!(keys.iter().all(|key| world.task(key).state() == TaskState::Canceled));
}

#[tokio::test]
async fn a_task_that_is_opened_while_its_agent_is_withdrawn_ends_at_once_and_never_runs() {
    // The version that the message meets may be one that has been changed since.
    for changed in [false, true] {
        let world = world();
        let (service, met) = (world.service.clone(), agent(&world));
        let first = move |_: &_| {
            let withdrawn = if changed {
                let new = Setup::default().agent(AGENT, ScriptedAgent::new([])).in_place_of(&met);
                Arc::new(new)
            } else {
                met
            };
            let withdraw = pin!(service.withdraw(&withdrawn, Unfinished::Cancel));
            let looked = withdraw.poll(&mut Context::from_waker(Waker::noop()));
            assert!(
                looked.is_ready(),
                "its tasks have been looked through before this one is there"
            );
        };
        world.store.script(Op::Insert, [Fault::First(Box::new(first))]);
        let task = world.service.send(&world.scope, call("x")).await.unwrap().into_task();
        assert_eq!(task.state(), TaskState::Canceled);
        assert_eq!(world.task(task.key()).state(), TaskState::Canceled);
        assert_eq!((world.spawner.waiting(), world.spawner.taken()), (0, 0));
    }
}

#[tokio::test]
async fn an_agent_that_is_published_again_takes_messages_and_lets_them_work() {
    let world = world();
    let agent = agent(&world);
    world.service.withdraw(&agent, Unfinished::Cancel).await.unwrap();
    agent.set_published(true);
    let key = world.open("x").await;
    assert_eq!((world.task(&key).state(), world.spawner.waiting()), (TaskState::Submitted, 1));
    drop(world.spawner.next().await);
}

#[tokio::test]
async fn who_waits_at_an_agent_that_is_gone_is_told_and_who_works_there_is_left_to_end() {
    let world = world();
    let keys = one_in_each_state(&world);
    let before: Vec<_> = keys.iter().map(|key| world.task(key)).collect();
    assert_eq!(world.service.sweep().await.unwrap().failed, 0);
    world.service.set_agents([]);
    assert_eq!(world.service.sweep().await.unwrap().failed, 2);
    for (key, before) in keys.iter().zip(before) {
        let (after, state) = (world.task(key), before.state());
        if [TaskState::InputRequired, TaskState::AuthRequired].contains(&state) {
            assert_eq!(after.state(), TaskState::Failed);
            let text = after.status_message().unwrap().parts.as_slice()[0].plain_text().unwrap();
            assert_eq!(text, "The agent has been removed.");
        } else {
            assert_eq!(after, before);
        }
    }
}

#[tokio::test]
async fn an_operator_finds_and_cancels_a_task_whoever_it_belongs_to() {
    let world = world();
    let key = open_in(&world, &scope_of(OTHER_AGENT, "bob"), 7);
    let id = key.id.to_string();
    assert_eq!(*world.service.find(&id).await.unwrap().key(), key);
    assert_eq!(world.service.cancel_found(&id).await.unwrap().state(), TaskState::Canceled);
    let again = world.service.cancel_found(&id).await;
    assert!(matches!(again, Err(Error::TaskNotCancelable { .. })), "{again:?}");
    for unknown in ["00000000-0000-0000-0000-000000000008", "x"] {
        let found = world.service.cancel_found(unknown).await;
        assert!(matches!(found, Err(Error::TaskNotFound { .. })), "{found:?}");
        assert!(matches!(world.service.find(unknown).await, Err(Error::TaskNotFound { .. })));
    }
}

#[tokio::test]
async fn the_pages_of_a_survey_end_with_the_last_task() {
    let world = world();
    let keys: Vec<_> = (1..=4).map(|number| open_in(&world, &world.scope, number)).collect();
    let survey = |after| Survey { limit: 2, after, ..Survey::default() };
    let first = world.service.survey(survey(None), false).await.unwrap();
    assert_eq!(first.next, Some(keys[2].id));
    let last = world.service.survey(survey(first.next), false).await.unwrap();
    assert_eq!((last.next, last.tasks.len()), (None, 2));
    let overdue = world.service.survey(survey(None), true).await.unwrap();
    assert_eq!(overdue.tasks, [], "none of them has a deadline");
}
