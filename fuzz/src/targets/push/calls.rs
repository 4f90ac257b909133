//! The calls about webhooks and the messages that bring some along, in every line and binding.

use crate::conversation::Asked;
use a2ad_domain::{Owner, PushForm};
use a2ad_http::{Authenticator, Caller, Parts, Scheme, Unauthenticated};
use async_trait::async_trait;
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use serde_json::{Value, json};
use std::fmt::Write;

/// Whoever calls, and whom. The first one's agent is everybody's; the others share one and no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Anybody,
    Ann,
    Bob,
}

impl Who {
    pub(super) const ALL: [Who; 3] = [Self::Anybody, Self::Ann, Self::Bob];

    const fn agent(self) -> &'static str {
        match self {
            Self::Anybody => "walk",
            Self::Ann | Self::Bob => "own",
        }
    }

    const fn key(self) -> Option<&'static str> {
        match self {
            Self::Anybody => None,
            Self::Ann => Some("ann"),
            Self::Bob => Some("bob"),
        }
    }
}

/// Knows callers by their names.
pub(super) struct Named;

#[async_trait]
impl Authenticator for Named {
    fn schemes(&self) -> &[Scheme] {
        &[Scheme::Key]
    }

    async fn authenticate(&self, head: &Parts) -> Result<Caller, Unauthenticated> {
        let name = head.headers.get("x-api-key").and_then(|name| name.to_str().ok());
        let owner = Owner::new(name.ok_or(Unauthenticated)?).map_err(|_| Unauthenticated)?;
        Ok(Caller::new(owner))
    }
}

/// A line over a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    NewRpc,
    NewRest,
    OldRpc,
    OldRest,
    Praison,
}

/// A webhook as a client asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) id: Option<String>,
    pub(super) url: String,
    pub(super) token: Option<String>,
    pub(super) scheme: Option<String>,
    pub(super) credentials: Option<String>,
}

