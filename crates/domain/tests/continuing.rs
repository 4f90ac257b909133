//! A message for a task that exists: it goes on where it waits, is refused where it cannot, and never
//! starts a second run.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::error::{Busy, Unsupported};
use a2ad_domain::ports::Outcome;
use a2ad_domain::service::SendMessage;
use a2ad_domain::testing::sample::{at, call_for, context, message, reply, status};
use a2ad_domain::testing::{
    FakeStore, Fault, Op, ScriptedAgent, Setup, Step, World, all, poll_now,
};
use a2ad_domain::{
    CancelSignal, Change, Error, ErrorCode, Parts, Role, StatusChange, Task, TaskKey, TaskState,
    WhileWorking,
};
use std::sync::Arc;

fn appending() -> Setup {
    let mut setup = Setup::default();
    setup.settings.while_working = WhileWorking::Append;
    setup
}

/// Sends without waiting.
async fn say(world: &World, key: &TaskKey, text: &str) -> Result<Arc<Task>, Error> {
    let call = SendMessage { wait: Some(false), ..call_for(key, text) };
    world.service.send(&world.scope, call).await.map(|sent| sent.into_task())
}

fn why(error: Error) -> Unsupported {
    match error {
        Error::UnsupportedOperation { id: Some(_), why } => why,
        other => panic!("{other:?}"),
    }
}

fn texts(task: &Task) -> Vec<&str> {
    let history = task.history().iter();
    history.map(|message| message.parts.as_slice()[0].plain_text().unwrap()).collect()
}

#[tokio::test]
async fn each_state_takes_or_refuses_the_next_message() {
    for state in TaskState::ALL {
        for setup in [Setup::default(), appending()] {
            let append = setup.settings.while_working == WhileWorking::Append;
            let world = World::with(ScriptedAgent::new([]), setup);
            let key = world.task_in(state);
            let before = world.task(&key);
            let answer = say(&world, &key, "next").await;
            let after = world.task(&key);
            match answer {
                Ok(task) => {
                    assert!(before.is_running() && append || !before.is_running(), "{state}");
                    assert!(!state.is_terminal(), "{state}");
                    assert_eq!(*task, *after);
                    assert_eq!(
                        after.state(),
                        if append && before.is_running() { state } else { TaskState::Working }
                    );
                    assert_eq!(after.history().last().unwrap().id.as_str(), "m-next");
                    assert_eq!(world.spawner.waiting(), usize::from(!before.is_running()));
                }
                Err(error) => {
                    let expected = if state.is_terminal() {
                        Unsupported::Terminal(state)
                    } else {
                        assert!(before.is_running() && !append, "{state}");
                        Unsupported::AtWork
                    };
                    assert_eq!(why(error), expected);
                    assert_eq!(*after, *before, "a refused message left a trace");
                    assert_eq!((world.spawner.waiting(), world.spawner.taken()), (0, 0));
                }
            }
            assert_eq!(world.bus.subscribers(), 0);
        }
    }
}

#[tokio::test]
async fn questions_and_answers_are_in_the_history_in_order_and_once() {
    let agent = ScriptedAgent::runs([
        vec![Step::Working(None), Step::ask("a1")],
        vec![Step::End(Outcome::AuthRequired(Parts::text("a2")))],
        vec![
            Step::Working(Some("a3")),
            Step::Artifact("out", "x".to_owned()),
            Step::complete("a4"),
        ],
    ]);
    let world = World::new(agent.clone());
    let key = world.open("u1").await;
    world.spawner.finish_next().await;
    assert_eq!(texts(&world.task(&key)), ["u1"], "the question stands in the status");
    for text in ["u2", "u3"] {
        say(&world, &key, text).await.unwrap();
        world.spawner.finish_next().await;
    }
    let task = world.task(&key);
    assert_eq!(task.state(), TaskState::Completed);
    assert_eq!(texts(&task), ["u1", "a1", "u2", "a2", "u3", "a3", "a4"]);
    let turns = agent.turns();
    assert_eq!(turns.len(), 3);
    assert_eq!(texts(&turns[2].task), ["u1", "a1", "u2", "a2", "u3"], "the run sees all of it");
    assert_eq!(turns[2].request.task, Some(key.id));
    assert_eq!(turns[2].request.text(), "u3");
}

