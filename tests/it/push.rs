//! Push notifications: webhooks that callers register, and what they are told.

mod calls;
mod crash;
mod deliveries;
mod ends;
mod example;
mod inline;
mod letters;
mod published;
mod signed;
mod urls;

use crate::line1::schema;
use crate::support::TestServer;
use crate::support::rpc::{Answered, JSON};
use serde_json::{Value, json};

const LINE_1: (&str, &str) = ("a2a-version", "1.0");

/// Calls an agent in the line that the method is of.
async fn call(server: &TestServer, agent: &str, method: &str, params: Value) -> Answered {
    let body = json!({ "jsonrpc": "2.0", "id": "p-1", "method": method, "params": params });
    let old = method.contains('/');
    let headers = [JSON, LINE_1];
    let headers = if old { &headers[..1] } else { &headers[..] };
    let path = format!("/api/v1/a2a/{agent}/jsonrpc");
    let answered = Answered::of(&server.post(&path, headers, body.to_string()).await);
    if !old && answered.outcome.is_ok() {
        schema::result(method, &answered.result());
    }
    answered
}

/// The parameters of a message with a webhook, in the words of a line.
fn message(old: bool, text: &str, config: Value) -> Value {
    if old {
        let message = json!({ "kind": "message", "role": "user", "messageId": "m-1",
            "parts": [{ "kind": "text", "text": text }] });
        json!({ "message": message, "configuration": { "pushNotificationConfig": config } })
    } else {
        let message =
            json!({ "role": "ROLE_USER", "messageId": "m-1", "parts": [{ "text": text }] });
        json!({ "message": message, "configuration": { "taskPushNotificationConfig": config } })
    }
}

/// A webhook with everything, in the words of a line.
fn full(old: bool, url: &str) -> Value {
    let authentication = if old {
        json!({ "schemes": ["Bearer"], "credentials": "abc" })
    } else {
        json!({ "scheme": "Bearer", "credentials": "abc" })
    };
    json!({ "url": url, "token": "tk-1", "authentication": authentication })
}
