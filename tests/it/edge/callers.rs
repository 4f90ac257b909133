//! What one caller may take of what all share: requests, live tasks, open streams.

use super::connections::met;
use crate::support::agents::{Puppet, agent, soon};
use crate::support::caller::{Caller, Message, id, request, state};
use crate::support::rpc::ECHO;
use crate::support::{Folder, HeaderOwner, Raw, TestServer};
use a2ad_domain::Timestamp;
use a2ad_http::KeyFile;
use serde_json::json;
use std::sync::Arc;

/// A server whose callers say who they are.
async fn server(limits: &str) -> TestServer {
    let script = "[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n";
    let toml = format!("[limits]\n{limits}\n{script}");
    TestServer::custom(&toml, |builder| builder.authenticator(Arc::new(HeaderOwner))).await
}

#[tokio::test]
async fn who_calls_too_often_is_told_when_to_come_again_before_the_body_is_read() {
    let folder = Folder::new("rates");
    let path = folder.join("keys.jsonl");
    let create = |owner: &str| {
        let key = KeyFile::new(&path).create(owner, None, Timestamp::from_millis(0));
        key.expect("a key").reveal().to_owned()
    };
    let (ann, bob) = (create("ann"), create("bob"));
    let toml = format!("[auth]\nkeys = \"{}\"\n[limits]\nrate = \"3/h\"\n", path.display());
    let server = TestServer::with_config(&toml).await;
    let call = async |key: &str| {
        let body = request("message/send", &Message::new("x").params()).to_string();
        server.post(ECHO, &[("content-type", "application/json"), ("x-api-key", key)], body).await
    };
    for _ in 0..3 {
        assert_eq!(call(&ann).await.status, 200);
    }
    let refused = call(&ann).await;
    assert_eq!(refused.status, 429);
    let pause: u64 =
        refused.headers["retry-after"].to_str().expect("text").parse().expect("a time");
    assert!((1..=1200).contains(&pause), "{pause}");
    assert_eq!(refused.json()["error"]["status"], "RESOURCE_EXHAUSTED");
    // Nothing of the body was sent, and the answer is there all the same.
    let mut raw = Raw::connect(server.address()).await;
    let head =
        format!("POST {ECHO} HTTP/1.1\r\nhost: t\r\nx-api-key: {ann}\r\ncontent-length: 9\r\n\r\n");
    raw.send(head.as_bytes()).await;
    assert_eq!(soon("a refusal", raw.answer()).await.expect("an answer").status, 429);
    // Over HTTP+JSON it is the same allowance, and everybody else has their own.
    let rest = server.get("/api/v1/a2a/echo/v1/tasks", &[("x-api-key", &*ann)]).await;
    assert_eq!(rest.status, 429);
    assert_eq!(call(&bob).await.status, 200);
    // What is no call is not counted.
    assert_eq!(server.get("/healthz", &[]).await.status, 200);
    assert_eq!(met(&server, "rate").await, 3);
    server.finish().await;
}

#[tokio::test]
async fn whoever_shows_no_good_credentials_is_counted_by_the_address() {
    let folder = Folder::new("guesses");
    let path = folder.join("keys.jsonl");
    let key = KeyFile::new(&path).create("ann", None, Timestamp::from_millis(0)).expect("a key");
    let toml = format!("[auth]\nkeys = \"{}\"\n[limits]\nrate = \"2/h\"\n", path.display());
    let server = TestServer::with_config(&toml).await;
    let mut statuses = Vec::new();
    for guess in ["a", "b", "c", "d"] {
        statuses.push(server.post(ECHO, &[("x-api-key", guess)], "{}").await.status);
    }
    assert_eq!(statuses, [401, 401, 429, 429]);
    // Who is known is not held up by who guesses from the same address.
    assert_eq!(server.post(ECHO, &[("x-api-key", key.reveal())], "{}").await.status, 200);
    server.finish().await;
}

