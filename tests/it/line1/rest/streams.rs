//! Streams over HTTP+JSON: bare events, numbered as over JSON-RPC.

use super::super::client::{JSON, http, http_stream, rest};
use super::super::schema;
use super::{message, ok, waiting};
use crate::support::TestServer;
use crate::support::agents::soon;
use crate::support::{Event, Events};
use serde_json::{Value, json};

async fn send(server: &TestServer, path: &str, text: &str) -> Events {
    let body = Some(message(path, text).to_string());
    http_stream(server, "POST", &rest("script", path), &[JSON], body).await
}

async fn all(events: Events) -> Vec<Event> {
    soon("the end of the stream", events.collect()).await
}

#[tokio::test]
async fn events_are_bare_and_numbered() {
    let server = TestServer::start().await;
    let events = all(send(&server, "message:stream", "chunks 2 ab").await).await;
    events.iter().for_each(|event| schema::stream(&event.data));
    let ids: Vec<Option<u64>> = events.iter().map(|event| event.id).collect();
    assert_eq!(ids, [Some(1), Some(2), Some(3), Some(4), Some(5)]);
    let old = all(send(&server, "v1/message:stream", "chunks 2 ab").await).await;
    let last = |events: &[Event]| events[events.len() - 1].data["statusUpdate"].clone();
    assert_eq!(last(&old)["final"], true, "the old line says which is the last");
    assert!(old[..4].iter().all(|event| event.data["statusUpdate"].get("final").is_none()));
    assert_eq!(last(&events).get("final"), None);
    server.finish().await;
}

#[tokio::test]
async fn a_task_is_watched_with_either_verb() {
    let server = TestServer::start().await;
    for base in ["", "v1/"] {
        for (verb, body) in [("GET", None), ("POST", None), ("POST", Some("{}"))] {
            let id = waiting(&server).await;
            let path = rest("script", &format!("{base}tasks/{id}:subscribe"));
            let body = body.map(str::to_owned);
            let stream = http_stream(&server, verb, &path, &[JSON], body).await;
            let mut answer = message("", "done");
            answer["message"]["taskId"] = json!(id);
            ok(&server, "POST", "message:send", Some(answer)).await;
            let events = all(stream).await;
            assert_eq!(events[0].data["task"]["id"], id.as_str(), "{verb} {base}");
            assert_eq!(events[0].data["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
            let last = &events[events.len() - 1].data["statusUpdate"]["status"]["state"];
            assert_eq!(last, "TASK_STATE_COMPLETED", "{verb} {base}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_lost_connection_goes_on_after_the_last_event() {
    let server = TestServer::start().await;
    for base in ["", "v1/"] {
        let id = waiting(&server).await;
        let path = rest("script", &format!("{base}tasks/{id}:subscribe"));
        let mut first = http_stream(&server, "GET", &path, &[], None).await;
        let seen = soon("the task", first.next()).await.expect("an event").id.expect("an id");
        drop(first);
        let seen = seen.to_string();
        let again = http_stream(&server, "GET", &path, &[("last-event-id", &seen)], None).await;
        let mut answer = message("", "chunks 2 ab");
        answer["message"]["taskId"] = json!(id);
        ok(&server, "POST", "message:send", Some(answer)).await;
        let events = all(again).await;
        // The 1.0 line opens with the task all the same.
        assert_eq!(events[0].data.get("task").is_some(), base.is_empty(), "{base}");
        let piece =
            |event: &Event| event.data["artifactUpdate"]["artifact"]["parts"][0]["text"].clone();
        let pieces: Vec<Value> =
            events.iter().map(piece).filter(|piece| !piece.is_null()).collect();
        assert_eq!(pieces, ["a", "b"], "{base}");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_failure_before_the_first_event_has_a_status() {
    let server = TestServer::start().await;
    let sent = ok(&server, "POST", "message:send", Some(message("", "x"))).await;
    let ended = sent["task"]["id"].as_str().expect("an id");
    for base in ["", "v1/"] {
        for (path, status) in [
            ("tasks/none:subscribe".to_owned(), 404),
            (format!("tasks/{ended}:subscribe"), 400),
            ("message:stream".to_owned(), 400),
        ] {
            let path = rest("script", &format!("{base}{path}"));
            let headers = [JSON, ("accept", "text/event-stream")];
            let reply = http(&server, "POST", &path, &headers, Some("{}".to_owned())).await;
            assert_eq!(reply.status, status, "{path}");
            assert_eq!(reply.headers["content-type"], "application/json", "{path}");
            if base.is_empty() {
                schema::http_error(status, &reply.json());
            }
        }
    }
    server.finish().await;
}
