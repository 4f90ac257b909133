//! Which webhooks are taken, at every way in.

use super::{call, message};
use crate::support::TestServer;
use crate::support::caller::{Caller, Message, id};
use crate::support::receiver::{HOOKS, Receiver};
use serde_json::json;

/// What callers have tried elsewhere.
const FORBIDDEN: [&str; 24] = [
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254/latest/meta-data/",
    "https://127.0.0.1:8443/",
    "https://127.1/",
    "https://localhost/",
    "https://metadata.google.internal/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://017700000001/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://10.0.0.1/",
    "https://user:pw@example.com/",
    "https://example.com:22/",
    "http://example.com/",
    "ftp://example.org/",
    "file:///etc/passwd",
    "https:///example.com/",
    "https://example.com/\nX-Evil: 1",
];

#[tokio::test]
async fn what_must_not_be_called_is_refused_at_every_way_in_and_nothing_is_kept() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let asked = caller.send(Message::new("ask which?")).await;
    let task = id(&asked);
    for url in FORBIDDEN {
        let config = json!({ "url": url });
        let set = json!({ "taskId": task, "pushNotificationConfig": config });
        let create = json!({ "taskId": task, "url": url });
        let mut answer = message(false, "this", config.clone());
        answer["message"]["taskId"] = task.into();
        for (method, params, field) in [
            ("tasks/pushNotificationConfig/set", set, "pushNotificationConfig.url"),
            ("CreateTaskPushNotificationConfig", create, "url"),
            (
                "message/send",
                message(true, "x", config.clone()),
                "configuration.pushNotificationConfig.url",
            ),
            (
                "message/stream",
                message(true, "x", config.clone()),
                "configuration.pushNotificationConfig.url",
            ),
            (
                "SendStreamingMessage",
                message(false, "x", config.clone()),
                "configuration.taskPushNotificationConfig.url",
            ),
            ("SendMessage", answer, "configuration.taskPushNotificationConfig.url"),
        ] {
            let refused = call(&server, "script", method, params).await;
            assert_eq!(refused.code(), -32602, "{method} {url}");
            let told = refused.error()["data"].to_string();
            assert!(told.contains(&format!("\"{field}\"")), "{method} {url}: {told}");
        }
    }
    assert_eq!(caller.list().await.len(), 1, "no task was opened");
    assert_eq!(caller.get(task).await, asked, "nothing has happened to it");
    let all = json!({ "id": task });
    let listed = call(&server, "script", "tasks/pushNotificationConfig/list", all).await;
    assert_eq!(listed.text(), "[]");
    server.finish().await;
}

#[tokio::test]
async fn with_the_switch_for_development_what_is_registered_is_delivered() {
    let (server, receiver) = (TestServer::with_config(HOOKS).await, Receiver::start().await);
    for (path, url) in
        [("/a", receiver.url("/a")), ("/b", receiver.url("/b").replace("127.0.0.1", "localhost"))]
    {
        let params = message(false, "x", json!({ "url": url }));
        call(&server, "script", "SendMessage", params).await.result();
        assert!(!receiver.until_ended(path).await.is_empty());
    }
    server.finish().await;
}