#[tokio::test]
async fn callers_of_an_open_agent_are_told_apart_by_the_addresses_that_a_trusted_proxy_names() {
    let toml = "[server]\ntrusted_proxies = [\"127.0.0.1/32\"]\n[limits]\nrate = \"1/h\"\n";
    let server = TestServer::with_config(toml).await;
    let mut statuses = Vec::new();
    for address in ["192.0.2.1", "192.0.2.1", "192.0.2.2", "198.51.100.1, 192.0.2.2"] {
        statuses.push(server.post(ECHO, &[("x-forwarded-for", address)], "{}").await.status);
    }
    assert_eq!(statuses, [200, 429, 200, 429]);
    server.finish().await;
}

#[tokio::test]
async fn nobody_is_counted_by_default() {
    let server = TestServer::start().await;
    for _ in 0..300 {
        assert_eq!(server.post(ECHO, &[], "{}").await.status, 200);
    }
    assert_eq!(met(&server, "rate").await, 0);
    server.finish().await;
}

#[tokio::test]
async fn an_owner_with_as_many_live_tasks_as_one_may_have_gets_no_more_and_others_do() {
    let server = server("owner_tasks = 2").await;
    let (ann, bob) = (
        Caller::new(&server, "script").owned_by("ann"),
        Caller::new(&server, "script").owned_by("bob"),
    );
    let first = ann.send(Message::new("ask 1")).await;
    ann.send(Message::new("ask 2")).await;
    for method in ["message/send", "message/stream"] {
        let refused = ann.reply(method, Message::new("ask 3").params()).await;
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!(-32000)));
        assert!(refused.headers.contains_key("retry-after"));
    }
    assert_eq!(ann.list().await.len(), 2, "a refusal leaves nothing");
    bob.send(Message::new("ask 1")).await;
    // What is there can be answered, and its end makes room.
    let answered = ann.send(Message::new("x").task(id(&first))).await;
    assert_eq!(state(&answered), "completed");
    ann.send(Message::new("ask 3")).await;
    assert_eq!(met(&server, "owner_tasks").await, 2);
    for caller in [&ann, &bob] {
        for task in caller.list().await.iter().filter(|task| state(task) == "input-required") {
            caller.cancel(id(task)).await;
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn an_owner_with_as_many_open_streams_as_one_may_have_gets_no_more_until_one_is_over() {
    let (puppet, mut stage) = Puppet::new();
    let server = TestServer::custom("[limits]\nowner_streams = 2\n", |builder| {
        builder.authenticator(Arc::new(HeaderOwner)).with_agent(agent("puppet", puppet))
    })
    .await;
    let (ann, bob) = (
        Caller::new(&server, "puppet").owned_by("ann"),
        Caller::new(&server, "puppet").owned_by("bob"),
    );
    let first = ann.stream(Message::new("go")).await;
    let run = stage.next().await;
    let second = ann.attach(&run.task, None).await;
    for (method, params) in [
        ("message/stream", Message::new("more").params()),
        ("tasks/resubscribe", json!({ "id": run.task })),
    ] {
        let refused = ann.reply(method, params).await;
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!(-32000)));
    }
    assert_eq!(met(&server, "owner_streams").await, 2);
    assert_eq!(ann.list().await.len(), 1, "a refusal leaves nothing");
    // Others, and what is no stream, are not touched.
    let others = bob.stream(Message::new("go")).await;
    let other = stage.next().await;
    assert_eq!(id(&ann.get(&run.task).await), run.task);
    drop(second);
    let again = async {
        loop {
            let headers = [("x-test-owner", "ann"), ("content-type", "application/json")];
            let body = request("tasks/resubscribe", &json!({ "id": run.task })).to_string();
            let path = "/api/v1/a2a/puppet/jsonrpc";
            let answer = server.open("POST", path, &headers, Some(body)).await;
            if answer.status() == 200 {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    let again = soon("a place after a stream was left", again).await;
    run.complete().await;
    other.complete().await;
    soon("the end of the streams", async {
        first.collect().await;
        others.collect().await;
    })
    .await;
    drop(again);
    server.finish().await;
}
