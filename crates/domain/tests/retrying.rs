//! After a crash, where the agent says so: a turn that was under way begins again, as often as it may.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::service::{Recovered, RunEnd, SendMessage};
use a2ad_domain::testing::sample::{
    call_for, key_in, message, opened, piece, reply, scope_of, status,
};
use a2ad_domain::testing::{Fault, Op, ScriptedAgent, Setup, Step, World};
use a2ad_domain::{
    Change, OnCrash, OnOverdue, StatusChange, Task, TaskKey, TaskState, WhileWorking,
};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

fn retrying(most: u32) -> Setup {
    let mut setup = Setup::default();
    setup.settings.on_crash = OnCrash::Retry { max_attempts: NonZeroU32::new(most).unwrap() };
    setup.settings.while_working = WhileWorking::Append;
    setup
}

const RETRIED: Recovered = Recovered { ended: 0, retried: 1 };
const ENDED: Recovered = Recovered { ended: 1, retried: 0 };
const NOTHING: Recovered = Recovered { ended: 0, retried: 0 };

async fn recover(world: &World, key: &TaskKey) -> Recovered {
    world.service.recover([key.clone()]).await.unwrap()
}

/// The run that was started last is gone, as with its process.
async fn crash(world: &World) {
    drop(world.spawner.next().await);
}

fn told(task: &Task) -> &str {
    task.status_message().unwrap().parts.as_slice()[0].plain_text().unwrap()
}

fn artifact(task: &Task, index: usize) -> String {
    task.artifacts()[index].parts().filter_map(|part| part.plain_text()).collect()
}

fn question(text: &str) -> Change {
    StatusChange::ending(TaskState::InputRequired, Some(reply("asked", text)))
}

#[tokio::test]
async fn a_turn_that_was_under_way_begins_again_with_its_message() {
    let agent = ScriptedAgent::new([Step::complete("done")]);
    for state in [TaskState::Submitted, TaskState::Working] {
        let world = World::with(agent.clone(), retrying(3));
        let key = world.task_in(state);
        let before = world.task(&key);
        assert_eq!(recover(&world, &key).await, RETRIED);
        // What waited in the queue waits there again; one change says that there was a crash.
        let again = world.task(&key);
        assert_eq!((again.state(), again.version()), (state, before.version().next()));
        assert_eq!(again.history(), before.history());
        world.spawner.finish_next().await;
        assert_eq!(world.task(&key).state(), TaskState::Completed);
        let turn = agent.turns().pop().unwrap();
        assert_eq!(turn.attempt(), 2);
        assert_eq!(turn.request.message, before.history()[0]);
        assert_eq!(turn.request.task, None);
        assert_eq!(turn.request.context, *before.context());
    }
}

#[tokio::test]
async fn a_turn_of_which_the_run_only_waited_for_credentials_is_at_work_again() {
    let world = World::with(ScriptedAgent::new([]), retrying(3));
    let asks = StatusChange::report(TaskState::AuthRequired, Some(reply("a", "a key")));
    let key = world.task_after(&[asks]);
    assert_eq!(recover(&world, &key).await, RETRIED);
    assert_eq!(world.task(&key).state(), TaskState::Working);
    world.spawner.finish_next().await;
}

#[tokio::test]
async fn attempts_are_counted_over_crashes_until_the_task_fails_with_a_reason() {
    let agent = ScriptedAgent::new([Step::Working(None), Step::Forever]);
    let world = World::with(agent.clone(), retrying(3));
    let key = world.open("go").await;
    crash(&world).await;
    for attempt in 2..=3 {
        assert_eq!(recover(&world, &key).await, RETRIED);
        assert_eq!(world.task(&key).turn().attempt.get(), attempt);
        crash(&world).await;
    }
    assert_eq!(recover(&world, &key).await, ENDED);
    let failed = world.task(&key);
    assert_eq!(failed.state(), TaskState::Failed);
    assert_eq!(told(&failed), "The server ended 3 times before the agent had finished.");
    assert_eq!(recover(&world, &key).await, NOTHING);
}

