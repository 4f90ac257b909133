//! The methods and members of the time before 0.2: not served, and said so in a way that helps.

use super::{AGENT, ROUTE, answer, call, code, post, text};
use crate::support::TestServer;
use serde_json::{Value, json};

/// A body of that time.
fn body(method: &str) -> Value {
    let parts = json!([{ "type": "text", "text": "plum" }]);
    let message = json!({ "role": "user", "parts": parts });
    let params = json!({ "id": "t-77", "sessionId": "s-7", "message": message });
    json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": "c-77" })
}

#[tokio::test]
async fn an_old_method_names_its_successor() {
    let server = TestServer::with_config(AGENT).await;
    let methods = [("tasks/send", "message/send"), ("tasks/sendSubscribe", "message/stream")];
    for (method, successor) in methods {
        for route in [ROUTE, "/a2a", "/"] {
            let reply = post(&server, route, &[], &body(method)).await;
            assert_eq!(reply.status, 200, "{method} {route}");
            let error = &reply.json()["error"];
            assert_eq!(error["code"], -32601, "{method} {route}");
            let text = error["message"].as_str().expect("a message");
            assert!(text.contains(successor), "{method} {route}: {text}");
        }
        let answer = answer(&server, &[("accept", "text/event-stream")], &body(method)).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
    server.finish().await;
}

/// Its parts under a method of today: `type` is no member of a part.
#[tokio::test]
async fn an_old_part_is_refused() {
    let server = TestServer::with_config(AGENT).await;
    let mut old = body("message/send");
    old["params"]["message"]["messageId"] = json!("m-77");
    assert_eq!(code(&server, &[], &old).await, -32602);
    let reply = post(&server, "/a2a", &[], &old).await;
    assert_eq!(reply.json()["error"]["code"], -32602);
    server.finish().await;
}

/// Nothing is kept of it, and the server goes on.
#[tokio::test]
async fn an_old_call_leaves_nothing_behind() {
    let server = TestServer::with_config(AGENT).await;
    for method in ["tasks/send", "tasks/sendSubscribe", "message/send"] {
        answer(&server, &[], &body(method)).await;
    }
    let listed = super::result(&server, &[], &call(1, "tasks/list", json!({}))).await;
    assert_eq!(listed["totalSize"], 0);
    let message = json!({ "role": "user", "messageId": "m-78", "parts": text("plum") });
    super::completed(&server, &[], &call(2, "message/send", json!({ "message": message }))).await;
    server.finish().await;
}
