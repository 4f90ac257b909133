//! Bodies that are JSON and no requests, and parameters that are none.

use crate::support::TestServer;
use crate::support::rpc::{ECHO, PRAISON, ROUTES, call, still_works};

#[tokio::test]
async fn a_body_that_is_no_object_is_no_request() {
    let server = TestServer::start().await;
    let bodies = ["\"hello\"", "7", "-0.5", "true", "null", "[]", "[ ]", " [ 1 ] ", "[[]]"];
    for route in ROUTES {
        for body in bodies {
            let answer = call(&server, route, body).await;
            assert_eq!((answer.code(), answer.id.as_str()), (-32600, "null"), "{body}");
        }
        still_works(&server, route).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_batch_is_refused_as_a_whole_and_none_of_it_is_done() {
    let server = TestServer::start().await;
    let one = r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","messageId":"m","parts":[{"text":"x"}]}}}"#;
    for route in ROUTES {
        for body in [format!("[{one}]"), format!("[{one},{one}]"), format!("\n[{one},7]")] {
            let answer = call(&server, route, body).await;
            assert_eq!((answer.code(), answer.id.as_str()), (-32600, "null"));
            assert_eq!(answer.error()["message"], "Batch requests are not supported");
        }
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list"}"#;
        let tasks = call(&server, route, list).await.result();
        let tasks = tasks.get("tasks").unwrap_or(&tasks);
        assert_eq!(tasks.as_array().map(Vec::len), Some(0), "{route}");
    }
    server.finish().await;
}

/// The id is good, so the answer carries it.
#[tokio::test]
async fn a_wrong_envelope_is_an_invalid_request_and_told_under_its_id() {
    let server = TestServer::start().await;
    let call_of = r#""method":"message/send","params":{}"#;
    let mut bodies = vec![
        format!(r#"{{"id":1,{call_of}}}"#),
        r#"{"jsonrpc":"2.0","id":1}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"params":{}}"#.to_owned(),
        r#"{"id":1}"#.to_owned(),
        // Names of members are exact.
        format!(r#"{{"JSONRPC":"2.0","id":1,{call_of}}}"#),
        r#"{"jsonrpc":"2.0","id":1,"Method":"message/send"}"#.to_owned(),
    ];
    for version in [
        "\"1.0\"",
        "\"2\"",
        "\"2.0 \"",
        "\"\"",
        "\"2.0.0\"",
        "2.0",
        "2",
        "null",
        "true",
        "[\"2.0\"]",
        "{}",
    ] {
        bodies.push(format!(r#"{{"jsonrpc":{version},"id":1,{call_of}}}"#));
    }
    for method in ["\"\"", "5", "null", "true", "[\"message/send\"]", "{\"name\":\"message/send\"}"]
    {
        bodies.push(format!(r#"{{"jsonrpc":"2.0","id":1,"method":{method},"params":{{}}}}"#));
    }
    for route in ROUTES {
        for body in &bodies {
            let answer = call(&server, route, body.as_str()).await;
            assert_eq!((answer.code(), answer.id.as_str()), (-32600, "1"), "{body}");
        }
        still_works(&server, route).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn members_of_the_envelope_that_nobody_knows_are_passed_over() {
    let server = TestServer::start().await;
    let body = r#"{"extra":{"jsonrpc":1,"id":[]},"jsonrpc":"2.0","":0,"id":1,"method":"message/send","meta":[1,"x"],"params":{"tenant":7,"message":{"role":"user","messageId":"m","x-y":[],"parts":[{"kind":"text","text":"x","note":1}]},"configuration":{"unknown":{}}},"result":1,"error":2}"#;
    for route in ROUTES {
        assert_eq!(call(&server, route, body).await.result()["status"]["state"], "completed");
    }
    server.finish().await;
}

/// The code of a send without parameters is the one thing in which the routes differ.
#[tokio::test]
async fn a_call_without_parameters_is_told_apart_from_one_with_wrong_ones() {
    let server = TestServer::start().await;
    let code = |route, method: &str, params: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}}"#);
        let server = &server;
        async move { call(server, route, body).await.code() }
    };
    for route in ROUTES {
        let missing = if route == PRAISON { -32602 } else { -32600 };
        for params in ["", r#","params":null"#] {
            for method in ["message/send", "message/stream"] {
                assert_eq!(code(route, method, params).await, missing, "{route} {method}");
            }
            for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
                assert_eq!(code(route, method, params).await, -32602, "{route} {method}");
            }
        }
        let methods =
            ["message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe"];
        for method in methods {
            for params in ["\"hi\"", "[]", "[1]", "[{\"id\":\"x\"}]", "7", "false", "{}"] {
                let params = format!(r#","params":{params}"#);
                assert_eq!(code(route, method, &params).await, -32602, "{method} {params}");
            }
        }
        for params in ["\"hi\"", "[]", "[{}]", "7", "false"] {
            let params = format!(r#","params":{params}"#);
            assert_eq!(code(route, "tasks/list", &params).await, -32602, "tasks/list {params}");
        }
        still_works(&server, route).await;
    }
    server.finish().await;
}

/// An array whose elements fit the members of an object one by one is still no object.
#[tokio::test]
async fn an_array_is_never_taken_for_an_object() {
    let server = TestServer::start().await;
    let arrays = [
        r#"[{"role":"user","messageId":"m","parts":[{"text":"x"}]},null,null]"#,
        r#"{"message":["message","user","m",[{"text":"x"}],null,null,null,null,null]}"#,
        r#"{"message":{"role":"user","messageId":"m","parts":[["text",null,"x"]]}}"#,
        r#"{"message":{"role":"user","messageId":"m","parts":{"text":"x"}}}"#,
        r#"{"message":{"role":"user","messageId":"m","parts":[{"file":["aGk="]}]}}"#,
        r#"{"message":{"role":"user","messageId":"m","parts":[{"data":["x"]}]}}"#,
        r#"{"message":{"role":"user","messageId":"m","metadata":[],"parts":[{"text":"x"}]}}"#,
        r#"{"message":{"role":"user","messageId":"m","parts":[{"text":"x","metadata":[]}]}}"#,
        r#"{"message":{"role":"user","messageId":"m","parts":[{"text":"x"}]},"configuration":[true]}"#,
        r#"{"message":{"role":"user","messageId":"m","parts":[{"text":"x"}]},"metadata":[]}"#,
    ];
    for route in ROUTES {
        for params in arrays {
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{params}}}"#);
            assert_eq!(call(&server, route, body).await.code(), -32602, "{route} {params}");
        }
    }
    still_works(&server, ECHO).await;
    server.finish().await;
}