#[tokio::test]
async fn the_next_turn_is_a_first_attempt_again() {
    let agent = ScriptedAgent::runs([vec![Step::ask("which?")], vec![Step::complete("done")]]);
    let world = World::with(agent.clone(), retrying(3));
    let key = world.task_in(TaskState::Working);
    assert_eq!(recover(&world, &key).await, RETRIED);
    world.spawner.finish_next().await;
    let answer = SendMessage { wait: Some(false), ..call_for(&key, "that") };
    world.service.send(&world.scope, answer).await.unwrap();
    world.spawner.finish_next().await;
    let attempts: Vec<_> = agent.turns().iter().map(a2ad_domain::ports::Turn::attempt).collect();
    assert_eq!(attempts, [2, 1]);
}

#[tokio::test]
async fn a_later_turn_begins_again_with_its_own_message_and_what_came_meanwhile_is_in_the_inbox() {
    let agent = ScriptedAgent::new([Step::Inbox, Step::complete("done")]);
    let world = World::with(agent.clone(), retrying(3));
    let said = |id: &str, text: &str| Change::Message(Arc::new(message(id, text)));
    let key = world.task_after(&[
        status(TaskState::Working),
        piece("earlier", "kept", false),
        question("which?"),
        said("m-answer", "that one"),
        StatusChange::resumed(None),
        StatusChange::report(TaskState::Working, Some(reply("p", "looking"))),
        said("m-late", "and hurry"),
    ]);
    assert_eq!(recover(&world, &key).await, RETRIED);
    world.spawner.finish_next().await;
    let turn = agent.turns().pop().unwrap();
    assert_eq!(turn.request.text(), "that one");
    assert_eq!(turn.request.task, Some(key.id));
    assert_eq!((turn.task.turn().message, turn.task.turn().artifacts), (2, 1));
    let late: Vec<_> = agent.inbox().iter().map(|message| message.id.clone()).collect();
    assert_eq!(late, [message("m-late", "").id]);
}

#[tokio::test]
async fn pieces_begin_an_artifact_of_the_lost_attempt_anew_and_extend_those_of_earlier_turns() {
    let chunk = |id, text: &str| Step::Chunk(id, text.to_owned());
    let agent = ScriptedAgent::new([
        chunk("out", "a"),
        chunk("earlier", "2"),
        chunk("out", "bc"),
        chunk("new", "n"),
        chunk("new", "n"),
    ]);
    let world = World::with(agent, retrying(3));
    let key = world.task_after(&[
        status(TaskState::Working),
        piece("earlier", "1", false),
        question("which?"),
        Change::Message(Arc::new(message("m-answer", "that one"))),
        StatusChange::resumed(None),
        piece("out", "ab", false),
        piece("left", "half", false),
    ]);
    assert_eq!(recover(&world, &key).await, RETRIED);
    world.spawner.finish_next().await;
    let task = world.task(&key);
    let texts: Vec<_> = (0..4).map(|index| artifact(&task, index)).collect();
    // What the new attempt does not write again stays.
    assert_eq!(texts, ["12", "abc", "half", "nn"]);
}

#[tokio::test]
async fn a_deadline_goes_on_from_the_message_and_ends_what_is_past_it() {
    let second = Duration::from_secs(1);
    for (action, state) in [
        (OnOverdue::Fail, Some(TaskState::Failed)),
        (OnOverdue::Cancel, Some(TaskState::Canceled)),
        (OnOverdue::Report, None),
    ] {
        let mut setup = retrying(9);
        setup.settings.deadline = Some(second * 100);
        setup.settings.on_overdue = action;
        let world = World::with(ScriptedAgent::new([Step::Forever]), setup);
        let key = world.open("go").await;
        let deadline = world.task(&key).deadline();
        crash(&world).await;
        world.clock.advance(second * 70);
        assert_eq!(recover(&world, &key).await, RETRIED);
        assert_eq!(world.task(&key).deadline(), deadline);
        let run = world.spawner.next().await;
        assert_eq!((run.run().limit(), run.run().left()), (Some(second * 100), Some(second * 30)));
        drop(run);
        world.clock.advance(second * 30);
        let recovered = recover(&world, &key).await;
        let task = world.task(&key);
        match state {
            Some(state) => {
                assert_eq!((recovered, task.state()), (ENDED, state));
                assert_eq!(told(&task), "The agent did not finish within 100 seconds.");
            }
            None => {
                assert_eq!(recovered, RETRIED);
                assert_eq!(world.spawner.next().await.run().left(), Some(Duration::ZERO));
            }
        }
    }
}

