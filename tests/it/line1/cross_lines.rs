//! One task in both lines: whoever opened it, it can be read, watched, continued and canceled in the
//! other one. What the 0.3 line has no place for is lost there, and only there.

use super::client::{Client, http, http_stream, rest, results, text, text_for};
use crate::support::TestServer;
use crate::support::agents::{Gated, agent, soon};
use crate::support::caller::{Caller, Message, id};
use serde_json::{Value, json};

/// A server whose agent `gated` does what its text says, and waits at a gate where the text begins so.
async fn gated() -> (TestServer, crate::support::agents::Gates) {
    let (executor, gates) = Gated::new();
    let kept = agent("gated", executor);
    (TestServer::custom("", |builder| builder.with_agent(kept)).await, gates)
}

/// A task as one line shows it, in the words of the other one as far as this test needs it.
fn translated(old: &Value) -> Value {
    match old {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "kind");
            let pairs = kept.map(|(name, value)| match (&**name, value.as_str()) {
                ("state", Some(state)) => {
                    let state = state.to_ascii_uppercase().replace('-', "_");
                    (name.clone(), json!(format!("TASK_STATE_{state}")))
                }
                ("role", Some(role)) => {
                    (name.clone(), json!(format!("ROLE_{}", role.to_ascii_uppercase())))
                }
                _ => (name.clone(), translated(value)),
            });
            pairs.collect()
        }
        Value::Array(items) => items.iter().map(translated).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => old.clone(),
    }
}

#[tokio::test]
async fn a_task_reads_the_same_in_both_lines() {
    let server = TestServer::start().await;
    let (old, new) = (Caller::new(&server, "script"), Client::new(&server, "script"));
    for said in ["plain", "ask which?", "fail", "reject no", "chunks 3 abc"] {
        let sent = old.send(Message::new(said)).await;
        assert_eq!(new.get(id(&sent)).await, translated(&sent), "{said}");
        let sent = new.send(text(said)).await;
        assert_eq!(translated(&old.get(id(&sent)).await), sent, "{said}");
    }
    let (old, new) = (old.list().await, new.ok("ListTasks", json!({ "pageSize": 100 })).await);
    assert_eq!(translated(&Value::Array(old)), new["tasks"]);
    server.finish().await;
}

#[tokio::test]
async fn a_question_of_one_line_is_answered_in_the_other() {
    let server = TestServer::start().await;
    let (old, new) = (Caller::new(&server, "script"), Client::new(&server, "script"));
    let asked = old.send(Message::new("ask which?")).await;
    let task = new.send(text_for(&asked, "this")).await;
    assert_eq!((&task["id"], &task["contextId"]), (&asked["id"], &asked["contextId"]));
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(task["history"].as_array().map(Vec::len), Some(4));
    let asked = new.send(text("ask which?")).await;
    let task = old.send(Message::new("that").task(id(&asked))).await;
    assert_eq!((&task["id"], &task["contextId"]), (&asked["id"], &asked["contextId"]));
    assert_eq!(task["status"]["state"], "completed");
    // The next task of the conversation may be in either line as well.
    let mut next = text("next");
    next["contextId"] = task["contextId"].clone();
    assert_eq!(new.send(next).await["contextId"], asked["contextId"]);
    server.finish().await;
}

#[tokio::test]
async fn a_task_of_one_line_is_canceled_in_the_other() {
    let (server, mut gates) = gated().await;
    let (old, new) = (Caller::new(&server, "gated"), Client::new(&server, "gated"));
    let stream = old.stream(Message::new("gate x")).await;
    let gate = gates.next().await;
    let canceled = new.cancel(&gate.task).await;
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
    let events = soon("the end of the stream", stream.collect()).await;
    let last = &events[events.len() - 1].data["result"];
    assert_eq!((&last["status"]["state"], &last["final"]), (&json!("canceled"), &json!(true)));
    assert_eq!(last["status"]["timestamp"], canceled["status"]["timestamp"]);
    assert_eq!(old.code("tasks/cancel", json!({ "id": gate.task })).await, -32002);

    let stream = new.open("SendStreamingMessage", json!({ "message": text("gate x") })).await;
    let gate = gates.next().await;
    let canceled = old.cancel(&gate.task).await;
    let events = results(&soon("the end of the stream", stream.collect()).await);
    let last = &events[events.len() - 1]["statusUpdate"]["status"];
    assert_eq!(*last, translated(&canceled["status"]));
    assert_eq!(new.error("CancelTask", json!({ "id": gate.task })).await["code"], -32002);
    server.finish().await;
}

#[tokio::test]
async fn readers_of_every_line_and_binding_see_the_same_changes() {
    let (server, mut gates) = gated().await;
    let (old, new) = (Caller::new(&server, "gated"), Client::new(&server, "gated"));
    let opened = old.send_off(Message::new("gate chunks 3 abc")).await;
    let gate = gates.next().await;
    let path = |base: &str| rest("gated", &format!("{base}tasks/{}:subscribe", id(&opened)));
    let readers = [
        old.attach(id(&opened), None).await,
        new.open("SubscribeToTask", json!({ "id": id(&opened) })).await,
        http_stream(&server, "GET", &path(""), &[], None).await,
        http_stream(&server, "GET", &path("v1/"), &[], None).await,
    ];
    gate.open();
    let mut seen = Vec::new();
    for (reader, unwrap) in readers.into_iter().zip([true, true, false, false]) {
        let events = soon("the end of a stream", reader.collect()).await;
        let ids: Vec<_> = events.iter().map(|event| event.id.expect("an id")).collect();
        let texts = events.iter().map(|event| {
            let event = if unwrap { &event.data["result"] } else { &event.data };
            let update = event.get("artifactUpdate").unwrap_or(event);
            update["artifact"]["parts"][0]["text"].clone()
        });
        seen.push((ids, texts.collect::<Vec<_>>()));
    }
    for other in &seen[1..] {
        assert_eq!(*other, seen[0]);
    }
    let pieces = seen[0].1.iter().filter(|text| !text.is_null()).cloned();
    assert_eq!(pieces.collect::<Value>(), json!(["a", "b", "c"]));
    server.finish().await;
}

