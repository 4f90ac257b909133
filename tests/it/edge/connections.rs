//! Connections that take their time. Each costs the server little, none holds up anybody else, and what
//! takes too long is ended.

use crate::support::agents::{Burst, agent, soon};
use crate::support::caller::{Caller, Message, artifact, request};
use crate::support::{Raw, TestServer};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How many of each kind there are. `cargo xtask bench slow` does it with ten thousand.
const SLOW: usize = 100;

/// The number of times that a limit was met, as `/metrics` says.
pub(crate) async fn met(server: &TestServer, limit: &str) -> u64 {
    let metrics = server.get("/metrics", &[]).await.body;
    counted(&String::from_utf8(metrics).expect("text"), limit)
}

/// The same in figures that were read.
pub(super) fn counted(metrics: &str, limit: &str) -> u64 {
    let name = format!("a2ad_limited_total{{limit=\"{limit}\"}} ");
    let count = metrics.lines().find_map(|line| line.strip_prefix(&name));
    count.unwrap_or_else(|| panic!("no {name}in {metrics}")).parse().expect("a number")
}

#[tokio::test]
async fn clients_that_send_a_byte_now_and_then_stop_nobody() {
    // None of them is given up for being slow, however slow the machine is.
    let toml = "[server]\nhead_timeout = \"1h\"\nbody_pause = \"1h\"\nbody_timeout = \"1h\"\n";
    let server = TestServer::with_config(toml).await;
    let echo = Caller::new(&server, "echo");
    let body = request("message/send", &Message::new("slowly").params()).to_string();
    let whole = format!(
        "POST / HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let head = whole.len() - body.len();
    // Some are in the middle of their heads, the others in the middle of their bodies.
    let mut slow = Vec::new();
    for at in [head / 2, head + body.len() / 2] {
        for _ in 0..SLOW {
            let mut raw = Raw::connect(server.address()).await;
            raw.send(&whole.as_bytes()[..at]).await;
            slow.push((raw, at));
        }
    }
    for _ in 0..8 {
        for (raw, at) in &mut slow {
            raw.send(&whole.as_bytes()[*at..=*at]).await;
            *at += 1;
        }
        let sent = soon("an answer beside slow clients", echo.send(Message::new("quick"))).await;
        assert_eq!(artifact(&sent), "quick");
    }
    // Slow is not wrong: who goes on gets an answer.
    for (mut raw, at) in [slow.swap_remove(0), slow.pop().expect("one more")] {
        raw.send(&whole.as_bytes()[at..]).await;
        let answer = soon("an answer for a slow client", raw.answer()).await.expect("an answer");
        assert_eq!(artifact(&answer.json()["result"]), "slowly");
    }
    drop(slow);
    server.finish().await;
}

#[tokio::test]
async fn a_head_that_does_not_come_to_an_end_is_given_up() {
    let server = TestServer::with_config("[server]\nhead_timeout = \"50ms\"\n").await;
    let ask = async |head: &[u8]| {
        let mut raw = Raw::connect(server.address()).await;
        raw.send(head).await;
        raw.answer().await
    };
    let unfinished = ask(b"POST / HTTP/1.1\r\nhost: te");
    assert!(soon("the end of the connection", unfinished).await.is_none());
    // On a slow machine the head of whoever asks may not come in time either.
    let metrics = soon("a head in time", async {
        loop {
            if let Some(answer) = ask(b"GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n").await {
                return String::from_utf8(answer.body).expect("text");
            }
        }
    });
    assert!(counted(&metrics.await, "head_time") >= 1);
    server.finish().await;
}

#[tokio::test]
async fn a_client_that_pauses_within_a_body_is_told_so() {
    let server = TestServer::with_config("[server]\nbody_pause = \"50ms\"\n").await;
    let mut raw = Raw::connect(server.address()).await;
    let head = "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 100\r\n\r\n{";
    raw.send(head.as_bytes()).await;
    let answer = soon("a refusal", raw.answer()).await.expect("an answer");
    assert_eq!(answer.status, 408);
    assert_eq!(answer.json()["error"]["status"], "DEADLINE_EXCEEDED");
    assert_eq!(met(&server, "body_time").await, 1);
    server.finish().await;
}

#[tokio::test]
async fn a_body_that_trickles_in_for_ever_is_given_up() {
    let server = TestServer::with_config("[server]\nbody_timeout = \"50ms\"\n").await;
    let mut raw = Raw::connect(server.address()).await;
    raw.send(b"POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n").await;
    // Each byte comes quickly, and there is no last one.
    let trickle = async {
        while raw.stream.write_all(b"1\r\n \r\n").await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    soon("the end of the connection", trickle).await;
    assert_eq!(met(&server, "body_time").await, 1);
    server.finish().await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_of_its_answer_loses_its_connection() {
    let bursting = agent("burst", Arc::new(Burst { pieces: 3000, length: 4096 }));
    let toml = "[server]\nwrite_timeout = \"100ms\"\n";
    let server = TestServer::custom(toml, |builder| builder.with_agent(bursting)).await;
    let mut raw = Raw::connect(server.address()).await;
    let body = request("message/stream", &Message::new("go").params()).to_string();
    raw.post("/api/v1/a2a/burst/jsonrpc", body.as_bytes()).await;
    let counted = async {
        while met(&server, "write_time").await == 0 {
            tokio::task::yield_now().await;
        }
    };
    soon("the end of patience", counted).await;
    // What was on the way can still be read, and then there is no more: the last frame never comes.
    let mut read = Vec::new();
    let _ = soon("the end of the connection", raw.stream.read_to_end(&mut read)).await;
    assert!(!String::from_utf8_lossy(&read).contains("\"completed\""));
    server.finish().await;
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_for_a_place() {
    let server = TestServer::with_config("[server]\nmax_connections = 2\n").await;
    let mut open = [Raw::connect(server.address()).await, Raw::connect(server.address()).await];
    for raw in &mut open {
        raw.send(b"GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n").await;
        assert_eq!(raw.answer().await.expect("an answer").status, 200);
    }
    let mut third = Raw::connect(server.address()).await;
    third.send(b"GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n").await;
    let [first, mut second] = open;
    // The two are served while the third is not.
    second.send(b"GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert_eq!(second.answer().await.expect("an answer").status, 200);
    drop(first);
    let answer = soon("a place for the third", third.answer()).await.expect("an answer");
    let metrics = String::from_utf8(answer.body).expect("text");
    assert!(!metrics.contains("limit=\"connections\"} 0"), "{metrics}");
    drop((second, third));
    server.finish().await;
}

#[tokio::test]
async fn a_head_that_is_too_long_or_has_too_many_headers_is_refused() {
    let server = TestServer::with_config("[server]\nmax_head = \"8KiB\"\n").await;
    let long = format!("x-long: {}\r\n", "x".repeat(9000));
    let many = "x: y\r\n".repeat(101);
    for headers in [long, many] {
        let mut raw = Raw::connect(server.address()).await;
        raw.send(format!("GET /healthz HTTP/1.1\r\nhost: t\r\n{headers}\r\n").as_bytes()).await;
        let answer = soon("a refusal", raw.answer()).await.expect("an answer");
        assert_eq!(answer.status, 431);
    }
    let counted = async {
        while met(&server, "head").await < 2 {
            tokio::task::yield_now().await;
        }
    };
    soon("two heads that are counted", counted).await;
    server.finish().await;
}

#[tokio::test]
async fn a_path_and_query_that_are_too_long_are_refused() {
    let server = TestServer::start().await;
    let target = |length: usize| format!("/healthz?{}", "x".repeat(length - "/healthz?".len()));
    assert_eq!(server.get(&target(8192), &[]).await.status, 200);
    let refused = server.get(&target(8193), &[]).await;
    assert_eq!(refused.status, 414);
    assert_eq!(refused.json()["error"]["status"], "INVALID_ARGUMENT");
    assert_eq!(refused.headers["x-content-type-options"], "nosniff");
    assert_eq!(met(&server, "target").await, 1);
    server.finish().await;
}
