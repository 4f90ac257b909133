//! Whatever comes in, the answer is one that is defined: a JSON-RPC object over 200 where calls are taken,
//! JSON with a 4xx status elsewhere; never an internal error, a page for people or silence. What is sent
//! here is made at random, or is the worst that somebody could think of.

mod bytes;
mod http;
mod json;
mod nesting;
mod paths;
mod requests;

use crate::support::agents::soon;
use crate::support::rpc::{Answered, ECHO, JSON, ROUTES, still_works};
use crate::support::{Reply, TestServer};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// Feeds values to one server, which has to be in order afterwards. What `test` finds wrong it says by a
/// panic.
fn feed<S: Strategy>(
    cases: u32,
    strategy: S,
    test: impl AsyncFn(&TestServer, S::Value) -> Result<(), TestCaseError>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let server = runtime.block_on(TestServer::start());
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let result = TestRunner::new(config)
        .run(&strategy, |value| runtime.block_on(soon("an answer", test(&server, value))));
    if let Err(error) = result {
        panic!("{error}");
    }
    runtime.block_on(in_order(server));
}

/// Ends a server that has to work as if nothing had happened.
async fn in_order(server: TestServer) {
    for route in ROUTES {
        still_works(&server, route).await;
    }
    still_works(&server, "/api/v1/a2a/script/jsonrpc").await;
    server.finish().await;
}

/// Sends a body to a route that takes calls and checks what comes back, frame by frame if it is a stream.
/// There is at least one answer.
async fn call(server: &TestServer, route: &str, body: impl Into<Vec<u8>>) -> Vec<Answered> {
    let answers = answers(&server.post(route, &[JSON], body.into()).await);
    for answer in &answers {
        if let Err(error) = &answer.outcome {
            let code = error["code"].as_i64().expect("a code");
            // Neither the server nor the agent is to blame, nor is anybody busy.
            assert!(![-32603, -32006, -32000].contains(&code) || route == "/a2a" && code == -32000);
        }
    }
    answers
}

fn answers(reply: &Reply) -> Vec<Answered> {
    let shown = String::from_utf8_lossy(&reply.body[..reply.body.len().min(2_000)]);
    assert_eq!(reply.status, 200, "{shown}");
    if reply.headers["content-type"] == "application/json" {
        return vec![Answered::read(&reply.body)];
    }
    assert_eq!(reply.headers["content-type"], "text/event-stream", "{shown}");
    assert!(reply.body.ends_with(b"\n\n"), "{shown}");
    let lines = reply.body.split(|byte| *byte == b'\n');
    let frames = lines.filter_map(|line| line.strip_prefix(b"data: "));
    let answers: Vec<Answered> = frames.map(Answered::read).collect();
    assert!(!answers.is_empty(), "{shown}");
    answers
}

/// Checks an answer of a route that takes no calls, or of none at all.
fn plain(reply: &Reply) {
    let shown = String::from_utf8_lossy(&reply.body[..reply.body.len().min(2_000)]);
    assert!(reply.status == 200 || (400..500).contains(&reply.status), "{} {shown}", reply.status);
    if reply.status != 200 {
        assert_eq!(reply.headers["content-type"], "application/json", "{shown}");
        let body = serde_json::from_slice::<serde_json::Value>(&reply.body);
        assert!(body.is_ok_and(|body| body.is_object()), "{shown}");
    }
}

/// The routes that take calls, of both agents.
const CALLED: [&str; 4] = [ECHO, "/", "/a2a", "/api/v1/a2a/script/jsonrpc"];
