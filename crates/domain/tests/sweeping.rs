//! Housekeeping: whoever is not answered for too long fails, and what ended long ago goes.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::service::Limits;
use a2ad_domain::testing::sample::{at, reply, status};
use a2ad_domain::testing::{FakeStore, Fault, Op, ScriptedAgent, Setup, World, all};
use a2ad_domain::{Change, ErrorCode, StatusChange, TaskState};
use std::time::Duration;

const IDLE: Duration = Duration::from_secs(100);
const RETENTION: Duration = Duration::from_secs(1000);
const MOMENT: Duration = Duration::from_millis(1);

fn world() -> World {
    let limits = Limits { idle: IDLE, retention: RETENTION, ..Limits::default() };
    World::with(ScriptedAgent::new([]), Setup { limits, ..Setup::default() })
}

async fn swept(world: &World) -> (usize, usize) {
    let swept = world.service.sweep().await.unwrap();
    (swept.failed, swept.removed)
}

#[tokio::test]
async fn a_task_that_nobody_answers_fails_when_its_time_is_over_and_not_before() {
    for state in TaskState::ALL {
        let world = world();
        let key = world.task_in(state);
        let before = world.task(&key);
        world.clock.advance(IDLE);
        assert_eq!(swept(&world).await, (0, 0), "{state}");
        world.clock.advance(MOMENT);
        let waits = state == TaskState::InputRequired || state == TaskState::AuthRequired;
        assert_eq!(swept(&world).await, (usize::from(waits), 0), "{state}");
        let after = world.task(&key);
        if waits {
            assert_eq!(after.state(), TaskState::Failed);
            assert!(!after.is_running());
            let text = after.status_message().unwrap().parts.as_slice()[0].plain_text().unwrap();
            assert_eq!(text, "Nobody answered within 100 seconds.");
        } else {
            assert_eq!(after, before);
        }
    }
}

#[tokio::test]
async fn an_agent_with_a_limit_of_its_own_is_swept_by_that_one() {
    for own in [IDLE / 2, IDLE * 2] {
        let mut setup = Setup::default();
        setup.settings.idle = Some(own);
        setup.limits.idle = IDLE;
        let world = World::with(ScriptedAgent::new([]), setup);
        let key = world.task_in(TaskState::InputRequired);
        world.clock.advance(own);
        assert_eq!(swept(&world).await, (0, 0));
        world.clock.advance(MOMENT);
        assert_eq!(swept(&world).await, (1, 0));
        assert_eq!(world.task(&key).state(), TaskState::Failed);
    }
}

#[tokio::test]
async fn whoever_follows_a_task_hears_that_it_was_given_up() {
    let world = world();
    let key = world.task_in(TaskState::InputRequired);
    let attached = world.service.attach(&world.scope, &key.id.to_string(), None).await.unwrap();
    let (_, mut watch) = attached.into_task();
    world.clock.advance(IDLE + MOMENT);
    assert_eq!(swept(&world).await, (1, 0));
    let changes = all(&mut watch).await;
    assert_eq!(changes.last().unwrap().state(), Some(TaskState::Failed));
}

#[tokio::test]
async fn a_task_whose_run_waits_for_credentials_is_not_given_up() {
    let world = world();
    let asks = StatusChange::report(TaskState::AuthRequired, Some(reply("a", "a key")));
    let key = world.task_after(&[asks]);
    world.clock.advance(IDLE * 2);
    assert_eq!(swept(&world).await, (0, 0));
    assert_eq!(world.task(&key).state(), TaskState::AuthRequired);
}

#[tokio::test]
async fn an_answer_at_the_last_moment_wins_over_the_sweep() {
    let answer = |of: &a2ad_domain::TaskKey| {
        let of = of.clone();
        Fault::First(Box::new(move |store: &FakeStore| {
            store.commit(&of, status(TaskState::Working), at(i64::MAX));
        }))
    };
    for op in [Op::Load, Op::Append] {
        let world = world();
        let key = world.task_in(TaskState::InputRequired);
        world.clock.advance(IDLE + MOMENT);
        world.store.script(op, [answer(&key)]);
        assert_eq!(swept(&world).await, (0, 0), "{op:?}");
        assert_eq!(world.task(&key).state(), TaskState::Working);
    }
}

#[tokio::test]
async fn a_task_that_is_removed_meanwhile_does_not_stop_the_sweep() {
    for op in [Op::Load, Op::Append] {
        let world = world();
        let (gone, idle) =
            (world.task_in(TaskState::InputRequired), world.task_in(TaskState::InputRequired));
        world.clock.advance(IDLE + MOMENT);
        let of = gone.clone();
        world.store.script(op, [Fault::First(Box::new(move |store| store.remove(&of)))]);
        assert_eq!(swept(&world).await, (1, 0), "{op:?}");
        assert_eq!(world.task(&idle).state(), TaskState::Failed);
    }
}

#[tokio::test]
async fn ended_tasks_are_removed_when_their_time_is_over_and_live_ones_never() {
    let world = world();
    let keys: Vec<_> = TaskState::ALL.into_iter().map(|state| world.task_in(state)).collect();
    let interrupted = 2;
    world.clock.advance(RETENTION);
    assert_eq!(swept(&world).await, (interrupted, 0));
    world.clock.advance(MOMENT);
    assert_eq!(swept(&world).await, (0, 4));
    let left: Vec<_> = keys.iter().filter(|key| world.store.task(key).is_some()).collect();
    // Submitted and working live; the two that waited have only just failed.
    assert_eq!(left, keys[..4].iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_store_that_is_down_ends_the_sweep_with_an_error() {
    for op in [Op::WaitingSince, Op::Load, Op::Append, Op::Purge] {
        let world = world();
        let _ = world.task_in(TaskState::InputRequired);
        world.clock.advance(IDLE + MOMENT);
        world.store.script(op, [Fault::Down]);
        let error = world.service.sweep().await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Internal, "{op:?}");
        let retried = swept(&world).await.0;
        let already = world.store.tasks()[0].version().0 == 4;
        assert!(retried == 1 || already, "{op:?}: the next sweep makes up for it");
        let ends = |change: &Change| matches!(change, Change::Status(s) if s.state.is_terminal());
        let log = world.store.log(world.store.tasks()[0].key());
        assert_eq!(log.iter().filter(|recorded| ends(&recorded.change)).count(), 1);
    }
}
