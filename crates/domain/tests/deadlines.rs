//! Deadlines of runs: the agent's own, and a shorter one that a message asks for.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::service::{DEADLINE_EXTENSION, ListTasks, RunEnd, SendMessage};
use a2ad_domain::testing::sample::{call, call_for};
use a2ad_domain::testing::{ScriptedAgent, Setup, Step, World};
use a2ad_domain::{Error, OnOverdue, RawJson, TaskState};
use std::time::Duration;

fn world(own: Option<Duration>) -> World {
    let mut setup = Setup::default();
    setup.settings.deadline = own;
    World::with(ScriptedAgent::runs([vec![Step::ask("which?")], vec![Step::Forever]]), setup)
}

fn asking(mut call: SendMessage, value: &str) -> SendMessage {
    let json = format!("{{\"{DEADLINE_EXTENSION}\":{value}}}");
    call.message.metadata = Some(RawJson::parse(&json).unwrap());
    call.wait = Some(false);
    call
}

#[tokio::test]
async fn a_message_may_ask_for_less_time_and_never_gets_more_than_the_agent_gives() {
    let second = Duration::from_secs(1);
    for (own, asked, limit) in [
        (Some(second * 10), r#"{"seconds":2}"#, second * 2),
        (Some(second * 10), r#"{"seconds":60}"#, second * 10),
        (Some(second * 10), r#"{"seconds":0.25,"more":1}"#, second / 4),
        (None, r#"{"seconds":1e3}"#, second * 1000),
    ] {
        let world = world(own);
        let call = asking(call("go"), asked);
        let task = world.service.send(&world.scope, call).await.unwrap().into_task();
        assert_eq!(task.deadline(), Some(task.created().after(limit)), "{own:?} {asked}");
        let run = world.spawner.next().await;
        assert_eq!(run.run().limit(), Some(limit));
        run.end(RunEnd::Stopped).await;
    }
}

#[tokio::test]
async fn a_deadline_that_is_none_is_refused_and_nothing_is_stored() {
    let far = Some(Duration::from_secs(600));
    for asked in [
        "5",
        "{}",
        r#"{"seconds":"5"}"#,
        r#"{"seconds":0}"#,
        r#"{"seconds":-1}"#,
        r#"{"seconds":1e400}"#,
    ] {
        let world = world(far);
        let refused = world.service.send(&world.scope, asking(call("go"), asked)).await;
        let Err(Error::InvalidParams { field, .. }) = refused else { panic!("{asked} is taken") };
        assert_eq!(field, "message.metadata[\"urn:a2ad:deadline:1\"].seconds");
        assert!(world.store.tasks().is_empty());
    }
}

#[tokio::test]
async fn each_turn_has_a_deadline_of_its_own_and_a_task_that_waits_has_none() {
    let world = world(Some(Duration::from_secs(100)));
    let key = world.open("go").await;
    world.spawner.finish_next().await;
    assert_eq!(world.task(&key).state(), TaskState::InputRequired);
    assert_eq!(world.task(&key).deadline(), None);
    world.clock.advance(Duration::from_secs(1000));
    let answer = asking(call_for(&key, "that"), r#"{"seconds":7}"#);
    world.service.send(&world.scope, answer).await.unwrap();
    let due = world.task(&key).status_at().after(Duration::from_secs(7));
    assert_eq!(world.task(&key).deadline(), Some(due));
    let run = world.spawner.next().await;
    assert_eq!(run.run().limit(), Some(Duration::from_secs(7)));
    run.end(RunEnd::Stopped).await;
}

#[tokio::test]
async fn the_list_of_overdue_tasks_holds_what_should_have_ended_by_now() {
    let mut setup = Setup::default();
    setup.settings.deadline = Some(Duration::from_secs(10));
    setup.settings.on_overdue = OnOverdue::Report;
    let world = World::with(ScriptedAgent::new([Step::Forever]), setup);
    let overdue = async || {
        let list = ListTasks { overdue: true, limit: 10, ..ListTasks::default() };
        let page = world.service.list(&world.scope, list).await.unwrap();
        assert_eq!(page.tasks.len(), page.total);
        page.tasks.iter().map(|task| task.key().clone()).collect::<Vec<_>>()
    };
    let first = world.open("1").await;
    world.clock.advance(Duration::from_secs(5));
    let second = world.open("2").await;
    assert_eq!(overdue().await, []);
    world.clock.advance(Duration::from_secs(5));
    assert_eq!(overdue().await, std::slice::from_ref(&first));
    world.clock.advance(Duration::from_secs(5));
    assert_eq!(overdue().await.len(), 2);
    world.service.cancel(&world.scope, &first.id.to_string()).await.unwrap();
    assert_eq!(overdue().await, [second]);
    for _ in 0..2 {
        world.spawner.next().await.end(RunEnd::Stopped).await;
    }
}

#[tokio::test]
async fn a_run_whose_time_is_up_ends_its_task_while_its_executor_is_at_work() {
    for (action, state) in
        [(OnOverdue::Fail, TaskState::Failed), (OnOverdue::Cancel, TaskState::Canceled)]
    {
        let mut setup = Setup::default();
        setup.settings.on_overdue = action;
        let world = World::with(ScriptedAgent::new([Step::UntilCanceled]), setup);
        let key = world.open("go").await;
        let mut run = world.spawner.next().await;
        let overdue = run.run().overdue();
        let signal = run.run().cancel_signal().clone();
        let ended = async {
            assert!(overdue.end_task().await);
            signal.raise();
        };
        let (end, ()) = tokio::join!(run.work(), ended);
        let ended = world.task(&key);
        assert_eq!(ended.state(), state);
        run.end(end).await;
        assert_eq!(world.task(&key), ended, "the run's own end came too late");
    }
}
