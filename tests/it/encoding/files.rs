//! File parts: bytes or an address, under the names that clients use for them.

use super::{field, send_part};
use crate::support::TestServer;
use crate::support::rpc::{ECHO, ROUTES, call};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What the echo agent gives back for a part.
async fn told(server: &TestServer, route: &str, part: &str) -> Value {
    let task = send_part(server, route, part).await.result();
    assert_eq!(task["status"]["state"], "completed");
    let part = task["artifacts"][0]["parts"][0].clone();
    assert_eq!(task["history"][0]["parts"][0], part, "{part}");
    part["file"].clone()
}

#[tokio::test]
async fn a_file_is_told_by_its_members_and_comes_back_in_one_form() {
    let server = TestServer::start().await;
    let hello = json!({ "bytes": "aGVsbG8=" });
    let named = json!({ "bytes": "aGVsbG8=", "mimeType": "text/plain", "name": "a.txt" });
    let uri = json!({ "uri": "https://example.org/a.pdf", "mimeType": "application/pdf", "name": "a.pdf" });
    let cases = [
        (r#"{"kind":"file","file":{"bytes":"aGVsbG8="}}"#, &hello),
        (r#"{"file":{"bytes":"aGVsbG8="}}"#, &hello),
        // Unknown members, be they misspelt, are passed over.
        (
            r#"{"kind":"file","file":{"bytes":"aGVsbG8=","mime_type":"text/plain","size":5}}"#,
            &hello,
        ),
        (r#"{"kind":"file","file":{"fileWithBytes":"aGVsbG8="}}"#, &hello),
        (r#"{"kind":"file","file":{"data":"aGVsbG8="}}"#, &hello),
        (r#"{"raw":"aGVsbG8="}"#, &hello),
        (r#"{"kind":"file","file":{"bytes":"aGVsbG8"}}"#, &hello),
        (
            r#"{"kind":"file","file":{"bytes":"aGVsbG8=","mimeType":"text/plain","name":"a.txt"}}"#,
            &named,
        ),
        (r#"{"raw":"aGVsbG8=","mediaType":"text/plain","filename":"a.txt"}"#, &named),
        (
            r#"{"kind":"file","file":{"bytes":"aGVsbG8=","mediaType":"text/plain","filename":"a.txt"}}"#,
            &named,
        ),
        (
            r#"{"kind":"file","file":{"uri":"https://example.org/a.pdf","mimeType":"application/pdf","name":"a.pdf"}}"#,
            &uri,
        ),
        (
            r#"{"file":{"fileWithUri":"https://example.org/a.pdf","mimeType":"application/pdf","name":"a.pdf"}}"#,
            &uri,
        ),
        (
            r#"{"url":"https://example.org/a.pdf","mediaType":"application/pdf","filename":"a.pdf"}"#,
            &uri,
        ),
    ];
    for route in ROUTES {
        for (part, file) in &cases {
            assert_eq!(&told(&server, route, part).await, *file, "{route} {part}");
        }
    }
    server.finish().await;
}

/// All bytes, in all lengths of padding and in both alphabets.
#[tokio::test]
async fn bytes_come_back_in_the_standard_alphabet_with_padding() {
    let server = TestServer::start().await;
    let cases = [
        ("", ""),
        ("+/+/", "+/+/"),
        ("-_-_", "+/+/"),
        ("_w==", "/w=="),
        ("_w", "/w=="),
        ("/w", "/w=="),
        ("AAE", "AAE="),
    ];
    for (given, told_back) in cases {
        let part = format!(r#"{{"kind":"file","file":{{"bytes":"{given}"}}}}"#);
        assert_eq!(told(&server, ECHO, &part).await, json!({ "bytes": told_back }), "{given}");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_file_that_is_not_base64_or_names_its_content_twice_is_refused() {
    let server = TestServer::start().await;
    let wrong = [
        r#"{"bytes":"%%%"}"#,
        r#"{"bytes":"a"}"#,
        r#"{"bytes":"aGVsbG8==="}"#,
        r#"{"bytes":"aGVs bG8="}"#,
        r#"{"bytes":"aGVs\nbG8="}"#,
        r#"{"bytes":"+_+_"}"#,
        r#"{"bytes":"=aGk"}"#,
        r#"{"bytes":"aGk=aGk="}"#,
        r#"{"bytes":"你好"}"#,
        r#"{"bytes":"data:text/plain;base64,aGk="}"#,
        r#"{"bytes":7}"#,
        r#"{"bytes":["aGk="]}"#,
        r#"{"uri":7}"#,
        r#"{"bytes":"aGk=","uri":"https://example.org/x"}"#,
        r#"{"bytes":"aGk=","fileWithBytes":"aGk="}"#,
        r#"{"uri":"a","fileWithUri":"a"}"#,
        r#"{"name":"a.txt"}"#,
        r#"{"bytes":"aGk=","name":7}"#,
        r#"{"bytes":"aGk=","mimeType":{}}"#,
    ];
    for file in wrong {
        let part = format!(r#"{{"kind":"file","file":{file}}}"#);
        let answer = send_part(&server, ECHO, &part).await;
        assert!(field(&answer).starts_with("message.parts[0].file"), "{file}: {answer:?}");
        assert_eq!(send_part(&server, "/a2a", &part).await.code(), -32602, "{file}");
    }
    for part in [r#"{"raw":"%%%"}"#, r#"{"raw":7}"#] {
        assert_eq!(field(&send_part(&server, ECHO, part).await), "message.parts[0].raw", "{part}");
    }
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list"}"#;
    assert_eq!(call(&server, ECHO, list).await.result()["totalSize"], 0);
    server.finish().await;
}

/// An address is passed on. What is behind it is the agent's business.
#[tokio::test]
async fn the_server_does_not_fetch_what_a_file_refers_to() {
    let server = TestServer::start().await;
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let uri = format!("http://{}/secret", elsewhere.local_addr().expect("an address"));
    for part in
        [format!(r#"{{"kind":"file","file":{{"uri":"{uri}"}}}}"#), format!(r#"{{"url":"{uri}"}}"#)]
    {
        assert_eq!(told(&server, ECHO, &part).await, json!({ "uri": uri }));
    }
    server.finish().await;
    // Whoever had called would stand in the queue by now, and first. So somebody else calls.
    let own = tokio::net::TcpStream::connect(elsewhere.local_addr().expect("an address"));
    let own = own.await.expect("a connection").local_addr().expect("an address");
    let (_, first) = elsewhere.accept().await.expect("a connection");
    assert_eq!(first, own);
}
