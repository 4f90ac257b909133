//! Every end of a task is told, however it comes about.

use super::{call, full, message};
use crate::drain::in_process::not_ready;
use crate::support::agents::{Puppet, agent, pass};
use crate::support::caller::Caller;
use crate::support::receiver::{HOOKS, Receiver, Told, state_of};
use crate::support::{Events, TestServer};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn a_run_that_fails_or_says_nothing_is_told_as_failed() {
    let (server, receiver) = (TestServer::with_config(HOOKS).await, Receiver::start().await);
    for (path, text) in [("/fail", "fail"), ("/panic", "panic")] {
        for old in [true, false] {
            let path = format!("{path}/{old}");
            let params = message(old, text, full(old, &receiver.url(&path)));
            let method = if old { "message/send" } else { "SendMessage" };
            call(&server, "script", method, params).await.result();
            let told = receiver.until_ended(&path).await;
            let last = told[told.len() - 1].json();
            let state = state_of(&last).expect("a state").to_ascii_lowercase();
            assert!(state.ends_with("failed"), "{last}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_run_that_ends_after_its_caller_has_left_is_told() {
    let (puppet, mut stage) = Puppet::new();
    let one = agent("one", puppet);
    let server = TestServer::custom(HOOKS, |builder| builder.with_agent(one)).await;
    let receiver = Receiver::start().await;
    let mut params = message(true, "x", full(true, &receiver.url("/a")));
    params["configuration"]["blocking"] = false.into();
    let task = call(&server, "one", "message/send", params).await.result();
    let run = stage.next().await;
    run.working().await.expect("a task at work");
    run.fail("why").await;
    let told = receiver.until_ended("/a").await;
    let last = told[told.len() - 1].json();
    assert_eq!((&last["id"], &last["status"]["state"]), (&task["id"], &json!("failed")));
    server.finish().await;
}

/// The last event of a stream.
async fn last_of(events: Events) -> Value {
    let all = events.collect().await;
    all.last().expect("an event").data["result"].clone()
}

#[tokio::test]
async fn a_cancel_is_told_to_every_stream_and_to_the_webhook_once() {
    let (server, receiver) = (TestServer::with_config(HOOKS).await, Receiver::start().await);
    let params = message(true, "hang", full(true, &receiver.url("/a")));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params });
    let mut first = server.stream("script", body).await;
    let opened = first.next().await.expect("an event").data["result"].clone();
    let task = opened["id"].as_str().expect("an id");
    let caller = Caller::new(&server, "script");
    let second = caller.attach(task, None).await;
    caller.cancel(task).await;
    for stream in [first, second] {
        let last = last_of(stream).await;
        assert_eq!((&last["status"]["state"], &last["final"]), (&json!("canceled"), &json!(true)));
    }
    let told = receiver.until_ended("/a").await;
    server.finish().await;
    assert_eq!(receiver.all("/a").len(), told.len(), "nothing follows");
    let canceled = told.iter().filter(|each| each.json()["status"]["state"] == "canceled");
    assert_eq!(canceled.count(), 1);
}

#[tokio::test]
async fn a_task_that_the_end_of_the_server_cuts_off_is_told_as_failed() {
    // Less than a delivery may take, so that none that is on its way is given up when it passes.
    let config = format!("{HOOKS}[server]\ndrain = \"400s\"\n");
    let (mut server, receiver) = (TestServer::with_config(&config).await, Receiver::start().await);
    let mut params = message(false, "hang", full(false, &receiver.url("/a")));
    params["configuration"]["returnImmediately"] = true.into();
    call(&server, "script", "SendMessage", params).await.result();
    let works = |told: &Told| state_of(&told.json()) == Some("TASK_STATE_WORKING");
    receiver.until("/a", |told| told.iter().any(works)).await;
    server.begin_to_stop();
    not_ready(&server).await;
    pass(Duration::from_secs(400)).await;
    server.stopped().await;
    let told = receiver.taken("/a");
    let last = told.last().expect("a notice").json();
    assert_eq!(state_of(&last), Some("TASK_STATE_FAILED"), "{last}");
}
