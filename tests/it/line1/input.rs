//! What 1.0 calls may look like: ProtoJSON in all its spellings, and no more than that.

use super::client::{Client, text};
use super::schema::{field, reason};
use crate::support::TestServer;
use serde_json::{Value, json};

/// The task that a message becomes at the echo agent.
async fn echo(client: &Client<'_>, message: Value) -> Value {
    let task = client.send(message).await;
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{task}");
    task
}

async fn refused(client: &Client<'_>, params: Value, at: &str) {
    let shown = params.to_string();
    let error = client.error("SendMessage", params).await;
    assert_eq!(
        (error["code"].as_i64(), reason(&error)),
        (Some(-32602), "INVALID_PARAMS"),
        "{shown}"
    );
    assert_eq!(field(&error), at, "{shown}");
}

#[tokio::test]
async fn members_are_known_in_both_spellings() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "script");
    let asked = client.send(text("ask which?")).await;
    let params = json!({
        "message": {
            "message_id": "snake", "role": "ROLE_USER", "task_id": asked["id"],
            "context_id": asked["contextId"], "reference_task_ids": ["none"],
            "parts": [{ "data": [1], "media_type": "application/json" }],
        },
        "configuration": {
            "history_length": 1, "return_immediately": false, "accepted_output_modes": ["*/*"],
        },
    });
    let task = client.ok("SendMessage", params).await["task"].take();
    assert_eq!(task["id"], asked["id"]);
    assert_eq!(task["history"].as_array().map(Vec::len), Some(1), "{task}");
    assert_eq!(
        task["artifacts"][0]["parts"],
        json!([{ "data": [1], "mediaType": "application/json" }])
    );
    let whole = client.ok("GetTask", json!({ "id": asked["id"], "history_length": 10 })).await;
    let said = &whole["history"][2];
    assert_eq!(
        (&said["messageId"], &said["referenceTaskIds"]),
        (&json!("snake"), &json!(["none"]))
    );
    let list = json!({
        "context_id": asked["contextId"], "page_size": 1, "page_token": "", "history_length": 0,
        "status_timestamp_after": "2020-01-01T00:00:00Z", "include_artifacts": true,
    });
    let page = client.ok("ListTasks", list).await;
    assert_eq!((&page["pageSize"], &page["totalSize"]), (&json!(1), &json!(1)));
    assert!(
        page["tasks"][0].get("artifacts").is_some() && page["tasks"][0].get("history").is_none()
    );
    server.finish().await;
}

#[tokio::test]
async fn both_spellings_of_a_member_have_to_say_the_same() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    let mut message = text("x");
    message["contextId"] = json!("c-1");
    message["context_id"] = json!("c-1");
    message["parts"][0]["mediaType"] = json!("text/plain");
    message["parts"][0]["media_type"] = json!("text/plain");
    assert_eq!(echo(&client, message.clone()).await["contextId"], "c-1");
    message["context_id"] = json!(null);
    assert_eq!(echo(&client, message.clone()).await["contextId"], "c-1");
    message["context_id"] = json!("c-2");
    refused(&client, json!({ "message": message }), "message.contextId").await;
    message["context_id"] = json!("c-1");
    message["parts"][0]["media_type"] = json!("text/html");
    refused(&client, json!({ "message": message }), "message.parts[0].mediaType").await;
    let configuration = json!({ "historyLength": 1, "history_length": 2 });
    let params = json!({ "message": text("x"), "configuration": configuration });
    refused(&client, params, "configuration.historyLength").await;
    let error = client.error("ListTasks", json!({ "pageSize": 2, "page_size": 3 })).await;
    assert_eq!(field(&error), "pageSize");
    assert_eq!(
        client.ok("ListTasks", json!({ "pageSize": 2, "page_size": 2 })).await["pageSize"],
        2
    );
    let error =
        client.error("GetTask", json!({ "id": "x", "historyLength": 1, "history_length": 0 }));
    assert_eq!(field(&error.await), "historyLength");
    server.finish().await;
}

