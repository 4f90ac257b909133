//! Deadlines as clients see them: what they may ask for, what they are told, and what is overdue.

use crate::support::TestServer;
use crate::support::agents::soon;
use crate::support::caller::{Caller, Message, id, state, status_text};
use serde_json::{Value, json};

const URI: &str = "urn:a2ad:deadline:1";

fn within(message: Message, seconds: impl Into<Value>) -> Message {
    message.with("metadata", json!({ URI: { "seconds": seconds.into() } }))
}

#[tokio::test]
async fn a_message_may_ask_for_less_time_and_is_told_why_its_task_ended() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let task = soon("the deadline", caller.send(within(Message::new("hang"), 0.02))).await;
    assert_eq!(state(&task), "failed");
    assert_eq!(status_text(&task), "The agent did not finish within 20 ms.");
    for wrong in [json!(0), json!(-1), json!("5"), Value::Null] {
        let refused = within(Message::new("hang"), wrong);
        assert_eq!(caller.code("message/send", refused.params()).await, -32602);
    }
    assert_eq!(caller.list().await.len(), 1);
    server.finish().await;
}

#[tokio::test]
async fn what_is_canceled_for_its_deadline_says_so() {
    let toml = r#"
        [[agent]]
        id = "script"
        executor = { kind = "script" }
        deadline = "20ms"
        on_overdue = "cancel"
    "#;
    let server = TestServer::with_config(toml).await;
    let caller = Caller::new(&server, "script");
    let task = soon("the deadline", caller.send(Message::new("hang"))).await;
    assert_eq!(state(&task), "canceled");
    assert_eq!(status_text(&task), "The agent did not finish within 20 ms.");
    server.finish().await;
}

#[tokio::test]
async fn overdue_tasks_are_listed_in_every_line_and_binding() {
    let toml = r#"
        [[agent]]
        id = "script"
        executor = { kind = "script" }
        deadline = "10m"
        on_overdue = "report"
    "#;
    let server = TestServer::with_config(toml).await;
    let caller = Caller::new(&server, "script");
    let late = caller.send_off(within(Message::new("hang"), 0.001)).await;
    let timely = caller.send_off(Message::new("hang")).await;
    let ended = caller.send(Message::new("hello")).await;
    let overdue = json!({ "overdue": true });
    let found = async {
        loop {
            let page = caller.ok("tasks/list", overdue.clone()).await;
            if page["totalSize"] != 0 {
                break page;
            }
        }
    };
    let page = soon("an overdue task", found).await;
    assert_eq!((&page["totalSize"], id(&page["tasks"][0])), (&json!(1), id(&late)));
    let all = caller.ok("tasks/list", json!({ "overdue": false })).await;
    assert_eq!(all["totalSize"], 3);
    let with_context = json!({ "overdue": true, "contextId": timely["contextId"] });
    assert_eq!(caller.ok("tasks/list", with_context).await["totalSize"], 0);

    let headers = [("content-type", "application/json"), ("a2a-version", "1.0")];
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": overdue });
    let path = "/api/v1/a2a/script/jsonrpc";
    let page = server.post(path, &headers, body.to_string()).await.json();
    assert_eq!(page["result"]["tasks"][0]["id"], late["id"], "{page}");
    for path in ["tasks?overdue=true", "v1/tasks?overdue=true"] {
        let page = server.get(&format!("/api/v1/a2a/script/{path}"), &[]).await.json();
        assert_eq!(
            (&page["totalSize"], &page["tasks"][0]["id"]),
            (&json!(1), &late["id"]),
            "{page}"
        );
    }
    assert_eq!(caller.code("tasks/list", json!({ "overdue": "yes" })).await, -32602);

    for task in [&late, &timely] {
        caller.cancel(id(task)).await;
    }
    assert_eq!(caller.ok("tasks/list", overdue).await["totalSize"], 0);
    assert_eq!(state(&ended), "completed");
    server.finish().await;
}
