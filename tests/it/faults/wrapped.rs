//! A store of the program that embeds the server.

use crate::support::agents::{FlakyStore, Puppet, Stage, agent, soon, until};
use crate::support::caller::{Caller, Message, artifact, id, request, state, status_text};
use crate::support::{Raw, TestServer};
use futures_util::future::join_all;
use serde_json::json;
use std::sync::Arc;

/// A server whose agent is a puppet and whose store does what it is told.
async fn stage() -> (TestServer, Arc<FlakyStore>, Stage) {
    let (puppet, stage) = Puppet::new();
    let (store, kept) = (FlakyStore::new(), agent("puppet", puppet));
    let stored = store.clone();
    let server = TestServer::custom("", |builder| builder.with_agent(kept).store(stored)).await;
    (server, store, stage)
}

#[tokio::test]
async fn calls_wait_for_a_store_that_takes_its_time_and_succeed() {
    let (server, store, mut stage) = stage().await;
    let caller = Caller::new(&server, "puppet");
    let answers = store.hold();
    let sends = join_all((0..8).map(|_| caller.send(Message::new("go"))));
    let works = async {
        until("eight writes under way", || store.waiting() == 8).await;
        assert_eq!(server.get("/healthz", &[]).await.status, 200);
        assert_eq!(caller.list().await.len(), 8, "readers wait for writers");
        assert!(stage.try_next().is_none(), "a run began before its task was stored");
        answers.raise();
        for _ in 0..8 {
            let run = stage.next().await;
            run.chunk("slowly", true).await.expect("a live task");
            run.complete().await;
        }
    };
    let (tasks, ()) = tokio::join!(sends, works);
    for task in tasks {
        assert_eq!((state(&task), artifact(&task)), ("completed", "slowly".to_owned()));
    }
    server.finish().await;
}

/// Makes a call over a connection of its own, and leaves when the store has it and has not answered.
async fn leaves(server: &TestServer, store: &FlakyStore, method: &str, params: serde_json::Value) {
    let answers = store.hold();
    let mut raw = Raw::connect(server.address()).await;
    let body = request(method, &params).to_string();
    raw.post("/api/v1/a2a/puppet/jsonrpc", body.as_bytes()).await;
    until("a write under way", || store.waiting() == 1).await;
    drop(raw);
    // Whether the server has noticed by now or does later: the outcome is the same.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    answers.raise();
}

#[tokio::test]
async fn what_a_caller_has_begun_is_done_although_it_leaves_while_the_store_takes_its_time() {
    let (server, store, mut stage) = stage().await;
    let caller = Caller::new(&server, "puppet");
    leaves(&server, &store, "message/send", Message::new("go").params()).await;
    let run = stage.next().await;
    let task = run.task.clone();
    run.ask("which?").await;
    assert_eq!(state(&caller.rest(&task).await), "input-required");

    let answer = Message::new("this").task(&task).params();
    leaves(&server, &store, "message/send", answer).await;
    let mut run = stage.next().await;
    let stream = caller.attach(&task, None).await;
    leaves(&server, &store, "tasks/cancel", json!({ "id": task })).await;
    run.gone().await;
    let frames = soon("the end of the stream", stream.collect()).await;
    assert_eq!(state(&frames[frames.len() - 1].data["result"]), "canceled");
    server.finish().await;
}

#[tokio::test]
async fn a_store_that_fails_once_fails_one_call_and_the_next_one_succeeds() {
    let (server, store, mut stage) = stage().await;
    let caller = Caller::new(&server, "puppet");
    store.break_down();
    let failed = caller.call("message/send", Message::new("go").params()).await;
    assert_eq!(failed["error"]["code"], -32603);
    assert!(failed["error"]["data"]["reference"].is_string(), "{failed}");
    store.recover();
    assert_eq!(caller.list().await.len(), 0, "something half done is left");
    let completes = async { stage.next().await.complete().await };
    let (task, ()) = tokio::join!(caller.send(Message::new("go")), completes);
    assert_eq!(state(&task), "completed");
    server.finish().await;
}

#[tokio::test]
async fn a_task_at_work_ends_when_the_store_is_back_and_readiness_says_how_it_is() {
    let (server, store, mut stage) = stage().await;
    let caller = Caller::new(&server, "puppet");
    let stream = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    let task = run.task.clone();
    run.chunk("before", false).await.expect("a live task");
    store.break_down();
    assert!(run.chunk("lost", true).await.is_err());
    // Whoever follows is told that something is wrong, after the tries that come at once.
    let frames = soon("the end of the stream", stream.collect()).await;
    let last = &frames[frames.len() - 1].data;
    assert_eq!(last["error"]["code"], -32603, "{last}");
    assert_eq!(server.get("/readyz", &[]).await.status, 503);
    assert_eq!(server.gauges().live_runs(), 1, "nobody cares for the task any more");
    store.recover();
    assert_eq!(server.get("/readyz", &[]).await.status, 200);
    let ended = caller.rest(&task).await;
    assert_eq!((state(&ended), artifact(&ended)), ("failed", "before".to_owned()));
    assert!(status_text(&ended).starts_with("What the agent did could not be stored (reference"));
    assert_eq!(id(&ended), task);
    server.finish().await;
}
