//! Bodies that are not JSON.

use crate::support::TestServer;
use crate::support::caller::{Message, request};
use crate::support::rpc::{Answered, ECHO, PRAISON, ROUTES, call, still_works};

/// The whole answer to a body that is not JSON. Nothing in it depends on the body, so nothing of the body
/// and nothing that a parser says about it is in there.
const STRICT: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Invalid JSON payload","data":null}}"#;
const SPARSE: &str =
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Invalid JSON payload"}}"#;

fn expected(route: &str) -> &'static str {
    if route == PRAISON { SPARSE } else { STRICT }
}

/// A request with `value` as the text that it sends.
fn saying(value: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"message/send","params":{{"message":{{"role":"user","messageId":"m","parts":[{{"kind":"text","text":{value}}}]}}}}}}"#
    )
}

/// Bodies that no parser of JSON may take.
fn broken() -> Vec<Vec<u8>> {
    let texts = [
        "",
        " ",
        "\r\n\t",
        "\u{feff}{}",
        "{",
        "}",
        "{}}",
        "[",
        "{not json",
        "{'jsonrpc':'2.0'}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "[1,]",
        "{\"a\":1}// comment",
        "/* comment */{}",
        "{} {}",
        "{}\0",
        "nul",
        "True",
        "NaN",
        "-Infinity",
        "01",
        "+1",
        "1.",
        ".5",
        "0x10",
        "\"a",
        "\"\\x41\"",
        "\"a\nb\"",
        "\"\u{1}\"",
        "jsonrpc=2.0&id=1&method=message/send",
        "<!DOCTYPE html><html></html>",
        r#"{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":{"role":"user" "parts":[]}}}"#,
    ];
    let mut bodies: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    for value in
        ["NaN", "Infinity", "-Infinity", "01", "1e", "'x'", "\"\\u12\"", "undefined", "\"\t\""]
    {
        bodies.push(saying(value).into_bytes());
    }
    bodies.push([saying("\"x\"").as_bytes(), b" x"].concat());
    bodies.push([saying("\"x\""), saying("\"y\"")].concat().into_bytes());
    // No UTF-8: a lone continuation, an overlong slash, half a pair as bytes, beyond Unicode, a cut character.
    let no_texts: [&[u8]; 5] = [
        b"\"\x80\"",
        b"\"\xc0\xaf\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xf5\x80\x80\x80\"",
        b"\"\xe4\xbd\"",
    ];
    for no_text in no_texts {
        let request = saying("?");
        let (before, after) = request.split_once('?').expect("a place");
        bodies.push([before.as_bytes(), no_text, after.as_bytes()].concat());
        bodies.push(no_text.to_vec());
    }
    // Other encodings of Unicode.
    let request = saying("\"x\"");
    bodies.push(request.encode_utf16().flat_map(u16::to_le_bytes).collect());
    bodies.push(request.encode_utf16().flat_map(u16::to_be_bytes).collect());
    bodies
}

