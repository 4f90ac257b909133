//! Conversations: tasks that share a context.

use super::{AGENT, result, saying, send};
use crate::support::TestServer;
use serde_json::{Value, json};

async fn send_in(server: &TestServer, text: &str, context: &Value) -> Value {
    let mut params = saying(text);
    params["message"]["contextId"] = context.clone();
    result(server, "message/send", params).await
}

/// The first message of a conversation says `null`, or nothing, where its context would be.
#[tokio::test]
async fn the_first_message_opens_a_context() {
    let server = TestServer::with_config(AGENT).await;
    let null = send_in(&server, "What is a quince?", &Value::Null).await;
    let absent = send(&server, "What is a quince?").await;
    let empty = send_in(&server, "What is a quince?", &json!("")).await;
    let contexts = [&null, &absent, &empty].map(|task| task["contextId"].as_str().expect("an id"));
    assert!(contexts.iter().all(|context| !context.is_empty()));
    assert_ne!(contexts[0], contexts[1]);
    assert_ne!(contexts[1], contexts[2]);
    assert_ne!(contexts[0], contexts[2]);
    server.finish().await;
}

#[tokio::test]
async fn a_follow_up_is_a_task_of_the_same_context() {
    let server = TestServer::with_config(AGENT).await;
    let first = send_in(&server, "What is a quince?", &Value::Null).await;
    let second = send_in(&server, "And its colour?", &first["contextId"]).await;
    assert_eq!(second["contextId"], first["contextId"]);
    assert_ne!(second["id"], first["id"]);
    let params = json!({ "contextId": first["contextId"] });
    let listed = result(&server, "tasks/list", params).await;
    let listed = listed.as_array().expect("a bare array");
    assert_eq!(listed.len(), 2);
    assert!(listed.contains(&first) && listed.contains(&second));
    server.finish().await;
}

/// The next message to a task that asks goes on with it, whatever its context says: the same one, or nothing.
#[tokio::test]
async fn a_task_that_asks_goes_on_with_the_answer() {
    let server = TestServer::with_config(AGENT).await;
    for context in [true, false] {
        let asked = send(&server, "ask which fruit?").await;
        assert_eq!(asked["status"]["state"], "input_required");
        assert_eq!(asked["status"]["message"]["parts"], json!([{ "text": "which fruit?" }]));
        let mut params = saying("quince");
        params["message"]["taskId"] = asked["id"].clone();
        params["message"]["contextId"] =
            if context { asked["contextId"].clone() } else { Value::Null };
        let done = result(&server, "message/send", params).await;
        assert_eq!((&done["id"], &done["contextId"]), (&asked["id"], &asked["contextId"]));
        assert_eq!(done["status"]["state"], "completed");
        let roles: Vec<_> = done["history"].as_array().expect("a history").iter().collect();
        let roles: Vec<_> = roles.iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["user", "agent", "user", "agent"]);
    }
    server.finish().await;
}
