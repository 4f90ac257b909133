//! Gateways, frameworks and platforms that call in the name of others.

use super::{AGENT, ROUTE, answer, call, code, completed, post, result, text};
use crate::support::TestServer;
use crate::support::caller::{artifact, context, id, state};
use serde_json::{Value, json};

fn message(words: &str) -> Value {
    json!({ "kind": "message", "role": "user", "messageId": "m-9", "parts": text(words) })
}

/// Such callers always say which answers they take, and name the agent in a query.
#[tokio::test]
async fn a_query_and_an_accept_header_change_nothing() {
    let server = TestServer::with_config(AGENT).await;
    let body = call("r-1", "message/send", json!({ "message": message("plum") }));
    for accept in ["application/json", "text/event-stream", "*/*", "text/html"] {
        let route = format!("{ROUTE}?assistant_id=a");
        let reply = post(&server, &route, &[("accept", accept)], &body).await;
        assert_eq!(reply.status, 200, "{accept}");
        assert_eq!(reply.headers["content-type"], "application/json", "{accept}");
        assert_eq!(state(&reply.json()["result"]), "completed", "{accept}");
        let mut stream = body.clone();
        stream["method"] = json!("message/stream");
        let events = server.stream_at(&route, &[("accept", accept)], stream).await;
        let frames = events.collect().await;
        assert_eq!(frames.last().expect("a last frame").data["result"]["final"], true, "{accept}");
    }
    let card = server.get("/.well-known/agent-card.json?assistant_id=a", &[]).await;
    assert_eq!(card.status, 200);
    assert_eq!(card.body, server.get("/.well-known/agent-card.json", &[]).await.body);
    server.finish().await;
}

/// A conversation whose id is another system's thread.
#[tokio::test]
async fn a_thread_of_another_system_is_a_context() {
    let server = TestServer::with_config(AGENT).await;
    let mut message = message("plum");
    message["contextId"] = json!("c2f7a9de-3f1b-4a55-9d4e-8b7a6c5d4e3f");
    let body = call("r-1", "message/send", json!({ "message": message }));
    let (first, second) =
        (completed(&server, &[], &body).await, completed(&server, &[], &body).await);
    assert_eq!(context(&first), "c2f7a9de-3f1b-4a55-9d4e-8b7a6c5d4e3f");
    assert_eq!(context(&second), context(&first));
    server.finish().await;
}

/// A gateway whose requests all have the number 1, over many connections at once.
#[tokio::test]
async fn a_gateway_calls_every_request_the_first() {
    let server = TestServer::with_config(AGENT).await;
    let one = |number: usize| {
        let mut message = message(&format!("plum {number}"));
        message["messageId"] = json!(format!("contextforge-{number:016x}"));
        json!({ "jsonrpc": "2.0", "method": "message/send", "params": { "message": message }, "id": 1 })
    };
    let bodies: Vec<_> = (0..20).map(one).collect();
    let calls = bodies.iter().map(|body| completed(&server, &[], body));
    let tasks = futures_util::future::join_all(calls).await;
    for (number, task) in tasks.iter().enumerate() {
        assert_eq!(artifact(task), format!("plum {number}"));
    }
    server.finish().await;
}

/// Roles of another vocabulary come through such a gateway. There is none to map them to.
#[tokio::test]
async fn a_role_that_is_none_is_refused() {
    let server = TestServer::with_config(AGENT).await;
    for role in ["system", "assistant", "ROLE_USER", ""] {
        let mut message = message("plum");
        message["role"] = json!(role);
        let body = call(1, "message/send", json!({ "message": message }));
        assert_eq!(code(&server, &[], &body).await, -32602, "{role}");
    }
    server.finish().await;
}

/// Parameters that are forwarded as they were found, without a message around them.
#[tokio::test]
async fn a_bare_object_of_another_kind_is_refused() {
    let server = TestServer::with_config(AGENT).await;
    for params in [json!({ "query": "q" }), json!({ "input": { "text": "q" } }), message("q")] {
        assert_eq!(code(&server, &[], &call(1, "message/send", params)).await, -32602);
    }
    server.finish().await;
}

/// A proxy rewrites the card on its way, for which it has to be JSON and say an address.
#[tokio::test]
async fn a_proxy_finds_a_card_to_rewrite() {
    let server = TestServer::with_config(AGENT).await;
    for base in ["", "/api/v1/a2a/script"] {
        for name in ["agent-card.json", "agent.json"] {
            let forwarded = [("x-forwarded-proto", "https"), ("x-forwarded-host", "proxy.example")];
            let reply = server.get(&format!("{base}/.well-known/{name}"), &forwarded).await;
            assert_eq!(reply.status, 200, "{base} {name}");
            assert_eq!(reply.headers["content-type"], "application/json", "{base} {name}");
            let url = reply.json()["url"].as_str().expect("an address").to_owned();
            assert!(url.ends_with(ROUTE), "{url}");
        }
    }
    server.finish().await;
}

/// One framework names the task that it means among those it refers to. Its message opens a task, whether
/// that one is at work, has ended or never was, and leaves it alone.
#[tokio::test]
async fn a_task_that_is_only_referred_to_is_left_alone() {
    let server = TestServer::with_config(AGENT).await;
    let live = json!({ "message": message("hang on"), "configuration": { "blocking": false } });
    let live = result(&server, &[], &call(1, "message/send", live)).await;
    let done = call(2, "message/send", json!({ "message": message("done") }));
    let done = completed(&server, &[], &done).await;
    for referred in [id(&live), id(&done), "nobody"] {
        let mut message = message("plum");
        message["referenceTaskIds"] = json!([referred]);
        let body = call(3, "message/send", json!({ "message": message }));
        let task = completed(&server, &[], &body).await;
        assert!(id(&task) != id(&live) && id(&task) != id(&done));
        assert_ne!(context(&task), context(&live));
        assert_eq!(task["history"][0]["referenceTaskIds"], json!([referred]));
    }
    let read = |task: &Value| call(4, "tasks/get", json!({ "id": task["id"] }));
    let after = result(&server, &[], &read(&live)).await;
    assert_eq!((state(&after), &after["history"]), ("working", &live["history"]));
    assert_eq!(result(&server, &[], &read(&done)).await, done);
    result(&server, &[], &call(5, "tasks/cancel", json!({ "id": live["id"] }))).await;
    server.finish().await;
}

/// Clients look for two words in the message to know that they have to go on without the task.
#[tokio::test]
async fn a_finished_task_says_that_its_state_is_terminal() {
    let server = TestServer::with_config(AGENT).await;
    for words in ["done", "fail it", "reject it"] {
        let body = call(1, "message/send", json!({ "message": message(words) }));
        let task = result(&server, &[], &body).await;
        let mut more = message("more");
        more["taskId"] = task["id"].clone();
        for method in ["message/send", "message/stream"] {
            let refusal = answer(&server, &[], &call(2, method, json!({ "message": more }))).await;
            assert_eq!(refusal["error"]["code"], -32004, "{refusal}");
            let text = refusal["error"]["message"].as_str().expect("a message").to_lowercase();
            assert!(text.contains("terminal state"), "{text}");
        }
        // As they then do.
        more.as_object_mut().expect("an object").remove("taskId");
        more["contextId"] = task["contextId"].clone();
        let again = call(3, "message/send", json!({ "message": more }));
        let again = completed(&server, &[], &again).await;
        assert_eq!(context(&again), context(&task));
    }
    server.finish().await;
}
