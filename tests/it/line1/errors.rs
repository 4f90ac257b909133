//! Every failure has one code, and the same reason and fitting status over HTTP+JSON.

use super::client::{Client, JSON, LINE_1, http, request, rest, rpc, text, text_for};
use super::schema::{self, reason};
use crate::support::agents::{FlakyStore, Gated, agent, agent_with, soon};
use crate::support::rpc::Answered;
use crate::support::{HeaderOwner, Reply, TestServer};
use a2ad_domain::AgentSettings;
use a2ad_domain::testing::sample;
use serde_json::{Value, json};
use std::sync::Arc;

/// What a call over HTTP+JSON is answered when it fails: the status, its name and the reason.
async fn refused(
    server: &TestServer,
    agent: &str,
    verb: &str,
    path: &str,
    body: Option<Value>,
) -> (u16, String, String) {
    let body = body.map(|body| body.to_string());
    let reply = http(server, verb, &rest(agent, path), &[JSON, LINE_1], body).await;
    told(&reply)
}

fn told(reply: &Reply) -> (u16, String, String) {
    let body = reply.json();
    schema::http_error(reply.status, &body);
    let name = body["error"]["status"].as_str().expect("a name").to_owned();
    (reply.status, name, reason(&body).to_owned())
}

fn wanted(status: u16, name: &str, reason: &str) -> (u16, String, String) {
    (status, name.to_owned(), reason.to_owned())
}

/// Fails unless a call over JSON-RPC fails with this code and, but for what JSON-RPC defines itself, reason.
async fn check_rpc(client: &Client<'_>, method: &str, params: Value, code: i64, wanted: &str) {
    let error = client.error(method, params).await;
    assert_eq!(error["code"], code, "{method}: {error}");
    assert_eq!(reason(&error), wanted, "{method}: {error}");
}

