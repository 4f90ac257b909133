//! HTTP that is odd, broken or cut off.

use super::in_order;
use crate::support::agents::soon;
use crate::support::rpc::{Answered, ECHO, PRAISON, still_works};
use crate::support::{Answer, Raw, TestServer};
use tokio::io::AsyncWriteExt;

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tasks/list"}"#;

/// A good call whose request line and headers are these.
fn with(line: &str, headers: &str) -> Vec<u8> {
    format!("{line}\r\n{headers}content-length: {}\r\n\r\n{CALL}", CALL.len()).into_bytes()
}

fn posted(headers: &str) -> Vec<u8> {
    with(
        "POST /a2a HTTP/1.1",
        &format!("host: test\r\ncontent-type: application/json\r\n{headers}"),
    )
}

/// A head without a length, and what follows it.
fn bare(headers: &str, rest: &str) -> Vec<u8> {
    format!("POST /a2a HTTP/1.1\r\nhost: test\r\n{headers}\r\n\r\n{rest}").into_bytes()
}

async fn send(server: &TestServer, bytes: &[u8]) -> (Raw, Option<Answer>) {
    let mut connection = Raw::connect(server.address()).await;
    connection.send(bytes).await;
    let answer = soon("an answer or the end", connection.answer()).await;
    (connection, answer)
}

#[tokio::test]
async fn odd_but_good_http_is_served() {
    let server = TestServer::start().await;
    let size = CALL.len();
    let chunks = [
        format!("{size:x}\r\n{CALL}\r\n0\r\n\r\n"),
        format!("{size:X};name=\"value\"\r\n{CALL}\r\n0;last\r\n\r\n"),
        format!("0000{size:x}\r\n{CALL}\r\n000\r\nx-trailer: 1\r\n\r\n"),
        format!("1\r\n{{\r\n{:x}\r\n{}\r\n0\r\n\r\n", size - 1, &CALL[1..]),
    ];
    let mut requests = vec![
        with("POST /a2a HTTP/1.0", ""),
        with("POST /a2a HTTP/1.1", ""),
        with("POST http://elsewhere.example/a2a HTTP/1.1", "host: test\r\n"),
        [b"\r\n\r\n".to_vec(), posted("")].concat(),
        posted("HOST: other\r\n"),
        posted("X-Empty:\r\n"),
        posted("x-space: \t x \t\r\n"),
        posted("connection: close\r\n"),
        posted(
            "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n",
        ),
        posted("connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"),
        posted("accept: text/event-stream;q=0\r\naccept: */*\r\n"),
        posted("accept-encoding: gzip, br\r\n"),
        posted("authorization: Basic %%%\r\n"),
        posted("cookie: a=\"b; c\r\n"),
        posted("last-event-id: -1\r\n"),
        posted("content-language: x\r\nrange: bytes=0-1\r\nif-match: \"x\"\r\n"),
        posted(&format!("x-long: {}\r\n", "x".repeat(16_000))),
        posted(&(0..80).map(|number| format!("x-{number}: y\r\n")).collect::<String>()),
        with(&format!("POST /a2a?{} HTTP/1.1", "q".repeat(8_000)), "host: test\r\n"),
    ];
    for name in
        ["x-odd", "last-event-id", "accept", "user-agent", "x-a2a-extensions", "x-forwarded-host"]
    {
        let (head, body) = (format!("{name}: ?\r\n"), posted(&format!("{name}: ?\r\n")));
        let at = String::from_utf8_lossy(&body).find(&head).expect("the header") + head.len() - 3;
        let mut body = body;
        body.splice(at..=at, *b"\x80\xff\xc3\xa9");
        requests.push(body);
    }
    requests.extend(chunks.iter().map(|rest| bare("Transfer-Encoding: Chunked", rest)));
    for request in requests {
        let (_, answer) = send(&server, &request).await;
        let shown = String::from_utf8_lossy(&request[..request.len().min(500)]).into_owned();
        let answer = answer.unwrap_or_else(|| panic!("no answer: {shown}"));
        assert_eq!(answer.status, 200, "{shown}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{shown}");
        let read = Answered::read(&answer.body);
        assert!(read.outcome.is_ok() && read.id == "7", "{shown}: {read:?}");
    }
    in_order(server).await;
}

