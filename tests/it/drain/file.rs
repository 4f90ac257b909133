//! The binary over a file: what the streams have said when it ends is what the file says, and what a second
//! signal cuts off is for the next start.

use super::held::{Programs, release};
use super::process::Process;
use crate::recovery::{config, ok};
use crate::support::agents::soon;
use crate::support::caller::{Message, id, request, state, status_text};
use crate::support::{Event, Events, Place};
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

/// What streams have said of tasks, each by its id.
async fn told(streams: Vec<(String, Events)>) -> Vec<(String, Vec<Event>)> {
    let mut told = Vec::new();
    for (task, stream) in streams {
        told.push((task, soon("the end of the stream", stream.collect()).await));
    }
    told
}

/// Opens a stream and reads the task that comes first.
async fn open(process: &Process, agent: &str, text: &str) -> (String, Events) {
    let mut stream = process.stream_of(agent, Message::new(text)).await;
    let opened = stream.next().await.expect("the task").data["result"].clone();
    (id(&opened).to_owned(), stream)
}

/// The next server over the file says what the streams have said, and that this is how the tasks ended.
async fn stands(config: &str, agent: &str, told: &[(String, Vec<Event>)], end: &str) {
    let process = Process::start(config, "warn").await;
    for (task, said) in told {
        let last = &said.last().expect("an end").data["result"];
        assert_eq!((state(last), &last["final"]), (end, &json!(true)));
        if end == "failed" {
            assert!(status_text(last).contains("shut down"), "{last}");
        }
        let (_, stored) = {
            let body = request("tasks/get", &json!({ "id": task }));
            process.raw(agent, body.to_string()).await
        };
        assert_eq!(stored["result"]["status"], last["status"]);
        let log = process.resume_of(agent, task, "1").await.collect().await;
        assert!(log == *said, "{task}: the log says something else");
    }
    process.signal("TERM").await;
    let (_, log) = process.ended().await;
    assert!(!log.contains("were at work"), "something was left: {log}");
}

#[tokio::test]
async fn runs_that_end_while_the_server_drains_are_in_the_file() {
    let (place, programs) = (Place::new("drain-file"), Programs::new().await);
    let toml = draining(&place, "10m") + &programs.agent();
    let process = Process::start(&toml, "error").await;
    let asked = ok(&process, "message/send", Message::new("ask which?").params()).await;
    let streams =
        vec![open(&process, "held", "go").await, open(&process, "held", "go as well").await];
    let up = programs.up(streams.len()).await;
    process.signal("TERM").await;
    process.not_ready().await;
    let (status, head) = {
        let body = request("message/send", &Message::new("x").params());
        let json = [("content-type", "application/json")];
        process.exchange("POST", "/api/v1/a2a/script/jsonrpc", &json, body.to_string()).await
    };
    assert!(status == 503 && head.contains("\"retry-after\""), "{status}: {head}");
    assert_eq!(get(&process, id(&asked)).await, asked, "what is there can be read");
    release(up).await;
    let told = told(streams).await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    stands(&toml, "held", &told, "completed").await;
}

#[tokio::test]
async fn after_a_drain_the_file_says_what_the_streams_have_said() {
    let place = Place::new("drain-end");
    let toml = draining(&place, "50ms");
    let process = Process::start(&toml, "error").await;
    let asked = ok(&process, "message/send", Message::new("ask which?").params()).await;
    let mut streams = Vec::new();
    for text in ["hang", "tick:1|x", "hang"] {
        streams.push(open(&process, "script", text).await);
    }
    process.signal("TERM").await;
    let told = told(streams).await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    stands(&toml, "script", &told, "failed").await;
    let process = Process::start(&toml, "error").await;
    assert_eq!(get(&process, id(&asked)).await, asked);
    process.signal("TERM").await;
    process.ended().await;
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
