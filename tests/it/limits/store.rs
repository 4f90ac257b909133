//! How much is kept: ended tasks make room, live ones stay, and what nobody answers ends.

use crate::support::TestServer;
use crate::support::agents::{Gate, Gated, Gates, agent};
use crate::support::caller::{Caller, Message, artifact, history, id, request, state, status_text};
use a2ad::{App, Config};
use a2ad_domain::testing::ManualClock;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// A server that keeps ten tasks.
async fn small() -> (TestServer, Gates) {
    let toml = r#"
        [store]
        max_tasks = 10
        [[agent]]
        id = "echo"
        executor = { kind = "echo" }
    "#;
    let (gated, gates) = Gated::new();
    (TestServer::custom(toml, |builder| builder.with_agent(agent("gated", gated))).await, gates)
}

/// A task at work.
async fn working(caller: &Caller<'_>, gates: &mut Gates) -> (String, Gate) {
    let task = caller.send_off(Message::new("gate x")).await;
    (id(&task).to_owned(), gates.next().await)
}

#[tokio::test]
async fn the_task_that_ended_first_makes_room_and_live_ones_stay() {
    let (server, mut gates) = small().await;
    let caller = Caller::new(&server, "gated");
    let mut live = Vec::new();
    for _ in 0..5 {
        live.push(working(&caller, &mut gates).await);
    }
    let mut ended = Vec::new();
    for number in 0..20 {
        let task = caller.send(Message::new(format!("x{number}"))).await;
        assert!(server.gauges().stored_tasks() <= Some(10));
        ended.push(id(&task).to_owned());
    }
    for (number, task) in ended.iter().enumerate() {
        let answer = caller.call("tasks/get", json!({ "id": task })).await;
        if number < 15 {
            assert_eq!(answer["error"]["code"], -32001, "{number}");
        } else {
            assert_eq!(state(&answer["result"]), "completed", "{number}");
        }
    }
    assert_eq!(caller.list().await.len(), 10);
    for (task, gate) in live {
        assert_eq!(state(&caller.get(&task).await), "working");
        gate.open();
        assert_eq!(state(&caller.rest(&task).await), "completed");
    }
    server.finish().await;
}

#[tokio::test]
async fn what_counts_is_when_a_task_ended_and_not_when_it_began() {
    let (server, mut gates) = small().await;
    let caller = Caller::new(&server, "gated");
    let (old, gate) = working(&caller, &mut gates).await;
    let first = caller.send(Message::new("x")).await;
    gate.open();
    caller.rest(&old).await;
    for _ in 0..9 {
        caller.send(Message::new("x")).await;
    }
    assert_eq!(caller.code("tasks/get", json!({ "id": id(&first) })).await, -32001);
    assert_eq!(state(&caller.get(&old).await), "completed");
    server.finish().await;
}

