//! The published steps of a send to an agent: the round trip, one task per call, and errors that are
//! JSON-RPC errors and no HTTP errors.

use crate::support::caller::{artifact, context, id, state};
use crate::support::{Reply, TestServer};
use serde_json::{Value, json};

const ROUTE: &str = "/api/v1/a2a/echo/jsonrpc";

/// What the clients of this route send: no kind of the message, no configuration.
fn envelope(request: &str, text: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": request,
        "method": "message/send",
        "params": {
            "message": {
                "role": "user",
                "messageId": format!("m-{request}"),
                "parts": [{ "kind": "text", "text": text }],
            },
        },
    })
}

async fn post(server: &TestServer, body: &str) -> Reply {
    server.post(ROUTE, &[("content-type", "application/json")], body.to_owned()).await
}

/// The result of a call that has to succeed.
async fn result(server: &TestServer, body: &Value) -> Value {
    let reply = post(server, &body.to_string()).await;
    assert_eq!(reply.status, 200);
    let mut answer = reply.json();
    assert!(answer.get("error").is_none(), "{answer}");
    assert_eq!(answer["id"], body["id"]);
    answer["result"].take()
}

#[tokio::test]
async fn a_message_runs_the_agent_and_its_text_comes_back() {
    let server = TestServer::start().await;
    let sentinel = "a2a-e2e-5f0c2b1e-7d55-4f0e-9a3c-2f6f4f1f7a10";
    let task = result(&server, &envelope("r-1", sentinel)).await;
    assert_eq!(state(&task), "completed");
    assert!(!id(&task).is_empty());
    assert_eq!(artifact(&task), sentinel);
    server.finish().await;
}

#[tokio::test]
async fn each_call_produces_a_task_of_its_own() {
    let server = TestServer::start().await;
    let (one, two) = ("a2a-e2e-8d1f", "a2a-e2e-c407");
    // The same request id and message id: neither makes two calls one.
    let first = result(&server, &envelope("r-1", one)).await;
    let second = result(&server, &envelope("r-1", two)).await;
    for (task, own, other) in [(&first, one, two), (&second, two, one)] {
        assert_eq!(state(task), "completed");
        let text = task.to_string();
        assert!(text.contains(own) && !text.contains(other), "{text}");
    }
    assert_ne!(id(&first), id(&second));
    server.finish().await;
}

#[tokio::test]
async fn calls_at_the_same_time_produce_tasks_of_their_own() {
    let server = TestServer::start().await;
    let (one, two) = (envelope("r-1", "a2a-e2e-31"), envelope("r-2", "a2a-e2e-32"));
    let (first, second) = tokio::join!(result(&server, &one), result(&server, &two));
    assert_eq!((artifact(&first), artifact(&second)), ("a2a-e2e-31".into(), "a2a-e2e-32".into()));
    assert_ne!(id(&first), id(&second));
    assert_ne!(context(&first), context(&second));
    server.finish().await;
}

#[tokio::test]
async fn protocol_errors_are_json_rpc_errors_over_http_200() {
    let server = TestServer::start().await;
    let valid = envelope("r-1", "a2a-e2e-still-here");
    let without = |member: &str| {
        let mut body = valid.clone();
        body.as_object_mut().expect("an object").remove(member);
        body
    };
    let with = |member: &str, value: Value| {
        let mut body = valid.clone();
        body[member] = value;
        body
    };
    let cases = [
        (with("method", json!("does/notExist")).to_string(), -32601, json!("r-1")),
        (without("method").to_string(), -32600, json!("r-1")),
        (without("jsonrpc").to_string(), -32600, json!("r-1")),
        (with("jsonrpc", json!("1.0")).to_string(), -32600, json!("r-1")),
        (without("params").to_string(), -32600, json!("r-1")),
        ("{not json".to_owned(), -32700, Value::Null),
    ];
    for (body, code, id) in cases {
        let reply = post(&server, &body).await;
        assert_eq!(reply.status, 200, "{body}");
        assert_eq!(reply.headers["content-type"], "application/json", "{body}");
        let answer = reply.json();
        assert_eq!(answer["error"]["code"], code, "{body} -> {answer}");
        assert_eq!(answer["id"], id, "{body} -> {answer}");
        assert_eq!(answer["jsonrpc"], "2.0", "{body} -> {answer}");
        assert!(answer.get("result").is_none(), "{body} -> {answer}");
        // A route that answers every call with an error would pass all of this.
        let task = result(&server, &valid).await;
        assert_eq!((state(&task), artifact(&task)), ("completed", "a2a-e2e-still-here".into()));
    }
    server.finish().await;
}

#[tokio::test]
async fn a_context_is_made_by_the_server_and_kept_when_passed_back() {
    let server = TestServer::start().await;
    let first = result(&server, &envelope("r-1", "a2a-e2e-41")).await;
    assert!(!context(&first).is_empty());
    let mut again = envelope("r-2", "a2a-e2e-42");
    again["params"]["message"]["contextId"] = context(&first).into();
    let second = result(&server, &again).await;
    assert_eq!(context(&second), context(&first));
    assert_ne!(id(&second), id(&first));
    assert_eq!(artifact(&second), "a2a-e2e-42");
    server.finish().await;
}
