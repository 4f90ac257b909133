//! Ids of requests: told back as they were written, or not at all.

use crate::support::TestServer;
use crate::support::rpc::{Answered, ECHO, JSON, ROUTES, call, still_works};

fn good() -> Vec<String> {
    let mut ids: Vec<String> = [
        "0",
        "-0",
        "1",
        "-1",
        "9007199254740993",
        "-9223372036854775808",
        "18446744073709551615",
        "123456789012345678901234567890123456789012345678901234567890",
        "null",
        r#""""#,
        r#"" ""#,
        r#""7""#,
        r#""null""#,
        r#""a\u0041\/\n\u0000""#,
        r#""\ud83d\ude00""#,
        r#""你好 😀 \" \\ <b>""#,
        "\"\u{2028}\u{85}\"",
    ]
    .map(str::to_owned)
    .into();
    ids.push(format!("\"{}\"", "x".repeat(100_000)));
    ids.push("9".repeat(100_000));
    ids
}

#[tokio::test]
async fn an_id_is_told_back_digit_for_digit_in_results_and_in_errors() {
    let server = TestServer::start().await;
    for route in ROUTES {
        for id in good() {
            let ends = [
                r#""method":"tasks/list"}"#,
                r#""method":"tasks/get","params":{"id":"x"}}"#,
                r#""method":"tasks/get","params":{}}"#,
                r#""method":"no/such"}"#,
                r#""method":7}"#,
            ];
            for end in ends {
                let answer =
                    call(&server, route, format!(r#"{{"jsonrpc":"2.0","id":{id},{end}"#)).await;
                assert!(answer.id == id, "{id:.100} {end} -> {:.100}", answer.id);
            }
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn an_id_is_told_back_digit_for_digit_in_every_frame_of_a_stream() {
    let server = TestServer::start().await;
    for route in ROUTES {
        for id in good() {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"message/stream","params":{{"message":{{"role":"user","messageId":"m","parts":[{{"text":"x"}}]}}}}}}"#
            );
            let reply = server.post(route, &[JSON, ("accept", "text/event-stream")], body).await;
            let text = String::from_utf8(reply.body).expect("UTF-8");
            let frames: Vec<&str> =
                text.split('\n').filter_map(|line| line.strip_prefix("data: ")).collect();
            assert!(frames.len() >= 3, "{text:.1000}");
            for frame in frames {
                assert!(Answered::read(frame.as_bytes()).id == id, "{id:.100}: {frame:.200}");
            }
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn an_id_that_is_none_is_refused_and_not_told_back() {
    let server = TestServer::start().await;
    let bad =
        ["1.5", "1.0", "-0.0", "1e3", "1E400", "true", "false", "{}", r#"{"a":1}"#, "[]", "[1]"];
    for route in ROUTES {
        for id in bad {
            for end in
                [r#""method":"tasks/list"}"#, r#""method":7}"#, r#""method":"message/stream"}"#]
            {
                let body = format!(r#"{{"jsonrpc":"2.0","id":{id},{end}"#);
                let answer = call(&server, route, body).await;
                assert_eq!((answer.code(), answer.id.as_str()), (-32600, "null"), "{id} {end}");
            }
        }
        still_works(&server, route).await;
    }
    server.finish().await;
}

/// No method of the protocol is a notification.
#[tokio::test]
async fn a_call_without_an_id_is_done_and_answered() {
    let server = TestServer::start().await;
    for route in ROUTES {
        let send = r#"{"jsonrpc":"2.0","method":"message/send","params":{"message":{"role":"user","messageId":"m","parts":[{"text":"x"}]}}}"#;
        let answer = call(&server, route, send).await;
        assert_eq!(answer.id, "null");
        let task = answer.result();
        assert_eq!(task["status"]["state"], "completed");
        let unknown = call(&server, route, r#"{"jsonrpc":"2.0","method":"no/such"}"#).await;
        assert_eq!((unknown.code(), unknown.id.as_str()), (-32601, "null"));
    }
    server.finish().await;
}

#[tokio::test]
async fn the_same_id_in_two_calls_does_not_make_them_one() {
    let server = TestServer::start().await;
    let body = r#"{"jsonrpc":"2.0","id":"same","method":"message/send","params":{"message":{"role":"user","messageId":"m","parts":[{"text":"x"}]}}}"#;
    let (one, two) = tokio::join!(call(&server, ECHO, body), call(&server, ECHO, body));
    assert_eq!((one.id.as_str(), two.id.as_str()), ("\"same\"", "\"same\""));
    assert_ne!(one.result()["id"], two.result()["id"]);
    server.finish().await;
}
