//! Get and list: views of what is stored, and nothing else.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::service::ListTasks;
use a2ad_domain::testing::sample::{context, key, opened_in};
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, World};
use a2ad_domain::{Error, ErrorCode, TaskState};

fn everything() -> ListTasks {
    ListTasks { limit: 100, ..ListTasks::default() }
}

#[tokio::test]
async fn a_task_is_read_as_it_is_stored_in_every_state_and_as_often_as_one_likes() {
    let world = World::new(ScriptedAgent::new([]));
    for state in TaskState::ALL {
        let key = world.task_in(state);
        let id = key.id.to_string();
        for _ in 0..2 {
            let task = world.service.get(&world.scope, &id).await.unwrap();
            assert_eq!(task, world.task(&key), "{state}");
            world.clock.advance(std::time::Duration::from_secs(1));
        }
    }
    assert_eq!(world.store.calls(Op::Append), 0);
}

#[tokio::test]
async fn only_the_exact_id_names_a_task() {
    let world = World::new(ScriptedAgent::new([]));
    let id = world.task_in(TaskState::Working).id.to_string();
    for other in [id.to_uppercase(), id.replace('-', ""), format!(" {id}"), "x".to_owned()] {
        if other == id {
            continue;
        }
        match world.service.get(&world.scope, &other).await {
            Err(Error::TaskNotFound { id: named }) => assert_eq!(*named, *other),
            found => panic!("{found:?} for {other}"),
        }
    }
}

#[tokio::test]
async fn what_was_removed_is_not_found() {
    let world = World::new(ScriptedAgent::new([]));
    let key = world.task_in(TaskState::Completed);
    world.store.remove(&key);
    let error = world.service.get(&world.scope, &key.id.to_string()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TaskNotFound);
}

#[tokio::test]
async fn a_list_passes_on_every_filter_and_its_place() {
    let world = World::new(ScriptedAgent::new([]));
    for number in 1..=6 {
        let conversation = if number % 2 == 0 { "even" } else { "odd" };
        let millis = i64::try_from(number).unwrap();
        world.store.put(opened_in(key(number), conversation, millis), Vec::new());
    }
    let list = async |list| world.service.list(&world.scope, list).await.unwrap();
    let numbers = |page: &a2ad_domain::ports::Page| -> Vec<u128> {
        page.tasks.iter().map(|task| task.key().id.as_uuid().as_u128()).collect()
    };
    let page = list(ListTasks { limit: 2, ..everything() }).await;
    assert_eq!((numbers(&page), page.total), (vec![6, 5], 6));
    let page = list(ListTasks { limit: 2, after: page.next, ..everything() }).await;
    assert_eq!(numbers(&page), [4, 3]);
    let page = list(ListTasks { context: Some(context("odd")), ..everything() }).await;
    assert_eq!((numbers(&page), page.total, page.next), (vec![5, 3, 1], 3, None));
    let since = Some(a2ad_domain::testing::sample::at(5));
    assert_eq!(numbers(&list(ListTasks { since, ..everything() }).await), [6, 5]);
    let state = Some(TaskState::Working);
    assert_eq!(list(ListTasks { state, ..everything() }).await.total, 0);
}

#[tokio::test]
async fn a_store_that_is_down_is_an_internal_error_with_a_reference_and_no_details() {
    let world = World::new(ScriptedAgent::new([]));
    let key = world.task_in(TaskState::Working);
    world.store.script(Op::Load, [Fault::Down]);
    world.store.script(Op::List, [Fault::Down]);
    let got = world.service.get(&world.scope, &key.id.to_string()).await.unwrap_err();
    let listed = world.service.list(&world.scope, everything()).await.unwrap_err();
    for error in [got, listed] {
        assert_eq!(error.code(), ErrorCode::Internal);
        let Error::Internal { reference, .. } = &error else { panic!("{error:?}") };
        assert_eq!(error.to_string(), format!("internal error {reference}"));
    }
}
