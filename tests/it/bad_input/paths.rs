//! Paths and queries of any kind.

use super::feed;
use crate::support::{Answer, Raw};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

/// Pieces that mean something somewhere, in any order, and some that mean nothing.
fn targets() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "/",
        "/",
        "/",
        "api",
        "v1",
        "a2a",
        "echo",
        "nobody",
        "jsonrpc",
        ".well-known",
        "agent-card.json",
        "agent.json",
        "agents",
        "healthz",
        "metrics",
        "tasks",
        "message:send",
        "message:stream",
        "x:cancel",
        ":subscribe",
        ":",
        "::",
        "pushNotificationConfigs",
        "card",
        "extendedAgentCard",
        "..",
        ".",
        "%2f",
        "%00",
        "%ff",
        "%",
        "%zz",
        "*",
        "{rest}",
        "{*rest}",
        "?",
        "&",
        "=",
        "A2A-Version=1.0",
        "pageSize=x",
        "historyLength=-1",
        "x=%ff",
        "+",
        "~",
        "'",
        "\"",
        "<",
        "|",
        "\\",
        "^",
    ]);
    let mixed = vec(pieces, 0..9).prop_map(|pieces| pieces.concat());
    let below = mixed.clone().prop_map(|rest| format!("api/v1/a2a/echo/{rest}"));
    let noise = "[!-~]{0,40}";
    prop_oneof![3 => mixed, 3 => below, 2 => noise].prop_map(|rest| format!("/{rest}"))
}

fn check(answer: &Answer) {
    let shown = String::from_utf8_lossy(&answer.body);
    assert!(
        answer.status == 200 || (400..500).contains(&answer.status),
        "{} {shown}",
        answer.status
    );
    match answer.header("content-type") {
        Some("application/json") => {
            let body = serde_json::from_slice::<Value>(&answer.body);
            assert!(answer.body.is_empty() || body.is_ok_and(|body| body.is_object()), "{shown}");
        }
        Some("text/plain; version=0.0.4; charset=utf-8" | "text/event-stream") => {
            assert_eq!(answer.status, 200, "{shown}");
        }
        Some(other) => panic!("{other}: {shown}"),
        // What is no request of HTTP does not get as far as to us.
        None => {
            assert!(answer.status == 400 && answer.body.is_empty(), "{} {shown}", answer.status);
        }
    }
}

#[test]
fn any_path_is_answered_in_json() {
    let verbs =
        prop::sample::select(vec!["GET", "POST", "DELETE", "OPTIONS", "PUT", "BREW", "get"]);
    feed(700, (verbs, targets()), async |server, (verb, target)| {
        let mut connection = Raw::connect(server.address()).await;
        let request =
            format!("{verb} {target} HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n\r\n{{}}");
        connection.send(request.as_bytes()).await;
        let answer = connection.answer().await;
        check(&answer.ok_or_else(|| TestCaseError::fail("closed without an answer"))?);
        Ok(())
    });
}
