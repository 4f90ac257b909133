//! What goes over a stream, and how it ends.

use crate::support::agents::{FlakyStore, Puppet, agent, soon, until};
use crate::support::caller::{Caller, Message, artifact, check, id, request, state, text};
use crate::support::{Event, TestServer};
use serde_json::{Value, json};

const JSON: (&str, &str) = ("content-type", "application/json");
const EVENTS: (&str, &str) = ("accept", "text/event-stream");

/// The results of events whose ids grow.
pub(super) fn results(frames: &[Event]) -> Vec<&Value> {
    let ids: Vec<_> = frames.iter().map(|frame| frame.id.expect("an id")).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    frames.iter().for_each(|frame| check(&frame.data));
    frames.iter().map(|frame| &frame.data["result"]).collect()
}

#[tokio::test]
async fn a_stream_begins_with_the_task_and_ends_with_its_end() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let frames = caller.stream(Message::new("chunks 3 abc")).await.collect().await;
    let results = results(&frames);
    assert_eq!((&results[0]["kind"], state(results[0])), (&json!("task"), "submitted"));
    assert_eq!(text(&results[0]["history"][0]), "chunks 3 abc");
    let kinds: Vec<_> = results[1..].iter().map(|result| result["kind"].as_str()).collect();
    let piece = Some("artifact-update");
    let status = Some("status-update");
    assert_eq!(kinds, [status, piece, piece, piece, status]);
    let finals: Vec<_> = results.iter().filter_map(|result| result["final"].as_bool()).collect();
    assert_eq!(finals, [false, true]);
    let last: Vec<_> = results[2..5].iter().map(|result| &result["lastChunk"]).collect();
    assert_eq!(last, [false, false, true]);
    assert_eq!(
        frames.iter().map(|frame| frame.id).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6].map(Some)
    );
    server.finish().await;
}

#[tokio::test]
async fn an_answer_without_a_task_is_one_event() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let frames = caller.stream(Message::new("say hello")).await.collect().await;
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].data["result"]["kind"], "message");
    assert_eq!(text(&frames[0].data["result"]), "hello");
    server.finish().await;
}

#[tokio::test]
async fn a_stream_ends_when_the_agent_asks() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let stream = caller.stream(Message::new("ask which?")).await;
    let frames = soon("the end of the stream", stream.collect()).await;
    let last = *results(&frames).last().expect("events");
    assert_eq!((state(last), &last["final"]), ("input-required", &json!(true)));
    assert_eq!(text(&last["status"]["message"]), "which?");
    server.finish().await;
}

#[tokio::test]
async fn a_stream_stays_open_while_credentials_are_fetched() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let frames = caller.stream(Message::new("auth please")).await.collect().await;
    let statuses = results(&frames).into_iter().filter(|result| result.get("final").is_some());
    let statuses: Vec<_> = statuses
        .map(|result| (state(result), result["final"].as_bool().expect("a flag")))
        .collect();
    let expected =
        [("working", false), ("auth-required", false), ("working", false), ("completed", true)];
    assert_eq!(statuses, expected);
    server.finish().await;
}

#[tokio::test]
async fn a_message_that_continues_a_task_streams_from_there() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let asked = caller.send(Message::new("ask which?")).await;
    let answer = Message::new("that one").task(id(&asked)).configured("historyLength", 1);
    let frames = caller.stream(answer).await.collect().await;
    let results = results(&frames);
    assert_eq!((id(results[0]), state(results[0])), (id(&asked), "working"));
    let shown = results[0]["history"].as_array().expect("messages");
    assert_eq!(shown.iter().map(text).collect::<Vec<_>>(), ["that one"]);
    assert_eq!(state(results[results.len() - 1]), "completed");
    server.finish().await;
}

