//! A caller of one agent: makes calls, checks what every answer must hold, and reads answers.

use super::{Events, Reply, TestServer};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Somebody who calls one agent. Calls of different owners need the server to have the authenticator that
/// reads the header `x-test-owner`.
#[derive(Clone)]
pub(crate) struct Caller<'a> {
    server: &'a TestServer,
    path: String,
    owner: Option<&'a str>,
}

impl<'a> Caller<'a> {
    pub(crate) fn new(server: &'a TestServer, agent: &str) -> Self {
        Self { server, path: format!("/api/v1/a2a/{agent}/jsonrpc"), owner: None }
    }

    /// Calls the default agent at `/a2a`.
    pub(crate) fn praison(server: &'a TestServer) -> Self {
        Self { server, path: "/a2a".to_owned(), owner: None }
    }

    pub(crate) fn owned_by(mut self, owner: &'a str) -> Self {
        self.owner = Some(owner);
        self
    }

    fn headers(&self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(self.owner.map(|owner| ("x-test-owner", owner)));
        headers.extend_from_slice(more);
        headers
    }

    /// One call as it comes back.
    pub(crate) async fn reply(&self, method: &str, params: Value) -> Reply {
        let body = request(method, &params).to_string().into_bytes();
        self.server.post(&self.path, &self.headers(&[]), body).await
    }

    /// One call; the answer has been checked as far as every answer is alike.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let reply = self.reply(method, params).await;
        assert_eq!(reply.status, 200, "{method}: {}", String::from_utf8_lossy(&reply.body));
        answer(&reply)
    }

    /// The result of a call that succeeds.
    pub(crate) async fn ok(&self, method: &str, params: Value) -> Value {
        let mut answer = self.call(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// The code of a call that fails.
    pub(crate) async fn code(&self, method: &str, params: Value) -> i64 {
        let answer = self.call(method, params).await;
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {answer}"))
    }

    /// Sends and waits.
    pub(crate) async fn send(&self, message: Message) -> Value {
        self.ok("message/send", message.params()).await
    }

    /// Sends and does not wait.
    pub(crate) async fn send_off(&self, message: Message) -> Value {
        self.ok("message/send", message.blocking(false).params()).await
    }

    pub(crate) async fn stream(&self, message: Message) -> Events {
        let body = request("message/stream", &message.params());
        self.server.stream_at(&self.path, &self.headers(&[]), body).await
    }

    pub(crate) async fn get(&self, id: &str) -> Value {
        self.ok("tasks/get", json!({ "id": id })).await
    }

    pub(crate) async fn cancel(&self, id: &str) -> Value {
        self.ok("tasks/cancel", json!({ "id": id })).await
    }

    /// All tasks, newest first.
    pub(crate) async fn list(&self) -> Vec<Value> {
        let page = self.ok("tasks/list", json!({ "pageSize": 100 })).await;
        assert_eq!(page["nextPageToken"], "", "a list longer than this test expects");
        page["tasks"].as_array().expect("an array of tasks").clone()
    }

    /// Re-attaches, after the event that was seen last if there is one.
    pub(crate) async fn attach(&self, id: &str, seen: Option<&str>) -> Events {
        let body = request("tasks/resubscribe", &json!({ "id": id }));
        let seen: Vec<_> =
            seen.map(|seen| ("last-event-id", seen.to_owned())).into_iter().collect();
        let mut headers: Vec<(&str, &str)> = self.headers(&[]);
        headers.extend(seen.iter().map(|(name, value)| (*name, value.as_str())));
        self.server.stream_at(&self.path, &headers, body).await
    }

    /// The state that a task has when nothing goes on any more.
    pub(crate) async fn rest(&self, id: &str) -> Value {
        super::agents::soon("the rest of a task", async {
            loop {
                let task = self.get(id).await;
                if !["submitted", "working"].contains(&state(&task)) {
                    return task;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }
}

pub(crate) fn request(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": "c-1", "method": method, "params": params })
}

/// Checks what every answer holds.
pub(crate) fn answer(reply: &Reply) -> Value {
    let kind = reply.headers.get("content-type").expect("a content type");
    assert_eq!(kind, "application/json");
    let answer: Value = serde_json::from_slice(&reply.body).expect("a JSON body");
    check(&answer);
    answer
}

/// Checks an answer: who it is for, and that it is a result or an error and not both.
pub(crate) fn check(answer: &Value) {
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    assert_eq!(answer["id"], "c-1", "{answer}");
    assert_ne!(answer.get("result").is_some(), answer.get("error").is_some(), "{answer}");
}

/// A message on its way out.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    message: Value,
    configuration: Value,
}

impl Message {
    /// A text under a fresh message id.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let id = format!("m-{}", NUMBERS.fetch_add(1, Ordering::Relaxed));
        let parts = json!([{ "kind": "text", "text": text.as_ref() }]);
        let message = json!({ "kind": "message", "role": "user", "messageId": id, "parts": parts });
        Self { message, configuration: json!({}) }
    }

    /// Sets a member of the message.
    pub(crate) fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.message[member] = value.into();
        self
    }

    pub(crate) fn id(self, id: &str) -> Self {
        self.with("messageId", id)
    }

    pub(crate) fn task(self, id: &str) -> Self {
        self.with("taskId", id)
    }

    pub(crate) fn context(self, id: &str) -> Self {
        self.with("contextId", id)
    }

    /// Sets a member of the configuration.
    pub(crate) fn configured(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.configuration[member] = value.into();
        self
    }

    pub(crate) fn blocking(self, blocking: bool) -> Self {
        self.configured("blocking", blocking)
    }

    /// The parameters of the call.
    pub(crate) fn params(self) -> Value {
        let Self { message, configuration } = self;
        if configuration == json!({}) {
            return json!({ "message": message });
        }
        json!({ "message": message, "configuration": configuration })
    }
}

pub(crate) fn id(task: &Value) -> &str {
    task["id"].as_str().unwrap_or_else(|| panic!("no task: {task}"))
}

pub(crate) fn context(task: &Value) -> &str {
    task["contextId"].as_str().unwrap_or_else(|| panic!("no task: {task}"))
}

pub(crate) fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_else(|| panic!("no status: {task}"))
}

/// The text of a message, an artifact or anything else that has parts.
pub(crate) fn text(of: &Value) -> String {
    let parts = of["parts"].as_array().unwrap_or_else(|| panic!("no parts: {of}"));
    parts.iter().map(|part| part["text"].as_str().unwrap_or_default()).collect()
}

/// The text of the only artifact; empty without one.
pub(crate) fn artifact(task: &Value) -> String {
    match task.get("artifacts").and_then(Value::as_array) {
        None => String::new(),
        Some(artifacts) => {
            assert_eq!(artifacts.len(), 1, "{task}");
            text(&artifacts[0])
        }
    }
}

/// What the messages of the history say, with who says it.
pub(crate) fn history(task: &Value) -> Vec<String> {
    let messages = task["history"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |message: &Value| {
        format!("{}: {}", message["role"].as_str().expect("a role"), text(message))
    };
    messages.iter().map(line).collect()
}

/// What the status says.
pub(crate) fn status_text(task: &Value) -> String {
    text(&task["status"]["message"])
}