#[tokio::test]
async fn a_body_that_is_not_json_gets_the_same_words_whatever_is_wrong_with_it() {
    let server = TestServer::start().await;
    let types: [&[(&str, &str)]; 3] = [
        &[("content-type", "application/json")],
        &[("content-type", "application/json;charset=utf-8")],
        &[],
    ];
    for route in ROUTES {
        for body in broken() {
            for headers in types {
                let reply = server.post(route, headers, body.clone()).await;
                let shown = String::from_utf8_lossy(&body);
                assert_eq!(reply.status, 200, "{shown}");
                assert_eq!(reply.headers["content-type"], "application/json", "{shown}");
                assert_eq!(String::from_utf8_lossy(&reply.body), expected(route), "{shown}");
            }
        }
        still_works(&server, route).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_request_that_is_cut_anywhere_is_a_parse_error() {
    let server = TestServer::start().await;
    let body = request("message/send", &Message::new("é").params()).to_string().into_bytes();
    for end in 0..body.len() {
        let answer = call(&server, ECHO, &body[..end]).await;
        assert_eq!((answer.code(), answer.id.as_str()), (-32700, "null"), "cut at {end}");
    }
    assert!(call(&server, ECHO, body).await.outcome.is_ok());
    server.finish().await;
}

#[tokio::test]
async fn white_space_around_a_request_does_not_matter() {
    let server = TestServer::start().await;
    for route in ROUTES {
        let body = format!("\r\n\t {} \n\n", saying(" \n\"x\"\t"));
        assert_eq!(call(&server, route, body).await.result()["status"]["state"], "completed");
    }
    server.finish().await;
}

/// Half of a surrogate pair is JSON by the letter and no text.
#[tokio::test]
async fn half_a_surrogate_pair_anywhere_in_the_parameters_is_a_parse_error() {
    let server = TestServer::start().await;
    for half in
        ["\\ud83d", "\\ude00", "\\ud83d x", "\\ude00\\ud83d", "\\ud83d\\ud83d", "\\uD83D\\u0041"]
    {
        let message = |members: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"message/send","params":{{"message":{{{members}}}}}}}"#
            )
        };
        let parts = r#""parts":[{"kind":"text","text":"x"}]"#;
        let bodies = [
            saying(&format!("\"{half}\"")),
            message(&format!(r#""role":"user","messageId":"{half}",{parts}"#)),
            message(&format!(r#""role":"{half}","messageId":"m",{parts}"#)),
            message(&format!(r#""role":"user","messageId":"m","contextId":"{half}",{parts}"#)),
            message(&format!(r#""role":"user","messageId":"m","taskId":"{half}",{parts}"#)),
            message(&format!(r#""role":"user","messageId":"m","extensions":["{half}"],{parts}"#)),
            message(
                &r#""role":"user","messageId":"m","parts":[{"kind":"file","file":{"uri":"?"}}]"#
                    .replace('?', half),
            ),
            message(&format!(
                r#""role":"user","messageId":"m","metadata":{{"x":["{half}"]}},{parts}"#
            )),
            message(
                &r#""role":"user","messageId":"m","parts":[{"kind":"data","data":{"?":1}}]"#
                    .replace('?', half),
            ),
            message(&format!(r#""role":"user","messageId":"m","unknown":"{half}",{parts}"#)),
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{{"id":"{half}"}}}}"#
            ),
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"tasks/list","params":{{"contextId":"{half}"}}}}"#
            ),
        ];
        for route in ROUTES {
            for body in &bodies {
                let answer = call(&server, route, body.as_str()).await;
                assert_eq!((answer.code(), answer.id.as_str()), (-32700, "null"), "{body}");
            }
        }
    }
    assert_eq!(
        call(&server, ECHO, saying("\"\\ud83d\\ude00\"")).await.result()["artifacts"][0]["parts"]
            [0]["text"],
        "😀"
    );
    server.finish().await;
}

/// An answer that tells such an id back would be one that many clients cannot read.
#[tokio::test]
async fn half_a_surrogate_pair_in_an_id_is_a_parse_error_and_not_told_back() {
    let server = TestServer::start().await;
    for half in [r#""\ud83d""#, r#""a\ude00b""#, r#""\ude00\ud83d""#] {
        for end in [
            r#""method":"tasks/list"}"#,
            r#""method":"tasks/get","params":{"id":"x"}}"#,
            r#""method":"message/stream"}"#,
            r#""method":7}"#,
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{half},{end}"#);
            for route in ROUTES {
                let answer = call(&server, route, body.as_str()).await;
                assert_eq!(answer.id, "null", "{body}");
                assert_eq!(answer.code(), -32700, "{body}");
            }
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn half_a_surrogate_pair_in_the_envelope_is_a_parse_error() {
    let server = TestServer::start().await;
    let bodies = [
        r#"{"jsonrpc":"2.0","id":7,"method":"tasks/get\ud83d","params":{"id":"x"}}"#,
        r#"{"jsonrpc":"2.0\ud83d","id":7,"method":"tasks/get","params":{"id":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"id":"x"},"\ud83d":1}"#,
    ];
    for route in ROUTES {
        for body in bodies {
            let answer = call(&server, route, body).await;
            assert_eq!(answer.code(), -32700, "{body} -> {answer:?}");
            assert!(["null", "7"].contains(&answer.id.as_str()), "{body} -> {answer:?}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_body_that_is_not_json_opens_no_task() {
    let server = TestServer::start().await;
    for body in broken() {
        Answered::of(&server.post(ECHO, &[], body).await).error();
    }
    let list = request("tasks/list", &serde_json::json!({})).to_string();
    assert_eq!(call(&server, ECHO, list).await.result()["totalSize"], 0);
    server.finish().await;
}