#[tokio::test]
async fn failures_about_a_task_have_their_code_reason_and_status() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "script");
    let done = client.send(text("x")).await;
    let id = done["id"].as_str().expect("an id");
    let missing = json!({ "id": "none" });
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        check_rpc(&client, method, missing.clone(), -32001, "TASK_NOT_FOUND").await;
    }
    for (verb, path) in
        [("GET", "tasks/none"), ("POST", "tasks/none:cancel"), ("GET", "tasks/none:subscribe")]
    {
        let told = refused(&server, "script", verb, path, None).await;
        assert_eq!(told, wanted(404, "NOT_FOUND", "TASK_NOT_FOUND"), "{path}");
    }
    let lost = json!({ "message": text_for(&missing, "x") });
    check_rpc(&client, "SendMessage", lost.clone(), -32001, "TASK_NOT_FOUND").await;
    let told = refused(&server, "script", "POST", "message:send", Some(lost)).await;
    assert_eq!(told, wanted(404, "NOT_FOUND", "TASK_NOT_FOUND"));

    check_rpc(&client, "CancelTask", json!({ "id": id }), -32002, "TASK_NOT_CANCELABLE").await;
    let told = refused(&server, "script", "POST", &format!("tasks/{id}:cancel"), None).await;
    assert_eq!(told, wanted(400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"));

    let late = json!({ "message": text_for(&done, "more") });
    for (method, path) in
        [("SendMessage", "message:send"), ("SendStreamingMessage", "message:stream")]
    {
        check_rpc(&client, method, late.clone(), -32004, "UNSUPPORTED_OPERATION").await;
        let told = refused(&server, "script", "POST", path, Some(late.clone())).await;
        assert_eq!(told, wanted(400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"), "{path}");
    }
    check_rpc(&client, "SubscribeToTask", json!({ "id": id }), -32004, "UNSUPPORTED_OPERATION")
        .await;
    let told = refused(&server, "script", "POST", &format!("tasks/{id}:subscribe"), None).await;
    assert_eq!(told, wanted(400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"));
    server.finish().await;
}

#[tokio::test]
async fn what_is_not_offered_has_its_code_reason_and_status() {
    let server = TestServer::with_config("[push]\nenabled = false\n").await;
    let client = Client::new(&server, "echo");
    for method in [
        "CreateTaskPushNotificationConfig",
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs",
        "DeleteTaskPushNotificationConfig",
    ] {
        let params = json!({ "taskId": "none", "id": "c", "url": "https://example.org/" });
        check_rpc(&client, method, params, -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED").await;
    }
    let configs = "tasks/none/pushNotificationConfigs";
    for (verb, path) in [
        ("POST", configs.to_owned()),
        ("GET", configs.to_owned()),
        ("GET", format!("{configs}/c")),
        ("DELETE", format!("{configs}/c")),
    ] {
        let told = refused(&server, "echo", verb, &path, None).await;
        assert_eq!(
            told,
            wanted(400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
            "{verb} {path}"
        );
    }
    check_rpc(&client, "GetExtendedAgentCard", json!({}), -32004, "UNSUPPORTED_OPERATION").await;
    let told = refused(&server, "echo", "GET", "extendedAgentCard", None).await;
    assert_eq!(told, wanted(400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"));
    server.finish().await;
}

#[tokio::test]
async fn a_server_without_room_is_busy_in_every_binding() {
    let (gated, mut gates) = Gated::new();
    let settings = AgentSettings { max_running: 1, max_queued: 0, ..AgentSettings::default() };
    let one = agent_with("one", settings, gated);
    let server = TestServer::custom("", |builder| builder.with_agent(one)).await;
    let client = Client::new(&server, "one");
    let running = client.send_off(text("gate x")).await;
    let gate = gates.next().await;
    let body = json!({ "message": text("y") });
    let call = request("SendMessage", &body).to_string();
    let reply = server.post(&rpc("one"), &[JSON, LINE_1], call).await;
    assert_eq!(
        (reply.status, &reply.headers["retry-after"]),
        (429, &"1".parse().expect("a value"))
    );
    let answered = Answered::read(&reply.body);
    assert_eq!((answered.code(), reason(answered.error())), (-32000, "UNAVAILABLE"));
    schema::error(answered.error());
    let path = rest("one", "message:send");
    let reply = http(&server, "POST", &path, &[JSON, LINE_1], Some(body.to_string())).await;
    assert_eq!(told(&reply), wanted(429, "RESOURCE_EXHAUSTED", "UNAVAILABLE"));
    assert!(reply.headers.contains_key("retry-after"));
    let stream = client.open("SubscribeToTask", json!({ "id": running["id"] })).await;
    gate.open();
    let events = soon("the end of the stream", stream.collect()).await;
    let last = &events[events.len() - 1].data["result"]["statusUpdate"]["status"];
    assert_eq!(last["state"], "TASK_STATE_COMPLETED", "who was there is not disturbed");
    server.finish().await;
}

#[tokio::test]
async fn a_store_that_is_down_is_an_internal_error_that_says_nothing_of_the_store() {
    let store = FlakyStore::new();
    let stored = store.clone();
    let server = TestServer::custom("", |builder| builder.store(stored)).await;
    let client = Client::new(&server, "echo");
    store.break_down();
    let params = json!({ "id": "3b9f6f0e-0000-4000-8000-000000000001" });
    let error = client.error("GetTask", params).await;
    assert_eq!((error["code"].as_i64(), reason(&error)), (Some(-32603), "INTERNAL_ERROR"));
    let reference = error["data"][0]["metadata"]["reference"].as_str().expect("a reference");
    assert_eq!(reference.len(), 36);
    assert!(!error.to_string().contains("secrets"), "{error}");
    let path = rest("echo", "tasks/3b9f6f0e-0000-4000-8000-000000000001");
    let reply = http(&server, "GET", &path, &[LINE_1], None).await;
    assert_eq!(told(&reply), wanted(500, "INTERNAL", "INTERNAL_ERROR"));
    assert!(!reply.json().to_string().contains("secrets"));
    store.recover();
    server.finish().await;
}

#[tokio::test]
async fn a_foreign_task_looks_like_none_in_every_binding() {
    let server = TestServer::custom("", |builder| {
        let other = agent("other", Arc::new(a2ad_executor::Script));
        builder.authenticator(Arc::new(HeaderOwner)).with_agent(other)
    })
    .await;
    let alice = Client::new(&server, "script").owned_by("alice");
    let task = alice.send(text("ask which?")).await;
    let id = task["id"].as_str().expect("an id");
    let bob = Client::new(&server, "script").owned_by("bob");
    let elsewhere = Client::new(&server, "other").owned_by("alice");
    let unknown = sample::key(7).id.to_string();
    for stranger in [bob, elsewhere] {
        for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
            let foreign = stranger.error(method, json!({ "id": id })).await;
            let none = stranger.error(method, json!({ "id": unknown })).await;
            assert_eq!(
                foreign.to_string().replace(id, "ID"),
                none.to_string().replace(&unknown, "ID")
            );
        }
        let message = text_for(&task, "mine");
        let error = stranger.error("SendMessage", json!({ "message": message })).await;
        assert_eq!(error["code"], -32001);
    }
    for (verb, tail) in
        [("GET", ""), ("POST", ":cancel"), ("GET", ":subscribe"), ("POST", ":subscribe")]
    {
        for base in ["", "v1/"] {
            let get = async |id: &str| {
                let path = rest("script", &format!("{base}tasks/{id}{tail}"));
                let reply = http(&server, verb, &path, &[("x-test-owner", "bob")], None).await;
                (reply.status, String::from_utf8(reply.body).expect("UTF-8").replace(id, "ID"))
            };
            let foreign = get(id).await;
            assert_eq!(foreign.0, 404, "{verb} {base}{tail}");
            assert_eq!(foreign, get(&unknown).await, "{verb} {base}{tail}");
        }
    }
    assert_eq!(alice.get(id).await, task, "nothing has happened to it");
    server.finish().await;
}
