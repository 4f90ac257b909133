//! Each failure has its own code on every route: none hides in a result or behind an internal error.

use crate::support::TestServer;
use crate::support::caller::{Message, id, request};
use crate::support::rpc::{PRAISON, ROUTES, call};
use serde_json::{Value, json};

async fn error(server: &TestServer, route: &str, method: &str, params: Value) -> (i64, String) {
    let answer = call(server, route, request(method, &params).to_string()).await;
    (answer.code(), answer.error()["message"].as_str().expect("a text").to_owned())
}

#[tokio::test]
async fn failures_that_look_alike_elsewhere_are_told_apart() {
    let server = TestServer::start().await;
    const NOBODY: &str = "00000000-0000-4000-8000-000000000000";
    for route in ROUTES {
        let praison = route == PRAISON;
        let send = request("message/send", &Message::new("done").params()).to_string();
        let task = call(&server, route, send).await.result();
        let task = id(&task);
        for unknown in [NOBODY, "nope"] {
            let expected = if praison {
                (-32000, format!("Task not found: {unknown}"))
            } else {
                (-32001, "Task not found".to_owned())
            };
            for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
                let got = error(&server, route, method, json!({ "id": unknown })).await;
                assert_eq!(got, expected, "{route} {method}");
            }
            for method in ["message/send", "message/stream"] {
                let params = Message::new("x").task(unknown).params();
                assert_eq!(
                    error(&server, route, method, params).await,
                    expected,
                    "{route} {method}"
                );
            }
        }
        let too_late = if praison {
            "Task not cancelable: already completed"
        } else {
            "Task cannot be canceled"
        };
        let cancel = error(&server, route, "tasks/cancel", json!({ "id": task })).await;
        assert_eq!(cancel, (-32002, too_late.to_owned()));
        let attach = error(&server, route, "tasks/resubscribe", json!({ "id": task })).await;
        assert_eq!(attach.0, -32004);
        for method in ["message/send", "message/stream"] {
            let (code, message) =
                error(&server, route, method, Message::new("x").task(task).params()).await;
            assert_eq!(code, -32004, "{method}");
            // Clients look for these words to know that they have to open a new task.
            assert!(message.contains("terminal state"), "{message}");
        }
        for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
            assert_eq!(error(&server, route, method, json!({})).await.0, -32602, "{method}");
        }
        for history in [json!(-1), json!("3"), json!(1.5), json!(1u64 << 40)] {
            let params = json!({ "id": task, "historyLength": history });
            assert_eq!(error(&server, route, "tasks/get", params).await.0, -32602, "{history}");
        }
        for size in [0, -1, 101] {
            let got = error(&server, route, "tasks/list", json!({ "pageSize": size })).await;
            assert_eq!(got.0, -32602, "{size}");
        }
        let token = error(&server, route, "tasks/list", json!({ "pageToken": "no token" })).await;
        assert_eq!(token.0, -32602);
        let long = "c".repeat(257);
        let context = Message::new("x").context(&long).params();
        assert_eq!(error(&server, route, "message/send", context).await.0, -32602);
    }
    assert_eq!(server.gauges().subscribed_tasks(), 0);
    server.finish().await;
}

/// A task that failed is a task. The call about it has succeeded.
#[tokio::test]
async fn an_agent_that_fails_is_a_failed_task_and_no_error() {
    let server = TestServer::start().await;
    for text in ["fail it", "panic"] {
        let body = request("message/send", &Message::new(text).params()).to_string();
        let task = call(&server, "/api/v1/a2a/script/jsonrpc", body).await.result();
        assert_eq!(task["status"]["state"], "failed", "{text}");
        let text = task.to_string();
        assert!(!text.contains("told to"), "what the agent said is for the log: {text}");
    }
    server.finish().await;
}

/// The old form of an error always has the member `data`; PraisonAI's clients never see one.
#[tokio::test]
async fn errors_have_the_members_that_the_clients_of_the_route_know() {
    let server = TestServer::start().await;
    for route in ROUTES {
        for (method, params) in [
            ("no/such", json!({})),
            ("tasks/get", json!({ "id": "x" })),
            ("tasks/get", json!({})),
            ("message/send", json!({ "message": {} })),
            ("tasks/pushNotificationConfig/list", json!({ "id": "x" })),
            ("agent/getAuthenticatedExtendedCard", json!({})),
        ] {
            let answer = call(&server, route, request(method, &params).to_string()).await;
            let has_data = answer.error().get("data").is_some();
            assert_eq!(has_data, route != PRAISON, "{route} {method}: {answer:?}");
        }
    }
    server.finish().await;
}
