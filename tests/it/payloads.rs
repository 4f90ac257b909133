//! Bodies as the published clients send them, quirks and all, each to the route that the client uses.

mod bridges;
mod outdated;
mod parts;
mod sdks;
mod seeds;

use crate::support::caller::state;
use crate::support::{Reply, TestServer};
use serde_json::{Value, json};

const ROUTE: &str = "/api/v1/a2a/script/jsonrpc";

/// The agent that does what its text says, at every route.
const AGENT: &str = r#"
[[agent]]
id = "script"
executor = { kind = "script" }
grace = "0s"
"#;

async fn post(server: &TestServer, route: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
    let mut all = vec![("content-type", "application/json")];
    all.extend_from_slice(headers);
    server.post(route, &all, body.to_string()).await
}

/// The answer, which comes over 200 as JSON, with the id exactly as it was sent.
async fn answer(server: &TestServer, headers: &[(&str, &str)], body: &Value) -> Value {
    let reply = post(server, ROUTE, headers, body).await;
    assert_eq!(reply.status, 200, "{body}");
    assert_eq!(reply.headers["content-type"], "application/json", "{body}");
    let answer = reply.json();
    assert_eq!(answer["id"], body["id"], "{body}");
    answer
}

async fn result(server: &TestServer, headers: &[(&str, &str)], body: &Value) -> Value {
    let mut answer = answer(server, headers, body).await;
    assert!(answer.get("error").is_none(), "{body}\n{answer}");
    answer["result"].take()
}

/// The result of a send that ends in a completed task.
async fn completed(server: &TestServer, headers: &[(&str, &str)], body: &Value) -> Value {
    let task = result(server, headers, body).await;
    assert_eq!(state(&task), "completed", "{body}\n{task}");
    task
}

async fn code(server: &TestServer, headers: &[(&str, &str)], body: &Value) -> i64 {
    let answer = answer(server, headers, body).await;
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{body}\n{answer}"))
}

fn call(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn text(text: &str) -> Value {
    json!([{ "kind": "text", "text": text }])
}
