//! Streams of the 1.0 line over JSON-RPC: what opens them, what ends them, and what is not a stream.

use super::client::{Client, JSON, http_stream, rest, results, text, text_for};
use super::schema::{self, reason};
use crate::support::agents::{FlakyStore, Puppet, agent, soon};
use crate::support::{Events, TestServer};
use serde_json::{Value, json};

async fn all(events: Events) -> Vec<Value> {
    results(&soon("the end of the stream", events.collect()).await)
}

fn state(event: &Value) -> Option<&str> {
    event["statusUpdate"]["status"]["state"].as_str()?.strip_prefix("TASK_STATE_")
}

#[tokio::test]
async fn a_stream_opens_with_the_task_and_closes_with_its_end() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "script");
    let events =
        all(client.open("SendStreamingMessage", json!({ "message": text("fig") })).await).await;
    assert_eq!(events[0]["task"]["status"]["state"], "TASK_STATE_SUBMITTED");
    assert_eq!(events[0]["task"]["history"].as_array().map(Vec::len), Some(1));
    assert_eq!(state(&events[events.len() - 1]), Some("COMPLETED"));
    assert!(events[1..].iter().all(|event| event.get("task").is_none()), "one snapshot only");
    server.finish().await;
}

#[tokio::test]
async fn an_answer_without_a_task_is_one_message() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "script");
    let events =
        all(client.open("SendStreamingMessage", json!({ "message": text("say hi") })).await).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["message"]["parts"], json!([{ "text": "hi" }]));
    server.finish().await;
}

#[tokio::test]
async fn a_sent_stream_closes_with_a_question_and_a_watched_one_does_not() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let client = Client::new(&server, "puppet");
    let sent = client.open("SendStreamingMessage", json!({ "message": text("go") })).await;
    stage.next().await.ask("which?").await;
    let sent = all(sent).await;
    assert_eq!(state(&sent[sent.len() - 1]), Some("INPUT_REQUIRED"));
    let task = &sent[0]["task"];
    let watched = client.open("SubscribeToTask", json!({ "id": task["id"] })).await;
    let answering =
        client.open("SendStreamingMessage", json!({ "message": text_for(task, "this") })).await;
    let run = stage.next().await;
    run.need_auth("papers, please").await.expect("a live task");
    run.working().await.expect("a live task");
    run.chunk("done", true).await.expect("a live task");
    run.complete().await;
    let (watched, answering) = (all(watched).await, all(answering).await);
    assert_eq!(watched[0]["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let states = ["AUTH_REQUIRED", "WORKING", "COMPLETED"];
    assert!(watched.iter().filter_map(state).collect::<Vec<_>>().ends_with(&states), "{watched:?}");
    // Both see the same from where both are there, credentials or not.
    let tail = |events: &[Value]| events[events.len() - 4..].to_vec();
    assert_eq!(tail(&watched), tail(&answering));
    server.finish().await;
}

#[tokio::test]
async fn whoever_comes_back_gets_the_task_as_it_is_and_then_what_comes() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let client = Client::new(&server, "puppet");
    let mut first = client.open("SendStreamingMessage", json!({ "message": text("go") })).await;
    let run = stage.next().await;
    run.chunk("a", false).await.expect("a live task");
    run.chunk("b", false).await.expect("a live task");
    let opening = soon("the task", first.next()).await.expect("an event");
    let seen =
        soon("a chunk", first.next()).await.expect("an event").id.expect("an id").to_string();
    let id = opening.data["result"]["task"]["id"].clone();
    let again = client.open_after("SubscribeToTask", json!({ "id": id }), Some(&seen)).await;
    run.chunk("c", true).await.expect("a live task");
    run.complete().await;
    let events = all(again).await;
    // The task comes first in this line, whatever the client has seen; it holds what was missed, so
    // only what is newer follows.
    let held = &events[0]["task"]["artifacts"][0]["parts"];
    assert_eq!(*held, json!([{ "text": "ab" }]));
    let text = |event: &Value| event["artifactUpdate"]["artifact"]["parts"][0]["text"].clone();
    let texts: Vec<Value> = events.iter().map(text).filter(|text| !text.is_null()).collect();
    assert_eq!(texts, ["c"]);
    assert_eq!(all(first).await.len(), 3, "the first stream goes on as if nothing had happened");
    let error = client.error("SubscribeToTask", json!({ "id": id })).await;
    assert_eq!((error["code"].as_i64(), reason(&error)), (Some(-32004), "UNSUPPORTED_OPERATION"));
    server.finish().await;
}

#[tokio::test]
async fn a_failure_before_the_first_event_is_a_plain_answer() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "script");
    // `error` fails unless the answer is JSON over 200.
    let error = client.error("SendStreamingMessage", json!({ "message": {} })).await;
    assert_eq!(error["code"], -32602);
    let error = client.error("SubscribeToTask", json!({ "id": "none" })).await;
    assert_eq!(error["code"], -32001);
    let done = client.send(text("x")).await;
    let error =
        client.error("SendStreamingMessage", json!({ "message": text_for(&done, "more") })).await;
    assert_eq!(error["code"], -32004);
    server.finish().await;
}

async fn open(server: &TestServer, path: &str, message: Value) -> Events {
    let body = json!({ "message": message }).to_string();
    http_stream(server, "POST", &rest("puppet", path), &[JSON], Some(body)).await
}

#[tokio::test]
async fn a_stream_that_breaks_says_so_in_the_shape_of_its_binding() {
    for binding in ["rpc", "1.0", "0.3"] {
        let (puppet, mut stage) = Puppet::new();
        let (store, kept) = (FlakyStore::new(), agent("puppet", puppet));
        let stored = store.clone();
        let server = TestServer::custom("", |builder| builder.with_agent(kept).store(stored)).await;
        let mut old = text("go");
        old["content"] = old["parts"].take();
        let stream = match binding {
            "rpc" => {
                let params = json!({ "message": text("go") });
                Client::new(&server, "puppet").open("SendStreamingMessage", params).await
            }
            "1.0" => open(&server, "message:stream", text("go")).await,
            _ => open(&server, "v1/message:stream", old).await,
        };
        let run = stage.next().await;
        store.break_down();
        run.complete().await;
        let events = soon("the end of the stream", stream.collect()).await;
        let last = &events[events.len() - 1];
        assert_eq!(last.id, None, "an error is no change of the task");
        assert!(!last.data.to_string().contains("secrets"), "{}", last.data);
        match binding {
            "rpc" => {
                schema::error(&last.data["error"]);
                assert_eq!(last.data["error"]["code"], -32603);
            }
            "1.0" => {
                schema::http_error(500, &last.data);
                assert_eq!(reason(&last.data), "INTERNAL_ERROR");
            }
            _ => assert_eq!(last.data["code"], -32603, "{}", last.data),
        }
        store.recover();
        server.finish().await;
    }
}
