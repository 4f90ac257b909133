//! Operators who leave in the middle: what they have asked for is done as a whole and written down, or not at all.

use super::desk::{BASE, Desk, KEY, admin};
use crate::support::agents::soon;
use crate::support::{Folder, Place, Raw, TestServer};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::Path;

/// The lines of the audit log that are about a change.
fn changes(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("the file");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines
        .filter(|line| {
            !["agents.list", "agents.get"].contains(&line["operation"].as_str().expect("text"))
        })
        .collect()
}

/// Waits for the next line about a change.
async fn written(file: &Path, earlier: usize) -> Value {
    soon("a line", async {
        loop {
            if let Some(line) = changes(file).into_iter().nth(earlier) {
                return line;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

/// A desk over a file, and its audit log.
async fn desk(place: &Place) -> Desk {
    let log = place.folder().join("audit.jsonl");
    let keys = format!("audit_log = \"{}\"", log.display());
    Desk::with(&keys, &place.store("process")).await
}

/// The bytes of a request.
fn request(verb: &str, path: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "{verb} {BASE}{path} HTTP/1.1\r\nhost: x\r\nx-api-key: {KEY}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The id of each agent and whether it is published.
async fn agents(desk: &Desk) -> Vec<(String, bool)> {
    let list = desk.done("GET", "/agents", None).await;
    let one = |agent: &Value| {
        (agent["id"].as_str().expect("an id").to_owned(), agent["published"] == true)
    };
    list["agents"].as_array().expect("agents").iter().map(one).collect()
}

fn shown(agents: &[(&str, bool)]) -> Vec<(String, bool)> {
    agents.iter().map(|(id, published)| ((*id).to_owned(), *published)).collect()
}

/// Asks for something over a connection of its own and leaves while the store waits for its file.
async fn leaves_while_the_store_waits(server: &TestServer, file: &Path, asked: &str) {
    let other = Connection::open(file).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    let mut raw = Raw::connect(server.address()).await;
    raw.send(asked.as_bytes()).await;
    // What was sent before is there before.
    for _ in 0..3 {
        assert_eq!(server.get("/healthz", &[]).await.status, 200);
    }
    drop(raw);
    for _ in 0..3 {
        assert_eq!(server.get("/healthz", &[]).await.status, 200);
    }
    other.execute_batch("COMMIT").expect("the lock");
}

#[tokio::test]
async fn what_an_operator_has_asked_for_is_done_and_written_down_although_the_operator_leaves() {
    let place = Place::new("leaving");
    let desk = desk(&place).await;
    let log = place.folder().join("audit.jsonl");
    let added = json!({ "id": "added", "executor": { "kind": "script" } });
    let drain = json!({ "tasks": "drain" });
    let steps = [
        ("POST", "/agents", &added, "agents.add", ("added", true)),
        ("POST", "/agents/added/unpublish", &drain, "agents.unpublish", ("added", false)),
        ("POST", "/agents/added/publish", &Value::Null, "agents.publish", ("added", true)),
    ];
    for (number, (verb, path, body, operation, after)) in steps.into_iter().enumerate() {
        let body = if body.is_null() { &json!({}) } else { body };
        leaves_while_the_store_waits(&desk.server, &place.file(), &request(verb, path, body)).await;
        let line = written(&log, number).await;
        let told = [&line["operation"], &line["subject"], &line["outcome"], &line["operator"]];
        let subject = if operation == "agents.add" { "added" } else { after.0 };
        assert_eq!(told, [operation, subject, "done", "ann"], "{line}");
        let expected = shown(&[("echo", true), ("script", true), after]);
        assert_eq!(agents(&desk).await, expected);
        let routes = if after.1 { [200; 2] } else { [404; 2] };
        assert_eq!(desk.routes("added").await[..2], routes);
    }
    let remove = request("DELETE", "/agents/added", &drain);
    leaves_while_the_store_waits(&desk.server, &place.file(), &remove).await;
    assert_eq!(written(&log, 3).await["outcome"], "done");
    assert_eq!(agents(&desk).await, shown(&[("echo", true), ("script", true)]));
    assert_eq!(changes(&log).len(), 4, "each is one line");
    desk.server.finish().await;
}

#[tokio::test]
async fn what_has_not_arrived_whole_when_its_operator_leaves_is_not_done_and_written_down_as_that()
{
    let place = Place::new("leaving");
    let desk = desk(&place).await;
    let log = place.folder().join("audit.jsonl");
    let added =
        request("POST", "/agents", &json!({ "id": "added", "executor": { "kind": "echo" } }));
    let withdrawn = request("POST", "/agents/echo/unpublish", &json!({ "tasks": "drain" }));
    let mut lines = 0;
    for whole in [added, withdrawn] {
        let head = whole.find("\r\n\r\n").expect("a head") + 4;
        for sent in [head, head + 1, whole.len() - 1] {
            let mut raw = Raw::connect(desk.server.address()).await;
            raw.send(&whole.as_bytes()[..sent]).await;
            drop(raw);
            let line = written(&log, lines).await;
            assert_eq!(
                (&line["outcome"], &line["status"]),
                (&json!("refused"), &json!(408)),
                "{line}"
            );
            lines += 1;
        }
        // Within its head it is no request yet.
        let mut raw = Raw::connect(desk.server.address()).await;
        raw.send(&whole.as_bytes()[..head - 1]).await;
        drop(raw);
    }
    assert_eq!(agents(&desk).await, shown(&[("echo", true), ("script", true)]));
    assert_eq!(changes(&log).len(), lines);
    desk.server.finish().await;
}

/// The server ends as soon as it can.
#[tokio::test]
async fn a_server_that_is_told_to_stop_meanwhile_ends_after_the_operation_has() {
    let (place, folder) = (Place::new("leaving"), Folder::new("admin"));
    let log = place.folder().join("audit.jsonl");
    let keys = format!("audit_log = \"{}\"", log.display());
    let toml = format!(
        "{}{}[[agent]]\nid = \"echo\"\nexecutor = {{ kind = \"echo\" }}\n",
        place.store("process"),
        admin(&folder, &keys)
    );
    let mut server = TestServer::mortal(&toml, |builder| builder).await;
    let other = Connection::open(place.file()).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    let mut raw = Raw::connect(server.address()).await;
    let added = json!({ "id": "added", "executor": { "kind": "echo" } });
    raw.send(request("POST", "/agents", &added).as_bytes()).await;
    for _ in 0..3 {
        assert_eq!(server.get("/healthz", &[]).await.status, 200);
    }
    drop(raw);
    server.begin_to_stop();
    // It does not listen any more, so it waits for nothing but the operation.
    soon("the end of connections", async {
        while tokio::net::TcpStream::connect(server.address()).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(changes(&log), [Value::Null; 0]);
    other.execute_batch("COMMIT").expect("the lock");
    server.stopped().await;
    let lines = changes(&log);
    assert_eq!((lines.len(), &lines[0]["outcome"]), (1, &json!("done")), "{lines:?}");
    let server = TestServer::with_config(&toml).await;
    let card = server.get("/api/v1/a2a/added/.well-known/agent-card.json", &[]).await;
    assert_eq!(card.status, 200);
    server.finish().await;
}
