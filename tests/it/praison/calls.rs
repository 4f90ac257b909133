//! The calls of the quick start and of the method list, and how a task looks.

use super::{AGENT, call, cancel, get, result, running, send};
use crate::support::TestServer;
use crate::support::template::Names;
use serde_json::{Value, json};

#[tokio::test]
async fn a_message_creates_a_task() {
    let server = TestServer::with_config(AGENT).await;
    let task = send(&server, "Analyze the plums").await;
    assert!(task["id"].as_str().is_some_and(|id| !id.is_empty()), "{task}");
    assert_eq!(task["status"]["state"], "completed");
    server.finish().await;
}

#[tokio::test]
async fn a_task_tells_its_state() {
    let server = TestServer::with_config(AGENT).await;
    let task = send(&server, "Analyze the plums").await;
    assert_eq!(get(&server, &task).await["status"]["state"], "completed");
    server.finish().await;
}

#[tokio::test]
async fn a_task_at_work_is_canceled() {
    let server = TestServer::with_config(AGENT).await;
    let task = running(&server).await;
    let canceled = cancel(&server, &task).await;
    assert_eq!(canceled["id"], task["id"]);
    assert_eq!(canceled["status"]["state"], "cancelled");
    let read = get(&server, &task).await;
    assert_eq!(read["status"], canceled["status"]);
    assert!(read["status"]["timestamp"].is_string());
    server.finish().await;
}

/// Everything about an exchange with an agent: ids, state, both sides of the conversation, the result.
#[tokio::test]
async fn a_task_holds_the_whole_exchange() {
    let server = TestServer::with_config(AGENT).await;
    let sent = send(&server, "Hello").await;
    let said = |role: &str, id: &str| {
        json!({
            "role": role,
            "messageId": id,
            "taskId": "$task",
            "contextId": "$context",
            "parts": [{ "text": "Hello" }],
        })
    };
    let pattern = json!({
        "id": "$task",
        "contextId": "$context",
        "status": { "state": "completed", "timestamp": "$ts1" },
        "history": [said("user", "$question"), said("agent", "$reply")],
        "artifacts": [{ "artifactId": "$artifact", "parts": [{ "text": "Hello" }] }],
    });
    let mut names = Names::default();
    names.check(&pattern, &sent);
    names.check(&pattern, &get(&server, &sent).await);
    assert_ne!(names.get("question"), names.get("reply"));
    server.finish().await;
}

#[tokio::test]
async fn task_ids_are_uuids() {
    let server = TestServer::with_config(AGENT).await;
    let mut seen = std::collections::HashSet::new();
    for _ in 0..5 {
        let task = send(&server, "Hello").await;
        let id = task["id"].as_str().expect("an id").to_owned();
        let lengths: Vec<_> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        assert!(id.chars().all(|c| c == '-' || c.is_ascii_hexdigit()), "{id}");
        assert!(seen.insert(id));
    }
    server.finish().await;
}

/// Neither parts, messages, tasks nor anything else says its kind.
#[tokio::test]
async fn nothing_says_its_kind() {
    let server = TestServer::with_config(AGENT).await;
    for text in ["Hello", "say hello", "ask what", "fail it"] {
        let answer = send(&server, text).await.to_string();
        assert!(!answer.contains("\"kind\""), "{answer}");
    }
    server.finish().await;
}

/// The planned list: all tasks, or those of one context.
#[tokio::test]
async fn tasks_are_listed_by_their_context() {
    let server = TestServer::with_config(AGENT).await;
    let all = call(&server, "tasks/list", json!({})).await;
    assert_eq!(all["result"], json!([]));
    let one = send(&server, "one").await;
    let two = send(&server, "two").await;
    let of_one = json!({ "contextId": one["contextId"] });
    assert_eq!(result(&server, "tasks/list", of_one).await, json!([one]));
    let of_none = json!({ "contextId": "nothing-said-here" });
    assert_eq!(result(&server, "tasks/list", of_none).await, json!([]));
    let all = result(&server, "tasks/list", json!({})).await;
    let all = all.as_array().expect("a bare array");
    assert_eq!(all.len(), 2);
    assert!(all.contains(&one) && all.contains(&two));
    server.finish().await;
}

/// A caller that looks for tasks in one state may write it as it reads it.
#[tokio::test]
async fn tasks_are_listed_by_their_state() {
    let server = TestServer::with_config(AGENT).await;
    let done = send(&server, "done").await;
    let waiting = send(&server, "ask what").await;
    let task = running(&server).await;
    let canceled = cancel(&server, &task).await;
    let canceled_and_read = get(&server, &task).await;
    assert_eq!(canceled_and_read["status"], canceled["status"]);
    for task in [done, waiting, canceled_and_read] {
        let state = &task["status"]["state"];
        let listed: Value = result(&server, "tasks/list", json!({ "status": state })).await;
        assert_eq!(listed, json!([task]), "{state}");
    }
    server.finish().await;
}
