//! The two clients that this server was first made for, curl as it comes, and callers that take what is
//! at hand.

use super::{AGENT, ROUTE, answer, call, code, completed, post, text};
use crate::support::TestServer;
use crate::support::caller::{artifact, context, id, state};
use serde_json::{Value, json};

#[tokio::test]
async fn langflows_tests_send_no_kind_and_no_configuration() {
    let server = TestServer::with_config(AGENT).await;
    let message = json!({ "role": "user", "messageId": "m-71", "parts": text("a2a-e2e-71") });
    let body = call("r-71", "message/send", json!({ "message": message }));
    let task = completed(&server, &[], &body).await;
    assert_eq!(artifact(&task), "a2a-e2e-71");
    // Two megabytes in a stream.
    let large = "x".repeat(2 << 20);
    let message = json!({ "role": "user", "messageId": "m-72", "parts": text(&large) });
    let body = call("r-72", "message/stream", json!({ "message": message }));
    let frames = server.stream("script", body).await.collect().await;
    let last = &frames.last().expect("a last frame").data;
    assert_eq!((&last["id"], &last["result"]["final"]), (&json!("r-72"), &json!(true)));
    assert_eq!(state(&last["result"]), "completed");
    server.finish().await;
}

#[tokio::test]
async fn praisons_client_sends_neither_kinds_nor_ids_and_a_null_context() {
    let server = TestServer::with_config(AGENT).await;
    let message = json!({ "role": "user", "parts": [{ "text": "Hi" }], "contextId": null });
    let body = call("1", "message/send", json!({ "message": message }));
    let first = server.rpc_at("/a2a", body.clone()).await;
    let second = server.rpc_at("/a2a", body).await;
    for answer in [&first, &second] {
        assert_eq!(answer["id"], "1");
        // The task itself, not a wrapping of it.
        assert_eq!(state(&answer["result"]), "completed");
        assert!(!context(&answer["result"]).is_empty());
    }
    assert_ne!(id(&first["result"]), id(&second["result"]));
    server.finish().await;
}

/// What the route with the strict profile says to the same body.
#[tokio::test]
async fn a_message_needs_an_id_elsewhere() {
    let server = TestServer::with_config(AGENT).await;
    let message = json!({ "role": "user", "parts": [{ "text": "Hi" }], "contextId": null });
    let body = call("1", "message/send", json!({ "message": message }));
    assert_eq!(code(&server, &[], &body).await, -32602);
    server.finish().await;
}

/// The type that curl names when it is not told one: a form. The answer is JSON, whatever the body holds.
#[tokio::test]
async fn curl_without_a_content_type_is_told_what_is_wrong() {
    let server = TestServer::with_config(AGENT).await;
    let message = json!({ "role": "user", "messageId": "m-1", "parts": text("hello") });
    let good = call("r-1", "message/send", json!({ "message": message })).to_string();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    for route in [ROUTE, "/a2a", "/"] {
        for body in [good.clone(), "{not json".to_owned(), String::new()] {
            let reply = server.post(route, &form, body).await;
            assert_eq!(reply.status, 200, "{route}");
            assert_eq!(reply.headers["content-type"], "application/json", "{route}");
            let answer = reply.json();
            assert_eq!(answer["error"]["code"], -32005, "{route} {answer}");
            assert_eq!(answer["id"], Value::Null, "{route} {answer}");
        }
    }
    server.finish().await;
}

/// Some callers post to the root of the host, whatever the card says.
#[tokio::test]
async fn the_root_takes_calls() {
    let server = TestServer::with_config(AGENT).await;
    let message = json!({ "role": "user", "messageId": "m-1", "parts": text("hello") });
    let body = call("r-1", "message/send", json!({ "message": message }));
    let reply = post(&server, "/", &[], &body).await;
    assert_eq!(reply.status, 200);
    let answer = reply.json();
    assert_eq!((state(&answer["result"]), &answer["id"]), ("completed", &json!("r-1")));
    assert_eq!(answer["result"]["kind"], "task");
    server.finish().await;
}

/// Every call a new task, no ids anywhere; a context each, and each may be asked for.
#[tokio::test]
async fn callers_without_any_ids_get_a_context_for_each_call() {
    let server = TestServer::with_config(AGENT).await;
    let mut contexts = std::collections::HashSet::new();
    for number in 0..50 {
        let message_id = format!("{number:032x}");
        let message = json!({
            "kind": "message", "role": "user", "messageId": message_id, "parts": text("hello"),
        });
        let configuration = json!({ "acceptedOutputModes": [], "blocking": true });
        let params = json!({ "configuration": configuration, "message": message });
        let task = completed(&server, &[], &call("r-1", "message/send", params)).await;
        assert!(contexts.insert(context(&task).to_owned()), "a context is used twice");
    }
    server.finish().await;
}

/// A task that the client has made up is unknown, and is not opened under that id.
#[tokio::test]
async fn a_made_up_task_id_is_unknown() {
    let server = TestServer::with_config(AGENT).await;
    let made_up = "0d0f9a4e-6a50-4f5e-8a5f-6d9b3c1b7e55";
    for method in ["message/send", "message/stream"] {
        let message = json!({
            "kind": "message",
            "role": "user",
            "messageId": "m-1",
            "taskId": made_up,
            "contextId": "7a61d7c4-51c1-4b90-9c58-1f0d0a7e4b11",
            "parts": text("hello"),
        });
        let answer =
            answer(&server, &[], &call("r-1", method, json!({ "message": message }))).await;
        assert_eq!(answer["error"]["code"], -32001, "{method}: {answer}");
        assert_eq!(answer["error"]["message"], "Task not found", "{method}");
    }
    let listed = super::result(&server, &[], &call(2, "tasks/list", json!({}))).await;
    assert_eq!(listed["totalSize"], 0);
    let read = call(3, "tasks/get", json!({ "id": made_up }));
    assert_eq!(code(&server, &[], &read).await, -32001);
    // That caller's path is none of the JSON-RPC routes.
    let reply = post(&server, "/message/send", &[], &read).await;
    assert_eq!(reply.status, 404);
    assert!(reply.json().is_object());
    server.finish().await;
}
