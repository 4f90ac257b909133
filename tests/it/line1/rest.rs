//! HTTP+JSON of both lines: paths, verbs, parameters, media types and streams.

mod media;
mod parameters;
mod routes;
mod streams;

use super::client::{JSON, http, rest};
use crate::support::TestServer;
use serde_json::{Value, json};

/// One call to the script agent that succeeds; what it answers.
async fn ok(server: &TestServer, verb: &str, path: &str, body: Option<Value>) -> Value {
    let body = body.map(|body| body.to_string());
    let reply = http(server, verb, &rest("script", path), &[JSON], body).await;
    assert_eq!(reply.status, 200, "{verb} {path}: {}", String::from_utf8_lossy(&reply.body));
    assert_eq!(reply.headers["content-type"], "application/json", "{verb} {path}");
    reply.json()
}

/// A message of one text for the path that takes it.
fn message(path: &str, text: &str) -> Value {
    let parts = json!([{ "text": text }]);
    let name = if path.starts_with("v1/") { "content" } else { "parts" };
    json!({ "message": { "role": "ROLE_USER", "messageId": "r-1", name: parts } })
}

/// The id of a task that was sent and waits for an answer.
async fn waiting(server: &TestServer) -> String {
    let task = ok(server, "POST", "message:send", Some(message("", "ask which?"))).await;
    task["task"]["id"].as_str().expect("an id").to_owned()
}
