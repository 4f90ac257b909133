//! How many runs an agent may have: more wait for their turn, and beyond that a send is refused.

use crate::support::TestServer;
use crate::support::agents::{Counted, Gated, Gates, agent_with};
use crate::support::caller::{Caller, Message, id, state};
use a2ad_domain::AgentSettings;
use serde_json::json;
use std::sync::Arc;

async fn server(max_running: usize, max_queued: usize) -> (TestServer, Arc<Counted>, Gates) {
    let (gated, gates) = Gated::new();
    let counted = Counted::new(gated);
    let settings = AgentSettings { max_running, max_queued, ..AgentSettings::default() };
    let few = agent_with("few", settings, counted.clone());
    (TestServer::custom("", |builder| builder.with_agent(few)).await, counted, gates)
}

#[tokio::test]
async fn a_message_for_which_there_is_no_place_is_refused_and_leaves_nothing() {
    let (server, counted, mut gates) = server(1, 0).await;
    let caller = Caller::new(&server, "few");
    let task = caller.send_off(Message::new("gate x")).await;
    let gate = gates.next().await;
    for method in ["message/send", "message/stream"] {
        let refused = caller.reply(method, Message::new("x").params()).await;
        assert_eq!(refused.status, 429, "{method}");
        assert!(refused.headers.contains_key("retry-after"));
        assert_eq!(refused.headers["content-type"], "application/json");
        assert_eq!(refused.json()["error"]["code"], -32000);
    }
    assert_eq!(caller.list().await.len(), 1);
    assert_eq!(counted.started(), 1);
    // Other agents do not mind.
    let echo = Caller::new(&server, "echo");
    assert_eq!(state(&echo.send(Message::new("x")).await), "completed");
    gate.open();
    caller.rest(id(&task)).await;
    let after = loop {
        // The place is free a moment after the task has ended.
        let reply = caller.reply("message/send", Message::new("x").params()).await;
        if reply.status == 200 {
            break reply.json();
        }
    };
    assert_eq!(state(&after["result"]), "completed");
    server.finish().await;
}

#[tokio::test]
async fn runs_beyond_the_limit_wait_for_their_turn_in_order() {
    let (server, counted, mut gates) = server(1, 3).await;
    let caller = Caller::new(&server, "few");
    let mut tasks = Vec::new();
    for number in 0..4 {
        let task = caller.send_off(Message::new(format!("gate x{number}"))).await;
        tasks.push(id(&task).to_owned());
    }
    let full = caller.reply("message/send", Message::new("one too many").params()).await;
    assert_eq!(full.status, 429);
    for (number, task) in tasks.iter().enumerate() {
        let gate = gates.next().await;
        assert_eq!((&gate.task, counted.started()), (task, number + 1));
        for waiting in &tasks[number + 1..] {
            assert_eq!(state(&caller.get(waiting).await), "submitted");
        }
        gate.open();
        assert_eq!(state(&caller.rest(task).await), "completed");
    }
    server.finish().await;
}

#[tokio::test]
async fn an_answer_for_which_there_is_no_place_leaves_the_question_open() {
    let (server, _, mut gates) = server(1, 0).await;
    let caller = Caller::new(&server, "few");
    let asked = caller.send(Message::new("ask which?")).await;
    let task = loop {
        let reply =
            caller.reply("message/send", Message::new("gate x").blocking(false).params()).await;
        if reply.status == 200 {
            break reply.json()["result"].clone();
        }
    };
    let gate = gates.next().await;
    let answer = Message::new("this").task(id(&asked));
    let refused = caller.reply("message/send", answer.clone().params()).await;
    assert_eq!(refused.status, 429);
    assert_eq!(caller.get(id(&asked)).await, asked);
    gate.open();
    caller.rest(id(&task)).await;
    loop {
        let reply = caller.reply("message/send", answer.clone().params()).await;
        if reply.status == 200 {
            break assert_eq!(state(&reply.json()["result"]), "completed");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_canceled_run_gives_its_place_back() {
    let (server, _, mut gates) = server(1, 0).await;
    let caller = Caller::new(&server, "few");
    for _ in 0..20 {
        let task = loop {
            let asks = Message::new("gate x").blocking(false);
            let reply = caller.reply("message/send", asks.params()).await;
            if reply.status == 200 {
                break reply.json()["result"].clone();
            }
        };
        gates.next().await;
        assert_eq!(state(&caller.cancel(id(&task)).await), "canceled");
        assert_eq!(caller.code("tasks/cancel", json!({ "id": id(&task) })).await, -32002);
    }
    server.finish().await;
}
