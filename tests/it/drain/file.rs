//! The binary over a file: what the streams have said when it ends is what the file says, and what a second
//! signal cuts off is for the next start.

use super::process::Process;
use crate::recovery::{config, ok};
use crate::support::agents::soon;
use crate::support::caller::{Message, id, state, status_text};
use crate::support::{Event, Place};
use serde_json::{Value, json};

fn draining(place: &Place, limit: &str) -> String {
    format!("[server]\ndrain = \"{limit}\"\n{}", config(place, "process"))
}

/// All changes of a task that ended, from its log.
async fn changes(process: &Process, task: &str) -> Vec<Event> {
    process.resume(task, "1").await.collect().await
}

async fn get(process: &Process, task: &str) -> Value {
    ok(process, "tasks/get", json!({ "id": task })).await
}

#[tokio::test]
async fn after_a_drain_the_file_says_what_the_streams_have_said() {
    let place = Place::new("drain-file");
    let process = Process::start(&draining(&place, "300ms"), "error").await;
    let asked = ok(&process, "message/send", Message::new("ask which?").params()).await;
    let mut streams = Vec::new();
    for text in ["hold:50|in time", "hang", "tick:1|x", "hang"] {
        let mut stream = process.stream(Message::new(text)).await;
        let opened = stream.next().await.expect("the task").data["result"].clone();
        streams.push((id(&opened).to_owned(), stream));
    }
    process.signal("TERM").await;
    process.not_ready().await;
    let (status, head) = {
        let body = crate::support::caller::request("message/send", &Message::new("x").params());
        let json = [("content-type", "application/json")];
        process.exchange("POST", "/api/v1/a2a/script/jsonrpc", &json, body.to_string()).await
    };
    assert!(status == 503 && head.contains("\"retry-after\""), "{status}: {head}");
    assert_eq!(get(&process, id(&asked)).await, asked, "what is there can be read");
    let mut told = Vec::new();
    for (task, stream) in streams {
        told.push((task, soon("the end of the stream", stream.collect()).await));
    }
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");

    let process = Process::start(&config(&place, "process"), "warn").await;
    assert_eq!(get(&process, id(&asked)).await, asked);
    for ((task, said), end) in told.iter().zip(["completed", "failed", "failed", "failed"]) {
        let last = &said.last().expect("an end").data["result"];
        assert_eq!((state(last), &last["final"]), (end, &json!(true)));
        if end == "failed" {
            assert!(status_text(last).contains("shut down"), "{last}");
        }
        assert_eq!(get(&process, task).await["status"], last["status"]);
        assert!(changes(&process, task).await == *said, "{task}: the log says something else");
    }
    process.signal("TERM").await;
    let (_, log) = process.ended().await;
    assert!(!log.contains("were at work"), "something was left: {log}");
}

#[tokio::test]
async fn what_a_second_signal_has_cut_off_is_ended_by_the_next_start() {
    let place = Place::new("drain-twice");
    let process = Process::start(&draining(&place, "10m"), "error").await;
    let mut stream = process.stream(Message::new("tick:1|x")).await;
    let opened = stream.next().await.expect("the task").data["result"].clone();
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(stream.next().await.expect("an event"));
    }
    process.signal("TERM").await;
    process.not_ready().await;
    seen.push(stream.next().await.expect("runs go on while there is time"));
    process.signal("INT").await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(130), "{log}");
    while let Ok(Some(event)) = stream.next_unless_cut().await {
        seen.push(event);
    }

    let process = Process::start(&config(&place, "process"), "error").await;
    let failed = get(&process, id(&opened)).await;
    assert_eq!(state(&failed), "failed");
    assert_eq!(status_text(&failed), "The server ended before the agent had finished.");
    let log = changes(&process, id(&opened)).await;
    assert!(log.starts_with(&seen), "something that was shown is lost");
    process.signal("TERM").await;
    process.ended().await;
}
