//! The states with their names, and that a task which has ended stays as it is.

use super::{AGENT, cancel, error, gated, get, running, saying, send};
use crate::support::TestServer;
use serde_json::{Value, json};

/// Seven names of the documented list, and the one for a refusal that the list leaves out.
#[tokio::test]
async fn every_state_has_its_name() {
    let (server, _gates) = gated().await;
    for (text, state) in [
        ("done", "completed"),
        ("fail it", "failed"),
        ("ask what", "input_required"),
        ("auth-gate who", "auth_required"),
        ("reject it", "rejected"),
    ] {
        let task = send(&server, text).await;
        assert_eq!(task["status"]["state"], state, "{text}");
        if state == "auth_required" {
            cancel(&server, &task).await;
        }
    }
    let body = json!({
        "jsonrpc": "2.0", "method": "message/stream", "id": "1", "params": saying("hang on"),
    });
    let mut events = server.stream_at(super::RPC, &[], body).await;
    let first = events.next().await.expect("an opening frame").data["result"].take();
    assert_eq!(first["status"]["state"], "submitted");
    let second = events.next().await.expect("a second frame").data["result"].take();
    assert_eq!(second["status"]["state"], "working");
    assert_eq!(get(&server, &first).await["status"], second["status"]);
    assert_eq!(cancel(&server, &first).await["status"]["state"], "cancelled");
    drop(events);
    server.finish().await;
}

/// Neither a cancel nor a message changes a task that has ended.
#[tokio::test]
async fn terminal_states_are_final() {
    let server = TestServer::with_config(AGENT).await;
    let canceled = running(&server).await;
    cancel(&server, &canceled).await;
    let tasks = [send(&server, "done").await, send(&server, "fail it").await, canceled];
    for task in tasks {
        let before = get(&server, &task).await;
        let id = json!({ "id": task["id"] });
        assert_eq!(error(&server, "tasks/cancel", id).await["code"], -32002);
        let mut more = saying("more");
        more["message"]["taskId"] = task["id"].clone();
        for method in ["message/send", "message/stream"] {
            assert_eq!(error(&server, method, more.clone()).await["code"], -32004);
        }
        assert_eq!(get(&server, &task).await, before);
    }
    server.finish().await;
}

/// A task that waits can be canceled, too.
#[tokio::test]
async fn a_task_that_waits_is_canceled() {
    let (server, _gates) = gated().await;
    for text in ["ask what", "auth-gate who"] {
        let task = send(&server, text).await;
        assert_eq!(cancel(&server, &task).await["status"]["state"], "cancelled", "{text}");
        let read = get(&server, &task).await;
        assert_eq!(read["status"]["state"], "cancelled", "{text}");
        assert!(read.get("artifacts").is_none_or(Value::is_null), "{read}");
    }
    server.finish().await;
}
