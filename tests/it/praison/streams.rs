//! Streamed tasks: the same life, seen as it goes.

use super::{AGENT, RPC, cancel, get, result, saying};
use crate::support::template::Names;
use crate::support::{Events, TestServer};
use serde_json::{Value, json};

async fn stream(server: &TestServer, text: &str) -> Events {
    let params = saying(text);
    let body = json!({ "jsonrpc": "2.0", "method": "message/stream", "id": "s", "params": params });
    server.stream_at(RPC, &[], body).await
}

/// What the next frame shows; `None` at the end.
async fn next(events: &mut Events) -> Option<Value> {
    let mut answer = events.next().await?.data;
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!("s")), "{answer}");
    assert!(answer.get("error").is_none(), "{answer}");
    Some(answer["result"].take())
}

fn status(state: &str, last: bool) -> Value {
    let status = json!({ "state": state, "timestamp": "$ts", "+more": "" });
    json!({ "taskId": "$task", "contextId": "$context", "status": status, "final": last })
}

#[tokio::test]
async fn a_streamed_task_goes_from_working_to_completed() {
    let server = TestServer::with_config(AGENT).await;
    let mut events = stream(&server, "plum").await;
    let question = json!({
        "role": "user",
        "messageId": "$question",
        "taskId": "$task",
        "contextId": "$context",
        "parts": [{ "text": "plum" }],
    });
    let opening = json!({
        "id": "$task",
        "contextId": "$context",
        "status": { "state": "submitted", "timestamp": "$ts" },
        "history": [question],
    });
    let artifact = json!({ "artifactId": "out-1", "parts": [{ "text": "plum" }] });
    let update = json!({
        "taskId": "$task",
        "contextId": "$context",
        "artifact": artifact,
        "append": false,
        "lastChunk": true,
    });
    let mut names = Names::default();
    for pattern in [opening, status("working", false), update, status("completed", true)] {
        names.check(&pattern, &next(&mut events).await.expect("one more frame"));
    }
    assert_eq!(next(&mut events).await, None);

    // The stored task holds the result, and the reply as the last of its history.
    let task = get(&server, &json!({ "id": names.get("task") })).await;
    assert_eq!(task["artifacts"], json!([artifact]));
    let history = task["history"].as_array().expect("a history");
    assert_eq!(history.len(), 2);
    assert_eq!(
        (&history[1]["role"], &history[1]["parts"][0]["text"]),
        (&json!("agent"), &json!("plum"))
    );
    server.finish().await;
}

#[tokio::test]
async fn a_streamed_task_goes_from_working_to_failed() {
    let server = TestServer::with_config(AGENT).await;
    let mut events = stream(&server, "fail it").await;
    let mut frames = Vec::new();
    while let Some(frame) = next(&mut events).await {
        frames.push(frame);
    }
    let states: Vec<_> =
        frames.iter().filter_map(|frame| frame["status"]["state"].as_str()).collect();
    assert_eq!(states, ["submitted", "working", "failed"]);
    assert_eq!(frames.last().expect("a last frame")["final"], true);
    let task = get(&server, &frames[0]).await;
    assert_eq!(task["status"]["state"], "failed");
    server.finish().await;
}

/// The task can be read and listed while its stream is open, and a cancel from elsewhere ends the stream with
/// the state that the cancel has set.
#[tokio::test]
async fn a_cancel_ends_the_stream() {
    let server = TestServer::with_config(AGENT).await;
    let mut events = stream(&server, "hang on").await;
    let opening = next(&mut events).await.expect("an opening frame");
    let mut names = Names::default();
    names.check(&json!({ "id": "$task", "contextId": "$context", "+more": "" }), &opening);
    names.check(&status("working", false), &next(&mut events).await.expect("a second frame"));
    assert_eq!(get(&server, &opening).await["status"]["state"], "working");
    let listed = result(&server, "tasks/list", json!({ "contextId": opening["contextId"] })).await;
    assert_eq!(listed[0]["id"], opening["id"]);

    let canceled = cancel(&server, &opening).await;
    let last = next(&mut events).await.expect("a last frame");
    names.check(&status("cancelled", true), &last);
    assert_eq!(last["status"], canceled["status"]);
    assert_eq!(next(&mut events).await, None);
    assert_eq!(get(&server, &opening).await["status"], canceled["status"]);
    server.finish().await;
}

#[tokio::test]
async fn a_stream_that_asks_ends_with_the_question() {
    let server = TestServer::with_config(AGENT).await;
    let mut events = stream(&server, "ask which fruit?").await;
    let mut last = Value::Null;
    while let Some(frame) = next(&mut events).await {
        last = frame;
    }
    assert_eq!(last["status"]["state"], "input_required");
    assert_eq!(last["status"]["message"]["parts"], json!([{ "text": "which fruit?" }]));
    assert_eq!(last["final"], true);
    server.finish().await;
}
