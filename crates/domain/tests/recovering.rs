//! After a crash: what was at work fails, and everything else stays as it was.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::service::Recovered;
use a2ad_domain::testing::sample::{key, reply};
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, World};
use a2ad_domain::{ErrorCode, StatusChange, TaskState};

fn ended(ended: usize) -> Recovered {
    Recovered { ended, retried: 0 }
}

#[tokio::test]
async fn tasks_that_were_at_work_fail_with_a_reason_and_others_stay_as_they_were() {
    let world = World::new(ScriptedAgent::new([]));
    let asks = StatusChange::report(TaskState::AuthRequired, Some(reply("a", "a key")));
    let mut keys: Vec<_> = TaskState::ALL.into_iter().map(|state| world.task_in(state)).collect();
    // Its run only reported that it waits.
    keys.push(world.task_after(&[asks]));
    let before: Vec<_> = keys.iter().map(|key| world.task(key)).collect();
    let left = keys.iter().cloned().chain([key(99)]);
    let running = before.iter().filter(|task| task.is_running()).count();
    assert_eq!(world.service.recover(left).await.unwrap(), ended(running));
    for (key, before) in keys.iter().zip(before) {
        let after = world.task(key);
        if before.is_running() {
            assert_eq!(after.state(), TaskState::Failed);
            let told = after.status_message().unwrap().parts.as_slice()[0].plain_text().unwrap();
            assert_eq!(told, "The server ended before the agent had finished.");
        } else {
            assert_eq!(after, before);
        }
    }
    assert_eq!(
        world.service.recover(keys).await.unwrap(),
        Recovered::default(),
        "a second time there is nothing left"
    );
}

#[tokio::test]
async fn a_store_that_is_down_is_an_error_and_nothing_is_half_done() {
    for op in [Op::Load, Op::Append] {
        let world = World::new(ScriptedAgent::new([]));
        let key = world.task_in(TaskState::Working);
        world.store.script(op, [Fault::Down]);
        let error = world.service.recover([key.clone()]).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Internal, "{op:?}");
        assert_eq!(world.service.recover([key.clone()]).await.unwrap(), ended(1));
        assert_eq!(world.task(&key).state(), TaskState::Failed);
    }
}
