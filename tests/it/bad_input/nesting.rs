//! Values within values, far deeper than any reader's stack.

use super::json::{DEEP, Json, deep};
use super::requests::requests;
use super::{call, in_order};
use crate::support::TestServer;
use crate::support::rpc::{ECHO, ROUTES};

fn depths() -> [String; 3] {
    [
        deep("[", "", "]"),
        deep("{\"\":", "1", "}"),
        // Without an end, which a reader finds out late.
        "[{\"\":".repeat(DEEP / 2),
    ]
}

#[tokio::test]
async fn a_body_that_is_nothing_but_nesting_is_refused() {
    let server = TestServer::start().await;
    for route in ROUTES {
        for body in depths() {
            for body in [body.clone(), format!("[{body}"), format!(" {body} ")] {
                let answers = call(&server, route, body).await;
                assert!([-32700, -32600].contains(&answers[0].code()), "{answers:?}");
                assert_eq!(answers[0].id, "null");
            }
        }
    }
    in_order(server).await;
}

#[tokio::test]
async fn nesting_in_the_place_of_any_value_gets_a_defined_answer() {
    let server = TestServer::start().await;
    let depths = depths();
    for request in requests() {
        let whole = Json::from(request);
        for place in 1..whole.size() {
            // A place, a kind of nesting and a route together: each pair comes up.
            let nested = depths[place % depths.len()].clone();
            let route = ROUTES[place / depths.len() % ROUTES.len()];
            let mut request = whole.clone();
            *request.at(place) = Json::Token(nested.into());
            call(&server, route, request.to_string()).await;
        }
    }
    in_order(server).await;
}

#[tokio::test]
async fn nesting_in_members_that_nobody_knows_is_passed_over() {
    let server = TestServer::start().await;
    let nested = deep("{\"a\":[", "", "]}");
    let parts = r#""parts":[{"text":"x","unknown":NESTED}]"#;
    let bodies = [
        r#"{"unknown":NESTED,"jsonrpc":"2.0","id":1,"method":"tasks/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list","params":{"unknown":NESTED}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"unknown":NESTED,"configuration":{"unknown":NESTED},"message":{"role":"user","messageId":"m","unknown":NESTED,PARTS}}}"#,
    ];
    for route in ROUTES {
        for body in bodies {
            let body = body.replace("PARTS", parts).replace("NESTED", &nested);
            let answers = call(&server, route, body).await;
            assert!(answers[0].outcome.is_ok(), "{:?}", answers[0].outcome);
        }
    }
    in_order(server).await;
}

/// What is carried and not understood is carried as deep as it may be, and does not harm those who come after.
#[tokio::test]
async fn nesting_in_data_and_metadata_is_kept_as_it_stands_up_to_the_limit() {
    let server = TestServer::start().await;
    // The default limit; one of the braces of the second is outside.
    const DEPTH: usize = 100;
    let objects = ["{\"\":".repeat(DEPTH), "1".to_owned(), "}".repeat(DEPTH)].concat();
    let inside = [&*"[".repeat(DEPTH - 1), &*"]".repeat(DEPTH - 1)].concat();
    let arrays = format!("{{\"a\":{inside}}}");
    let body = |method: &str, nested: &str| {
        let params = format!(
            r#"{{"metadata":{nested},"message":{{"role":"user","messageId":"m","metadata":{nested},"parts":[{{"kind":"data","data":{nested},"metadata":{nested}}}]}}}}"#
        );
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
    };
    for (method, nested) in [("message/send", &objects), ("message/stream", &arrays)] {
        let answers = call(&server, ECHO, body(method, nested)).await;
        let opening = answers[0].text();
        assert!(opening.contains(&format!("\"data\":{nested}")), "{opening:.500}");
        assert!(opening.contains(&format!("\"metadata\":{nested}")), "{opening:.500}");
        for deeper in [format!("{{\"\":{nested}}}"), deep("{\"\":", "1", "}")] {
            let answers = call(&server, ECHO, body(method, &deeper)).await;
            assert_eq!(answers[0].code(), -32602, "{answers:?}");
        }
    }
    let list =
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list","params":{"includeArtifacts":true}}"#;
    assert!(call(&server, ECHO, list).await[0].outcome.is_ok());
    in_order(server).await;
}
