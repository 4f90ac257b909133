//! What a message may refer to, and that a refused one leaves no trace.

use crate::support::TestServer;
use crate::support::agents::{agent, agent_taking};
use crate::support::caller::{Caller, Message, artifact, context, history, id, state};
use a2ad_domain::AgentSettings;
use a2ad_executor::Script;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn an_unknown_task_is_not_opened_under_the_callers_id() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    for made_up in ["made-up-id", "3b9f6f0e-0000-4000-8000-000000000001"] {
        let message = Message::new("x").task(made_up);
        assert_eq!(caller.code("message/send", message.clone().params()).await, -32001);
        // With a context of its own the message is no better.
        let message = message.context("talk");
        assert_eq!(caller.code("message/send", message.clone().params()).await, -32001);
        let frames = caller.stream(message).await.collect().await;
        assert_eq!(frames[0].data["error"]["code"], -32001);
        assert_eq!(caller.code("tasks/get", json!({ "id": made_up })).await, -32001);
    }
    assert!(caller.list().await.is_empty());
    server.finish().await;
}

#[tokio::test]
async fn a_context_that_is_not_the_tasks_is_refused_and_nothing_is_stored() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let task = caller.send(Message::new("ask for it")).await;
    let elsewhere = Message::new("answer").task(id(&task)).context("some other talk");
    assert_eq!(caller.code("message/send", elsewhere.params()).await, -32602);
    assert_eq!(caller.get(id(&task)).await, task);
    server.finish().await;
}

#[tokio::test]
async fn a_follow_up_without_a_context_joins_that_of_its_task() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let asked = caller.send(Message::new("ask for it")).await;
    let task = caller.send(Message::new("answer").task(id(&asked))).await;
    assert_eq!(state(&task), "completed");
    assert_eq!((id(&task), context(&task)), (id(&asked), context(&asked)));
    for message in task["history"].as_array().expect("messages") {
        assert_eq!(message["contextId"], asked["contextId"]);
        assert_eq!(message["taskId"], asked["id"]);
    }
    server.finish().await;
}

#[tokio::test]
async fn empty_ids_are_no_ids() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "echo");
    let mut seen = Vec::new();
    for nothing in [json!(""), json!(null)] {
        let message = Message::new("x").with("taskId", nothing.clone()).with("contextId", nothing);
        let task = caller.send(message).await;
        assert!(!id(&task).is_empty() && !context(&task).is_empty());
        seen.push((id(&task).to_owned(), context(&task).to_owned()));
    }
    assert_ne!(seen[0].0, seen[1].0);
    assert_ne!(seen[0].1, seen[1].1);
    server.finish().await;
}

#[tokio::test]
async fn a_new_task_in_a_context_starts_with_nothing() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "echo");
    let first = caller.send(Message::new("first").with("metadata", json!({ "a": 1 }))).await;
    let mut ids = vec![id(&first).to_owned()];
    for text in ["second", "third"] {
        let task = caller.send(Message::new(text).context(context(&first))).await;
        assert_eq!(context(&task), context(&first));
        assert_eq!(history(&task), [format!("user: {text}"), format!("agent: {text}")]);
        assert_eq!(artifact(&task), text);
        assert!(task.get("metadata").is_none() && task["history"][0].get("metadata").is_none());
        assert!(!ids.contains(&id(&task).to_owned()));
        ids.push(id(&task).to_owned());
    }
    assert_eq!(caller.list().await.len(), 3);
    server.finish().await;
}

#[tokio::test]
async fn a_refused_follow_up_leaves_no_trace() {
    let settings = AgentSettings::default();
    let narrow = agent_taking("narrow", &["text/plain"], settings, Arc::new(Script));
    let server = TestServer::custom("", |builder| builder.with_agent(narrow)).await;
    let caller = Caller::new(&server, "narrow");
    let task = caller.send(Message::new("ask for it")).await;
    let follow_up = || Message::new("an answer").task(id(&task));
    let image = json!([{ "kind": "file", "file": { "bytes": "aGk=", "mimeType": "image/png" } }]);
    for (message, code) in [
        (follow_up().with("parts", json!([])), -32602),
        (follow_up().with("parts", json!([{ "kind": "text" }])), -32602),
        (follow_up().with("role", "system"), -32602),
        (follow_up().with("messageId", ""), -32602),
        (follow_up().with("metadata", json!([1])), -32602),
        (follow_up().configured("historyLength", -1), -32602),
        (follow_up().configured("blocking", "yes"), -32602),
        (follow_up().with("parts", image), -32005),
        (follow_up().configured("pushNotificationConfig", json!({ "url": "x" })), -32602),
    ] {
        let params = message.params();
        assert_eq!(caller.code("message/send", params.clone()).await, code, "{params}");
        assert_eq!(caller.get(id(&task)).await, task, "{params}");
    }
    let done = caller.send(follow_up()).await;
    assert_eq!(state(&done), "completed");
    server.finish().await;
}

#[tokio::test]
async fn references_to_other_tasks_neither_fail_nor_touch_them() {
    let script = || agent("script", Arc::new(Script));
    let server = TestServer::custom("", |builder| builder.with_agent(script())).await;
    let caller = Caller::new(&server, "script");
    let other = caller.send(Message::new("ask for it")).await;
    let references = json!([id(&other), "made-up", "3b9f6f0e-0000-4000-8000-000000000001"]);
    let task = caller.send(Message::new("x").with("referenceTaskIds", references.clone())).await;
    assert_eq!(state(&task), "completed");
    assert_eq!(task["history"][0]["referenceTaskIds"], references);
    assert_eq!(caller.get(id(&other)).await, other);
    server.finish().await;
}
