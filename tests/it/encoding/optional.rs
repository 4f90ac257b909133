//! What may be left out may also be null, and an id that is empty is none.

use super::{field, send};
use crate::support::TestServer;
use crate::support::caller::{Caller, Message, context, id, request};
use crate::support::rpc::{ECHO, ROUTES, call};
use serde_json::{Value, json};

#[tokio::test]
async fn null_is_the_same_as_leaving_out() {
    let server = TestServer::start().await;
    let message = r#"{"kind":null,"role":"user","messageId":"m","taskId":null,"contextId":null,"metadata":null,"extensions":null,"referenceTaskIds":null,"parts":[{"kind":null,"text":"x","metadata":null,"file":null,"data":null,"raw":null,"url":null,"mediaType":null,"filename":null},{"kind":"file","text":null,"file":{"bytes":null,"uri":"u","name":null,"mimeType":null}}]}"#;
    let configuration = r#"{"blocking":null,"returnImmediately":null,"historyLength":null,"acceptedOutputModes":null,"pushNotificationConfig":null}"#;
    for route in ROUTES {
        for params in [
            format!(r#"{{"message":{message}}}"#),
            format!(r#"{{"message":{message},"configuration":null,"metadata":null}}"#),
            format!(r#"{{"message":{message},"configuration":{configuration}}}"#),
        ] {
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{params}}}"#);
            let task = call(&server, route, body).await.result();
            assert_eq!(task["status"]["state"], "completed", "{params}");
            assert!(!id(&task).is_empty() && !context(&task).is_empty(), "{task}");
            assert_no_null(&task);
            let get = json!({ "id": id(&task), "historyLength": null, "metadata": null });
            let got = call(&server, route, request("tasks/get", &get).to_string()).await.result();
            assert_eq!(got, task);
        }
        let list = json!({
            "contextId": null, "status": null, "pageSize": null, "pageToken": null, "historyLength": null,
            "statusTimestampAfter": null, "lastUpdatedAfter": null, "includeArtifacts": null,
        });
        assert!(
            call(&server, route, request("tasks/list", &list).to_string()).await.outcome.is_ok()
        );
    }
    server.finish().await;
}

/// What is not there is left out of answers.
fn assert_no_null(value: &Value) {
    match value {
        Value::Null => panic!("null in an answer"),
        Value::Array(items) => items.iter().for_each(assert_no_null),
        Value::Object(members) => members.values().for_each(assert_no_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn an_empty_id_of_a_task_or_a_context_is_none() {
    let server = TestServer::start().await;
    let mut contexts = Vec::new();
    for route in ROUTES {
        for ids in [
            r#""taskId":"","contextId":"""#,
            r#""taskId":null,"contextId":"""#,
            r#""taskId":"","contextId":null"#,
        ] {
            let message =
                format!(r#""role":"user","messageId":"m",{ids},"parts":[{{"text":"x"}}]"#);
            let task = send(&server, route, &message).await.result();
            assert_eq!(task["status"]["state"], "completed");
            assert!(!id(&task).is_empty());
            contexts.push(context(&task).to_owned());
        }
    }
    assert!(contexts.iter().all(|context| !context.is_empty()));
    let all = contexts.len();
    contexts.sort();
    contexts.dedup();
    assert_eq!(contexts.len(), all, "the empty id is no context that messages share");
    let empty = call(&server, ECHO, request("tasks/get", &json!({ "id": "" })).to_string()).await;
    assert_eq!(field(&empty), "id");
    server.finish().await;
}

#[tokio::test]
async fn ways_to_say_whether_to_wait_agree_or_are_refused() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    for (member, value) in
        [("blocking", false), ("returnImmediately", true), ("return_immediately", true)]
    {
        let task = caller.send(Message::new("hang").configured(member, value)).await;
        assert!(
            ["submitted", "working"].contains(&crate::support::caller::state(&task)),
            "{member}"
        );
        caller.cancel(id(&task)).await;
    }
    let both = Message::new("x").configured("blocking", true).configured("returnImmediately", true);
    assert_eq!(caller.code("message/send", both.params()).await, -32602);
    let agree =
        Message::new("x").configured("blocking", true).configured("returnImmediately", false);
    assert_eq!(crate::support::caller::state(&caller.send(agree).await), "completed");
    server.finish().await;
}
