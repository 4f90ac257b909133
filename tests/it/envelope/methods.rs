//! Names of methods: the exact ones are known and nothing that looks like them is.

use crate::support::TestServer;
use crate::support::rpc::{Answered, ROUTES, call, still_works};

const KNOWN: [&str; 11] = [
    "message/send",
    "message/stream",
    "tasks/get",
    "tasks/list",
    "tasks/cancel",
    "tasks/resubscribe",
    "tasks/pushNotificationConfig/set",
    "tasks/pushNotificationConfig/get",
    "tasks/pushNotificationConfig/list",
    "tasks/pushNotificationConfig/delete",
    "agent/getAuthenticatedExtendedCard",
];

async fn named(server: &TestServer, route: &str, method: &str) -> Answered {
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} });
    call(server, route, body.to_string()).await
}

#[tokio::test]
async fn every_method_of_the_line_is_known() {
    let server = TestServer::start().await;
    for route in ROUTES {
        for method in
            KNOWN.into_iter().chain(["agent/authenticatedExtendedCard", "agent/getExtendedCard"])
        {
            if let Err(error) = named(&server, route, method).await.outcome {
                assert_ne!(error["code"], -32601, "{route} {method}");
            }
        }
        // A name may be written with escapes.
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tasks\/l\u0069st"}"#;
        assert!(call(&server, route, body).await.outcome.is_ok());
    }
    server.finish().await;
}

#[tokio::test]
async fn a_name_that_is_nearly_one_is_no_method() {
    let server = TestServer::start().await;
    let mut names: Vec<String> = [
        "does/notExist",
        "Message/Send",
        "message.send",
        "message:send",
        "message_send",
        "message",
        "send",
        "/",
        "tasks/subscribe",
        "tasks/resubscribe/",
        "tasks/pushNotification/set",
        "tasks/pushNotificationConfig",
        "tasks/pushNotificationConfigs/list",
        "agent/card",
        "agent/getCard",
        "rpc.discover",
        "initialize",
        "toString",
        "__proto__",
        "ｍessage/send",
    ]
    .map(str::to_owned)
    .into();
    for known in KNOWN {
        let changed = [
            known.to_uppercase(),
            format!("{known} "),
            format!(" {known}"),
            format!("/{known}"),
            format!("{known}/"),
            format!("{known}\0"),
            format!("{known}\n"),
            known[..known.len() - 1].to_owned(),
            known.replace('/', "//"),
            known.replace('/', "%2f"),
        ];
        names.extend(changed);
    }
    names.push("x".repeat(100_000));
    for route in ROUTES {
        for name in &names {
            let answer = named(&server, route, name).await;
            assert_eq!((answer.code(), answer.id.as_str()), (-32601, "1"), "{name:.100}");
            assert_eq!(answer.error()["message"], "Method not found", "{name:.100}");
        }
        still_works(&server, route).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_retired_name_is_no_method_and_the_answer_names_its_successor() {
    let server = TestServer::start().await;
    for route in ROUTES {
        for (old, new) in
            [("tasks/send", "message/send"), ("tasks/sendSubscribe", "message/stream")]
        {
            let answer = named(&server, route, old).await;
            assert_eq!(answer.code(), -32601);
            let message = answer.error()["message"].as_str().expect("a text").to_owned();
            assert!(message.starts_with("Method not found") && message.ends_with(new), "{message}");
        }
    }
    server.finish().await;
}
