//! A member that is given twice has two meanings, and so none.

use crate::support::TestServer;
use crate::support::rpc::{ECHO, ROUTES, call, still_works};

#[tokio::test]
async fn a_member_of_the_envelope_given_twice_is_a_parse_error_without_an_id() {
    let server = TestServer::start().await;
    let members =
        [r#""jsonrpc":"2.0""#, r#""id":7"#, r#""method":"tasks/get""#, r#""params":{"id":"x"}"#];
    let again = [
        r#""jsonrpc":"2.0""#,
        r#""id":8"#,
        r#""method":"tasks/cancel""#,
        r#""params":{"id":"y"}"#,
        // The same name in another spelling.
        r#""\u0069d":8"#,
        r#""m\u0065thod":"tasks/cancel""#,
    ];
    for route in ROUTES {
        for again in again {
            for body in [
                format!("{{{},{again}}}", members.join(",")),
                format!("{{{again},{}}}", members.join(",")),
            ] {
                let answer = call(&server, route, body.as_str()).await;
                assert_eq!((answer.code(), answer.id.as_str()), (-32700, "null"), "{body}");
            }
        }
        still_works(&server, route).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_parameter_given_twice_is_a_parse_error_with_the_id_of_the_call() {
    let server = TestServer::start().await;
    let text = r#"{"kind":"text","text":"x"}"#;
    let message = format!(r#""role":"user","messageId":"m","parts":[{text}]"#);
    let send = |params: String| {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"message/send","params":{{{params}}}}}"#)
    };
    let twice = [
        format!(r#""message":{{{message}}},"message":{{{message}}}"#),
        format!(r#""message":{{{message},"role":"agent"}}"#),
        format!(r#""message":{{{message},"messageId":"n"}}"#),
        format!(r#""message":{{{message},"parts":[]}}"#),
        format!(r#""message":{{{message},"contextId":"a","contextId":"a"}}"#),
        format!(r#""message":{{{message},"taskId":"","taskId":"x"}}"#),
        format!(r#""message":{{{message},"taskId":null,"taskId":null}}"#),
        format!(r#""message":{{{message},"metadata":{{}},"metadata":{{}}}}"#),
        format!(r#""message":{{{message},"\u0072ole":"user"}}"#),
        format!(r#""message":{{{message}}},"configuration":{{"blocking":true,"blocking":true}}"#),
        format!(r#""message":{{{message}}},"configuration":{{}},"configuration":{{}}"#),
        r#""message":{"role":"user","messageId":"m","parts":[{"kind":"text","text":"x","text":"y"}]}"#
            .to_owned(),
        r#""message":{"role":"user","messageId":"m","parts":[{"kind":"file","file":{"uri":"u","uri":"u"}}]}"#
            .to_owned(),
    ];
    let mut bodies: Vec<String> = twice.into_iter().map(send).collect();
    for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
        bodies.push(format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"id":"x","id":"y"}}}}"#
        ));
    }
    bodies.push(
        r#"{"jsonrpc":"2.0","id":7,"method":"tasks/list","params":{"pageSize":1,"pageSize":2}}"#
            .to_owned(),
    );
    for route in ROUTES {
        for body in &bodies {
            let answer = call(&server, route, body.as_str()).await;
            assert_eq!((answer.code(), answer.id.as_str()), (-32700, "7"), "{body}");
        }
        still_works(&server, route).await;
    }
    server.finish().await;
}

/// What is in there is between the client and the agent.
#[tokio::test]
async fn a_member_given_twice_in_metadata_or_data_is_carried_as_it_stands() {
    let server = TestServer::start().await;
    let odd = r#"{"a":1,"a":2}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"message/send","params":{{"metadata":{odd},"message":{{"role":"user","messageId":"m","metadata":{odd},"parts":[{{"kind":"data","data":{odd},"metadata":{odd}}}]}}}}}}"#
    );
    let answer = call(&server, ECHO, body).await;
    let artifact = format!(r#""data":{odd}"#);
    // Once in the artifact and once in each message of the history that says it.
    assert!(answer.text().matches(&artifact).count() >= 2, "{answer:?}");
    assert!(answer.text().contains(&format!(r#""metadata":{odd}"#)), "{answer:?}");
    still_works(&server, ECHO).await;
    server.finish().await;
}
