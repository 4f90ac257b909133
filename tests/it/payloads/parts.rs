//! Messages with many and unusual parts.

use super::{AGENT, call, code, completed, result, text};
use crate::support::TestServer;
use crate::support::caller::{artifact, context, id, state};
use serde_json::{Value, json};

fn sending(parts: Value) -> Value {
    let message = json!({
        "kind": "message", "role": "user", "messageId": "my first message", "parts": parts,
    });
    call("r-1", "message/send", json!({ "message": message }))
}

/// Its message ids are any text, its metadata is always there, and whole images come inline without a name.
#[tokio::test]
async fn the_inspector_sends_images_without_a_name() {
    let server = TestServer::with_config(AGENT).await;
    let cleaned = "&lt;b&gt;plum&lt;/b&gt;";
    let image = json!({ "kind": "file", "file": { "bytes": "aGkh", "mimeType": "image/png" } });
    let parts = json!([{ "kind": "text", "text": cleaned }, image]);
    let mut body = sending(parts.clone());
    body["params"]["message"]["metadata"] = json!({});
    let configuration = json!({ "acceptedOutputModes": [], "blocking": true });
    body["params"]["configuration"] = configuration;
    let headers = [("x-api-version", "7"), ("authorization", "Basic cGx1bTpxdWluY2U=")];
    let task = completed(&server, &headers, &body).await;
    assert_eq!(task["history"][0]["messageId"], "my first message");
    assert_eq!(task["history"][0]["parts"], parts);
    assert_eq!(task["artifacts"][0]["parts"], parts);
    server.finish().await;
}

/// The conversation so far as parts, then the result of a function.
#[tokio::test]
async fn adks_agent_sends_the_whole_conversation() {
    let server = TestServer::with_config(AGENT).await;
    let mut parts: Vec<_> = (0..40)
        .map(|turn| json!({ "kind": "text", "text": format!("[turn {turn}] said: plums") }))
        .collect();
    parts.push(json!({
        "kind": "data",
        "data": { "name": "f", "response": {} },
        "metadata": { "adk_type": "function_response" },
    }));
    let task = completed(&server, &[], &sending(json!(parts))).await;
    assert_eq!(task["history"][0]["parts"], json!(parts));
    // In an artifact texts that follow each other may be one.
    let said: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    assert_eq!(artifact(&task), said);
    let result = task["artifacts"][0]["parts"].as_array().expect("parts");
    assert_eq!(result.last(), parts.last());
    server.finish().await;
}

/// It drops pieces of an artifact until one says that it is the last.
#[tokio::test]
async fn adks_agent_waits_for_the_last_chunk() {
    let server = TestServer::with_config(AGENT).await;
    for words in ["chunks 4 plums and pears", "chunks 1 plums", "plums"] {
        let mut body = sending(text(words));
        body["method"] = json!("message/stream");
        let frames = server.stream("script", body).await.collect().await;
        let chunks: Vec<_> = frames
            .iter()
            .map(|frame| &frame.data["result"])
            .filter(|result| result["kind"] == "artifact-update")
            .collect();
        let (last, others) = chunks.split_last().expect("chunks");
        assert_eq!(last["lastChunk"], true, "{words}");
        assert!(others.iter().all(|chunk| chunk["lastChunk"] != true), "{words}: {others:?}");
        // The first replaces, the others add.
        let appends = chunks.iter().map(|chunk| chunk["append"] == true);
        assert!(appends.eq((0..chunks.len()).map(|index| index > 0)), "{words}");
    }
    server.finish().await;
}

/// Some of its versions answer a question with the context alone. That opens a task, and the one that
/// asked goes on waiting. The question has parts, since it fails on a message without any.
#[tokio::test]
async fn adks_agent_answers_without_saying_which_task() {
    let server = TestServer::with_config(AGENT).await;
    let asked = result(&server, &[], &sending(text("ask"))).await;
    assert_eq!(state(&asked), "input-required");
    assert!(asked["status"]["message"]["parts"].as_array().is_some_and(|parts| !parts.is_empty()));
    let mut answer = sending(text("plum"));
    answer["params"]["message"]["contextId"] = asked["contextId"].clone();
    let task = completed(&server, &[], &answer).await;
    assert_ne!(id(&task), id(&asked));
    assert_eq!(context(&task), context(&asked));
    let read = result(&server, &[], &call(2, "tasks/get", json!({ "id": asked["id"] }))).await;
    assert_eq!(read, asked);
    server.finish().await;
}

/// The media type under a name in snake case is an unknown member, in a file of several megabytes.
#[tokio::test]
async fn a_file_names_its_type_in_snake_case() {
    let server = TestServer::with_config(AGENT).await;
    let photo = "iVBORw0K".repeat(400_000);
    let file = json!({ "bytes": photo, "mime_type": "image/jpeg", "name": "plum.jpg" });
    let parts = json!([{ "kind": "text", "text": "look" }, { "kind": "file", "file": file }]);
    let task = completed(&server, &[], &sending(parts)).await;
    let got = &task["history"][0]["parts"][1]["file"];
    assert!(got["bytes"] == photo.as_str(), "the photo is another one");
    assert_eq!(got["name"], "plum.jpg");
    assert!(got.get("mimeType").is_none() && got.get("mime_type").is_none());
    server.finish().await;
}

/// The conformance suite: data without a kind, the longest history that can be asked for, a long text.
#[tokio::test]
async fn the_conformance_suite_leaves_kinds_out() {
    let server = TestServer::with_config(AGENT).await;
    let data = json!({ "key": "v", "number": 123, "nested": { "array": [1, 2, 3] } });
    let task = completed(&server, &[], &sending(json!([{ "data": data }]))).await;
    let part = json!({ "kind": "data", "data": data });
    assert_eq!(task["history"][0]["parts"], json!([part]));
    let whole = json!({ "id": task["id"], "historyLength": 2_147_483_647 });
    assert_eq!(result(&server, &[], &call("r-1", "tasks/get", whole)).await, task);
    let long = "plum ".repeat(20_000);
    assert!(artifact(&completed(&server, &[], &sending(text(&long))).await) == long);
    server.finish().await;
}

/// It also sends messages with nothing in them, and expects to be told so.
#[tokio::test]
async fn the_conformance_suite_sends_an_empty_message() {
    let server = TestServer::with_config(AGENT).await;
    for message in [json!({ "kind": "message" }), json!({}), json!([]), json!("plum")] {
        let body = call("r-1", "message/send", json!({ "message": message }));
        assert_eq!(code(&server, &[], &body).await, -32602, "{message}");
    }
    server.finish().await;
}

/// Requests under one id are nothing to each other, one after the other and at once.
#[tokio::test]
async fn the_conformance_suite_uses_one_request_id_twice() {
    let server = TestServer::with_config(AGENT).await;
    let (one, two) = (sending(text("plum")), sending(text("pear")));
    let first = completed(&server, &[], &one).await;
    let (second, third) =
        tokio::join!(completed(&server, &[], &one), completed(&server, &[], &two));
    let mut ids = [id(&first), id(&second), id(&third)];
    ids.sort_unstable();
    assert!(ids[0] != ids[1] && ids[1] != ids[2]);
    assert_eq!((artifact(&second).as_str(), artifact(&third).as_str()), ("plum", "pear"));
    server.finish().await;
}