/// Not every answer comes from a route, but none is an error of the server or a page.
#[tokio::test]
async fn broken_http_is_refused_and_costs_its_sender_the_connection() {
    let server = TestServer::start().await;
    let size = CALL.len();
    let many: String = (0..2_000).map(|number| format!("x-{number}: y\r\n")).collect();
    let requests = [
        b"GET\r\n\r\n".to_vec(),
        b"\0\0\0\0\r\n\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1 more\r\n\r\n".to_vec(),
        b"GET / FTP/1.1\r\n\r\n".to_vec(),
        b"GET /\xff HTTP/1.1\r\n\r\n".to_vec(),
        posted("no colon\r\n"),
        posted("na me: x\r\n"),
        posted(": x\r\n"),
        posted("x-folded: a\r\n b\r\n"),
        posted("x-nul: a\0b\r\n"),
        posted("content-length: 1\r\n"),
        bare("content-length: -1", ""),
        bare("content-length: +46", CALL),
        bare("content-length: 4x", CALL),
        bare("content-length: 99999999999999999999999", CALL),
        bare("content-length: 1, 2", CALL),
        bare("transfer-encoding: gzip", CALL),
        bare("transfer-encoding: chunked, gzip", CALL),
        bare("transfer-encoding: chunked", &format!("zz\r\n{CALL}\r\n0\r\n\r\n")),
        bare("transfer-encoding: chunked", &format!("-1\r\n{CALL}\r\n0\r\n\r\n")),
        bare("transfer-encoding: chunked", &format!("{size:x}\r\n{CALL}X\r\n0\r\n\r\n")),
        bare("transfer-encoding: chunked", &format!("fffffffffffffffff\r\n{CALL}\r\n0\r\n\r\n")),
        posted(&many),
        posted(&format!("x-long: {}\r\n", "x".repeat(1 << 20))),
        with(&format!("POST /a2a?{} HTTP/1.1", "q".repeat(100_000)), "host: test\r\n"),
    ];
    for request in requests {
        let (mut connection, answer) = send(&server, &request).await;
        let shown = String::from_utf8_lossy(&request[..request.len().min(300)]).into_owned();
        if let Some(answer) = answer {
            assert!((400..500).contains(&answer.status), "{} {shown}", answer.status);
            if !answer.body.is_empty() {
                assert_eq!(answer.header("content-type"), Some("application/json"), "{shown}");
                assert!(answer.json().is_object(), "{shown}");
            }
            assert!(soon("the end", connection.answer()).await.is_none(), "{shown}");
        }
        still_works(&server, PRAISON).await;
    }
    in_order(server).await;
}

/// Two servers on the way of a request must not disagree about where it ends.
#[tokio::test]
async fn a_length_beside_chunks_hides_no_second_request() {
    let server = TestServer::start().await;
    let hidden = String::from_utf8(posted("")).expect("ASCII");
    let body = format!("0\r\n\r\n{hidden}");
    let request =
        bare(&format!("content-length: {}\r\ntransfer-encoding: chunked", body.len()), &body);
    let (mut connection, first) = send(&server, &request).await;
    let _ = connection.stream.shutdown().await;
    let second = soon("the end", connection.answer()).await;
    // Refused, or taken for chunks, which are empty and so no JSON. What comes after them is then a request of
    // its own, or the connection is at its end.
    if let Some(first) = first
        && first.status != 400
    {
        assert_eq!(Answered::read(&first.body).code(), -32700);
        assert!(second.is_none_or(|second| second.status == 200));
    }
    in_order(server).await;
}

#[tokio::test]
async fn requests_that_come_together_are_answered_one_by_one_in_order() {
    let server = TestServer::start().await;
    let mut bytes = Vec::new();
    for number in 0..50 {
        let call = CALL.replace('7', &number.to_string());
        let body = if number % 5 == 4 { "{".to_owned() } else { call };
        let head =
            format!("POST {ECHO} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n", body.len());
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(body.as_bytes());
    }
    let mut connection = Raw::connect(server.address()).await;
    connection.send(&bytes).await;
    for number in 0..50 {
        let answer = soon("an answer", connection.answer()).await.expect("an answer");
        let id = if number % 5 == 4 { "null".to_owned() } else { number.to_string() };
        assert_eq!(Answered::read(&answer.body).id, id);
    }
    in_order(server).await;
}

