//! How long a body may be.

use crate::support::caller::{Message, request};
use crate::support::rpc::{Answered, ECHO, JSON, PRAISON, ROUTES, call, still_works};
use crate::support::{Raw, TestServer};
use serde_json::json;

const LIMIT: usize = 64 << 10;
const SMALL: &str = "[server]\nmax_body = \"64KiB\"\n";

/// A request of exactly this many bytes.
fn body(method: &str, length: usize) -> String {
    let made = |filler: usize| {
        request(method, &Message::new("x".repeat(filler)).id("m").params()).to_string()
    };
    let body = made(length - made(0).len());
    assert_eq!(body.len(), length);
    body
}

fn head(path: &str, more: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n{more}\r\n\r\n"
    )
}

/// The body in chunks of 10,000 bytes.
fn chunked(path: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = head(path, "transfer-encoding: chunked").into_bytes();
    for chunk in body.chunks(10_000) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

fn too_large(answer: &Answered) {
    assert_eq!((answer.code(), answer.id.as_str()), (-32600, "null"), "{answer:?}");
}

#[tokio::test]
async fn a_body_at_the_limit_is_read_and_one_byte_more_is_not() {
    let server = TestServer::with_config(SMALL).await;
    for route in ROUTES {
        let fits = call(&server, route, body("message/send", LIMIT)).await.result();
        assert_eq!(fits["status"]["state"], "completed");
        for method in ["message/send", "message/stream", "tasks/list", "no/such"] {
            let text = body(method, LIMIT + 1);
            let reply = server.post(route, &[JSON, ("accept", "text/event-stream")], text).await;
            too_large(&Answered::of(&reply));
        }
        // What is in it does not matter, for it is not looked at.
        too_large(&call(&server, route, vec![b'{'; LIMIT + 1]).await);
        too_large(&call(&server, route, vec![0; 3 * LIMIT]).await);
        still_works(&server, route).await;
    }
    let list = request("tasks/list", &json!({})).to_string();
    let tasks = call(&server, ECHO, list).await.result();
    assert_eq!(tasks["totalSize"], 2 * ROUTES.len(), "what was too large opened a task");
    server.finish().await;
}

#[tokio::test]
async fn the_connection_goes_on_after_a_body_that_was_too_large() {
    let server = TestServer::with_config(SMALL).await;
    for route in ROUTES {
        let mut connection = Raw::connect(server.address()).await;
        for length in [LIMIT + 1, 2 * LIMIT, LIMIT, LIMIT + 1] {
            for in_chunks in [false, true] {
                let text = body("message/send", length);
                if in_chunks {
                    connection.send(&chunked(route, text.as_bytes())).await;
                } else {
                    connection.post(route, text.as_bytes()).await;
                }
                let answer = connection.answer().await.expect("an answer");
                assert_eq!(answer.status, 200);
                assert_eq!(answer.header("content-type"), Some("application/json"));
                let answer = Answered::read(&answer.body);
                if length > LIMIT {
                    too_large(&answer);
                } else {
                    assert_eq!(answer.result()["status"]["state"], "completed");
                }
                connection.post(route, body("message/send", 400).as_bytes()).await;
                let next = connection.answer().await.expect("the connection goes on");
                assert!(Answered::read(&next.body).outcome.is_ok());
            }
        }
    }
    server.finish().await;
}

/// Somebody who never stops sending is answered all the same, and does not keep the server busy for ever.
#[tokio::test]
async fn a_body_without_end_is_not_read_for_ever() {
    let server = TestServer::with_config(SMALL).await;
    let mut connection = Raw::connect(server.address()).await;
    connection.send(head(PRAISON, "transfer-encoding: chunked").as_bytes()).await;
    let mut chunk = format!("{LIMIT:x}\r\n").into_bytes();
    chunk.resize(chunk.len() + LIMIT, b'x');
    chunk.extend_from_slice(b"\r\n");
    let answer = crate::support::agents::soon("an answer", async {
        // Sixteen times the limit is far beyond any patience; what the socket holds is not read.
        for _ in 0..16 {
            connection.send(&chunk).await;
        }
        connection.answer().await
    })
    .await;
    // A peer that is not listening may lose the answer together with the connection.
    if let Some(answer) = answer {
        assert_eq!(answer.status, 200);
        too_large(&Answered::read(&answer.body));
        assert!(crate::support::agents::soon("the end", connection.answer()).await.is_none());
    }
    still_works(&server, PRAISON).await;
    server.finish().await;
}

/// A length that is only announced is enough to answer, and what was announced is not made room for.
#[tokio::test]
async fn an_announced_length_beyond_the_limit_costs_nothing() {
    let server = TestServer::with_config(SMALL).await;
    for length in ["65537", "1099511627776", "9223372036854775807"] {
        let mut connection = Raw::connect(server.address()).await;
        connection.send(head(ECHO, &format!("content-length: {length}")).as_bytes()).await;
        connection.send(b"{").await;
        drop(connection);
        still_works(&server, ECHO).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_client_that_asks_before_it_sends_is_told_to_go_on() {
    let server = TestServer::with_config(SMALL).await;
    let text = body("message/send", 1_000);
    let mut connection = Raw::connect(server.address()).await;
    let expects = format!("content-length: {}\r\nexpect: 100-continue", text.len());
    connection.send(head(ECHO, &expects).as_bytes()).await;
    assert_eq!(connection.answer().await.expect("a go").status, 100);
    connection.send(text.as_bytes()).await;
    let answer = connection.answer().await.expect("an answer");
    assert!(Answered::read(&answer.body).outcome.is_ok());
    server.finish().await;
}

/// Ordinary files and the published test of a cancel need bodies of megabytes.
#[tokio::test]
async fn bodies_of_megabytes_are_taken_by_default() {
    let server = TestServer::start().await;
    let text = format!("sentinel{}", "x".repeat(2_100_000));
    let send = request("message/send", &Message::new(&text).params()).to_string();
    for route in ROUTES {
        let task = call(&server, route, send.as_str()).await.result();
        assert_eq!(task["status"]["state"], "completed");
        assert!(task["artifacts"][0]["parts"][0]["text"] == text.as_str());
    }
    let stream = request("message/stream", &Message::new(&text).params());
    let frames = server.stream("echo", stream).await.collect().await;
    assert_eq!(frames.last().expect("frames").data["result"]["status"]["state"], "completed");
    let file = "QUJD".repeat(7_000_000 / 4);
    let parts = json!([{ "kind": "file", "file": { "bytes": file, "mimeType": "image/png" } }]);
    let send = request("message/send", &Message::new("").with("parts", parts).params());
    let mut connection = Raw::connect(server.address()).await;
    for in_chunks in [false, true] {
        let send = send.to_string();
        if in_chunks {
            connection.send(&chunked(ECHO, send.as_bytes())).await;
        } else {
            connection.post(ECHO, send.as_bytes()).await;
        }
        let answer = connection.answer().await.expect("an answer");
        let task = Answered::read(&answer.body).result();
        assert_eq!(task["status"]["state"], "completed");
        assert!(task["artifacts"][0]["parts"][0]["file"]["bytes"] == file.as_str());
    }
    server.finish().await;
}
