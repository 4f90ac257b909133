//! A service as an agent.
// A test stops where something else comes than it expects.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm)]

mod support;

use a2ad_domain::{AgentSettings, Content, RawJson, TaskState};
use a2ad_executor::{CallSettings, HttpService, HttpServiceSettings, Memory, Secret, Value};
use std::sync::Arc;
use std::time::Duration;
use support::stub::{Stub, nobody};
use support::{Server, artifacts, told};
use tokio::net::TcpListener;

fn settings(url: String) -> HttpServiceSettings {
    let (call, memory) = (CallSettings::default(), Memory::default());
    HttpServiceSettings { url, cancel_url: None, call, memory }
}

fn server(settings: HttpServiceSettings) -> Server {
    adjusted(settings, |_| {})
}

fn adjusted(settings: HttpServiceSettings, adjust: impl FnOnce(&mut AgentSettings)) -> Server {
    Server::new(Arc::new(HttpService::new(settings)), adjust)
}

/// A service and a server in front of it.
async fn both() -> (Stub, Server) {
    let stub = Stub::new().await;
    let server = server(settings(stub.url("/turn")));
    (stub, server)
}

mod contract {
    use super::*;

    /// Each executor has a service of its own, which answers in two pieces.
    fn make() -> HttpService {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let url = format!("http://{}/turn", listener.local_addr().unwrap());
        Stub::on(listener).always("application/x-ndjson", EVENTS);
        HttpService::new(settings(url))
    }

    const EVENTS: &str = concat!(
        r#"{"type":"chunk","text":"one "}"#,
        "\n",
        r#"{"type":"chunk","text":"two","last":true}"#,
        "\n",
        r#"{"type":"reply","text":"done"}"#,
        "\n",
    );

    a2ad_domain::executor_contract!(make, "hello");
}

#[tokio::test]
async fn the_turn_is_posted_as_the_document_says() {
    let (mut stub, server) = both().await;
    let key = server.open("hello").await.unwrap();
    let call = stub.next().await;
    assert_eq!((call.path(), call.header("content-type")), ("/turn", Some("application/json")));
    let id = key.id.to_string();
    assert_eq!(call.header("a2a-task-id"), Some(&*id));
    assert_eq!(call.header("idempotency-key"), Some(&*format!("{id}-1")));
    let turn = call.json();
    assert_eq!((&turn["version"], &turn["text"]), (&1.into(), &"hello".into()));
    assert_eq!((&turn["taskId"], &turn["agent"]), (&id.into(), &"main".into()));
    assert_eq!(turn["message"]["parts"], serde_json::json!([{ "text": "hello" }]));
    assert_eq!(turn["history"], serde_json::json!([]));
    assert!(turn["deadline"].is_string(), "{turn}");
    call.answer(204, "", "").await;
    assert_eq!(server.ended(&key).await.state(), TaskState::Completed);
    server.assert_empty().await;
}