#[tokio::test]
async fn numbers_may_be_texts_and_enums_may_be_numbers() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    let mut message = text("x");
    message["role"] = json!(1);
    let task = echo(&client, message).await;
    assert_eq!(task["history"][0]["role"], "ROLE_USER");
    for two in [json!(2), json!("2"), json!(2.0)] {
        let params = json!({ "id": task["id"], "historyLength": two });
        assert_eq!(client.ok("GetTask", params).await["history"].as_array().map(Vec::len), Some(2));
        assert_eq!(client.ok("ListTasks", json!({ "pageSize": two })).await["pageSize"], 2);
    }
    for (status, found) in [
        (json!("TASK_STATE_COMPLETED"), 1),
        (json!(3), 1),
        (json!("TASK_STATE_FAILED"), 0),
        (json!(4), 0),
        (json!("TASK_STATE_UNSPECIFIED"), 1),
        (json!(0), 1),
        (json!(null), 1),
    ] {
        let page = client.ok("ListTasks", json!({ "status": status })).await;
        assert_eq!(page["totalSize"], found, "{status}");
    }
    for status in
        [json!("completed"), json!("TASK_STATE_CANCELLED"), json!(9), json!(-1), json!("3")]
    {
        let error = client.error("ListTasks", json!({ "status": status })).await;
        assert_eq!(field(&error), "status", "{status}");
    }
    for size in [json!(1.5), json!("two"), json!("1e1"), json!(true), json!([1]), json!("")] {
        let error = client.error("ListTasks", json!({ "pageSize": size })).await;
        assert_eq!(field(&error), "pageSize", "{size}");
    }
    server.finish().await;
}

#[tokio::test]
async fn null_is_the_same_as_leaving_out_except_as_data() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    let params = json!({
        "tenant": null, "metadata": null, "configuration": {
            "acceptedOutputModes": null, "taskPushNotificationConfig": null, "historyLength": null,
            "returnImmediately": null,
        },
        "message": {
            "role": "ROLE_USER", "messageId": "m", "taskId": null, "contextId": null,
            "metadata": null, "extensions": null, "referenceTaskIds": null,
            "parts": [{ "data": null, "metadata": null, "mediaType": null, "filename": null, "text": null }],
        },
    });
    let task = client.ok("SendMessage", params).await["task"].take();
    assert_eq!(task["artifacts"][0]["parts"], json!([{ "data": null }]));
    assert_eq!(task["history"][0]["parts"], json!([{ "data": null }]));
    for value in [json!([1, null]), json!("x"), json!(1.50), json!(false), json!({})] {
        let mut message = text("");
        message["parts"] = json!([{ "data": value }]);
        let task = echo(&client, message).await;
        assert_eq!(task["artifacts"][0]["parts"], json!([{ "data": value }]));
    }
    server.finish().await;
}

#[tokio::test]
async fn a_part_holds_exactly_one_content() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    let with = |part: Value| {
        json!({ "message": {
            "role": "ROLE_USER", "messageId": "m", "parts": [{ "text": "good" }, part],
        }})
    };
    for part in [
        json!({}),
        json!({ "mediaType": "text/plain" }),
        json!({ "kind": "text" }),
        json!({ "file": { "uri": "https://example.org/" } }),
        json!({ "text": "x", "url": "https://example.org/" }),
        json!({ "text": "x", "data": null }),
        json!({ "raw": "aGk=", "url": "https://example.org/" }),
    ] {
        refused(&client, with(part), "message.parts[1]").await;
    }
    refused(&client, with(json!({ "raw": "not base64!" })), "message.parts[1].raw").await;
    refused(&client, with(json!({ "text": 1 })), "message.parts[1].text").await;
    refused(&client, with(json!({ "text": "x", "metadata": [] })), "message.parts[1].metadata")
        .await;
    refused(&client, with(json!("x")), "message.parts[1]").await;
    for raw in ["+/+/", "-_-_", "aGk=", "aGk"] {
        let mut message = text("");
        message["parts"] = json!([{ "raw": raw, "mediaType": "image/png", "filename": "a.png" }]);
        let part = echo(&client, message).await["artifacts"][0]["parts"][0].clone();
        let standard = if raw.starts_with("aGk") { "aGk=" } else { "+/+/" };
        assert_eq!(part, json!({ "raw": standard, "mediaType": "image/png", "filename": "a.png" }));
    }
    server.finish().await;
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_named_by_its_path() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    let without = |member: &str| {
        let mut message = text("x");
        message.as_object_mut().expect("an object").remove(member);
        json!({ "message": message })
    };
    let with = |member: &str, value: Value| {
        let mut message = text("x");
        message[member] = value;
        json!({ "message": message })
    };
    refused(&client, json!({}), "message").await;
    for member in ["role", "messageId", "parts"] {
        refused(&client, without(member), &format!("message.{member}")).await;
        refused(&client, with(member, json!(null)), &format!("message.{member}")).await;
    }
    for role in ["user", "ROLE_UNSPECIFIED", "role_user", "ROLE_SYSTEM", ""] {
        refused(&client, with("role", json!(role)), "message.role").await;
    }
    for (member, value) in [
        ("role", json!(0)),
        ("role", json!(3)),
        ("messageId", json!("")),
        ("messageId", json!(7)),
        ("parts", json!([])),
        ("parts", json!({})),
        ("contextId", json!("x".repeat(257))),
        ("contextId", json!(1)),
        ("metadata", json!("x")),
    ] {
        refused(&client, with(member, value), &format!("message.{member}")).await;
    }
    let configured =
        |configuration: Value| json!({ "message": text("x"), "configuration": configuration });
    refused(&client, configured(json!({ "historyLength": -1 })), "configuration.historyLength")
        .await;
    refused(
        &client,
        configured(json!({ "historyLength": 2_147_483_648_u64 })),
        "configuration.historyLength",
    )
    .await;
    refused(
        &client,
        configured(json!({ "returnImmediately": "yes" })),
        "configuration.returnImmediately",
    )
    .await;
    refused(&client, configured(json!([])), "configuration").await;
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        for params in
            [json!({}), json!({ "id": "" }), json!({ "id": null }), json!({ "name": "tasks/x" })]
        {
            assert_eq!(field(&client.error(method, params).await), "id", "{method}");
        }
    }
    // What is wrong as a whole has no field.
    for params in [json!([]), json!("x"), json!(1)] {
        for method in ["SendMessage", "GetTask", "ListTasks"] {
            let error = client.error(method, params.clone()).await;
            assert_eq!(
                (&error["code"], error["data"].as_array().map(Vec::len)),
                (&json!(-32602), Some(1))
            );
        }
    }
    assert_eq!(client.ok("ListTasks", json!({})).await["totalSize"], 0, "nothing was stored");
    server.finish().await;
}

