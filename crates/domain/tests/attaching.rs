//! Re-attaching to a task: first what it is, then every change; or exactly what the client has missed.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::error::Unsupported;
use a2ad_domain::service::{Resume, Watch};
use a2ad_domain::testing::sample::{at, piece, status, way_to};
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, World, all, next_changes};
use a2ad_domain::{Error, Recorded, Task, TaskKey, TaskState, Version};
use std::sync::Arc;

fn world() -> World {
    World::new(ScriptedAgent::new([]))
}

fn after(seen: u64) -> Resume {
    Resume { seen: Version(seen), snapshot: false }
}

async fn attach(
    world: &World,
    key: &TaskKey,
    resume: impl Into<Option<Resume>>,
) -> Result<(Option<Arc<Task>>, Watch), Error> {
    let attached = world.service.attach(&world.scope, &key.id.to_string(), resume.into()).await;
    attached.map(|streamed| streamed.into_task())
}

/// Ends a live task through the service, so that the bus hears of it.
async fn cancel(world: &World, key: &TaskKey) {
    world.service.cancel(&world.scope, &key.id.to_string()).await.unwrap();
}

fn versions(changes: &[Recorded]) -> Vec<u64> {
    changes.iter().map(|change| change.version.0).collect()
}

#[tokio::test]
async fn in_every_state_a_live_task_is_shown_and_followed_and_an_ended_one_is_refused() {
    for state in TaskState::ALL {
        let world = world();
        let key = world.task_in(state);
        let task = world.task(&key);
        match attach(&world, &key, None).await {
            Ok((snapshot, mut watch)) => {
                assert!(!state.is_terminal(), "{state}");
                assert_eq!(snapshot.as_ref(), Some(&task));
                cancel(&world, &key).await;
                let changes = all(&mut watch).await;
                assert_eq!(versions(&changes), [task.version().0 + 1], "{state}");
                assert_eq!(changes[0].state(), Some(TaskState::Canceled));
            }
            Err(error) => {
                assert!(state.is_terminal(), "{state}");
                let why = Unsupported::Terminal(state);
                assert!(
                    matches!(error, Error::UnsupportedOperation { id: Some(id), why: w }
                        if id == key.id && w == why),
                    "{error:?}"
                );
            }
        }
        assert_eq!(world.bus.subscribers(), 0);
    }
}

#[tokio::test]
async fn an_unknown_task_is_not_found_and_leaves_no_subscriber() {
    let world = world();
    for id in ["nonsense", "00000000-0000-4000-8000-000000000000"] {
        for resume in [None, Some(after(1))] {
            let attached = world.service.attach(&world.scope, id, resume).await;
            assert!(matches!(attached.err(), Some(Error::TaskNotFound { .. })));
        }
    }
    assert_eq!(world.bus.subscribers(), 0);
}

#[tokio::test]
async fn a_client_that_says_where_it_was_gets_exactly_the_rest() {
    let world = world();
    let way = [status(TaskState::Working), piece("a", "x", false), piece("a", "y", true)];
    let key = world.task_after(&way);
    for seen in 1..=4 {
        let (snapshot, mut watch) = attach(&world, &key, after(seen)).await.unwrap();
        assert_eq!(snapshot, None, "shown again to a client that has seen it");
        let missed = next_changes(&mut watch).await;
        assert_eq!(versions(&missed), (seen + 1..=4).collect::<Vec<_>>());
    }
    let (_, mut watch) = attach(&world, &key, after(2)).await.unwrap();
    cancel(&world, &key).await;
    assert_eq!(versions(&all(&mut watch).await), [3, 4, 5]);
}

#[tokio::test]
async fn a_client_that_was_cut_off_before_the_end_gets_the_end() {
    for state in TaskState::ALL.into_iter().filter(|state| state.is_terminal()) {
        let world = world();
        let key = world.task_in(state);
        let last = world.task(&key).version().0;
        for seen in 1..last {
            let (snapshot, mut watch) = attach(&world, &key, after(seen)).await.unwrap();
            assert_eq!(snapshot, None);
            let missed = all(&mut watch).await;
            assert_eq!(versions(&missed), (seen + 1..=last).collect::<Vec<_>>());
            assert_eq!(missed.last().unwrap().state(), Some(state));
        }
        let nothing_missed = attach(&world, &key, after(last)).await.err().unwrap();
        assert!(matches!(nothing_missed, Error::UnsupportedOperation { .. }));
    }
}

