//! The published client libraries of the 0.3 line.

use super::{AGENT, ROUTE, call, completed, result, text};
use crate::support::TestServer;
use crate::support::caller::{artifact, id, state};
use crate::support::receiver::{HOOKS, NOWHERE};
use serde_json::{Value, json};

fn message(words: &str) -> Value {
    json!({
        "contextId": "c-81",
        "kind": "message",
        "messageId": "9f1b6b0c5d2e4a7f8c3d2e1f0a9b8c7d",
        "parts": text(words),
        "role": "user",
    })
}

/// An empty list of accepted modes accepts everything.
#[tokio::test]
async fn pythons_client_always_configures_and_accepts_nothing_in_particular() {
    let server = TestServer::with_config(AGENT).await;
    let configuration = json!({ "acceptedOutputModes": [], "blocking": true });
    let params = json!({ "configuration": configuration, "message": message("plum") });
    let mut body = call("2b1f4a3c-55d0-4a43-b6a0-0f1e2d3c4b5a", "message/send", params);
    let headers = [("x-a2a-extensions", "https://extensions.example.net/a/v1")];
    let task = completed(&server, &headers, &body).await;
    assert_eq!((artifact(&task).as_str(), &task["contextId"]), ("plum", &json!("c-81")));

    body["method"] = json!("message/stream");
    let accepts = [headers[0], ("accept", "text/event-stream"), ("cache-control", "no-store")];
    let frames = server.stream_at(ROUTE, &accepts, body.clone()).await.collect().await;
    assert!(frames.iter().all(|frame| frame.data["id"] == body["id"]));
    assert_eq!(frames.last().expect("a last frame").data["result"]["final"], true);
    server.finish().await;
}

/// It reads the answer of a stream as events even when the call fails.
#[tokio::test]
async fn pythons_client_reads_an_error_of_a_stream_as_an_event() {
    let server = TestServer::with_config(AGENT).await;
    let mut message = message("plum");
    message["taskId"] = json!("nobody-82");
    let body = call("r-82", "message/stream", json!({ "message": message }));
    // It names the type in a second line of the header.
    let accepts = [("accept", "*/*"), ("accept", "text/event-stream")];
    let frames = server.stream_at(ROUTE, &accepts, body).await.collect().await;
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].data["id"], "r-82");
    assert_eq!(frames[0].data["error"]["code"], -32001);
    server.finish().await;
}

/// It throws unless the id comes back as the number it was, in each frame.
#[tokio::test]
async fn javascripts_client_counts_its_requests() {
    let server = TestServer::with_config(AGENT).await;
    for number in 1..=3_u64 {
        let message = json!({
            "kind": "message",
            "role": "user",
            "messageId": "3f8e1a52-4a0c-4b7e-9f10-7c6d5e4f3a2b",
            "parts": text("chunks 3 plums!"),
        });
        let mut body = json!({
            "jsonrpc": "2.0",
            "method": "message/stream",
            "params": { "message": message },
            "id": number,
        });
        let frames = server.stream("script", body.clone()).await.collect().await;
        assert!(frames.len() >= 5, "{frames:?}");
        assert!(frames.iter().all(|frame| frame.data["id"] == number), "{frames:?}");
        // When the call fails the one frame has it, too.
        body["params"] = json!({ "message": {} });
        let frames = server.stream("script", body).await.collect().await;
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].data["id"], number);
        assert_eq!(frames[0].data["error"]["code"], -32602);
    }
    server.finish().await;
}

/// It keeps members of its own beside the message, even a task id, which only counts within the message.
#[tokio::test]
async fn geminis_client_puts_members_of_its_own_into_the_parameters() {
    let server = TestServer::with_config(AGENT).await;
    let settings = json!({ "kind": "agent-settings", "workspacePath": "/w/plums" });
    let message = json!({
        "kind": "message", "role": "user", "messageId": "m-84", "parts": text("hello"),
    });
    for task in [Value::Null, json!("somewhere-else")] {
        let mut params =
            json!({ "message": message, "metadata": { "coderAgent": settings.clone() } });
        if !task.is_null() {
            params["taskId"] = task;
        }
        let done = completed(&server, &[], &call(84, "message/send", params.clone())).await;
        assert_eq!(artifact(&done), "hello");
        let frames =
            server.stream("script", call(85, "message/stream", params)).await.collect().await;
        let last = &frames.last().expect("a last frame").data["result"];
        // It forgets its task when it sees this.
        assert_eq!((state(last), &last["final"]), ("completed", &json!(true)));
    }
    server.finish().await;
}

/// "text" is no media type, and nothing is refused because of it, even by an agent with narrow modes.
#[tokio::test]
async fn javas_client_accepts_text() {
    let narrow = format!(
        "{AGENT}input_modes = [\"text/plain\"]\noutput_modes = [\"text/plain\", \"text/markdown\"]\n"
    );
    for config in [AGENT, &narrow] {
        let server = TestServer::with_config(config).await;
        let configuration = json!({ "acceptedOutputModes": ["text"], "blocking": true });
        let params = json!({ "message": message("plum"), "configuration": configuration });
        completed(&server, &[], &call("j-1", "message/send", params)).await;
        server.finish().await;
    }
}

/// Objects that are empty come along everywhere, and schemes are a list without credentials.
#[tokio::test]
async fn javas_client_sends_empty_metadata_and_schemes_without_credentials() {
    let server = TestServer::with_config(&format!("{HOOKS}{AGENT}")).await;
    let mut message = message("hang on");
    message["metadata"] = json!({});
    let configuration = json!({ "blocking": false });
    let params = json!({ "message": message, "metadata": {}, "configuration": configuration });
    let task = result(&server, &[], &call("j-1", "message/send", params)).await;
    let config = json!({
        "taskId": task["id"],
        "pushNotificationConfig": {
            "url": NOWHERE,
            "authentication": { "schemes": ["jwt"] },
        },
    });
    let set = call("j-2", "tasks/pushNotificationConfig/set", config.clone());
    let mut set = result(&server, &[], &set).await;
    let made = set["pushNotificationConfig"].as_object_mut().expect("a config").remove("id");
    assert!(made.is_some_and(|id| id != task["id"]));
    assert_eq!(set, config);
    let params = json!({ "id": task["id"], "metadata": {} });
    let canceled = result(&server, &[], &call("j-3", "tasks/cancel", params)).await;
    assert_eq!((id(&canceled), state(&canceled)), (id(&task), "canceled"));
    server.finish().await;
}

#[tokio::test]
async fn gos_client_always_waits() {
    let server = TestServer::with_config(&format!("{AGENT}send_default = \"return\"\n")).await;
    let message = json!({
        "kind": "message",
        "role": "user",
        "messageId": "01948b52-7c1e-7d3a-8f00-5a6b7c8d9e0f",
        "parts": text("hello"),
    });
    let params = json!({ "message": message, "configuration": { "blocking": true } });
    let body = call("01948b52-7c1e-7d3a-8f00-5a6b7c8d9e10", "message/send", params);
    completed(&server, &[], &body).await;
    server.finish().await;
}