#[tokio::test]
async fn an_answer_is_read_by_its_media_type() {
    let lines = "{\"type\":\"chunk\",\"text\":\"one \"}\r\n\n{\"type\":\"chunk\",\"text\":\"two\"}";
    let events = ": hello\n\ndata: {\"type\":\"chunk\",\ndata: \"text\":\"one \"}\n\nevent: x\ndata: \
                  {\"type\":\"chunk\",\"text\":\"two\"}\n\n";
    let unended = "data:\n\ndata: {\"type\":\"chunk\",\"text\":\"one two\"}";
    let list = r#"[{"type":"chunk","text":"one "},{"type":"chunk","text":"two"}]"#;
    for (media_type, body) in [
        ("text/event-stream; charset=utf-8", events),
        ("text/event-stream", unended),
        ("application/x-ndjson", lines),
        ("APPLICATION/JSONL", lines),
        ("application/json", list),
        ("application/json", r#"{"type":"artifact","text":"one two"}"#),
        ("application/json;charset=utf-8", r#"{"text":"one two"}"#),
        ("application/json", r#"{"parts":[{"text":"one two"}],"name":"numbers"}"#),
        ("text/plain", "one two"),
        ("text/markdown; charset=utf-8", "one two"),
    ] {
        let (mut stub, server) = both().await;
        let key = server.open("go").await.unwrap();
        stub.next().await.answer(200, media_type, body).await;
        let task = server.ended(&key).await;
        assert_eq!(
            (task.state(), &*artifacts(&task)),
            (TaskState::Completed, "one two"),
            "{media_type}"
        );
        // However it is cut on its way.
        let key = server.open("go").await.unwrap();
        let mut call = stub.next().await;
        call.begin(media_type).await;
        for byte in body.as_bytes() {
            call.piece([*byte]).await;
        }
        call.finish().await;
        let task = server.ended(&key).await;
        assert_eq!(
            (task.state(), &*artifacts(&task)),
            (TaskState::Completed, "one two"),
            "{media_type}"
        );
        server.assert_empty().await;
    }
}

#[tokio::test]
async fn every_event_becomes_what_it_says() {
    let (mut stub, server) = both().await;
    let key = server.open("go").await.unwrap();
    let events = r#"[
        {"type": "status", "text": "looking"},
        {"type": "data", "data": {"n": 9007199254740993}, "name": "count"},
        {"type": "file", "raw": "AP8=", "mediaType": "image/png", "name": "a.png"},
        {"type": "artifact", "id": "own", "text": "mine"},
        {"type": "metadata", "metadata": {"cost": 1}},
        {"type": "reply", "text": "there you are"}
    ]"#;
    stub.next().await.answer(200, "application/json", events).await;
    let task = server.ended(&key).await;
    assert_eq!(task.state(), TaskState::Completed);
    let names: Vec<_> = task.artifacts().iter().map(|artifact| artifact.id.as_str()).collect();
    assert_eq!(names, ["out-1", "out-2", "own"]);
    let first = task.artifacts()[0].parts().next().unwrap();
    let count = RawJson::parse(r#"{"n":9007199254740993}"#).unwrap();
    assert_eq!(first.content, Content::Data(count));
    assert_eq!(task.metadata().unwrap().as_str(), r#"{"cost":1}"#);
    let said: Vec<_> =
        task.history().iter().map(|said| said.parts.as_slice()[0].plain_text().unwrap()).collect();
    assert_eq!(said, ["go", "looking", "there you are"]);
}

#[tokio::test]
async fn chunks_are_seen_as_they_come() {
    let (mut stub, server) = both().await;
    let key = server.open("go").await.unwrap();
    let mut call = stub.next().await;
    call.begin("text/event-stream").await;
    let mut whole = String::new();
    for word in ["one ", "two ", "three"] {
        whole.push_str(word);
        call.piece(format!("data: {{\"type\":\"chunk\",\"text\":\"{word}\"}}\n\n")).await;
        server.shows(&key, &whole).await;
        assert_eq!(server.task(&key).await.state(), TaskState::Working);
    }
    call.finish().await;
    assert_eq!(server.ended(&key).await.state(), TaskState::Completed);
    server.assert_empty().await;
}

#[tokio::test]
async fn what_is_no_answer_fails_with_a_reason_and_keeps_what_came_before() {
    let chunk = r#"{"type":"chunk","text":"half"}"#;
    let invalid = "The agent gave an invalid response";
    for (media_type, body, kept, reason) in [
        ("application/x-ndjson", format!("{chunk}\nsecret text\n"), "half", invalid),
        ("application/x-ndjson", format!("{chunk}\n{{\"type\":\"secret\"}}\n"), "half", invalid),
        ("application/json", "{\"secret\"".to_owned(), "", invalid),
        ("application/json", "7".to_owned(), "", invalid),
        ("application/octet-stream", "secret".to_owned(), "", invalid),
        (
            "application/x-ndjson",
            format!("{{\"type\":\"reply\",\"text\":\"x\"}}\n{chunk}\n"),
            "",
            invalid,
        ),
        (
            "application/x-ndjson",
            format!("{chunk}\n{{\"type\":\"fail\",\"text\":\"No train today\"}}\n"),
            "half",
            "No train today",
        ),
    ] {
        let (mut stub, server) = both().await;
        let key = server.open("go").await.unwrap();
        stub.next().await.answer(200, media_type, &body).await;
        let task = server.ended(&key).await;
        assert_eq!((task.state(), &*artifacts(&task)), (TaskState::Failed, kept), "{body}");
        assert!(told(&task).starts_with(&format!("{reason} (reference ")), "{}", told(&task));
        assert!(!format!("{task:?}").contains("secret"));
        server.assert_empty().await;
    }
}

#[tokio::test]
async fn a_status_that_is_no_success_fails_the_task_and_is_not_followed() {
    for status in [302, 400, 404, 500, 502] {
        let (mut stub, server) = both().await;
        let key = server.open("go").await.unwrap();
        let elsewhere = stub.url("/elsewhere");
        stub.next().await.answer_with(status, &[("location", &elsewhere)], "secret").await;
        let task = server.ended(&key).await;
        assert_eq!(task.state(), TaskState::Failed);
        let reason = format!("The service answered with HTTP status {status} (reference ");
        assert!(told(&task).starts_with(&reason), "{}", told(&task));
        assert!(!format!("{task:?}").contains("secret") && !stub.was_called());
    }
}

#[tokio::test]
async fn a_call_that_was_not_taken_is_made_again_and_one_that_was_is_not() {
    let (mut stub, server) = both().await;
    let key = server.open("go").await.unwrap();
    let mut keys = Vec::new();
    for status in [429, 503] {
        let call = stub.next().await;
        keys.push(call.header("idempotency-key").unwrap().to_owned());
        call.answer_with(status, &[("retry-after", "0")], "").await;
    }
    let call = stub.next().await;
    assert!(keys.iter().all(|key| call.header("idempotency-key") == Some(key)));
    call.answer(200, "text/plain", "at last").await;
    assert_eq!(artifacts(&*server.ended(&key).await), "at last");

    // The third refusal is the last.
    let key = server.open("go").await.unwrap();
    for _ in 0..3 {
        stub.next().await.answer_with(503, &[("retry-after", "0")], "").await;
    }
    assert_eq!(server.ended(&key).await.state(), TaskState::Failed);

    // A service that asks for an hour is not waited for.
    let key = server.open("go").await.unwrap();
    stub.next().await.answer_with(429, &[("retry-after", "3600")], "").await;
    assert_eq!(server.ended(&key).await.state(), TaskState::Failed);
    assert!(!stub.was_called(), "a call was made again");

    // What broke may have been worked on.
    let key = server.open("go").await.unwrap();
    stub.next().await.break_off();
    let task = server.ended(&key).await;
    assert!(
        told(&task).starts_with("The service closed the connection without an answer (reference "),
        "{}",
        told(&task)
    );
    let key = server.open("go").await.unwrap();
    let mut call = stub.next().await;
    call.begin("text/plain").await;
    call.piece("half").await;
    server.shows(&key, "half").await;
    call.break_off();
    let task = server.ended(&key).await;
    assert!(
        told(&task).starts_with("The service broke off its answer (reference "),
        "{}",
        told(&task)
    );
    assert_eq!(artifacts(&task), "half");
    assert!(!stub.was_called(), "a call was made again");
    server.assert_empty().await;
}

#[tokio::test]
async fn a_service_that_nobody_runs_cannot_be_reached() {
    let (_kept, address) = nobody();
    let url = format!("http://{address}/turn");
    let call = CallSettings { retries: 1, ..CallSettings::default() };
    let server = server(HttpServiceSettings { call, ..settings(url) });
    let task = server.send("go").await;
    assert!(
        told(&task).starts_with("The service cannot be reached (reference "),
        "{}",
        told(&task)
    );
    assert!(!told(&task).contains("127.0.0.1"));
}

#[tokio::test]
async fn an_answer_without_end_meets_its_limit() {
    let stub = Stub::new().await;
    let call = CallSettings { max_output: 1 << 20, ..CallSettings::default() };
    let server = server(HttpServiceSettings { call, ..settings(stub.url("/")) });
    let mut stub = stub;
    let key = server.open("go").await.unwrap();
    let mut call = stub.next().await;
    call.begin("text/plain").await;
    let piece = vec![b'x'; 10_000];
    while call.piece(&piece).await {}
    let task = server.ended(&key).await;
    assert!(
        told(&task).starts_with("The service answered more than 1 MiB (ref"),
        "{}",
        told(&task)
    );
    assert!(artifacts(&task).len() <= 1 << 20);
    server.assert_empty().await;
}

#[tokio::test]
async fn a_cancel_closes_the_call_and_tells_the_service() {
    let mut stub = Stub::new().await;
    let cancel_url = Some(stub.url("/cancel"));
    let server = server(HttpServiceSettings { cancel_url, ..settings(stub.url("/turn")) });
    for (half, busy) in [(false, false), (true, false), (true, true)] {
        let key = server.open("go").await.unwrap();
        let mut call = stub.next().await;
        if half {
            call.begin("text/plain").await;
            call.piece("half").await;
            server.shows(&key, "half").await;
        }
        if busy {
            // More is on its way when the task ends: whichever is noticed first, the service is told.
            call.piece("more").await;
        }
        server.cancel(&key).await.unwrap();
        call.gone().await;
        let told = stub.next().await;
        assert_eq!((told.path(), &told.json()["taskId"]), ("/cancel", &key.id.to_string().into()));
        told.answer(200, "", "").await;
        assert_eq!(server.task(&key).await.state(), TaskState::Canceled);
        server.runtime.idle().await;
    }
    server.assert_empty().await;
}

const LIMIT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_deadline_closes_the_call_and_says_so() {
    let mut stub = Stub::new().await;
    let server = adjusted(settings(stub.url("/")), |own| own.deadline = Some(LIMIT));
    let key = server.open("go").await.unwrap();
    let call = stub.next().await;
    let task = server.out_of_time(&key).await;
    assert_eq!(told(&task), "The agent did not finish within 30 seconds.");
    call.gone().await;
    server.runtime.idle().await;
    server.assert_empty().await;
}

#[tokio::test]
async fn a_service_that_is_silent_for_too_long_did_not_answer_in_time() {
    let mut stub = Stub::new().await;
    let call = CallSettings { timeout: Some(LIMIT), ..CallSettings::default() };
    let server = server(HttpServiceSettings { call, ..settings(stub.url("/")) });
    let key = server.open("go").await.unwrap();
    let call = stub.next().await;
    let task = server.out_of_time(&key).await;
    assert!(told(&task).starts_with("The service did not answer in time (ref"), "{}", told(&task));
    call.gone().await;
    server.assert_empty().await;
}

#[tokio::test]
async fn headers_come_from_the_configuration_the_environment_and_files() {
    let mut stub = Stub::new().await;
    let file = std::env::temp_dir().join(format!("a2ad-http-secret-{}", std::process::id()));
    std::fs::write(&file, "from-a-file\n").unwrap();
    let secret = |secret, prefix: &str| Value::Secret { secret, prefix: prefix.to_owned() };
    let headers = vec![
        ("x-plain".to_owned(), Value::Plain("as it is".to_owned())),
        ("authorization".to_owned(), secret(Secret::File(file.clone()), "Bearer ")),
        ("x-path".to_owned(), secret(Secret::Env("PATH".to_owned()), "")),
    ];
    let call = CallSettings { headers, ..CallSettings::default() };
    let server = server(HttpServiceSettings { call, ..settings(stub.url("/")) });
    let key = server.open("go").await.unwrap();
    let call = stub.next().await;
    assert_eq!(call.header("x-plain"), Some("as it is"));
    assert_eq!(call.header("authorization"), Some("Bearer from-a-file"));
    assert_eq!(call.header("x-path"), std::env::var("PATH").ok().as_deref());
    call.answer(204, "", "").await;
    server.ended(&key).await;

    // A secret is read when it is used, and one that no header can hold is not sent.
    for (content, reason) in [
        ("two\nlines", "The agent is not set up correctly (reference "),
        ("", "The agent is not set up correctly (reference "),
    ] {
        std::fs::write(&file, content).unwrap();
        let task = server.send("go").await;
        assert!(told(&task).starts_with(reason), "{}", told(&task));
        assert!(!stub.was_called());
    }
    std::fs::remove_file(&file).unwrap();
    let task = server.send("go").await;
    assert!(!format!("{task:?}").contains("a2ad-http-secret"), "{task:?}");
    server.assert_empty().await;
}

#[tokio::test]
async fn a_question_is_answered_in_the_next_turn_with_the_history() {
    let (mut stub, server) = both().await;
    let key = server.open("book").await.unwrap();
    let ask = r#"{"type":"input_required","text":"Where to?"}"#;
    stub.next().await.answer(200, "application/json", ask).await;
    server.runtime.idle().await;
    let asked = server.task(&key).await;
    assert_eq!((asked.state(), told(&asked)), (TaskState::InputRequired, "Where to?"));
    let answered = server.answer(&key, "Rome");
    let played = async {
        let call = stub.next().await;
        let turn = call.json();
        let said: Vec<_> = turn["history"].as_array().unwrap().iter().collect();
        assert_eq!(said.len(), 2, "{turn}");
        assert_eq!(
            (&said[0]["role"], &said[0]["parts"][0]["text"]),
            (&"user".into(), &"book".into())
        );
        assert_eq!(
            (&said[1]["role"], &said[1]["parts"][0]["text"]),
            (&"agent".into(), &"Where to?".into())
        );
        assert_eq!(turn["text"], "Rome");
        call.answer(200, "application/json", r#"{"type":"reply","text":"Booked"}"#).await;
    };
    let (task, ()) = tokio::join!(answered, played);
    assert_eq!(task.state(), TaskState::Completed);

    let key = server.open("more").await.unwrap();
    let auth = r#"[{"type":"auth_required","text":"sign in","goesOn":true},{"type":"status"},
                   {"type":"auth_required","text":"once more"}]"#;
    stub.next().await.answer(200, "application/json", auth).await;
    server.runtime.idle().await;
    let asked = server.task(&key).await;
    assert_eq!((asked.state(), told(&asked)), (TaskState::AuthRequired, "once more"));
    server.cancel(&key).await.unwrap();
}

#[tokio::test]
async fn fifty_runs_at_once_do_not_mix() {
    let (mut stub, server) = both().await;
    let mut keys = Vec::new();
    for number in 0..50 {
        keys.push(server.open(&number.to_string()).await.unwrap());
    }
    let mut calls = Vec::new();
    for _ in 0..50 {
        calls.push(stub.next().await);
    }
    for call in calls.into_iter().rev() {
        let text = call.json()["text"].as_str().unwrap().to_owned();
        call.answer(200, "text/plain", text).await;
    }
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(artifacts(&*server.ended(key).await), number.to_string());
    }
    server.assert_empty().await;
}
