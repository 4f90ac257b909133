//! Sending a message that opens a task: what it waits for, what it gives back, and what it leaves behind.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

use a2ad_domain::ports::{Acceptance, Outcome};
use a2ad_domain::service::{SendMessage, Sent};
use a2ad_domain::testing::sample::{call, context, message, scope};
use a2ad_domain::testing::{Op, ScriptedAgent, Setup, Step, World, poll_now};
use a2ad_domain::{CancelSignal, Error, Parts, Role, SendDefault, Task, TaskState};
use std::sync::Arc;
use std::time::Duration;

async fn send(world: &World, text: &str) -> Arc<Task> {
    let sent = world.service.send(&world.scope, call(text));
    let (sent, ()) = tokio::join!(sent, world.spawner.finish_next());
    sent.unwrap().into_task()
}

fn said(task: &Task) -> Vec<(Role, &str)> {
    let history = task.history().iter();
    history.map(|m| (m.role, m.parts.as_slice()[0].plain_text().unwrap())).collect()
}

#[tokio::test]
async fn a_send_waits_for_the_whole_result() {
    let chunks = (0..50).map(|n| Step::Chunk("out", n.to_string()));
    let script = chunks.chain([Step::complete("done")]);
    let world = World::new(ScriptedAgent::new(script));
    let task = send(&world, "go").await;
    assert_eq!(task.state(), TaskState::Completed);
    assert_eq!(task.artifacts()[0].parts().count(), 50);
    assert_eq!(said(&task), [(Role::User, "go"), (Role::Agent, "done")]);
    assert_eq!(*world.task(task.key()), *task, "what was answered is what is stored");
}

#[tokio::test]
async fn a_send_returns_at_every_rest() {
    let text = || Parts::text("because");
    for (step, state) in [
        (Step::End(Outcome::Completed(None)), TaskState::Completed),
        (Step::End(Outcome::InputRequired(text())), TaskState::InputRequired),
        (Step::End(Outcome::AuthRequired(text())), TaskState::AuthRequired),
        (Step::End(Outcome::Rejected(text())), TaskState::Rejected),
        (Step::Fail("why"), TaskState::Failed),
    ] {
        let world = World::new(ScriptedAgent::new([Step::Working(None), step]));
        let task = send(&world, "go").await;
        assert_eq!(task.state(), state);
        assert!(!task.is_running(), "{state}");
        assert_eq!(world.spawner.taken(), 0, "{state}");
    }
}

#[tokio::test]
async fn a_send_returns_when_credentials_are_needed_and_the_run_goes_on() {
    let given = CancelSignal::new();
    let agent = ScriptedAgent::new([
        Step::NeedAuth("a key"),
        Step::Wait(given.clone()),
        Step::Working(None),
        Step::complete("done"),
    ]);
    let world = World::new(agent);
    let sent = world.service.send(&world.scope, call("go"));
    let answered = async {
        let task = sent.await.unwrap().into_task();
        assert_eq!(task.state(), TaskState::AuthRequired);
        assert!(task.is_running());
        given.raise();
        task
    };
    let (task, ()) = tokio::join!(answered, world.spawner.finish_next());
    let done = world.task(task.key());
    assert_eq!(done.state(), TaskState::Completed);
    let history = [(Role::User, "go"), (Role::Agent, "a key"), (Role::Agent, "done")];
    assert_eq!(said(&done), history);
}

#[tokio::test]
async fn whether_a_send_waits_is_said_by_the_call_and_else_by_the_agent() {
    for (default, asked, waits) in [
        (SendDefault::Wait, None, true),
        (SendDefault::Return, None, false),
        (SendDefault::Wait, Some(false), false),
        (SendDefault::Return, Some(true), true),
    ] {
        let mut setup = Setup::default();
        setup.settings.send_default = default;
        let world = World::with(ScriptedAgent::new([]), setup);
        let call = SendMessage { wait: asked, ..call("go") };
        let sent = poll_now(world.service.send(&world.scope, call)).await;
        assert_eq!(sent.is_none(), waits, "{default:?} {asked:?}");
        if let Some(sent) = sent {
            let task = sent.unwrap().into_task();
            assert_eq!((task.state(), task.version().0), (TaskState::Submitted, 1));
        }
    }
}