/// What is called.
pub(super) enum Call<'a> {
    Set(&'a Wanted),
    Get(Option<&'a str>),
    List,
    Page(&'a str),
    Delete(&'a str),
    Cancel,
    Task,
    /// A message, for a task or for a new one.
    Send {
        text: &'a str,
        follows: bool,
        webhook: Option<&'a Wanted>,
    },
}

impl Wanted {
    /// Words that blanks set apart: id, URL, token, scheme and credentials, with a dash for what is not there.
    pub(super) fn read(text: &str) -> Self {
        let mut words = text.split(' ').map(|word| (word != "-").then(|| word.to_owned()));
        let mut next = || words.next().flatten().filter(|word| !word.is_empty());
        let (id, url) = (next(), next().unwrap_or_default());
        Self { id, url, token: next(), scheme: next(), credentials: next() }
    }

    /// The members of a webhook in a line.
    pub(super) fn json(&self, old: bool, id: Option<&str>) -> Value {
        let mut members = json!({ "url": self.url });
        for (name, value) in [("id", id), ("token", self.token.as_deref())] {
            if let Some(value) = value {
                members[name] = value.into();
            }
        }
        if self.scheme.is_none() && self.credentials.is_none() {
            return members;
        }
        let mut authentication = json!({});
        match &self.scheme {
            Some(scheme) if old => authentication["schemes"] = json!([scheme]),
            Some(scheme) => authentication["scheme"] = json!(scheme),
            None => {}
        }
        if let Some(credentials) = &self.credentials {
            authentication["credentials"] = json!(credentials);
        }
        members["authentication"] = authentication;
        members
    }
}

impl Way {
    pub(super) const ALL: [Way; 5] =
        [Self::NewRpc, Self::NewRest, Self::OldRpc, Self::OldRest, Self::Praison];

    /// The profile has one agent only.
    pub(super) fn for_caller(self, who: Who) -> Self {
        if self == Self::Praison && who != Who::Anybody { Self::OldRpc } else { self }
    }

    pub(super) const fn is_old(self) -> bool {
        matches!(self, Self::OldRpc | Self::OldRest | Self::Praison)
    }

    pub(super) const fn is_rest(self) -> bool {
        matches!(self, Self::NewRest | Self::OldRest)
    }

    pub(super) const fn form(self) -> PushForm {
        match self {
            Self::NewRpc | Self::NewRest => PushForm::Line1,
            Self::OldRpc | Self::OldRest => PushForm::Line03,
            Self::Praison => PushForm::Praison,
        }
    }

    /// A webhook as it is told back.
    pub(super) fn told(self, task: &str, id: &str, wanted: &Wanted) -> Value {
        let members = wanted.json(self.is_old(), Some(id));
        match self {
            Self::NewRpc | Self::NewRest => {
                let mut all = members;
                all["taskId"] = task.into();
                all
            }
            Self::OldRpc | Self::Praison => {
                json!({ "taskId": task, "pushNotificationConfig": members })
            }
            Self::OldRest => {
                let name = format!("tasks/{task}/pushNotificationConfigs/{id}");
                json!({ "name": name, "pushNotificationConfig": members })
            }
        }
    }

    /// The request of a call about a task.
    pub(super) fn asked(self, who: Who, task: &str, call: &Call<'_>) -> Asked {
        let (method, path, body) = if self.is_rest() {
            self.rest(who, task, call)
        } else {
            let body = self.rpc(task, call);
            let agent = who.agent();
            let path = match self {
                Self::Praison => "/a2a".to_owned(),
                Self::NewRpc | Self::NewRest | Self::OldRpc | Self::OldRest => {
                    format!("/api/v1/a2a/{agent}/jsonrpc")
                }
            };
            (Method::POST, path, Some(body))
        };
        let mut headers = HeaderMap::new();
        let version = if self.is_old() { "0.3" } else { "1.0" };
        headers.insert("a2a-version", HeaderValue::from_static(version));
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        if let Some(key) = who.key() {
            headers.insert("x-api-key", HeaderValue::from_static(key));
        }
        let uri: Uri = path.parse().expect("an address");
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        Asked { method, uri, headers, body }
    }

    fn rpc(self, task: &str, call: &Call<'_>) -> Value {
        let old = self.is_old();
        let of_webhook = |id: Option<&str>| {
            let names = if old { ["id", "pushNotificationConfigId"] } else { ["taskId", "id"] };
            let mut params = json!({ names[0]: task });
            if let Some(id) = id {
                params[names[1]] = id.into();
            }
            params
        };
        let (names, params) = match call {
            Call::Set(wanted) if old => {
                let config = wanted.json(true, wanted.id.as_deref());
                let params = json!({ "taskId": task, "pushNotificationConfig": config });
                (["pushNotificationConfig/set", ""], params)
            }
            Call::Set(wanted) => {
                let mut params = wanted.json(false, wanted.id.as_deref());
                params["taskId"] = task.into();
                (["", "CreateTaskPushNotificationConfig"], params)
            }
            Call::Get(id) => {
                (["pushNotificationConfig/get", "GetTaskPushNotificationConfig"], of_webhook(*id))
            }
            Call::Delete(id) => {
                let names = ["pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"];
                (names, of_webhook(Some(*id)))
            }
            Call::List | Call::Page(_) => {
                let mut params = of_webhook(None);
                if let Call::Page(token) = call {
                    params["pageSize"] = 1.into();
                    params["pageToken"] = (*token).into();
                }
                (["pushNotificationConfig/list", "ListTaskPushNotificationConfigs"], params)
            }
            Call::Cancel => (["cancel", "CancelTask"], json!({ "id": task })),
            Call::Task => (["get", "GetTask"], json!({ "id": task })),
            Call::Send { .. } => (["", "SendMessage"], self.message(task, call)),
        };
        let method = match (old, call) {
            (true, Call::Send { .. }) => "message/send".to_owned(),
            (true, _) => format!("tasks/{}", names[0]),
            (false, _) => names[1].to_owned(),
        };
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
    }

    fn rest(self, who: Who, task: &str, call: &Call<'_>) -> (Method, String, Option<Value>) {
        let old = self.is_old();
        let line = if old { "v1/" } else { "" };
        let base = format!("/api/v1/a2a/{}/{line}", who.agent());
        let all = format!("{base}tasks/{task}/pushNotificationConfigs");
        match call {
            Call::Set(wanted) => {
                let config = wanted.json(old, wanted.id.as_deref());
                let body = if old {
                    json!({ "config": { "pushNotificationConfig": config } })
                } else {
                    config
                };
                (Method::POST, all, Some(body))
            }
            Call::Get(id) => {
                (Method::GET, format!("{all}/{}", encoded(id.unwrap_or_default())), None)
            }
            Call::Delete(id) => (Method::DELETE, format!("{all}/{}", encoded(id)), None),
            Call::List => (Method::GET, all, None),
            Call::Page(token) => (Method::GET, format!("{all}?pageSize=1&pageToken={token}"), None),
            Call::Cancel => (Method::POST, format!("{base}tasks/{task}:cancel"), None),
            Call::Task => (Method::GET, format!("{base}tasks/{task}"), None),
            Call::Send { .. } => {
                (Method::POST, format!("{base}message:send"), Some(self.message(task, call)))
            }
        }
    }

    /// A message that nobody waits for.
    fn message(self, task: &str, call: &Call<'_>) -> Value {
        let Call::Send { text, follows, webhook } = call else { return Value::Null };
        let mut message = match self {
            Self::NewRpc | Self::NewRest => {
                json!({ "role": "ROLE_USER", "messageId": "m", "parts": [{ "text": text }] })
            }
            Self::OldRest => {
                json!({ "role": "ROLE_USER", "messageId": "m", "content": [{ "text": text }] })
            }
            Self::OldRpc | Self::Praison => json!({ "kind": "message", "role": "user",
                "messageId": "m", "parts": [{ "kind": "text", "text": text }] }),
        };
        if *follows {
            message["taskId"] = task.into();
        }
        let old = self.is_old();
        let mut configuration =
            if old { json!({ "blocking": false }) } else { json!({ "returnImmediately": true }) };
        if let Some(wanted) = webhook {
            let name = if old { "pushNotificationConfig" } else { "taskPushNotificationConfig" };
            configuration[name] = wanted.json(old, wanted.id.as_deref());
        }
        json!({ "message": message, "configuration": configuration })
    }
}

/// An id as a piece of a path.
fn encoded(id: &str) -> String {
    id.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() {
            encoded.push(byte.into());
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}
