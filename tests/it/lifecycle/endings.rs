//! How tasks end: every run ends in a decision, and an ended task stays as it is.

use crate::support::TestServer;
use crate::support::agents::{Counted, Puppet, agent, agent_with, pass, soon};
use crate::support::caller::{Caller, Message, artifact, history, id, state, status_text};
use a2ad_domain::AgentSettings;
use a2ad_executor::Script;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Brings a task of the script agent to its end, in each of the four ways.
async fn ended(caller: &Caller<'_>) -> Vec<Value> {
    let mut tasks = Vec::new();
    for text in ["plain words", "fail", "reject this"] {
        tasks.push(caller.send(Message::new(text)).await);
    }
    let canceled = caller.send(Message::new("ask for it")).await;
    tasks.push(caller.cancel(id(&canceled)).await);
    let states: Vec<_> = tasks.iter().map(state).collect();
    assert_eq!(states, ["completed", "failed", "rejected", "canceled"]);
    tasks
}

#[tokio::test]
async fn a_message_for_an_ended_task_is_refused_and_changes_nothing() {
    let counted = Counted::new(Arc::new(Script));
    let counting = agent("counted", counted.clone());
    let server = TestServer::custom("", |builder| builder.with_agent(counting)).await;
    let caller = Caller::new(&server, "counted");
    for task in ended(&caller).await {
        let runs = counted.started();
        let before = caller.get(id(&task)).await;
        let again = Message::new("once more").task(id(&task));
        let refused = caller.call("message/send", again.clone().params()).await;
        assert_eq!(refused["error"]["code"], -32004);
        let words = refused["error"]["message"].as_str().expect("a text");
        assert!(words.contains("terminal state"), "clients look for these words: {words}");
        let frames = caller.stream(again).await.collect().await;
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].data["error"]["code"], -32004);
        assert_eq!(caller.get(id(&task)).await, before);
        assert_eq!(counted.started(), runs, "the agent was asked");
    }
    server.finish().await;
}

#[tokio::test]
async fn an_agent_that_fails_before_its_first_word_leaves_a_failed_task() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let fails = async { stage.next().await.fail("secret-of-the-library").await };
    let (task, ()) = tokio::join!(caller.send(Message::new("go")), fails);
    assert_eq!(state(&task), "failed");
    assert!(!task.to_string().contains("secret"), "{task}");
    assert!(status_text(&task).contains("reference"), "{task}");
    assert_eq!(caller.get(id(&task)).await, task);
    server.finish().await;
}

#[tokio::test]
async fn an_agent_that_fails_late_keeps_its_results_and_everybody_is_told() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let opened = caller.send_off(Message::new("go")).await;
    let run = stage.next().await;
    let watching = caller.attach(id(&opened), None).await;
    run.working().await.expect("a live task");
    run.artifact("half of it").await.expect("a live task");
    run.fail("secret").await;
    let frames = watching.collect().await;
    let last = &frames.last().expect("events").data["result"];
    assert_eq!((state(last), &last["final"]), ("failed", &json!(true)));
    let task = caller.get(id(&opened)).await;
    assert_eq!((state(&task), artifact(&task)), ("failed", "half of it".to_owned()));
    assert_eq!(task["status"], last["status"]);
    server.finish().await;
}

#[tokio::test]
async fn a_run_that_claims_to_have_been_stopped_leaves_a_failed_task() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let stops = async { stage.next().await.claim_to_be_stopped().await };
    let (task, ()) = tokio::join!(caller.send(Message::new("go")), stops);
    assert_eq!(state(&task), "failed");
    server.finish().await;
}

#[tokio::test]
async fn an_agent_that_ends_without_a_word_has_completed() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let ends = async { stage.next().await.complete().await };
    let (task, ()) = tokio::join!(caller.send(Message::new("go")), ends);
    assert_eq!(state(&task), "completed");
    assert!(task.get("artifacts").is_none() && task["status"].get("message").is_none(), "{task}");
    assert_eq!(history(&task), ["user: go"]);
    server.finish().await;
}

#[tokio::test]
async fn a_run_that_hangs_ends_failed_at_its_deadline() {
    let toml = r#"
        [[agent]]
        id = "script"
        executor = { kind = "script" }
        deadline = "20ms"
    "#;
    let server = TestServer::with_config(toml).await;
    let caller = Caller::new(&server, "script");
    let task = soon("the deadline", caller.send(Message::new("hang for ever"))).await;
    assert_eq!(state(&task), "failed");
    assert!(status_text(&task).contains("did not finish within 20 ms"), "{task}");
    let frames = soon("the deadline", async {
        caller.stream(Message::new("hang again")).await.collect().await
    });
    let frames = frames.await;
    let last = &frames.last().expect("events").data["result"];
    assert_eq!((state(last), &last["final"]), ("failed", &json!(true)));
    server.finish().await;
}

#[tokio::test]
async fn a_deadline_can_cancel_instead() {
    let toml = r#"
        [[agent]]
        id = "script"
        executor = { kind = "script" }
        deadline = "20ms"
        on_overdue = "cancel"
    "#;
    let server = TestServer::with_config(toml).await;
    let caller = Caller::new(&server, "script");
    let task = soon("the deadline", caller.send(Message::new("hang for ever"))).await;
    assert_eq!(state(&task), "canceled");
    server.finish().await;
}

#[tokio::test]
async fn what_comes_after_the_deadline_is_credited_to_nobody() {
    let (puppet, mut stage) = Puppet::stubborn();
    // Less than callers and tests wait, and more than the second run takes.
    let limit = Duration::from_secs(500);
    let settings = AgentSettings { deadline: Some(limit), ..AgentSettings::default() };
    let grace = settings.grace;
    let late = agent_with("late", settings, puppet);
    let server = TestServer::custom("", |builder| builder.with_agent(late)).await;
    let caller = Caller::new(&server, "late");
    let starts = async {
        let run = stage.next().await;
        pass(limit).await;
        run
    };
    let (task, mut run) = tokio::join!(caller.send(Message::new("go").context("talk")), starts);
    assert_eq!(state(&task), "failed");
    let newer = caller.send_off(Message::new("next").context("talk")).await;
    let next = stage.next().await;
    assert!(run.artifact("LATE").await.is_err(), "a run that is over still writes");
    pass(grace).await;
    run.gone().await;
    next.complete_with("in time").await;
    let newer = caller.rest(id(&newer)).await;
    for task in [caller.get(id(&task)).await, newer] {
        assert!(!task.to_string().contains("LATE"), "{task}");
    }
    server.finish().await;
}

#[tokio::test]
async fn an_ended_task_is_the_same_at_every_look() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    for task in ended(&caller).await {
        let first = caller.get(id(&task)).await;
        assert_eq!(first["status"], task["status"]);
        assert_eq!(caller.get(id(&task)).await, first);
        assert_eq!(caller.code("tasks/cancel", json!({ "id": id(&task) })).await, -32002);
        assert_eq!(caller.code("tasks/resubscribe", json!({ "id": id(&task) })).await, -32004);
        assert_eq!(caller.get(id(&task)).await, first);
    }
    server.finish().await;
}
