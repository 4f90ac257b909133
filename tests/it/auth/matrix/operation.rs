//! What a caller can ask for, in the words of each line and binding.

use super::answer::Answer;
use crate::support::TestServer;
use crate::support::binding::Binding;
use crate::support::receiver::NOWHERE;
use serde_json::{Value, json};

/// The rows of the table.
pub(super) const OPERATIONS: [&str; 15] = [
    "send a new message",
    "stream a new message",
    "refer to the task in a message",
    "send it a message",
    "stream it a message",
    "read it",
    "find it in the list",
    "find it in its conversation's list",
    "cancel it",
    "watch it",
    "set its webhook",
    "read its webhook",
    "list its webhooks",
    "delete its webhook",
    "read the extended card",
];

/// The context of every task here.
const CONTEXT: &str = "talk";

/// A request.
pub(super) struct Call {
    binding: Binding,
    verb: &'static str,
    path: String,
    body: Option<Value>,
}

impl Binding {
    /// The request for an operation at an agent about a task.
    pub(super) fn operation(self, name: &str, agent: &str, task: &str) -> Call {
        let base = format!("/api/v1/a2a/{agent}");
        match self {
            Self::OldRpc | Self::NewRpc => {
                let (method, params) = self.rpc(name, task);
                let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
                Call {
                    binding: self,
                    verb: "POST",
                    path: format!("{base}/jsonrpc"),
                    body: Some(body),
                }
            }
            Self::OldRest | Self::NewRest => {
                let (verb, path, body) = self.rest(name, task);
                let line = if self.is_new() { "" } else { "v1/" };
                Call { binding: self, verb, path: format!("{base}/{line}{path}"), body }
            }
        }
    }

    /// The parameters of a message.
    fn message(self, name: &str, task: &str) -> Value {
        let (parts, role) = match self {
            Self::OldRpc => ("parts", "user"),
            Self::OldRest => ("content", "ROLE_USER"),
            Self::NewRpc | Self::NewRest => ("parts", "ROLE_USER"),
        };
        let mut message = json!({ "role": role, "messageId": "m-1" });
        message[parts] = match self {
            Self::OldRpc => json!([{ "kind": "text", "text": "ask which?" }]),
            Self::NewRpc | Self::OldRest | Self::NewRest => json!([{ "text": "ask which?" }]),
        };
        match name {
            "send it a message" | "stream it a message" => message["taskId"] = task.into(),
            "refer to the task in a message" => message["referenceTaskIds"] = json!([task]),
            _ => message["contextId"] = CONTEXT.into(),
        }
        json!({ "message": message })
    }

    fn rpc(self, name: &str, task: &str) -> (&'static str, Value) {
        let id = json!({ "id": task });
        let (methods, params) = match name {
            "send a new message" | "refer to the task in a message" | "send it a message" => {
                (["message/send", "SendMessage"], self.message(name, task))
            }
            "stream a new message" | "stream it a message" => {
                (["message/stream", "SendStreamingMessage"], self.message(name, task))
            }
            "read it" => (["tasks/get", "GetTask"], id),
            "find it in the list" => (["tasks/list", "ListTasks"], json!({ "pageSize": 100 })),
            "find it in its conversation's list" => {
                (["tasks/list", "ListTasks"], json!({ "contextId": CONTEXT, "pageSize": 100 }))
            }
            "cancel it" => (["tasks/cancel", "CancelTask"], id),
            "watch it" => (["tasks/resubscribe", "SubscribeToTask"], id),
            "set its webhook" => {
                let config = json!({ "id": "c", "url": NOWHERE, "token": "t" });
                let params = match self {
                    Self::OldRpc => json!({ "taskId": task, "pushNotificationConfig": config }),
                    Self::NewRpc | Self::OldRest | Self::NewRest => {
                        json!({ "taskId": task, "id": "c", "url": NOWHERE })
                    }
                };
                let names =
                    ["tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"];
                (names, params)
            }
            "read its webhook" => (
                ["tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"],
                self.webhook(task),
            ),
            "list its webhooks" => (
                ["tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"],
                json!({ "id": task, "taskId": task }),
            ),
            "delete its webhook" => (
                ["tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"],
                self.webhook(task),
            ),
            "read the extended card" => {
                (["agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"], json!({}))
            }
            _ => panic!("{name} is no operation"),
        };
        (methods[usize::from(self.is_new())], params)
    }

    fn webhook(self, task: &str) -> Value {
        match self {
            Self::OldRpc => json!({ "id": task, "pushNotificationConfigId": "c" }),
            Self::NewRpc | Self::OldRest | Self::NewRest => json!({ "taskId": task, "id": "c" }),
        }
    }

    fn rest(self, name: &str, task: &str) -> (&'static str, String, Option<Value>) {
        let hooks = format!("tasks/{task}/pushNotificationConfigs");
        match name {
            "send a new message" | "refer to the task in a message" | "send it a message" => {
                ("POST", "message:send".to_owned(), Some(self.message(name, task)))
            }
            "stream a new message" | "stream it a message" => {
                ("POST", "message:stream".to_owned(), Some(self.message(name, task)))
            }
            "read it" => ("GET", format!("tasks/{task}"), None),
            "find it in the list" => ("GET", "tasks?pageSize=100".to_owned(), None),
            "find it in its conversation's list" => {
                ("GET", format!("tasks?contextId={CONTEXT}&pageSize=100"), None)
            }
            "cancel it" => ("POST", format!("tasks/{task}:cancel"), None),
            "watch it" => ("POST", format!("tasks/{task}:subscribe"), None),
            "set its webhook" => {
                let config = json!({ "id": "c", "url": NOWHERE });
                let old = json!({ "config": { "pushNotificationConfig": config } });
                ("POST", hooks, Some(if self.is_new() { config } else { old }))
            }
            "read its webhook" => ("GET", format!("{hooks}/c"), None),
            "list its webhooks" => ("GET", hooks, None),
            "delete its webhook" => ("DELETE", format!("{hooks}/c"), None),
            "read the extended card" => {
                let path = if self.is_new() { "extendedAgentCard" } else { "card" };
                ("GET", path.to_owned(), None)
            }
            _ => panic!("{name} is no operation"),
        }
    }
}

impl Call {
    /// Makes it with a key.
    pub(super) async fn make(&self, server: &TestServer, key: Option<&str>) -> Answer {
        let version = if self.binding.is_new() { "1.0" } else { "0.3" };
        let mut headers = vec![("content-type", "application/json"), ("a2a-version", version)];
        headers.extend(key.map(|key| ("x-api-key", key)));
        let body = self.body.as_ref().map(ToString::to_string);
        Answer::read(server.open(self.verb, &self.path, &headers, body).await).await
    }
}
