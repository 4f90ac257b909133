//! How much a message may hold, in both lines and over both bindings.

use super::connections::met;
use crate::support::TestServer;
use crate::support::caller::Caller;
use serde_json::{Value, json};

const LIMITS: &str = "[limits]\nparts = 3\ndepth = 4\nmetadata = 40\nid = 20\nreferences = 2\n";

/// A value that is nested so deep.
fn nested(depth: usize) -> Value {
    (1..depth).fold(json!([]), |inside, _| json!([inside]))
}

/// A change of a message, the member that it makes too large, and the limit's name.
type Case = (fn(&mut Value, bool), &'static str, &'static str);

/// Each goes up to a limit, or one over it.
const CASES: [Case; 9] = [
    (
        |call, over| {
            let part = json!({ "kind": "text", "text": "x" });
            call["message"]["parts"] = vec![part; 3 + usize::from(over)].into();
        },
        "message.parts",
        "parts",
    ),
    (
        |call, over| call["message"]["messageId"] = "x".repeat(20 + usize::from(over)).into(),
        "message.messageId",
        "id",
    ),
    (
        |call, over| {
            call["message"]["referenceTaskIds"] = json!(["x".repeat(20 + usize::from(over))]);
        },
        "message.referenceTaskIds[0]",
        "id",
    ),
    (
        |call, over| {
            call["message"]["referenceTaskIds"] = vec!["x"; 2 + usize::from(over)].into();
        },
        "message.referenceTaskIds",
        "references",
    ),
    (
        |call, over| call["message"]["extensions"] = vec!["x"; 2 + usize::from(over)].into(),
        "message.extensions",
        "references",
    ),
    (
        |call, over| {
            call["message"]["metadata"] = json!({ "a": "x".repeat(32 + usize::from(over)) });
        },
        "message.metadata",
        "metadata",
    ),
    (
        |call, over| call["metadata"] = json!({ "a": nested(3 + usize::from(over)) }),
        "metadata",
        "depth",
    ),
    (
        |call, over| {
            let metadata = json!({ "a": nested(3 + usize::from(over)) });
            call["message"]["parts"][0]["metadata"] = metadata;
        },
        "message.parts[0].metadata",
        "depth",
    ),
    (
        |call, over| {
            let data = json!({ "a": nested(3 + usize::from(over)) });
            let part = json!({ "kind": "data", "data": data });
            call["message"]["parts"] = json!([{ "kind": "text", "text": "x" }, part]);
        },
        "message.parts[1].data",
        "depth",
    ),
];

#[tokio::test]
async fn a_message_at_a_limit_is_taken_and_one_over_it_is_refused_by_its_path() {
    let server = TestServer::with_config(LIMITS).await;
    let caller = Caller::new(&server, "echo");
    for (change, field, limit) in CASES {
        let call = |over: bool| {
            let part = json!({ "kind": "text", "text": "x" });
            let message = json!({ "role": "user", "messageId": "m", "parts": [part] });
            let mut call = json!({ "message": message });
            change(&mut call, over);
            call
        };
        caller.ok("message/send", call(false)).await;
        let before = (met(&server, limit).await, caller.list().await.len());
        for method in ["message/send", "message/stream"] {
            let answer = caller.call(method, call(true)).await;
            let error = &answer["error"];
            assert_eq!(error["code"], -32602, "{field}: {answer}");
            assert_eq!(error["data"]["fieldViolations"][0]["field"], field, "{answer}");
        }
        let mut new = call(true);
        new["message"]["role"] = "ROLE_USER".into();
        for part in new["message"]["parts"].as_array_mut().expect("parts") {
            part.as_object_mut().expect("a part").remove("kind");
        }
        let path = "/api/v1/a2a/echo/message:send";
        let headers = [("content-type", "application/json"), ("a2a-version", "1.0")];
        let reply = server.post(path, &headers, new.to_string()).await;
        assert_eq!(reply.status, 400, "{field}: {}", String::from_utf8_lossy(&reply.body));
        let after = (met(&server, limit).await, caller.list().await.len());
        assert_eq!(after, (before.0 + 3, before.1), "{field}");
    }
    server.finish().await;
}

#[tokio::test]
async fn limits_of_messages_do_not_hold_for_what_agents_make() {
    let server = TestServer::with_config(LIMITS).await;
    let caller = Caller::new(&server, "script");
    let sent = caller.send(crate::support::caller::Message::new("chunks 9 123456789")).await;
    assert_eq!(crate::support::caller::artifact(&sent), "123456789");
    server.finish().await;
}
