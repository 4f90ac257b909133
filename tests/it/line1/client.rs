//! A client of the 1.0 line, and of any HTTP+JSON.

use super::schema;
use crate::support::rpc::Answered;
use crate::support::{Event, Events, Reply, TestServer};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// The header that chooses the 1.0 line.
pub(super) const LINE_1: (&str, &str) = ("a2a-version", "1.0");
pub(super) const JSON: (&str, &str) = ("content-type", "application/json");

/// The route of an agent's JSON-RPC.
pub(super) fn rpc(agent: &str) -> String {
    format!("/api/v1/a2a/{agent}/jsonrpc")
}

/// A route of an agent's HTTP+JSON; those of the 0.3 line begin with `v1/`.
pub(super) fn rest(agent: &str, path: &str) -> String {
    format!("/api/v1/a2a/{agent}/{path}")
}

pub(super) fn request(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": "n-1", "method": method, "params": params })
}

/// Somebody who calls one agent in the 1.0 line over JSON-RPC. Every answer is checked against the
/// line's shapes.
#[derive(Clone, Copy)]
pub(super) struct Client<'a> {
    pub(super) server: &'a TestServer,
    agent: &'a str,
    owner: Option<&'a str>,
}

impl<'a> Client<'a> {
    pub(super) fn new(server: &'a TestServer, agent: &'a str) -> Self {
        Self { server, agent, owner: None }
    }

    pub(super) fn owned_by(self, owner: &'a str) -> Self {
        Self { owner: Some(owner), ..self }
    }

    fn headers(&self) -> Vec<(&'a str, &'a str)> {
        [JSON, LINE_1].into_iter().chain(self.owner.map(|owner| ("x-test-owner", owner))).collect()
    }

    pub(super) async fn call(&self, method: &str, params: Value) -> Answered {
        let body = request(method, &params).to_string();
        let reply = self.server.post(&rpc(self.agent), &self.headers(), body).await;
        let answered = Answered::of(&reply);
        assert_eq!(answered.id, "\"n-1\"");
        match &answered.outcome {
            Ok(result) => schema::result(method, &serde_json::from_str(result).expect("JSON")),
            Err(error) => schema::error(error),
        }
        answered
    }

    /// The result of a call that succeeds.
    pub(super) async fn ok(&self, method: &str, params: Value) -> Value {
        self.call(method, params).await.result()
    }

    /// The error of a call that fails.
    pub(super) async fn error(&self, method: &str, params: Value) -> Value {
        self.call(method, params).await.error().clone()
    }

    /// The task that a message leads to.
    pub(super) async fn send(&self, message: Value) -> Value {
        self.ok("SendMessage", json!({ "message": message })).await["task"].take()
    }

    /// The same without waiting for it.
    pub(super) async fn send_off(&self, message: Value) -> Value {
        let configuration = json!({ "returnImmediately": true });
        let params = json!({ "message": message, "configuration": configuration });
        self.ok("SendMessage", params).await["task"].take()
    }

    pub(super) async fn get(&self, id: &str) -> Value {
        self.ok("GetTask", json!({ "id": id })).await
    }

    pub(super) async fn cancel(&self, id: &str) -> Value {
        self.ok("CancelTask", json!({ "id": id })).await
    }

    /// A call that streams.
    pub(super) async fn open(&self, method: &str, params: Value) -> Events {
        self.open_after(method, params, None).await
    }

    /// The same for a client that has seen an event already.
    pub(super) async fn open_after(
        &self,
        method: &str,
        params: Value,
        seen: Option<&str>,
    ) -> Events {
        let mut headers = self.headers();
        headers.extend(seen.map(|seen| ("last-event-id", seen)));
        let body = request(method, &params);
        self.server.stream_at(&rpc(self.agent), &headers, body).await
    }
}

/// What the events of a stream over JSON-RPC hold, checked.
pub(super) fn results(events: &[Event]) -> Vec<Value> {
    let result = |event: &Event| {
        let answered = Answered::read(event.data.to_string().as_bytes());
        let result = answered.result();
        schema::stream(&result);
        result
    };
    events.iter().map(result).collect()
}

/// A message of one text in the 1.0 line, under a fresh id.
pub(super) fn text(text: &str) -> Value {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    let id = format!("n-{}", NUMBERS.fetch_add(1, Ordering::Relaxed));
    json!({ "role": "ROLE_USER", "messageId": id, "parts": [{ "text": text }] })
}

/// The same for a task that exists.
pub(super) fn text_for(task: &Value, said: &str) -> Value {
    let mut message = text(said);
    message["taskId"] = task["id"].clone();
    message
}

/// One HTTP request of any verb.
pub(super) async fn http(
    server: &TestServer,
    verb: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<String>,
) -> Reply {
    Reply::read(server.open(verb, path, headers, body).await).await
}

/// Opens a stream over HTTP+JSON.
pub(super) async fn http_stream(
    server: &TestServer,
    verb: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<String>,
) -> Events {
    let response = server.open(verb, path, headers, body).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Events::new(response)
}
