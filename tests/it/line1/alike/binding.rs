//! The four ways to make a call, and one form for what they answer.

use super::super::client::{JSON, http, http_stream, request, rest, rpc};
use crate::support::TestServer;
use crate::support::agents::soon;
use crate::support::binding::Binding;
use crate::support::rpc::Answered;
use serde_json::{Value, json};

/// What a call came to, without what is different each time.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// What it is: a task, a message, an event.
    kind: String,
    /// The state in small letters.
    pub(super) state: String,
    /// The texts of what it holds: the message of its status, artifacts and history, with who says what.
    texts: Vec<String>,
    /// The flags that are set.
    flags: Vec<String>,
    /// The code of an error, and whether the binding's status says the same.
    code: Option<i64>,
    /// The task's id, which is not compared.
    pub(super) task: Option<String>,
}

impl PartialEq for Outcome {
    fn eq(&self, other: &Self) -> bool {
        let parts = |it: &Self| (it.kind.clone(), it.state.clone(), it.texts.clone(), it.code);
        parts(self) == parts(other) && self.flags == other.flags
    }
}

/// Calls over one binding.
pub(super) struct Step<'a> {
    pub(super) server: &'a TestServer,
    pub(super) binding: Binding,
    pub(super) agent: &'a str,
}

/// A call in the words of a binding: what is called, with which parameters.
enum Call<'a> {
    Send(Value),
    Stream(Value),
    Get(&'a str),
    Cancel(&'a str),
    Watch(&'a str),
    List(&'a str),
}

impl Step<'_> {
    /// Verb, path and body.
    fn request(&self, call: Call<'_>) -> (&'static str, String, Option<Value>) {
        if self.binding.is_rpc() {
            let names = match &call {
                Call::Send(_) => ["message/send", "SendMessage"],
                Call::Stream(_) => ["message/stream", "SendStreamingMessage"],
                Call::Get(_) => ["tasks/get", "GetTask"],
                Call::Cancel(_) => ["tasks/cancel", "CancelTask"],
                Call::Watch(_) => ["tasks/resubscribe", "SubscribeToTask"],
                Call::List(_) => ["tasks/list", "ListTasks"],
            };
            let params = match call {
                Call::Send(params) | Call::Stream(params) => params,
                Call::Get(id) | Call::Cancel(id) | Call::Watch(id) => json!({ "id": id }),
                Call::List(context) => json!({ "contextId": context, "includeArtifacts": true }),
            };
            let name = names[usize::from(self.binding.is_new())];
            return ("POST", rpc(self.agent), Some(request(name, &params)));
        }
        let (verb, path, body) = match call {
            Call::Send(params) => ("POST", "message:send".to_owned(), Some(params)),
            Call::Stream(params) => ("POST", "message:stream".to_owned(), Some(params)),
            Call::Get(id) => ("GET", format!("tasks/{id}"), None),
            Call::Cancel(id) => ("POST", format!("tasks/{id}:cancel"), None),
            Call::Watch(id) => ("POST", format!("tasks/{id}:subscribe"), None),
            Call::List(context) => {
                ("GET", format!("tasks?contextId={context}&includeArtifacts=true"), None)
            }
        };
        let base = if self.binding.is_new() { "" } else { "v1/" };
        (verb, rest(self.agent, &format!("{base}{path}")), body)
    }

    fn headers(&self) -> [(&'static str, &'static str); 2] {
        [JSON, ("a2a-version", if self.binding.is_new() { "1.0" } else { "0.3" })]
    }

    /// The bare result of a call, or the code of its failure.
    async fn call(&self, call: Call<'_>) -> Result<Value, i64> {
        let (verb, path, body) = self.request(call);
        let body = body.map(|body| body.to_string());
        let reply = soon("an answer", http(self.server, verb, &path, &self.headers(), body)).await;
        if self.binding.is_rpc() {
            let answered = Answered::of(&reply);
            return match answered.outcome {
                Ok(result) => Ok(serde_json::from_str(&result).expect("JSON")),
                Err(error) => Err(error["code"].as_i64().expect("a code")),
            };
        }
        let body = reply.json();
        if reply.status == 200 {
            return Ok(body);
        }
        let code = match body["error"]["details"][0]["reason"].as_str() {
            Some(reason) => {
                let codes = a2ad_domain::ErrorCode::ALL;
                let code = codes.into_iter().find(|code| code.reason() == reason);
                i64::from(code.expect("a reason of ours").number())
            }
            None => body["code"].as_i64().expect("a code"),
        };
        let status = match code {
            -32001 => 404,
            -32603 => 500,
            _ => 400,
        };
        assert_eq!(reply.status, status, "{body}");
        Err(code)
    }

    async fn outcome(&self, call: Call<'_>) -> Outcome {
        match self.call(call).await {
            Ok(result) => self.read(&result),
            Err(code) => Outcome { code: Some(code), ..Outcome::default() },
        }
    }

    fn params(
        &self,
        parts: Value,
        id: Option<&str>,
        task: Option<&str>,
        context: Option<&str>,
    ) -> Value {
        let role = if self.binding == Binding::OldRpc { "user" } else { "ROLE_USER" };
        let member = if self.binding == Binding::OldRest { "content" } else { "parts" };
        let mut message = json!({ "role": role, "messageId": id.unwrap_or("m-1"), member: parts });
        for (name, value) in [("taskId", task), ("contextId", context)] {
            if let Some(value) = value {
                message[name] = value.into();
            }
        }
        json!({ "message": message })
    }

    /// A message of any parts under any id.
    pub(super) async fn message(&self, parts: Value, id: Option<&str>) -> Outcome {
        self.outcome(Call::Send(self.params(parts, id, None, None))).await
    }

    pub(super) async fn send(&self, text: &str, task: Option<&str>) -> Outcome {
        let params = self.params(json!([{ "text": text }]), None, task, None);
        self.outcome(Call::Send(params)).await
    }

    pub(super) async fn send_in(&self, text: &str, context: &str) -> Outcome {
        let params = self.params(json!([{ "text": text }]), None, None, Some(context));
        self.outcome(Call::Send(params)).await
    }

    pub(super) async fn send_off(&self, text: &str) -> Outcome {
        let mut params = self.params(json!([{ "text": text }]), None, None, None);
        params["configuration"] = if self.binding.is_new() {
            json!({ "returnImmediately": true })
        } else {
            json!({ "blocking": false })
        };
        self.outcome(Call::Send(params)).await
    }

    pub(super) async fn get(&self, id: &str) -> Outcome {
        self.outcome(Call::Get(id)).await
    }

    /// The body of a read as it stands.
    pub(super) async fn raw_get(&self, id: &str) -> String {
        let (verb, path, body) = self.request(Call::Get(id));
        let body = body.map(|body| body.to_string());
        let reply = http(self.server, verb, &path, &self.headers(), body).await;
        String::from_utf8(reply.body).expect("UTF-8")
    }

    pub(super) async fn cancel(&self, id: &str) -> Outcome {
        self.outcome(Call::Cancel(id)).await
    }

    /// A watch that is refused; one that is not would be read as JSON, and fail.
    pub(super) async fn watch(&self, id: &str) -> Outcome {
        self.outcome(Call::Watch(id)).await
    }

    pub(super) async fn list(&self, context: &str) -> Vec<Outcome> {
        let page = self.call(Call::List(context)).await.expect("a page");
        assert_eq!(page["totalSize"], page["tasks"].as_array().expect("tasks").len());
        page["tasks"].as_array().expect("tasks").iter().map(|task| self.read(task)).collect()
    }

    /// Everything that a stream shows.
    pub(super) async fn stream(&self, text: &str, task: Option<&str>) -> Vec<Outcome> {
        let params = self.params(json!([{ "text": text }]), None, task, None);
        let (verb, path, body) = self.request(Call::Stream(params));
        let body = body.map(|body| body.to_string());
        let stream = http_stream(self.server, verb, &path, &self.headers(), body).await;
        let events = soon("the end of a stream", stream.collect()).await;
        let read = |event: &crate::support::Event| {
            let data = if self.binding.is_rpc() { &event.data["result"] } else { &event.data };
            Outcome { flags: flags(data), ..self.read(data) }
        };
        events.iter().map(read).collect()
    }

    fn read(&self, value: &Value) -> Outcome {
        let wrapped = ["task", "message", "statusUpdate", "artifactUpdate"];
        let found = value
            .as_object()
            .into_iter()
            .flatten()
            .find(|(name, value)| wrapped.contains(&name.as_str()) && value.is_object());
        let inner = found.map_or(value, |(_, value)| value);
        let kind = if inner.get("messageId").is_some() {
            "message"
        } else if inner.get("artifact").is_some() {
            "artifact"
        } else if inner.get("taskId").is_some() {
            "status"
        } else {
            "task"
        };
        let state = inner["status"]["state"].as_str().unwrap_or_default();
        let state = state.trim_start_matches("TASK_STATE_").to_ascii_lowercase().replace('-', "_");
        let mut texts = Vec::new();
        self.collect(inner, &mut texts);
        let id = inner.get("id").or(inner.get("taskId")).and_then(Value::as_str);
        Outcome {
            kind: kind.to_owned(),
            // The 0.3 protocol buffers spell it with two.
            state: state.replace("cancelled", "canceled"),
            texts,
            flags: Vec::new(),
            code: None,
            task: id.map(str::to_owned),
        }
    }

    /// Every text, in the order of the members' names, with the role of who says it.
    fn collect(&self, value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                if let Some(role) = members.get("role").and_then(Value::as_str) {
                    texts.push(role.trim_start_matches("ROLE_").to_ascii_lowercase());
                }
                if let Some(text) = members.get("text").and_then(Value::as_str) {
                    texts.push(without_reference(text));
                }
                for name in
                    ["status", "message", "artifact", "artifacts", "history", "parts", "content"]
                {
                    if let Some(member) = members.get(name) {
                        self.collect(member, texts);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, texts)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// A reference into the log is different each time.
fn without_reference(text: &str) -> String {
    text.split_once("reference").map_or(text, |(before, _)| before).to_owned()
}

/// The flags of an event that are set; that an event is the last only the old line says.
fn flags(data: &Value) -> Vec<String> {
    let event = data.get("artifactUpdate").unwrap_or(data);
    let is_set = |name: &&str| event[*name] == true;
    ["append", "lastChunk"]
        .iter()
        .filter(|name| is_set(name))
        .map(|&name| name.to_owned())
        .collect()
}