#[tokio::test]
async fn members_that_nobody_knows_are_passed_over() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    let params = json!({
        "zzz": [1, { "a": null }], "kind": "x",
        "configuration": { "blocking": false, "zzz": 1 },
        "message": {
            "kind": "message", "role": "ROLE_USER", "messageId": "m", "zzz": {},
            "parts": [{ "kind": "text", "text": "x", "zzz": 1 }],
        },
    });
    let task = client.ok("SendMessage", params).await["task"].take();
    // `blocking` is a word of the other line, so the call waits.
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(task["artifacts"][0]["parts"], json!([{ "text": "x" }]));
    server.finish().await;
}

#[tokio::test]
async fn a_tenant_that_there_is_not_has_no_tasks() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    let task = echo(&client, text("x")).await;
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        let error = client.error(method, json!({ "tenant": "acme", "id": task["id"] })).await;
        assert_eq!(error["code"], -32001, "{method}");
        assert_eq!(error["data"][0]["metadata"]["taskId"], task["id"], "{method}");
    }
    let params = json!({ "tenant": "acme", "message": text("x") });
    refused(&client, params, "tenant").await;
    assert_eq!(field(&client.error("ListTasks", json!({ "tenant": "acme" })).await), "tenant");
    // An empty one is none.
    assert_eq!(client.ok("GetTask", json!({ "tenant": "", "id": task["id"] })).await, task);
    server.finish().await;
}

#[tokio::test]
async fn a_message_that_asks_for_push_notifications_is_refused() {
    let server = TestServer::with_config("[push]\nenabled = false\n").await;
    let client = Client::new(&server, "echo");
    for name in ["taskPushNotificationConfig", "task_push_notification_config"] {
        let configuration = json!({ name: { "url": "https://example.org/hook" } });
        let params = json!({ "message": text("x"), "configuration": configuration });
        let error = client.error("SendMessage", params).await;
        assert_eq!(
            (error["code"].as_i64(), reason(&error)),
            (Some(-32003), "PUSH_NOTIFICATION_NOT_SUPPORTED")
        );
    }
    assert_eq!(client.ok("ListTasks", json!({})).await["totalSize"], 0);
    server.finish().await;
}

#[tokio::test]
async fn a_media_type_that_the_agent_does_not_take_is_named() {
    let agents = "[[agent]]\nid = \"plain\"\ninput_modes = [\"text/plain\"]\n\
                  output_modes = [\"text/plain\"]\nexecutor = { kind = \"echo\" }\n";
    let server = TestServer::with_config(agents).await;
    let client = Client::new(&server, "plain");
    let mut message = text("x");
    message["parts"] = json!([{ "text": "x" }, { "raw": "aGk=", "mediaType": "image/png" }]);
    let error = client.error("SendMessage", json!({ "message": message })).await;
    assert_eq!(
        (error["code"].as_i64(), reason(&error)),
        (Some(-32005), "CONTENT_TYPE_NOT_SUPPORTED")
    );
    let configuration = json!({ "acceptedOutputModes": ["image/png"] });
    let params = json!({ "message": text("x"), "configuration": configuration });
    assert_eq!(client.error("SendMessage", params).await["code"], -32005);
    server.finish().await;
}