#[tokio::test]
async fn of_two_recoveries_at_once_one_begins_the_turn() {
    let world = World::with(ScriptedAgent::new([]), retrying(3));
    world.store.set_yielding();
    let keys: Vec<_> = (0..3).map(|_| world.task_in(TaskState::Working)).collect();
    let recover = || world.service.recover(keys.clone());
    let (one, two) = tokio::join!(recover(), recover());
    assert_eq!(one.unwrap().retried + two.unwrap().retried, 3);
    assert_eq!((world.spawner.waiting(), world.spawner.taken()), (3, 3));
    for key in &keys {
        assert_eq!(world.task(key).turn().attempt.get(), 2);
        world.spawner.finish_next().await;
    }
}

#[tokio::test]
async fn what_waits_has_ended_or_has_no_agent_is_not_begun_again() {
    let world = World::with(ScriptedAgent::new([]), retrying(3));
    for state in TaskState::ALL.into_iter().filter(|state| !state.is_active()) {
        let key = world.task_in(state);
        let before = world.task(&key);
        assert_eq!(recover(&world, &key).await, NOTHING, "{state}");
        assert_eq!(world.task(&key), before);
    }
    let foreign = key_in(&scope_of("gone", "alice"), 7);
    world.store.put(opened(foreign.clone(), 0), Vec::new());
    assert_eq!(recover(&world, &foreign).await, ENDED);
    assert_eq!(told(&world.task(&foreign)), "The server ended before the agent had finished.");
    assert_eq!(world.spawner.taken(), 0);
}

#[tokio::test]
async fn without_a_place_the_task_fails() {
    let world = World::with(ScriptedAgent::new([]), retrying(3));
    let keys = [world.task_in(TaskState::Working), world.task_in(TaskState::Working)];
    world.spawner.set_places(1);
    let recovered = world.service.recover(keys.clone()).await.unwrap();
    assert_eq!(recovered, Recovered { ended: 1, retried: 1 });
    assert_eq!(world.task(&keys[1]).state(), TaskState::Failed);
    world.spawner.finish_next().await;
}

#[tokio::test]
async fn a_store_that_is_down_begins_nothing_and_the_next_recovery_does() {
    let world = World::with(ScriptedAgent::new([]), retrying(3));
    let key = world.task_in(TaskState::Working);
    world.store.script(Op::Append, [Fault::Down]);
    assert!(world.service.recover([key.clone()]).await.is_err());
    assert_eq!((world.spawner.waiting(), world.spawner.taken()), (0, 0));
    assert_eq!(recover(&world, &key).await, RETRIED);
    world.spawner.finish_next().await;
}

#[tokio::test]
async fn a_task_that_was_canceled_before_its_run_had_its_turn_does_not_begin() {
    let agent = ScriptedAgent::new([]);
    let world = World::with(agent.clone(), retrying(3));
    let key = world.task_in(TaskState::Working);
    assert_eq!(recover(&world, &key).await, RETRIED);
    world.service.cancel(&world.scope, &key.id.to_string()).await.unwrap();
    let mut run = world.spawner.next().await;
    assert!(matches!(run.work().await, RunEnd::Stopped));
    assert!(agent.turns().is_empty(), "it began");
}
