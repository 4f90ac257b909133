//! Times are UTC with milliseconds, never run backwards and never change by being read.

use crate::support::TestServer;
use crate::support::caller::{Caller, Message, id, request};
use serde_json::{Value, json};

/// `2026-01-02T03:04:05.678Z`
fn is_time(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    let pattern = "dddd-dd-ddTdd:dd:dd.dddZ";
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(byte, place)| match place {
            b'd' => byte.is_ascii_digit(),
            _ => byte == place,
        })
}

#[tokio::test]
async fn every_status_has_a_time_in_utc_and_they_never_run_backwards() {
    let server = TestServer::start().await;
    for (route, text) in
        [("script", "chunks 5 x"), ("script", "ask x"), ("script", "fail x"), ("echo", "x")]
    {
        let stream = request("message/stream", &Message::new(text).params());
        let frames = server.stream(route, stream).await.collect().await;
        let statuses = frames.iter().map(|frame| &frame.data["result"]["status"]);
        let times: Vec<&Value> =
            statuses.filter(|s| !s.is_null()).map(|s| &s["timestamp"]).collect();
        assert!(times.len() >= 2 && times.iter().all(|time| is_time(time)), "{text}: {times:?}");
        // Of one length and in one zone, so their order is that of the texts.
        assert!(times.is_sorted_by_key(|time| time.as_str()), "{text}: {times:?}");
        let task = id(&frames[0].data["result"]).to_owned();
        let stored = Caller::new(&server, route).get(&task).await;
        assert_eq!(&&stored["status"]["timestamp"], times.last().expect("times"), "{text}");
    }
    server.finish().await;
}

#[tokio::test]
async fn reads_and_refused_calls_leave_the_time_alone() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "echo");
    let task = caller.send(Message::new("x")).await;
    for _ in 0..3 {
        assert_eq!(caller.code("tasks/cancel", json!({ "id": id(&task) })).await, -32002);
        let more = Message::new("x").task(id(&task)).params();
        assert_eq!(caller.code("message/send", more).await, -32004);
        assert_eq!(caller.get(id(&task)).await, task);
        assert_eq!(caller.list().await[0]["status"], task["status"]);
    }
    server.finish().await;
}

/// The filter takes every form of a time that the standard has, and nothing else.
#[tokio::test]
async fn times_of_clients_may_be_in_any_zone_and_must_be_times() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "echo");
    caller.send(Message::new("x")).await;
    let page = |after: Value| json!({ "statusTimestampAfter": after });
    for after in
        ["2020-01-01T00:00:00Z", "2020-01-01T05:30:00+05:30", "2020-01-01T00:00:00.123456789-08:00"]
    {
        assert_eq!(caller.ok("tasks/list", page(json!(after))).await["totalSize"], 1, "{after}");
    }
    for after in ["9000-01-01T00:00:00Z", "9000-01-01T00:00:00-23:00"] {
        assert_eq!(caller.ok("tasks/list", page(json!(after))).await["totalSize"], 0, "{after}");
    }
    let wrong = [
        json!("not-a-time"),
        json!(""),
        json!("2020-01-01"),
        json!("2020-13-01T00:00:00Z"),
        json!("2020-01-01T25:00:00Z"),
        json!("2020-01-01T00:00:00"),
        json!(1_577_836_800),
        json!([]),
    ];
    for after in wrong {
        assert_eq!(caller.code("tasks/list", page(after.clone())).await, -32602, "{after}");
    }
    server.finish().await;
}

#[test]
fn a_time_of_another_form_is_not_taken_for_one() {
    for no_time in
        ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+00:00", "2026-01-02 03:04:05.678Z"]
    {
        assert!(!is_time(&json!(no_time)), "{no_time}");
    }
    assert!(is_time(&json!("2026-01-02T03:04:05.678Z")));
}