#[tokio::test]
async fn a_place_that_is_no_version_of_the_task_counts_as_none() {
    let world = world();
    let key = world.task_in(TaskState::Working);
    for seen in [0, 99, u64::MAX] {
        let (snapshot, mut watch) = attach(&world, &key, after(seen)).await.unwrap();
        assert_eq!(snapshot, Some(world.task(&key)), "after {seen}");
        assert!(next_changes(&mut watch).await.is_empty());
    }
    let ended = world.task_in(TaskState::Completed);
    for seen in [0, 99, u64::MAX] {
        let refused = attach(&world, &ended, after(seen)).await.err().unwrap();
        assert!(matches!(refused, Error::UnsupportedOperation { .. }), "after {seen}");
    }
}

#[tokio::test]
async fn a_client_that_must_see_the_task_first_sees_it_and_then_only_what_is_new() {
    let world = world();
    let key = world.task_in(TaskState::Working);
    let resume = Some(Resume { seen: Version(1), snapshot: true });
    let (snapshot, mut watch) = attach(&world, &key, resume).await.unwrap();
    assert_eq!(snapshot, Some(world.task(&key)));
    cancel(&world, &key).await;
    assert_eq!(versions(&all(&mut watch).await), [4]);
    let refused = attach(&world, &key, resume).await.err().unwrap();
    assert!(matches!(refused, Error::UnsupportedOperation { .. }));
}

#[tokio::test]
async fn what_the_log_has_forgotten_is_shown_as_the_task() {
    let world = world();
    let key = world.task_in(TaskState::Working);
    world.store.forget_log(&key);
    let (snapshot, watch) = attach(&world, &key, after(1)).await.unwrap();
    assert_eq!(snapshot, Some(world.task(&key)));
    drop(watch);
    let ended = world.task_in(TaskState::Completed);
    world.store.forget_log(&ended);
    let refused = attach(&world, &ended, after(1)).await.err().unwrap();
    assert!(matches!(refused, Error::UnsupportedOperation { .. }));
}

#[tokio::test]
async fn a_change_between_listening_and_reading_is_shown_once() {
    let world = world();
    let key = world.task_in(TaskState::Working);
    let (bus, of) = (world.bus.clone(), key.clone());
    // Committed and handed out after the subscription, before the task is read.
    let commit = move |store: &a2ad_domain::testing::FakeStore| {
        use a2ad_domain::ports::EventBus;
        store.commit(&of, piece("a", "x", false), at(5));
        let task = store.task(&of).unwrap();
        bus.publish(&of, &store.log(&of)[2..], &task);
    };
    world.store.script(Op::Load, [Fault::First(Box::new(commit))]);
    let (snapshot, mut watch) = attach(&world, &key, None).await.unwrap();
    assert_eq!(snapshot.unwrap().version(), Version(4));
    cancel(&world, &key).await;
    assert_eq!(versions(&all(&mut watch).await), [5]);
}

#[tokio::test]
async fn a_question_does_not_end_the_stream_of_a_client_that_came_back() {
    let world = world();
    let key = world.task_after(&way_to(TaskState::InputRequired));
    let (_, mut watch) = attach(&world, &key, after(1)).await.unwrap();
    let missed = next_changes(&mut watch).await;
    assert_eq!(missed.last().unwrap().state(), Some(TaskState::InputRequired));
    assert!(!watch.has_ended());
    cancel(&world, &key).await;
    assert_eq!(all(&mut watch).await.len(), 1);
}

#[tokio::test]
async fn a_long_absence_is_made_up_for_in_full() {
    let world = world();
    let chunks: Vec<_> = (0..9_000).map(|n| piece("a", "x", n > 0)).collect();
    let key = world.task_after(&chunks);
    let (_, mut watch) = attach(&world, &key, after(1)).await.unwrap();
    cancel(&world, &key).await;
    let missed = all(&mut watch).await;
    assert_eq!(versions(&missed), (2..=9_002).collect::<Vec<_>>());
}