#[tokio::test]
async fn a_request_that_comes_byte_by_byte_is_answered() {
    let server = TestServer::start().await;
    for request in [
        posted(""),
        bare("transfer-encoding: chunked", &format!("{:x}\r\n{CALL}\r\n0\r\n\r\n", CALL.len())),
    ] {
        let mut connection = Raw::connect(server.address()).await;
        for byte in request {
            connection.send(&[byte]).await;
            tokio::task::yield_now().await;
        }
        let answer = soon("an answer", connection.answer()).await.expect("an answer");
        assert!(Answered::read(&answer.body).outcome.is_ok());
    }
    in_order(server).await;
}

/// Clients vanish at every point of a request; whatever they wanted, they do not get it done by halves.
#[tokio::test]
async fn a_client_that_vanishes_anywhere_within_a_request_leaves_nothing() {
    let server = TestServer::start().await;
    let send = r#"{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":{"role":"user","messageId":"m","parts":[{"text":"x"}]}}}"#;
    let whole = format!(
        "POST {ECHO} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n{send}",
        send.len()
    );
    for end in (0..whole.len()).step_by(3) {
        for reset in [false, true] {
            let mut connection = Raw::connect(server.address()).await;
            connection.send(&whole.as_bytes()[..end]).await;
            if reset {
                connection.stream.set_zero_linger().expect("a TCP stream");
                continue;
            }
            let _ = connection.stream.shutdown().await;
            while let Some(answer) = soon("an answer or the end", connection.answer()).await {
                assert!((400..500).contains(&answer.status), "cut at {end}: {}", answer.status);
                assert!(answer.body.is_empty() || answer.json().is_object(), "cut at {end}");
            }
        }
    }
    let list = Answered::of(&server.post(ECHO, &[], CALL.as_bytes().to_vec()).await);
    assert_eq!(list.result()["totalSize"], 0);
    in_order(server).await;
}

/// A greeting in another protocol, from somebody who then waits for an answer.
#[tokio::test]
async fn what_is_no_http_at_all_ends_the_connection() {
    let server = TestServer::start().await;
    let greetings: [&[u8]; 5] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"EHLO example.org\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/list\"}\n",
    ];
    for greeting in greetings {
        let (mut connection, answer) = send(&server, greeting).await;
        assert!(answer.is_none_or(|answer| answer.status == 400), "{greeting:?}");
        assert!(soon("the end", connection.answer()).await.is_none(), "{greeting:?}");
    }
    in_order(server).await;
}

/// The version is read from a header, which can hold anything.
#[tokio::test]
async fn a_version_that_is_none_is_refused_with_its_own_code() {
    let server = TestServer::start().await;
    let long = "9".repeat(10_000);
    let versions = [
        "9", "2.0", "0.2", "1", "0.3.0.0", "v0.3", "0.3-beta", "null", "\"0.3\"", "0,3", "-0.3",
        &long,
    ];
    for version in versions {
        let (_, answer) = send(&server, &posted(&format!("a2a-version: {version}\r\n"))).await;
        let read = Answered::read(&answer.expect("an answer").body);
        assert_eq!((read.code(), read.id.as_str()), (-32009, "7"), "{version:.50}");
        // A body that is no request has no version either.
        let text =
            String::from_utf8(posted(&format!("a2a-version: {version}\r\n"))).expect("ASCII");
        let (_, answer) =
            send(&server, text.replace(CALL, &"{".repeat(CALL.len())).as_bytes()).await;
        assert_eq!(Answered::read(&answer.expect("an answer").body).code(), -32700);
    }
    for version in ["", " ", "0.3", "0.3.0", "0.3.99"] {
        let (_, answer) = send(&server, &posted(&format!("A2A-Version: {version}\r\n"))).await;
        assert!(Answered::read(&answer.expect("an answer").body).outcome.is_ok(), "{version}");
    }
    in_order(server).await;
}
