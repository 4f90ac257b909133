//! Structured data and metadata are carried: no digit, no empty value and no null is lost.

use super::{field, send, send_part};
use crate::support::TestServer;
use crate::support::caller::request;
use crate::support::rpc::{ECHO, JSON, ROUTES, call};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Values as they stand. All of them are JSON.
const VALUES: &str = r#"{"revision":1,"zero":0,"minus":-0,"snow":9007199254740993,"u64":18446744073709551615,"u65":36893488147419103232,"long":123456789012345678901234567890.123456789012345678901234567890,"f":0.1,"whole":1.0,"e":1e3,"E":1E+2,"neg":-0.0,"tiny":1e-400,"exp":1E400,"no":false,"s":"","n":null,"a":[],"o":{},"deep":[[null,[0,""]],{"":{}}],"z":1,"b":2,"escaped":"\u0041\/\ud83d\ude00"}"#;

#[tokio::test]
async fn data_and_metadata_are_kept_digit_for_digit_in_the_order_of_their_members() {
    let server = TestServer::start().await;
    let message = format!(
        r#""role":"user","messageId":"m","metadata":{VALUES},"parts":[{{"kind":"data","data":{VALUES},"metadata":{VALUES}}}]"#
    );
    for route in ROUTES {
        let kept = |text: &str, place: &str| {
            let data = format!(r#""data":{VALUES}"#);
            let metadata = format!(r#""metadata":{VALUES}"#);
            // In the message and in the artifact at least.
            assert!(text.matches(&data).count() >= 2, "{route} {place}: {text}");
            assert!(text.matches(&metadata).count() >= 3, "{route} {place}: {text}");
        };
        let answer = send(&server, route, &message).await;
        kept(answer.text(), "send");
        let members: BTreeMap<&str, &RawValue> =
            serde_json::from_str(answer.text()).expect("a task");
        let id: Value = serde_json::from_str(members["id"].get()).expect("an id");
        let get = request("tasks/get", &json!({ "id": id })).to_string();
        kept(call(&server, route, get).await.text(), "get");
        let list = request("tasks/list", &json!({ "includeArtifacts": true })).to_string();
        kept(call(&server, route, list).await.text(), "list");
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{{"message":{{{message}}}}}}}"#
        );
        let stream = server.post(route, &[JSON], body).await;
        kept(&String::from_utf8(stream.body).expect("UTF-8"), "stream");
    }
    server.finish().await;
}

/// White space between tokens means nothing and would break the lines of a stream; in texts it is kept.
#[tokio::test]
async fn data_in_many_lines_is_one_line_on_a_stream() {
    let server = TestServer::start().await;
    let part =
        "{\"kind\":\"data\",\n\"data\":{\r\n\t\"a b\" : \"c  d\\n\" ,\n \"e\":[ 1 , 2.50 ]\n}}";
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{{"message":{{"role":"user","messageId":"m","parts":[{part}]}}}}}}"#
    );
    let stream = server.post(ECHO, &[JSON], body).await;
    let text = String::from_utf8(stream.body).expect("UTF-8");
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        assert!(line.starts_with("id: ") || line.starts_with("data: {"), "{line}");
    }
    assert!(text.contains(r#""data":{"a b":"c  d\n","e":[1,2.50]}"#), "{text}");
    server.finish().await;
}

#[tokio::test]
async fn what_is_no_number_of_json_is_a_parse_error() {
    let server = TestServer::start().await;
    for number in
        ["NaN", "Infinity", "-Infinity", "nan", "01", "-", "+1", "1.", ".1", "1e", "0x1", "1_000"]
    {
        for route in ROUTES {
            let part = format!(r#"{{"kind":"data","data":{{"x":{number}}}}}"#);
            let answer = send_part(&server, route, &part).await;
            assert_eq!((answer.code(), answer.id.as_str()), (-32700, "null"), "{number}");
        }
    }
    server.finish().await;
}

/// Where a number means something to the server, it has to be one that the server can count.
#[tokio::test]
async fn a_number_that_cannot_be_counted_is_refused_by_name() {
    let server = TestServer::start().await;
    let lengths = ["-1", "1.5", "1e1", "2147483648", "99999999999999999999", "\"3\"", "true", "[]"];
    for length in lengths {
        let send = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{{"message":{{"role":"user","messageId":"m","parts":[{{"text":"x"}}]}},"configuration":{{"historyLength":{length}}}}}}}"#
        );
        assert_eq!(
            field(&call(&server, ECHO, send).await),
            "configuration.historyLength",
            "{length}"
        );
        for (method, member) in [
            ("tasks/get", "historyLength"),
            ("tasks/list", "historyLength"),
            ("tasks/list", "pageSize"),
        ] {
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"id":"x","{member}":{length}}}}}"#
            );
            assert_eq!(field(&call(&server, ECHO, body).await), member, "{method} {length}");
        }
    }
    // Beyond what floating point holds, so some call it no number at all.
    let huge = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list","params":{"pageSize":1E400}}"#;
    assert!([-32602, -32700].contains(&call(&server, ECHO, huge).await.code()));
    server.finish().await;
}
