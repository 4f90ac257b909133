//! Webhooks that come along with a message.

use super::{LINE_1, call, full, message};
use crate::line1::schema;
use crate::support::receiver::{EAGER, HOOKS, Receiver, Told, state_of};
use crate::support::rpc::JSON;
use crate::support::{HeaderOwner, TestServer};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

const METHODS: [(&str, &str); 4] = [
    ("message/send", "message/stream"),
    ("SendMessage", "SendStreamingMessage"),
    ("message/send", "message/stream"),
    ("SendMessage", "SendStreamingMessage"),
];

/// What every notice holds.
fn check(told: &[Told], old: bool) {
    let mut ids = HashSet::new();
    for each in told {
        let kind = if old { "application/json" } else { "application/a2a+json" };
        assert_eq!(each.header("content-type"), Some(kind));
        assert_eq!(each.header("authorization"), Some("Bearer abc"));
        assert_eq!(each.header("x-a2a-notification-token"), Some("tk-1"));
        assert!(ids.insert(each.header("a2a-notification-id").expect("an id").to_owned()));
        let body = each.json();
        if old {
            assert_eq!(body["kind"], "task", "{body}");
            assert!(body["id"].is_string() && body.get("jsonrpc").is_none(), "{body}");
        } else {
            schema::stream(&body);
            let members: Vec<&String> = body.as_object().expect("an object").keys().collect();
            assert!(members == ["statusUpdate"] || members == ["artifactUpdate"], "{body}");
            assert!(body[members[0]]["taskId"].is_string(), "{body}");
        }
    }
}

fn states(told: &[Told]) -> Vec<String> {
    told.iter().filter_map(|each| state_of(&each.json()).map(str::to_owned)).collect()
}

#[tokio::test]
async fn every_way_to_send_tells_the_webhook_every_change_once() {
    let receiver = Receiver::start().await;
    for owned in [false, true] {
        let server = TestServer::custom(HOOKS, |builder| {
            if owned { builder.authenticator(Arc::new(HeaderOwner)) } else { builder }
        });
        let server = server.await;
        for (number, (send, stream)) in METHODS.iter().enumerate() {
            let old = send.contains('/');
            let is_streamed = number >= 2;
            for wait in [true, false] {
                let path = format!("/{owned}/{number}/{wait}");
                let mut params = message(old, "chunks 3 plums", full(old, &receiver.url(&path)));
                let name = if old { "blocking" } else { "returnImmediately" };
                params["configuration"][name] = (wait == old).into();
                let method = if is_streamed { stream } else { send };
                let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
                let owner = ("x-test-owner", "ann");
                let headers: Vec<_> = [JSON]
                    .into_iter()
                    .chain((!old).then_some(LINE_1))
                    .chain(owned.then_some(owner))
                    .collect();
                let reply =
                    server.post("/api/v1/a2a/script/jsonrpc", &headers, body.to_string()).await;
                assert_eq!(reply.status, 200);
                let told = receiver.until_ended(&path).await;
                check(&told, old);
                let wanted: &[&str] = if old {
                    &["working", "completed"]
                } else {
                    &["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
                };
                assert_eq!(states(&told), wanted, "{path}");
                assert_eq!(told.len(), if old { 2 } else { 5 }, "{path}");
            }
        }
        server.finish().await;
    }
    for path in ["/false/0/true", "/true/3/false"] {
        assert_eq!(receiver.all(path).len(), receiver.taken(path).len(), "nothing came twice");
    }
}

#[tokio::test]
async fn an_answer_brings_a_webhook_for_what_it_begins() {
    let (server, receiver) = (TestServer::with_config(HOOKS).await, Receiver::start().await);
    for old in [true, false] {
        let methods = if old { ["message/send", "x"] } else { ["SendMessage", "x"] };
        let path = if old { "/old" } else { "/new" };
        let mut ask = message(old, "ask which?", Value::Null);
        ask["configuration"] = Value::Null;
        let asked = call(&server, "script", methods[0], ask).await.result();
        let task = if old { &asked } else { &asked["task"] };
        let mut answer = message(old, "this", full(old, &receiver.url(path)));
        answer["message"]["taskId"] = task["id"].clone();
        call(&server, "script", methods[0], answer).await.result();
        let told = receiver.until_ended(path).await;
        check(&told, old);
        let first = states(&told)[0].to_ascii_lowercase();
        assert!(first.ends_with("working"), "{first}");
    }
    server.finish().await;
}

#[tokio::test]
async fn the_old_line_is_shown_the_task_as_it_was() {
    let (server, receiver) = (TestServer::with_config(HOOKS).await, Receiver::start().await);
    let params = message(true, "chunks 3 plums", full(true, &receiver.url("/a")));
    let task = call(&server, "script", "message/send", params).await.result();
    let told = receiver.until_ended("/a").await;
    let (first, last) = (told[0].json(), told[told.len() - 1].json());
    assert_eq!(first["status"]["state"], "working");
    assert!(first.get("artifacts").is_none(), "there were none at that time: {first}");
    assert_eq!(last, task, "the end is what the caller was told");
    server.finish().await;
}

#[tokio::test]
async fn the_praison_profile_is_kept_for_its_webhooks() {
    let (server, receiver) = (TestServer::with_config(HOOKS).await, Receiver::start().await);
    let params = message(true, "plums", full(true, &receiver.url("/a")));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params });
    let task = server.rpc_at("/a2a", body).await["result"].take();
    let told = receiver.until_ended("/a").await;
    assert_eq!(told[told.len() - 1].json(), task);
    assert!(task.get("kind").is_none());
    server.finish().await;
}

#[tokio::test]
async fn a_webhook_with_an_id_of_the_first_message_is_there_and_is_told() {
    let (server, receiver) = (TestServer::with_config(EAGER).await, Receiver::start().await);
    let mut config = full(false, &receiver.url("/a"));
    config["id"] = "first".into();
    let sent = call(&server, "script", "SendMessage", message(false, "x", config)).await.result();
    let task = sent["task"]["id"].clone();
    let told = receiver.until_ended("/a").await;
    check(&told, false);
    let named = json!({ "taskId": task, "id": "first" });
    let read = call(&server, "script", "GetTaskPushNotificationConfig", named).await.result();
    assert_eq!(read["url"], receiver.url("/a"));
    // A webhook for a task that has ended is taken, and hears nothing.
    let late = json!({ "taskId": task, "url": receiver.url("/late") });
    call(&server, "script", "CreateTaskPushNotificationConfig", late).await.result();
    server.finish().await;
    assert_eq!(receiver.all("/late").len(), 0);
}

#[tokio::test]
async fn a_message_without_a_webhook_has_none_and_an_answer_without_a_task_keeps_none() {
    let (server, receiver) = (TestServer::with_config(HOOKS).await, Receiver::start().await);
    let plain = json!({ "message": message(true, "x", Value::Null)["message"] });
    let task = call(&server, "script", "message/send", plain).await.result();
    let list = json!({ "id": task["id"] });
    let listed = call(&server, "script", "tasks/pushNotificationConfig/list", list).await;
    assert_eq!(listed.text(), "[]");
    let said = message(true, "say hello", full(true, &receiver.url("/a")));
    let answer = call(&server, "script", "message/send", said).await.result();
    assert_eq!(answer["kind"], "message");
    assert_eq!(server.gauges().open_webhooks(), Some(0));
    server.finish().await;
    assert_eq!(receiver.all("/a").len(), 0);
}