#[tokio::test]
async fn a_failure_before_the_first_event_has_its_code_in_the_form_that_was_asked_for() {
    let server = TestServer::start().await;
    let path = "/api/v1/a2a/script/jsonrpc";
    for (method, params, code) in [
        ("message/stream", Message::new("x").task("nope").params(), -32001),
        ("message/stream", json!({ "message": { "role": "user" } }), -32602),
        ("tasks/resubscribe", json!({ "id": "nope" }), -32001),
        ("tasks/resubscribe", json!({}), -32602),
    ] {
        let body = request(method, &params).to_string().into_bytes();
        let reply = server.post(path, &[JSON], body.clone()).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.headers["content-type"], "application/json");
        let plain: Value = serde_json::from_slice(&reply.body).expect("JSON");
        check(&plain);
        assert_eq!(plain["error"]["code"], code, "{method} {params}");
        // Clients of this line may name the type of events in a second header of the same name.
        let any = ("accept", "*/*");
        for accepts in [&[JSON, EVENTS][..], &[JSON, any, EVENTS]] {
            let reply = server.post(path, accepts, body.clone()).await;
            assert_eq!(reply.status, 200);
            assert_eq!(reply.headers["content-type"], "text/event-stream");
            let body = String::from_utf8(reply.body.to_vec()).expect("UTF-8");
            let frame = body.strip_prefix("data: ").and_then(|rest| rest.strip_suffix("\n\n"));
            let frame: Value = serde_json::from_str(frame.expect("one frame")).expect("JSON");
            assert_eq!(frame, plain);
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn the_headers_keep_proxies_from_holding_events_back() {
    let server = TestServer::start().await;
    let body = request("message/stream", &Message::new("chunks 2 ab").params());
    let path = "/api/v1/a2a/script/jsonrpc";
    let reply = server.post(path, &[JSON, EVENTS], body.to_string().into_bytes()).await;
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    let cache = reply.headers["cache-control"].to_str().expect("text");
    assert!(cache.contains("no-cache") || cache.contains("no-store"), "{cache}");
    assert_eq!(reply.headers["x-accel-buffering"], "no");
    assert!(reply.headers.get("content-length").is_none());
    assert!(reply.headers.get("content-encoding").is_none());
    server.finish().await;
}

#[tokio::test]
async fn a_silent_stream_sends_comments_and_none_after_its_end() {
    let (puppet, mut stage) = Puppet::new();
    let toml = "[server]\nkeep_alive = \"5ms\"\n[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }";
    let server =
        TestServer::custom(toml, |builder| builder.with_agent(agent("puppet", puppet))).await;
    let mut stream = Caller::new(&server, "puppet").stream(Message::new("go")).await;
    let run = stage.next().await;
    assert_eq!(state(&stream.next().await.expect("the task").data["result"]), "submitted");
    for _ in 0..3 {
        stream.comment().await;
    }
    run.complete_with("x").await;
    let mut last = None;
    let mut comments = stream.comments();
    while let Some(event) = stream.next().await {
        last = Some(event);
        comments = stream.comments();
    }
    assert_eq!(last.expect("an end").data["result"]["final"], true);
    assert_eq!(stream.comments(), comments, "a comment after the end");
    server.finish().await;
}

#[tokio::test]
async fn a_run_that_breaks_half_way_ends_its_stream_as_failed() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let stream = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    for piece in ["a", "b", "c"] {
        run.chunk(piece, false).await.expect("a live task");
    }
    run.fail("text-of-a-library").await;
    let frames = stream.collect().await;
    let results = results(&frames);
    let last = results[results.len() - 1];
    assert_eq!((state(last), &last["final"]), ("failed", &json!(true)));
    assert!(frames.iter().all(|frame| !frame.data.to_string().contains("library")));
    let task = caller.get(id(results[0])).await;
    assert_eq!((&task["status"], artifact(&task)), (&last["status"], "abc".to_owned()));
    server.finish().await;
}

#[tokio::test]
async fn what_a_run_writes_costs_what_it_writes() {
    let (store, stored) = (FlakyStore::new(), FlakyStore::new());
    for (chunks, store) in [(500, store), (2000, stored)] {
        let kept = store.clone();
        let server = TestServer::custom("", |builder| builder.store(kept)).await;
        let caller = Caller::new(&server, "script");
        let payload = "abcdefgh".repeat(chunks);
        let task = caller.send(Message::new(format!("chunks:{chunks}|{payload}"))).await;
        assert_eq!(artifact(&task), payload);
        assert_eq!(task["artifacts"][0]["parts"].as_array().map(Vec::len), Some(1));
        // One status that says it works, the pieces, and one status that says it has ended.
        assert_eq!(store.changes(), chunks + 2);
        until("the end of the run", || server.gauges().live_runs() == 0).await;
        server.finish().await;
    }
}
