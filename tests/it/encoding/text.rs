//! Text is told back code point for code point, as UTF-8 and without needless escapes.

use crate::support::caller::{Caller, Message, artifact, id, request};
use crate::support::rpc::{ECHO, JSON, ROUTES};
use crate::support::{Reply, TestServer};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

const TEXT: &str = "你好 😀 <b>&amp;</b> \u{2028}\u{2029}\u{85} \u{0} tab\t \"q\" \\ \u{7f}\u{feff}\r\n\n data: x\n\n end";

async fn post(server: &TestServer, route: &str, method: &str, text: &str) -> Reply {
    let body = request(method, &Message::new(text).id("m-1").params()).to_string();
    let headers = [JSON, ("accept", "text/event-stream")];
    server.post(route, &headers, body).await
}

#[tokio::test]
async fn text_comes_back_the_same_from_a_send_a_stream_and_a_read() {
    let server = TestServer::start().await;
    for route in ROUTES {
        let sent = post(&server, route, "message/send", TEXT).await;
        let task = sent.json()["result"].clone();
        assert_eq!(artifact(&task), TEXT);
        assert_eq!(task["history"][0]["parts"][0]["text"], TEXT);
        let get = request("tasks/get", &json!({ "id": id(&task) }));
        let got = server.rpc_at(route, get).await["result"].take();
        assert_eq!(got, task);
        let streamed = post(&server, route, "message/stream", TEXT).await;
        let stream = String::from_utf8(streamed.body).expect("UTF-8");
        let frames: Vec<Value> = stream
            .split('\n')
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).expect("one line is one answer"))
            .collect();
        let artifacts = frames.iter().filter(|frame| frame["result"].get("artifact").is_some());
        let texts: Vec<_> = artifacts
            .map(|frame| frame["result"]["artifact"]["parts"][0]["text"].clone())
            .collect();
        assert_eq!(texts, [TEXT]);
        assert_eq!(frames[0]["result"]["history"][0]["parts"][0]["text"], TEXT);
        // Readers that end lines at a carriage return or at Unicode's separators must not be led astray by
        // what a text says either: the one is escaped, the others end no line of events.
        assert!(!stream.contains('\r') && !stream.contains('\0'));
    }
    server.finish().await;
}

#[tokio::test]
async fn text_goes_out_as_utf_8_and_not_as_escapes() {
    let server = TestServer::start().await;
    let text = "你好，世界。<>&'/ 😀é".repeat(1_000);
    for route in ROUTES {
        for method in ["message/send", "message/stream"] {
            let body =
                String::from_utf8(post(&server, route, method, &text).await.body).expect("UTF-8");
            assert!(body.contains(&text), "{method}: {body:.300}");
            assert!(!body.contains("\\u"), "{method}: {body:.300}");
        }
        let sent = post(&server, route, "message/send", &text).await.body.len();
        let artifact = text.len();
        // The message, the artifact and the reply.
        assert!(sent < 3 * artifact + 4_000, "{sent} bytes for {artifact}");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_text_that_went_round_ten_times_is_still_the_same() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "echo");
    let mut text = TEXT.to_owned();
    for _ in 0..10 {
        text = artifact(&caller.send(Message::new(&text)).await);
    }
    assert_eq!(text, TEXT);
    server.finish().await;
}

/// Any text, wherever a client may put one.
#[test]
fn any_text_in_any_place_comes_back_code_point_for_code_point() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let server = runtime.block_on(TestServer::start());
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let text = prop_oneof![any::<String>(), "[\\x00-\\x7f]{0,80}", "\\PC{60,70}"];
    let result = TestRunner::new(config).run(&(text.clone(), text), |(text, other)| {
        runtime.block_on(comes_back(&server, &text, &other)).map_err(TestCaseError::fail)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    runtime.block_on(server.finish());
}

async fn comes_back(server: &TestServer, text: &str, other: &str) -> Result<(), String> {
    let metadata = json!({ "key": text, format!("k{other}"): [other] });
    let parts = json!([
        { "kind": "text", "text": text, "metadata": metadata },
        { "kind": "text", "text": other },
        { "kind": "data", "data": { format!("d{text}"): other } },
        { "kind": "file", "file": { "uri": format!("u:{text}"), "name": other, "mimeType": "text/plain" } },
    ]);
    let names = [format!("urn:{text}"), format!("urn:{other}")];
    let message = json!({
        "kind": "message", "role": "user", "messageId": format!("m{text}"), "parts": parts,
        "metadata": metadata, "extensions": names, "referenceTaskIds": names,
        "contextId": format!("c{}", other.chars().take(60).collect::<String>()),
    });
    let body = request("message/send", &json!({ "message": message }));
    let task = server.rpc_at(ECHO, body).await["result"].take();
    let mut told = task["history"][0].clone();
    let members = told.as_object_mut().ok_or_else(|| format!("no history: {task}"))?;
    members.remove("taskId").ok_or("a message of a task names the task")?;
    if told != message {
        return Err(format!("{told} is not {message}"));
    }
    if task["artifacts"][0]["parts"] != parts {
        return Err(format!("{} is not {parts}", task["artifacts"][0]["parts"]));
    }
    Ok(())
}
