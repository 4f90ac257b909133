//! The table of errors.

use super::{AGENT, cancel, error, get, result, running, saying, send};
use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn a_call_without_a_task_id_says_what_is_missing() {
    let server = TestServer::with_config(AGENT).await;
    let missing = json!({ "code": -32602, "message": "Invalid params: 'id' required" });
    for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
        for params in [json!({}), json!({ "id": null }), json!({ "id": "" }), json!(null)] {
            assert_eq!(error(&server, method, params.clone()).await, missing, "{method} {params}");
        }
        let body = json!({ "jsonrpc": "2.0", "method": method, "id": "1" });
        assert_eq!(server.rpc_at(super::RPC, body).await["error"], missing, "{method}");
    }
    server.finish().await;
}

#[tokio::test]
async fn an_unknown_task_is_named() {
    let server = TestServer::with_config(AGENT).await;
    let unknown = json!({ "code": -32000, "message": "Task not found: task-of-nobody" });
    for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
        let params = json!({ "id": "task-of-nobody" });
        assert_eq!(error(&server, method, params).await, unknown, "{method}");
    }
    for method in ["message/send", "message/stream"] {
        let mut params = saying("go on");
        params["message"]["taskId"] = json!("task-of-nobody");
        assert_eq!(error(&server, method, params).await, unknown, "{method}");
    }
    server.finish().await;
}

/// What a caller writes comes back as text and never as structure.
#[tokio::test]
async fn an_unknown_task_is_named_as_it_was_written() {
    let server = TestServer::with_config(AGENT).await;
    for id in ["\"},{\"", "a\nb\u{0}", "{}", "ß\u{1f350}"] {
        let unknown = json!({ "code": -32000, "message": format!("Task not found: {id}") });
        assert_eq!(error(&server, "tasks/get", json!({ "id": id })).await, unknown);
    }
    server.finish().await;
}

/// A cancel that comes too late says how the task has ended, and leaves it as it is.
#[tokio::test]
async fn a_task_that_has_ended_is_not_cancelable() {
    let server = TestServer::with_config(AGENT).await;
    let task = running(&server).await;
    cancel(&server, &task).await;
    let ended = [
        (send(&server, "done").await, "completed"),
        (send(&server, "fail it").await, "failed"),
        (task, "cancelled"),
        (send(&server, "reject it").await, "rejected"),
    ];
    for (task, state) in ended {
        let before = get(&server, &task).await;
        assert_eq!(before["status"]["state"], state);
        let message = format!("Task not cancelable: already {state}");
        let refusal = error(&server, "tasks/cancel", json!({ "id": task["id"] })).await;
        assert_eq!(refusal, json!({ "code": -32002, "message": message }));
        assert_eq!(get(&server, &task).await, before);
    }
    server.finish().await;
}

#[tokio::test]
async fn an_unknown_method_is_not_found() {
    let server = TestServer::with_config(AGENT).await;
    let unknown = json!({ "code": -32601, "message": "Method not found" });
    assert_eq!(error(&server, "tasks/forget", json!({})).await, unknown);
    server.finish().await;
}

/// Each error leaves the route in order: the next call succeeds.
#[tokio::test]
async fn a_send_without_a_message_is_invalid() {
    let server = TestServer::with_config(AGENT).await;
    for params in [json!({}), json!(null), json!({ "message": { "role": "user", "parts": [] } })] {
        for method in ["message/send", "message/stream"] {
            let refusal = error(&server, method, params.clone()).await;
            assert_eq!(refusal["code"], -32602, "{method} {params}: {refusal}");
            assert!(refusal.get("data").is_none(), "{refusal}");
        }
    }
    assert_eq!(result(&server, "tasks/list", json!({})).await, json!([]));
    assert_eq!(send(&server, "done").await["status"]["state"], "completed");
    server.finish().await;
}