#[tokio::test]
async fn the_next_message_waits_and_streams_like_the_first() {
    let agent = ScriptedAgent::runs([vec![Step::ask("which?")], vec![Step::complete("done")]]);
    let world = World::new(agent);
    let first = world.open("go").await;
    world.spawner.finish_next().await;
    let sent = world.service.send(&world.scope, call_for(&first, "this"));
    let task = tokio::join!(sent, world.spawner.finish_next()).0.unwrap().into_task();
    assert_eq!(task.state(), TaskState::Completed);

    let second = world.task_in(TaskState::InputRequired);
    let streamed = world.service.stream(&world.scope, call_for(&second, "this")).await.unwrap();
    let (snapshot, mut watch) = streamed.into_task();
    let snapshot = snapshot.unwrap();
    assert_eq!(snapshot.state(), TaskState::Working);
    assert_eq!(snapshot.history().last().unwrap().id.as_str(), "m-this");
    let (changes, ()) = tokio::join!(all(&mut watch), world.spawner.finish_next());
    let log = world.store.log(&second);
    let seen = usize::try_from(snapshot.version().0).unwrap() - 1;
    assert_eq!(changes, log[seen..], "all changes after the snapshot, and none of those in it");
}

#[tokio::test]
async fn a_message_of_another_conversation_is_refused_and_leaves_the_task_alone() {
    let world = World::new(ScriptedAgent::new([]));
    let key = world.task_in(TaskState::InputRequired);
    let before = world.task(&key);
    let elsewhere = SendMessage { context: Some(context("elsewhere")), ..call_for(&key, "x") };
    match world.service.send(&world.scope, elsewhere).await.unwrap_err() {
        Error::InvalidParams { field, .. } => assert_eq!(field, "message.contextId"),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.task(&key), before);
    let here = SendMessage {
        context: Some(before.context().clone()),
        wait: Some(false),
        ..call_for(&key, "x")
    };
    assert!(world.service.send(&world.scope, here).await.is_ok());
}

#[tokio::test]
async fn a_full_history_takes_no_more_messages() {
    let mut setup = appending();
    setup.limits.history = 3;
    let world = World::with(ScriptedAgent::new([]), setup);
    let key = world.task_in(TaskState::Working);
    say(&world, &key, "two").await.unwrap();
    say(&world, &key, "three").await.unwrap();
    let before = world.task(&key);
    assert_eq!(why(say(&world, &key, "four").await.unwrap_err()), Unsupported::HistoryFull);
    assert_eq!(world.task(&key), before);
    assert_eq!(before.history().len(), 3);
}

#[tokio::test]
async fn a_task_as_large_as_it_may_be_takes_no_more_messages() {
    let mut setup = appending();
    setup.limits.task_bytes = 100_000;
    let world = World::with(ScriptedAgent::new([]), setup);
    for state in [TaskState::Working, TaskState::InputRequired] {
        let key = world.task_in(state);
        let before = world.task(&key);
        let large = "x".repeat(100_000);
        assert!(
            say(&world, &key, &large).await.is_err(),
            "{state}: kept {}",
            world.task(&key).weight()
        );
        assert_eq!(world.task(&key), before);
    }
}

#[tokio::test]
async fn without_a_free_place_an_answer_is_refused_as_busy_and_the_task_still_waits() {
    let world = World::new(ScriptedAgent::new([]));
    world.spawner.set_places(0);
    let key = world.task_in(TaskState::InputRequired);
    let before = world.task(&key);
    let error = say(&world, &key, "x").await.unwrap_err();
    assert!(matches!(error, Error::Unavailable(Busy::Runs)), "{error:?}");
    assert_eq!(world.task(&key), before);
}

#[tokio::test]
async fn of_two_answers_at_once_one_wins_and_one_run_starts() {
    let world = World::new(ScriptedAgent::new([Step::Forever]));
    world.store.set_yielding();
    let key = world.task_in(TaskState::InputRequired);
    let (one, two) = tokio::join!(say(&world, &key, "one"), say(&world, &key, "two"));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    assert_eq!((world.spawner.waiting(), world.spawner.taken()), (1, 1));
    let (winner, loser) = if one.is_ok() { ("one", two) } else { ("two", one) };
    assert_eq!(why(loser.unwrap_err()), Unsupported::AtWork);
    assert_eq!(texts(&world.task(&key)), ["hello", "which one?", winner]);
}

#[tokio::test]
async fn an_answer_that_a_cancel_overtakes_is_refused() {
    let world = World::new(ScriptedAgent::new([]));
    let key = world.task_in(TaskState::InputRequired);
    let of = key.clone();
    let cancel = move |store: &FakeStore| store.commit(&of, status(TaskState::Canceled), at(5));
    world.store.script(Op::Append, [Fault::First(Box::new(cancel))]);
    let error = say(&world, &key, "late").await.unwrap_err();
    assert_eq!(why(error), Unsupported::Terminal(TaskState::Canceled));
    assert_eq!(texts(&world.task(&key)), ["hello", "which one?"]);
    assert_eq!((world.spawner.waiting(), world.spawner.taken()), (0, 0));
}

