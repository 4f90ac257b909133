//! Push notifications where they are off, and extended cards, which no agent has: always the same refusal, and
//! no side effect.

use crate::support::TestServer;
use crate::support::agents::{Counted, agent};
use crate::support::caller::{Caller, Message, id, request, state};
use crate::support::rpc::{ECHO, ROUTES, call};
use a2ad_executor::Script;
use serde_json::{Value, json};
use std::sync::Arc;

const OFF: &str = "[push]\nenabled = false\n";

const METHODS: [&str; 4] = [
    "tasks/pushNotificationConfig/set",
    "tasks/pushNotificationConfig/get",
    "tasks/pushNotificationConfig/list",
    "tasks/pushNotificationConfig/delete",
];

/// Targets that a server which does have push notifications would have to think about.
fn configs() -> Vec<Value> {
    let urls = [
        "https://hook.example.org/a",
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:9/",
        "http://[::1]/",
        "file:///etc/passwd",
        "",
    ];
    let mut configs: Vec<Value> = urls.iter().map(|url| json!({ "url": url })).collect();
    configs.extend([
        json!({ "url": "https://hook.example.org/a", "token": "t", "id": "c1",
                "authentication": { "schemes": ["Bearer"], "credentials": "abc" } }),
        json!({}),
        json!([]),
        json!(["https://hook.example.org/a"]),
        json!("https://hook.example.org/a"),
        json!(7),
        json!(false),
    ]);
    configs
}

#[tokio::test]
async fn every_push_method_is_refused_with_its_own_code_whatever_its_parameters() {
    let server = TestServer::with_config(OFF).await;
    let task = Caller::new(&server, "echo").send(Message::new("x")).await;
    let task = id(&task);
    let mut params = vec![
        json!({ "id": task }),
        json!({ "id": "nope" }),
        json!({ "id": task, "pushNotificationConfigId": "c1" }),
        json!({}),
        json!([]),
        json!("x"),
        json!(null),
    ];
    params.extend(
        configs().into_iter().map(|c| json!({ "taskId": task, "pushNotificationConfig": c })),
    );
    for route in ROUTES {
        for method in METHODS {
            for params in &params {
                let answer = call(&server, route, request(method, params).to_string()).await;
                assert_eq!(answer.code(), -32003, "{route} {method} {params}");
                assert_eq!(answer.error()["message"], "Push Notification is not supported");
            }
            let bare = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
            assert_eq!(call(&server, route, bare).await.code(), -32003, "{route} {method}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_message_that_asks_for_push_notifications_is_refused_and_never_reaches_the_agent() {
    let counted = Counted::new(Arc::new(Script));
    let echo = agent("echo", counted.clone());
    let server = TestServer::custom(OFF, |builder| builder.with_agent(echo)).await;
    for route in ROUTES {
        for method in ["message/send", "message/stream"] {
            for config in configs() {
                for blocking in [true, false] {
                    let message = Message::new("x").blocking(blocking);
                    let message = message.configured("pushNotificationConfig", config.clone());
                    let body = request(method, &message.params()).to_string();
                    let answer = call(&server, route, body).await;
                    assert_eq!(answer.code(), -32003, "{route} {method} {config}");
                }
            }
        }
    }
    assert_eq!(counted.started(), 0);
    let caller = Caller::new(&server, "echo");
    assert!(caller.list().await.is_empty());
    // No configuration is not the same as one that is not supported.
    let none = Message::new("x").configured("pushNotificationConfig", Value::Null);
    assert_eq!(state(&caller.send(none).await), "completed");
    server.finish().await;
}

#[tokio::test]
async fn an_answer_that_asks_for_push_notifications_leaves_the_question_open() {
    let server = TestServer::with_config(OFF).await;
    let caller = Caller::new(&server, "script");
    let asked = caller.send(Message::new("ask which?")).await;
    let config = json!({ "url": "https://hook.example.org/a" });
    for method in ["message/send", "message/stream"] {
        let answer = Message::new("this").task(id(&asked));
        let answer = answer.configured("pushNotificationConfig", config.clone());
        assert_eq!(caller.code(method, answer.params()).await, -32003);
        assert_eq!(caller.get(id(&asked)).await, asked);
    }
    let done = caller.send(Message::new("this").task(id(&asked))).await;
    assert_eq!(state(&done), "completed");
    server.finish().await;
}

#[tokio::test]
async fn there_is_no_extended_card_under_any_of_its_names() {
    let server = TestServer::with_config(OFF).await;
    let names = [
        "agent/getAuthenticatedExtendedCard",
        "agent/authenticatedExtendedCard",
        "agent/getExtendedCard",
    ];
    for route in ROUTES {
        for method in names {
            for params in [json!({}), json!(null), json!([]), json!({ "id": "x" })] {
                let answer = call(&server, route, request(method, &params).to_string()).await;
                assert_eq!(answer.code(), -32007, "{route} {method} {params}");
            }
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn cards_promise_neither() {
    let server = TestServer::with_config(OFF).await;
    for agent in ["echo", "script"] {
        let path = format!("/api/v1/a2a/{agent}/.well-known/agent-card.json");
        let card = server.get(&path, &[]).await.json();
        assert_eq!(card["capabilities"]["pushNotifications"], false);
        assert_ne!(card["supportsAuthenticatedExtendedCard"], true);
    }
    server.finish().await;
}

/// Whoever asks is told what the agent cannot do before whose task it is.
#[tokio::test]
async fn a_refused_push_call_tells_nothing_about_tasks() {
    let server = TestServer::with_config(OFF).await;
    let own = Caller::new(&server, "echo").send(Message::new("x")).await;
    let foreign = Caller::new(&server, "script").send(Message::new("x")).await;
    for method in METHODS {
        let mut errors = Vec::new();
        for task in [id(&own), id(&foreign), "nope"] {
            let body = request(method, &json!({ "id": task })).to_string();
            errors.push(call(&server, ECHO, body).await.error().clone());
        }
        assert!(errors.iter().all(|error| *error == errors[0]), "{method}: {errors:?}");
    }
    server.finish().await;
}