#[tokio::test]
async fn a_store_full_of_live_tasks_refuses_and_forgets_nothing() {
    let (server, mut gates) = small().await;
    let caller = Caller::new(&server, "gated");
    let mut live = Vec::new();
    for _ in 0..9 {
        live.push(working(&caller, &mut gates).await);
    }
    // A task that waits for its client is alive as well.
    let asked = caller.send(Message::new("ask which?")).await;
    for method in ["message/send", "message/stream"] {
        let refused = caller.reply(method, Message::new("x").params()).await;
        assert_eq!(refused.status, 429, "{method}");
        assert!(refused.headers.contains_key("retry-after"));
        assert_eq!(refused.headers["content-type"], "application/json");
        let body = refused.json();
        assert_eq!(
            (&body["id"], &body["error"]["code"]),
            (&json!("c-1"), &json!(-32000)),
            "{body}"
        );
    }
    assert_eq!(caller.list().await.len(), 10);
    for (task, _) in &live {
        assert_eq!(state(&caller.get(task).await), "working");
    }
    // What needs no room is done: a message for a task that is kept, and a cancel.
    let done = caller.send(Message::new("this").task(id(&asked))).await;
    assert_eq!(state(&done), "completed");
    // The ended task makes room.
    let after = caller.send(Message::new("fits now")).await;
    assert_eq!(artifact(&after), "fits now");
    for (task, _) in live {
        caller.cancel(&task).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_message_that_is_answered_without_a_task_needs_no_room() {
    let (server, mut gates) = small().await;
    let caller = Caller::new(&server, "gated");
    let mut live = Vec::new();
    for _ in 0..10 {
        live.push(working(&caller, &mut gates).await.0);
    }
    let answer = caller.send(Message::new("say hello")).await;
    assert_eq!(answer["kind"], "message");
    for task in live {
        caller.cancel(&task).await;
    }
    server.finish().await;
}

/// A limited server with the script agent.
async fn limited(limits: &str) -> TestServer {
    let agent = "[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n";
    TestServer::with_config(&format!("[limits]\n{limits}\n{agent}")).await
}

#[tokio::test]
async fn a_task_holds_so_many_messages_and_no_more() {
    let server = limited("history = 5").await;
    let caller = Caller::new(&server, "script");
    let task = caller.send(Message::new("ask 1")).await;
    caller.send(Message::new("ask 2").task(id(&task))).await;
    let third = caller.send(Message::new("ask 3").task(id(&task))).await;
    assert_eq!(history(&third).len(), 5);
    let one_more = Message::new("ask 4").task(id(&task));
    assert_eq!(caller.code("message/send", one_more.params()).await, -32004);
    assert_eq!(caller.get(id(&task)).await, third);
    assert_eq!(state(&caller.cancel(id(&task)).await), "canceled");
    server.finish().await;
}

#[tokio::test]
async fn an_agent_that_writes_too_much_fails_and_keeps_what_fits() {
    let server = limited("task_bytes = \"20KB\"").await;
    let caller = Caller::new(&server, "script");
    let chunks = format!("chunks:8|{}", "0123456789abcdef".repeat(100));
    let fits = caller.send(Message::new(&chunks)).await;
    assert_eq!(state(&fits), "completed");
    let payload = "0123456789abcdef".repeat(1000);
    let task = caller.send(Message::new(format!("chunks:8|{payload}"))).await;
    assert_eq!(state(&task), "failed");
    assert!(status_text(&task).contains("larger than"), "{task}");
    let kept = artifact(&task);
    assert!(kept.len() < payload.len() && payload.starts_with(&kept), "{} bytes", kept.len());
    server.finish().await;
}

/// The first message of a task is held to the same limit as the later ones.
#[tokio::test]
async fn a_message_that_is_larger_than_a_task_may_be_opens_none() {
    let server = limited("task_bytes = \"20KB\"").await;
    let caller = Caller::new(&server, "script");
    for text in ["hang", "say", "reject", "ask", "chunks 2"] {
        let large = format!("{text} {}", "x".repeat(30_000));
        let answer = caller.call("message/send", Message::new(&large).params()).await;
        if text == "say" {
            // Nothing is kept of what is answered without a task.
            assert_eq!(answer["result"]["kind"], "message", "{answer}");
        } else {
            assert_eq!(answer["error"]["code"], -32004, "{text}: {answer}");
        }
    }
    assert_eq!(caller.call("tasks/list", json!({})).await["result"]["totalSize"], 0);
    let fits = caller.send(Message::new("x".repeat(5_000))).await;
    assert_eq!(state(&fits), "completed");
    server.finish().await;
}

/// One call by hand, for a server that is not in the harness.
async fn call(address: SocketAddr, method: &str, params: Value) -> Value {
    let body = request(method, &params).to_string();
    let request = crate::support::client().post(format!("http://{address}/"));
    let request = request.header("content-type", "application/json").body(body);
    let body = request.send().await.expect("an answer").bytes().await.expect("a body");
    serde_json::from_slice(&body).expect("JSON")
}

#[tokio::test]
async fn a_task_that_nobody_answers_fails_and_an_old_one_is_forgotten() {
    let toml = r#"
        [server]
        listen = "127.0.0.1:0"
        [store]
        kind = "memory"
        retention = "30d"
        [limits]
        idle = "24h"
        [[agent]]
        id = "script"
        executor = { kind = "script" }
    "#;
    let clock = ManualClock::default();
    let config = Config::parse(toml, "test").expect("a configuration");
    let app = App::builder(config).clock(Arc::new(clock.clone())).build().expect("parts that fit");
    let server = app.bind().await.expect("a free port");
    let (address, service) = (server.local_addr(), server.service().clone());
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    let day = Duration::from_secs(24 * 3600);
    let asked = call(address, "message/send", Message::new("ask which?").params()).await;
    let named = json!({ "id": asked["result"]["id"] });
    let get = async || call(address, "tasks/get", named.clone()).await;
    clock.advance(day);
    service.sweep().await.expect("a store that works");
    assert_eq!(get().await["result"], asked["result"], "it was not idle for longer than it may");
    clock.advance(Duration::from_millis(1));
    service.sweep().await.expect("a store that works");
    let failed = get().await["result"].clone();
    assert_eq!(state(&failed), "failed");
    assert!(status_text(&failed).contains("Nobody answered within 1 day"), "{failed}");
    assert_eq!(history(&failed), ["user: ask which?", "agent: which?"]);
    clock.advance(30 * day);
    service.sweep().await.expect("a store that works");
    assert_eq!(get().await["result"], failed);
    clock.advance(Duration::from_millis(1));
    service.sweep().await.expect("a store that works");
    assert_eq!(get().await["error"]["code"], -32001);
    drop(stop);
    running.await.expect("a server that stops in order");
}
