//! The built-in agents do what they are told, each path of a task's life at least once.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::service::{SendMessage, Sent};
use a2ad_domain::testing::sample::{call, call_for, scope};
use a2ad_domain::{Content, Part, Parts, RawJson, Role, Task, TaskState};
use a2ad_executor::{Echo, Script};
use std::sync::Arc;
use std::time::Duration;
use support::{Server, told};
use tokio::time::Instant;

fn server() -> Server {
    Server::new(Arc::new(Script), |settings| settings.deadline = None)
}

fn text(task: &Task) -> String {
    task.artifacts().iter().flat_map(|a| a.parts()).filter_map(Part::plain_text).collect()
}

fn last_said(task: &Task) -> (Role, &str) {
    let last = task.history().last().unwrap();
    (last.role, last.parts.as_slice()[0].plain_text().unwrap())
}

#[tokio::test]
async fn anything_else_comes_back_as_artifact_and_reply() {
    for executor in
        [Arc::new(Script) as Arc<dyn a2ad_domain::ports::AgentExecutor>, Arc::new(Echo::default())]
    {
        let server = Server::new(executor, |_| {});
        let task = server.send("hello there").await;
        assert_eq!(task.state(), TaskState::Completed);
        assert_eq!(
            (text(&task).as_str(), last_said(&task)),
            ("hello there", (Role::Agent, "hello there"))
        );
        assert_eq!(task.artifacts().len(), 1);
        server.assert_empty().await;
    }
}