#[tokio::test]
async fn an_answer_to_a_task_that_is_removed_meanwhile_is_not_found() {
    let world = World::new(ScriptedAgent::new([]));
    let key = world.task_in(TaskState::InputRequired);
    let of = key.clone();
    world.store.script(Op::Append, [Fault::First(Box::new(move |store| store.remove(&of)))]);
    let error = say(&world, &key, "late").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TaskNotFound);
    assert_eq!(world.spawner.taken(), 0);
}

#[tokio::test]
async fn a_running_executor_finds_the_messages_that_came_meanwhile() {
    let (ready, go) = (CancelSignal::new(), CancelSignal::new());
    let agent = ScriptedAgent::new([
        Step::Working(Some("reading")),
        Step::Tell(ready.clone()),
        Step::Wait(go.clone()),
        Step::Inbox,
        Step::Inbox,
        Step::complete("done"),
    ]);
    let world = World::with(agent.clone(), appending());
    let key = world.open("one").await;
    let talking = async {
        ready.raised().await;
        say(&world, &key, "two").await.unwrap();
        say(&world, &key, "three").await.unwrap();
        go.raise();
    };
    tokio::join!(talking, world.spawner.finish_next());
    let found: Vec<_> = agent.inbox().iter().map(|message| message.id.to_string()).collect();
    assert_eq!(found, ["m-two", "m-three"], "each once, and nothing of the agent's own");
    assert_eq!(agent.turns().len(), 1);
    let task = world.task(&key);
    assert_eq!(texts(&task), ["one", "reading", "two", "three", "done"]);
    assert_eq!(task.history()[2].role, Role::User);
}

#[tokio::test]
async fn a_send_to_a_running_task_waits_for_the_same_run() {
    let go = CancelSignal::new();
    let agent = ScriptedAgent::new([Step::Wait(go.clone()), Step::complete("done")]);
    let world = World::with(agent, appending());
    let key = world.open("one").await;
    let mut run = world.spawner.next().await;
    assert!(poll_now(run.work()).await.is_none());
    drop(run);
    let mut waiting = Box::pin(world.service.send(&world.scope, call_for(&key, "two")));
    assert!(poll_now(&mut waiting).await.is_none());
    assert_eq!(world.spawner.waiting(), 0, "a second run of the same task");
    world.service.cancel(&world.scope, &key.id.to_string()).await.unwrap();
    assert_eq!(waiting.await.unwrap().into_task().state(), TaskState::Canceled);
}

#[tokio::test]
async fn a_task_that_waits_with_its_run_alive_takes_no_second_run() {
    let world = World::new(ScriptedAgent::new([]));
    let asks = StatusChange::report(TaskState::AuthRequired, Some(reply("a", "a key")));
    let key = world.task_after(&[asks]);
    assert_eq!(why(say(&world, &key, "x").await.unwrap_err()), Unsupported::AtWork);
    let world = World::with(ScriptedAgent::new([]), appending());
    let asks = StatusChange::report(TaskState::AuthRequired, Some(reply("a", "a key")));
    let key = world.task_after(&[asks]);
    let task = say(&world, &key, "x").await.unwrap();
    assert_eq!((task.state(), world.spawner.waiting()), (TaskState::AuthRequired, 0));
}

#[tokio::test]
async fn a_message_that_races_with_the_end_of_the_run_starts_the_next_one() {
    let world = World::with(ScriptedAgent::new([]), appending());
    let key = world.task_in(TaskState::Working);
    let of = key.clone();
    let park = move |store: &FakeStore| {
        let asks = StatusChange::ending(TaskState::InputRequired, Some(reply("q", "which?")));
        store.commit(&of, asks, at(5));
    };
    world.store.script(Op::Append, [Fault::First(Box::new(park))]);
    let task = say(&world, &key, "this").await.unwrap();
    assert_eq!(task.state(), TaskState::Working);
    assert_eq!(world.spawner.waiting(), 1);
    assert_eq!(texts(&task), ["hello", "which?", "this"]);
    let messages =
        world.store.log(&key).iter().filter(|c| matches!(c.change, Change::Message(_))).count();
    assert_eq!(messages, 1);
    assert_eq!(*task.history()[2], message("m-this", "this"));
}