#[tokio::test]
async fn after_the_wait_limit_the_task_is_returned_as_it_is_and_the_run_goes_on() {
    let more = CancelSignal::new();
    let agent = ScriptedAgent::new([
        Step::Working(None),
        Step::Artifact("out", "half".to_owned()),
        Step::Wait(more.clone()),
        Step::complete("done"),
    ]);
    let mut setup = Setup::default();
    setup.limits.wait = Duration::from_secs(7);
    let world = World::with(agent, setup);
    let answered = async {
        let call = SendMessage { wait: Some(true), ..call("go") };
        let task = world.service.send(&world.scope, call).await.unwrap().into_task();
        assert_eq!((task.state(), task.artifacts().len()), (TaskState::Working, 1));
        more.raise();
        task
    };
    let time = async {
        world.clock.advance_when_awaited(Duration::from_millis(6_999)).await;
        tokio::task::yield_now().await;
        assert_eq!(world.bus.subscribers(), 1, "returned before the limit");
        world.clock.advance(Duration::from_millis(1));
    };
    let (task, (), ()) = tokio::join!(answered, world.spawner.finish_next(), time);
    assert_eq!(world.task(task.key()).state(), TaskState::Completed);
    assert_eq!(world.clock.sleeping(), 0);
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_its_task_running() {
    let world = World::new(ScriptedAgent::new([Step::complete("done")]));
    assert!(poll_now(world.service.send(&world.scope, call("go"))).await.is_none());
    assert_eq!(world.bus.subscribers(), 0);
    world.spawner.finish_next().await;
    assert_eq!(world.store.tasks()[0].state(), TaskState::Completed);
}

#[tokio::test]
async fn an_answer_without_a_task_leaves_no_trace() {
    let agent = ScriptedAgent::new([]);
    agent.accepts(Ok(Acceptance::Message(Parts::text("hi"))));
    let world = World::new(agent);
    let call = SendMessage { context: Some(context("chat")), ..call("hello") };
    match world.service.send(&world.scope, call).await.unwrap() {
        Sent::Message { message, context: of } => {
            assert_eq!((message.role, message.parts), (Role::Agent, Parts::text("hi")));
            assert_eq!(of, context("chat"));
        }
        Sent::Task(task) => panic!("{task:?}"),
    }
    assert!(world.store.tasks().is_empty());
    assert_eq!((world.store.calls(Op::Insert), world.spawner.taken()), (0, 0));
}

#[tokio::test]
async fn each_send_opens_its_own_task() {
    let echo = [Step::Artifact("out", "x".to_owned()), Step::complete("done")];
    let world = World::new(ScriptedAgent::new(echo));
    let first = send(&world, "one").await;
    let second = send(&world, "two").await;
    let call = SendMessage { context: Some(first.context().clone()), ..call("three") };
    let third = world.service.send(&world.scope, call);
    let third = tokio::join!(third, world.spawner.finish_next()).0.unwrap().into_task();
    assert_ne!(first.key(), second.key());
    assert_ne!(first.key(), third.key());
    assert_ne!(first.context(), second.context(), "nobody named a conversation");
    assert_eq!(first.context(), third.context());
    assert_eq!(said(&third), [(Role::User, "three"), (Role::Agent, "done")]);
    assert_eq!(third.artifacts().len(), 1, "results of another task were inherited");
}

#[tokio::test]
async fn the_same_message_sent_twice_is_two_tasks() {
    let world = World::new(ScriptedAgent::new([]));
    let (first, second) = (world.open("go").await, world.open("go").await);
    assert_ne!(first, second);
    assert_eq!(world.spawner.waiting(), 2);
}

#[tokio::test]
async fn the_executor_sees_the_call_and_the_task_with_its_message() {
    let agent = ScriptedAgent::new([]);
    let world = World::new(agent.clone());
    let call = SendMessage {
        context: Some(context("chat")),
        accepted_output_modes: vec!["text/plain".to_owned()],
        ..call("go")
    };
    let sent = world.service.send(&world.scope, call);
    let task = tokio::join!(sent, world.spawner.finish_next()).0.unwrap().into_task();
    let (asked, turn) = (&agent.asked()[0], &agent.turns()[0]);
    assert_eq!((asked.task, asked.text().as_str()), (None, "go"));
    assert_eq!(asked.scope, scope());
    assert_eq!(turn.request.message, asked.message);
    assert_eq!(turn.request.accepted_output_modes, ["text/plain"]);
    assert_eq!((turn.task.key(), turn.task.context()), (task.key(), &context("chat")));
    assert_eq!(*turn.task.history()[0], message("m-go", "go"));
    assert_eq!(turn.task.deadline(), Some(turn.task.created().after(Duration::from_secs(600))));
}

#[tokio::test]
async fn what_an_executor_says_as_an_error_does_not_reach_the_caller() {
    let world = World::new(ScriptedAgent::new([Step::Fail("password=hunter2")]));
    let task = send(&world, "go").await;
    let text = format!("{task:?}");
    assert!(!text.contains("hunter2"), "{text}");
    let told = task.status_message().unwrap().parts.as_slice()[0].plain_text().unwrap().to_owned();
    assert!(told.starts_with("The agent failed (reference "), "{told}");
}

#[tokio::test]
async fn a_task_that_can_never_be_stored_again_ends_the_wait() {
    let world = World::new(ScriptedAgent::new([Step::Forever]));
    let answered = world.service.send(&world.scope, call("go"));
    let closing = async {
        let run = world.spawner.next().await;
        a2ad_domain::ports::EventBus::close(&world.bus, run.key());
    };
    let (answer, ()) = tokio::join!(answered, closing);
    assert!(matches!(answer, Err(Error::Internal { .. })), "{answer:?}");
}