#[tokio::test]
async fn an_echo_keeps_every_part_and_puts_texts_first() {
    let server = Server::new(Arc::new(Echo::default()), |_| {});
    let data = Part::data(RawJson::parse(r#"{"n":9007199254740993,"z":null}"#).unwrap());
    let file = Part { content: Content::Bytes(b"\0\xff".as_slice().into()), label: None };
    let parts = vec![data.clone(), Part::text("a"), file.clone(), Part::text("b")];
    let mut with_parts = call("x");
    with_parts.message.parts = Parts::new(parts).unwrap();
    let task = server.service.send(&scope(), with_parts).await.unwrap().into_task();
    let echoed: Vec<Part> = task.artifacts()[0].parts().cloned().collect();
    assert_eq!(echoed, [Part::text("a"), Part::text("b"), data, file]);
}

#[tokio::test(start_paused = true)]
async fn an_echo_with_a_pace_takes_its_time_by_the_size_of_the_text() {
    let server = Server::new(Arc::new(Echo::new(Duration::from_secs(2))), |_| {});
    let began = Instant::now();
    server.send(&"x".repeat(1 << 20)).await;
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_millis(2_100), "{took:?}");
}

#[tokio::test]
async fn ask_asks_and_the_next_message_completes() {
    let server = server();
    let task = server.send("ask which fruit?").await;
    assert_eq!((task.state(), told(&task)), (TaskState::InputRequired, "which fruit?"));
    let answer = call_for(task.key(), "figs");
    let task = server.service.send(&scope(), answer).await.unwrap().into_task();
    assert_eq!((task.state(), text(&task).as_str()), (TaskState::Completed, "figs"));
    assert_eq!(task.history().len(), 4, "two of the client's, two of the agent's");
}

#[tokio::test(start_paused = true)]
async fn auth_requires_it_and_goes_on_by_itself() {
    let server = server();
    let task = server.send("auth a token").await;
    assert_eq!((task.state(), told(&task)), (TaskState::AuthRequired, "a token"));
    assert!(task.is_running());
    assert_eq!(server.ended(task.key()).await.state(), TaskState::Completed);
    server.assert_empty().await;
}

#[tokio::test(start_paused = true)]
async fn slow_works_as_long_as_it_says_and_tells_how_it_goes() {
    let server = server();
    let began = Instant::now();
    let task = server.send("slow 3 fig").await;
    assert_eq!(began.elapsed(), Duration::from_secs(3));
    assert_eq!((task.state(), text(&task).as_str()), (TaskState::Completed, "fig"));
    let progress = task.history().iter().filter_map(|m| match &m.parts.as_slice()[0].content {
        Content::Data(data) => Some(data.as_str().to_owned()),
        _ => None,
    });
    let expected = ["{\"seconds\":1}", "{\"seconds\":2}", "{\"seconds\":3}"];
    assert_eq!(progress.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn chunks_are_as_many_as_asked_for_and_add_up() {
    let server = server();
    for (command, payload) in
        [("chunks 4 abcdefg", "abcdefg"), ("chunks:3|a|b", "a|b"), ("chunks:5|你好😀", "你好😀")]
    {
        let task = server.send(command).await;
        let count: usize = command[7..8].parse().unwrap();
        assert_eq!(task.artifacts()[0].chunks.len(), count, "{command}");
        assert_eq!(text(&task), payload);
        assert_eq!(task.state(), TaskState::Completed);
    }
}

#[tokio::test]
async fn say_answers_without_a_task_and_only_a_first_message() {
    let server = server();
    match server.service.send(&scope(), call("say good morning")).await.unwrap() {
        Sent::Message { message, .. } => assert_eq!(message.parts, Parts::text("good morning")),
        Sent::Task(task) => panic!("{task:?}"),
    }
    assert!(server.store.is_empty());
    let asked = server.send("ask what?").await;
    let answer = call_for(asked.key(), "say good night");
    let task = server.service.send(&scope(), answer).await.unwrap().into_task();
    assert_eq!(task.state(), TaskState::Completed);
}

#[tokio::test]
async fn reject_fail_and_panic_end_as_they_say() {
    let server = server();
    let task = server.send("reject not today").await;
    assert_eq!((task.state(), told(&task)), (TaskState::Rejected, "not today"));
    for command in ["fail secret", "panic secret"] {
        let task = server.send(command).await;
        assert_eq!(task.state(), TaskState::Failed, "{command}");
        assert!(!told(&task).contains("secret"), "{}", told(&task));
        let written = if command.starts_with("fail") { "before the failure" } else { "" };
        assert_eq!(text(&task), written);
    }
    server.assert_empty().await;
}

#[tokio::test(start_paused = true)]
async fn hold_is_silent_that_long_and_then_writes_once() {
    let server = server();
    let began = Instant::now();
    let task = server.send("hold:250|x|y").await;
    assert_eq!(began.elapsed(), Duration::from_millis(250));
    assert_eq!((text(&task).as_str(), task.artifacts()[0].chunks.len()), ("x|y", 1));
}

#[tokio::test(start_paused = true)]
async fn hang_and_tick_go_on_until_they_are_canceled() {
    for command in ["hang", "tick:5|x"] {
        let server = server();
        let call = SendMessage { wait: Some(false), ..call(command) };
        let task = server.service.send(&scope(), call).await.unwrap().into_task();
        let second = tokio::time::timeout(Duration::from_secs(1), std::future::pending::<()>());
        assert!(second.await.is_err());
        let before = server.task(task.key()).await;
        assert!(before.is_running());
        // A tick replaces its artifact, so however long it goes on there is one of the same size.
        assert!(before.artifacts().len() <= 1 && text(&before).len() <= 1);
        let canceled = server.cancel(task.key()).await.unwrap();
        server.runtime.drain(Duration::from_secs(60)).await;
        assert_eq!(server.task(task.key()).await, canceled);
        server.assert_empty().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_canceled_agent_gives_its_place_back_without_waiting_for_its_grace() {
    let slow_echo = Arc::new(Echo::new(Duration::from_secs(3600 * 24 * 365)));
    for (executor, text) in [
        (Arc::new(Script) as Arc<dyn a2ad_domain::ports::AgentExecutor>, "hang"),
        (Arc::new(Script), "slow 3600"),
        (Arc::new(Script), "hold:3600000|x"),
        (Arc::new(Script), "tick:3600000|x"),
        (slow_echo, "x"),
    ] {
        let server = Server::new(executor, |settings| {
            (settings.grace, settings.deadline) = (Duration::from_secs(3600), None);
        });
        let key = server.open(text).await.unwrap();
        server.quiet().await;
        let began = Instant::now();
        server.service.cancel(&scope(), &key.id.to_string()).await.unwrap();
        server.runtime.idle().await;
        assert_eq!(began.elapsed(), Duration::ZERO, "{text}");
        assert_eq!(server.task(&key).await.state(), TaskState::Canceled);
    }
}