/// Parts of the 1.0 line, and what each is in the 0.3 line.
fn parts() -> [(Value, Value); 9] {
    let text = json!({ "kind": "text", "text": "x" });
    [
        (json!({ "text": "x" }), text.clone()),
        // There is no place for the type or the name of a text.
        (json!({ "text": "x", "mediaType": "text/markdown", "filename": "a.md" }), text),
        (
            json!({ "text": "x", "metadata": { "a": [null] } }),
            json!({ "kind": "text", "text": "x", "metadata": { "a": [null] } }),
        ),
        (
            json!({ "raw": "aGk=", "mediaType": "image/png", "filename": "a.png" }),
            json!({ "kind": "file", "file": { "bytes": "aGk=", "mimeType": "image/png", "name": "a.png" } }),
        ),
        (
            json!({ "url": "https://example.org/a" }),
            json!({ "kind": "file", "file": { "uri": "https://example.org/a" } }),
        ),
        (json!({ "data": { "a": 1 } }), json!({ "kind": "data", "data": { "a": 1 } })),
        // Data that is no object is put into one, and marked so that it comes out again.
        (
            json!({ "data": [1, 2] }),
            json!({
                "kind": "data", "data": { "value": [1, 2] }, "metadata": { "data_part_compat": true },
            }),
        ),
        (
            json!({ "data": null, "metadata": { "b": 1 } }),
            json!({
                "kind": "data", "data": { "value": null },
                "metadata": { "b": 1, "data_part_compat": true },
            }),
        ),
        (
            json!({ "data": "x", "mediaType": "application/json" }),
            json!({
                "kind": "data", "data": { "value": "x" }, "metadata": { "data_part_compat": true },
            }),
        ),
    ]
}

#[tokio::test]
async fn what_the_old_line_has_no_place_for_is_lost_there_and_only_there() {
    let server = TestServer::start().await;
    let (old, new) = (Caller::new(&server, "echo"), Client::new(&server, "echo"));
    for (part, shown) in parts() {
        let mut message = text("");
        message["parts"] = json!([part]);
        let task = new.send(message).await;
        assert_eq!(task["artifacts"][0]["parts"], json!([part]));
        let read = old.get(id(&task)).await;
        assert_eq!(read["artifacts"][0]["parts"], json!([shown]));
        assert_eq!(read["history"][0]["parts"], json!([shown]));
        assert_eq!(new.get(id(&task)).await, task, "reading loses nothing");

        // Sent back by a client of the old line, it is what it was but for the type and the name of
        // what is no file.
        let back = old.send(Message::new("").with("parts", json!([shown]))).await;
        let mut kept = part.clone();
        if kept.get("raw").is_none() && kept.get("url").is_none() {
            let members = kept.as_object_mut().expect("an object");
            members.remove("mediaType");
            members.remove("filename");
        }
        assert_eq!(new.get(id(&back)).await["artifacts"][0]["parts"], json!([kept]));
    }
    server.finish().await;
}

#[tokio::test]
async fn the_paths_of_the_old_line_show_what_its_protocol_buffers_can_hold() {
    let server = TestServer::start().await;
    let new = Client::new(&server, "echo");
    let mut message = text("x");
    message["referenceTaskIds"] = json!(["none"]);
    message["extensions"] = json!(["urn:a"]);
    message["parts"] = json!([
        { "text": "x" },
        { "raw": "aGk=", "mediaType": "image/png", "filename": "a.png" },
        { "url": "https://example.org/a" },
        { "data": { "a": 1 } },
        { "data": [1] },
    ]);
    let task = new.send(message).await;
    assert_eq!(task["history"][0]["referenceTaskIds"], json!(["none"]));
    let path = rest("echo", &format!("v1/tasks/{}", id(&task)));
    let read = http(&server, "GET", &path, &[], None).await.json();
    let said = &read["history"][0];
    assert_eq!((said.get("referenceTaskIds"), &said["extensions"]), (None, &json!(["urn:a"])));
    let parts = json!([
        { "text": "x" },
        { "file": { "fileWithBytes": "aGk=", "mimeType": "image/png", "name": "a.png" } },
        { "file": { "fileWithUri": "https://example.org/a" } },
        { "data": { "data": { "a": 1 } } },
        { "data": { "data": { "value": [1] } }, "metadata": { "data_part_compat": true } },
    ]);
    assert_eq!(said["content"], parts);
    assert_eq!(read["artifacts"][0]["parts"], parts);
    // And it takes what it shows.
    let message = json!({ "role": "ROLE_USER", "messageId": "m", "content": parts });
    let body = Some(json!({ "message": message }).to_string());
    let path = rest("echo", "v1/message:send");
    let reply = http(&server, "POST", &path, &[("content-type", "application/json")], body).await;
    let back = new.get(id(&reply.json()["task"])).await;
    assert_eq!(back["artifacts"][0]["parts"], task["artifacts"][0]["parts"]);
    server.finish().await;
}
