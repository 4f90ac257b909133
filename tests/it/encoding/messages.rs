//! Messages that are none: refused by the name of the member, before anything is done.

use super::{field, send, send_part};
use crate::support::TestServer;
use crate::support::agents::{Counted, agent};
use crate::support::caller::{Caller, Message, id};
use crate::support::rpc::{ECHO, PRAISON, ROUTES, call};
use a2ad_executor::Echo;
use serde_json::json;
use std::sync::Arc;

const PARTS: &str = r#""parts":[{"kind":"text","text":"x"}]"#;

/// Wrong messages, with the member that is wrong. The flag says whether PraisonAI's clients, which leave
/// out ids and roles, may send them.
fn wrong() -> Vec<(String, &'static str, bool)> {
    let whole = |text: &str| text.replace("PARTS", PARTS);
    let message = |text: &str, field, sparse| (whole(text), field, sparse);
    let part = |part: &str, field| {
        (format!(r#""role":"user","messageId":"m","parts":[{part}]"#), field, false)
    };
    vec![
        message(r#""kind":"message","messageId":"m""#, "message.role", true),
        message(r#""messageId":"m",PARTS"#, "message.role", true),
        message(r#""messageId":"m","role":null,PARTS"#, "message.role", true),
        message(r#""messageId":"m","role":"system",PARTS"#, "message.role", false),
        message(r#""messageId":"m","role":"",PARTS"#, "message.role", false),
        message(r#""messageId":"m","role":"ROLE_USER",PARTS"#, "message.role", false),
        message(r#""messageId":"m","role":1,PARTS"#, "message.role", false),
        message(r#""role":"user",PARTS"#, "message.messageId", true),
        message(r#""role":"user","messageId":null,PARTS"#, "message.messageId", true),
        message(r#""role":"user","messageId":"",PARTS"#, "message.messageId", false),
        message(r#""role":"user","messageId":7,PARTS"#, "message.messageId", false),
        message(r#""role":"user","messageId":"m""#, "message.parts", false),
        message(r#""role":"user","messageId":"m","parts":null"#, "message.parts", false),
        message(r#""role":"user","messageId":"m","parts":[]"#, "message.parts", false),
        message(r#""role":"user","messageId":"m","parts":"x""#, "message.parts", false),
        message(r#""role":"user","messageId":"m","kind":"task",PARTS"#, "message.kind", false),
        message(r#""role":"user","messageId":"m","kind":7,PARTS"#, "message.kind", false),
        message(r#""role":"user","messageId":"m","taskId":7,PARTS"#, "message.taskId", false),
        message(
            r#""role":"user","messageId":"m","contextId":{},PARTS"#,
            "message.contextId",
            false,
        ),
        message(r#""role":"user","messageId":"m","metadata":"x",PARTS"#, "message.metadata", false),
        message(
            r#""role":"user","messageId":"m","extensions":"x",PARTS"#,
            "message.extensions",
            false,
        ),
        part(r#"{"kind":"text"}"#, "message.parts[0].text"),
        part(r#"{"kind":"text","text":null}"#, "message.parts[0].text"),
        part(r#"{"kind":"text","text":7}"#, "message.parts[0].text"),
        part(r#"{"kind":"image","url":"x"}"#, "message.parts[0].kind"),
        part(r#"{"kind":"Text","text":"x"}"#, "message.parts[0].kind"),
        part(r#"{"kind":"","text":"x"}"#, "message.parts[0].kind"),
        part(r#"{"kind":"file","text":"x"}"#, "message.parts[0].kind"),
        part(r#"{"kind":"data","text":"x"}"#, "message.parts[0].kind"),
        part(r#"{"kind":"text","data":{}}"#, "message.parts[0].kind"),
        part(r#"{"type":"text","text":"x"}"#, "message.parts[0].kind"),
        part(r#"{"type":"data","data":{}}"#, "message.parts[0].kind"),
        part(r#"{"kind":"data"}"#, "message.parts[0].data"),
        part(r#"{"kind":"data","data":null}"#, "message.parts[0].data"),
        part(r#"{"kind":"data","data":[1]}"#, "message.parts[0].data"),
        part(r#"{"kind":"data","data":"x"}"#, "message.parts[0].data"),
        part(r#"{"kind":"file"}"#, "message.parts[0].file"),
        part(r#"{"kind":"file","file":null}"#, "message.parts[0].file"),
        part(r#"{"kind":"file","file":{}}"#, "message.parts[0].file"),
        part(r#"{"kind":"file","file":"x"}"#, "message.parts[0].file"),
        part(r#"{"kind":"text","text":"x","metadata":[]}"#, "message.parts[0].metadata"),
        part(r#"{"kind":"text","text":"x"},{"kind":"text"}"#, "message.parts[1].text"),
        part(r#"{"kind":"text","text":"x"},null"#, "message.parts[1]"),
        part(r#"{"kind":"text","text":"x"},"x""#, "message.parts[1]"),
    ]
}

#[tokio::test]
async fn a_message_that_is_none_is_refused_by_name_and_never_reaches_the_agent() {
    let counted = Counted::new(Arc::new(Echo::default()));
    let echo = agent("echo", counted.clone());
    let server = TestServer::custom("", |builder| builder.with_agent(echo)).await;
    for (message, member, sparse) in wrong() {
        for route in ROUTES {
            if route == PRAISON && sparse {
                continue;
            }
            let answer = send(&server, route, &message).await;
            assert_eq!(answer.code(), -32602, "{route} {message}");
            if route != PRAISON {
                assert_eq!(field(&answer), member, "{message}");
            }
            let stream = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{{"message":{{{message}}}}}}}"#
            );
            assert_eq!(call(&server, route, stream).await.code(), -32602, "{route} {message}");
        }
    }
    assert_eq!(counted.started(), 0);
    assert!(Caller::new(&server, "echo").list().await.is_empty());
    server.finish().await;
}

/// Two contents in one part: which one is meant is unknown.
#[tokio::test]
async fn a_part_with_several_contents_is_refused() {
    let server = TestServer::start().await;
    let parts = [
        r#"{"text":"x","data":{}}"#,
        r#"{"kind":"text","text":"x","file":{"uri":"u"}}"#,
        r#"{"kind":"file","text":"x","file":{"uri":"u"}}"#,
        r#"{"raw":"aGk=","url":"u"}"#,
        r#"{"file":{"uri":"u"},"data":{}}"#,
        "{}",
        r#"{"metadata":{}}"#,
        r#"{"mediaType":"text/plain"}"#,
    ];
    for route in ROUTES {
        for part in parts {
            assert_eq!(send_part(&server, route, part).await.code(), -32602, "{route} {part}");
        }
    }
    server.finish().await;
}

/// A wrong message for a task that waits leaves the task as it is.
#[tokio::test]
async fn a_message_that_is_none_does_not_touch_the_task_that_it_names() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let asked = caller.send(Message::new("ask which?")).await;
    for (message, _, sparse) in wrong() {
        if !sparse && !message.contains("taskId") {
            let message = format!(r#"{message},"taskId":"{}""#, id(&asked));
            let answer = send(&server, "/api/v1/a2a/script/jsonrpc", &message).await;
            assert_eq!(answer.code(), -32602, "{message}");
        }
    }
    assert_eq!(caller.get(id(&asked)).await, asked);
    caller.send(Message::new("this").task(id(&asked))).await;
    server.finish().await;
}

#[tokio::test]
async fn a_message_without_an_id_is_given_one_only_where_its_clients_send_none() {
    let server = TestServer::start().await;
    let body = r#""role":"user","parts":[{"text":"Hello"}],"contextId":null"#;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let task = send(&server, PRAISON, body).await.result();
        assert_eq!(task["status"]["state"], "completed");
        let given = task["history"][0]["messageId"].as_str().expect("an id").to_owned();
        assert!(!given.is_empty());
        ids.push(given);
    }
    assert_ne!(ids[0], ids[1]);
    assert_eq!(field(&send(&server, ECHO, body).await), "message.messageId");
    assert_eq!(field(&send(&server, "/", body).await), "message.messageId");
    server.finish().await;
}

#[tokio::test]
async fn roles_are_read_in_any_case_and_told_in_one() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "echo");
    for (given, told) in
        [("user", "user"), ("USER", "user"), ("agent", "agent"), ("Agent", "agent")]
    {
        let task = caller.send(Message::new("x").with("role", json!(given))).await;
        assert_eq!(task["history"][0]["role"], told, "{given}");
    }
    server.finish().await;
}
