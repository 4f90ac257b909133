//! Pages in browsers: which may call, and what they may see of an answer.

use crate::support::TestServer;
use crate::support::caller::{Message, request};
use crate::support::rpc::ECHO;
use axum::http::HeaderMap;

const LISTED: &str = "https://app.example";
const TOML: &str =
    "[server.cors]\norigins = [\"https://app.example\", \"http://localhost:3000\"]\n";

/// What a browser asks before it lets a page call.
async fn preflight(server: &TestServer, origin: &str) -> (u16, HeaderMap) {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type,x-api-key,a2a-version"),
    ];
    let answer = server.open("OPTIONS", ECHO, &headers, None).await;
    (answer.status().as_u16(), answer.headers().clone())
}

fn permissions(headers: &HeaderMap) -> Vec<&str> {
    let names = headers.keys().map(axum::http::HeaderName::as_str);
    names.filter(|name| name.starts_with("access-control-")).collect()
}

#[tokio::test]
async fn no_page_may_call_by_default() {
    let server = TestServer::start().await;
    let (status, headers) = preflight(&server, LISTED).await;
    assert_eq!((status, permissions(&headers)), (405, Vec::new()));
    let card = server.get("/.well-known/agent-card.json", &[("origin", LISTED)]).await;
    assert_eq!(permissions(&card.headers), [""; 0]);
    assert_eq!(card.headers["vary"], "A2A-Version");
    server.finish().await;
}

#[tokio::test]
async fn a_listed_page_may_send_and_read_what_a_call_needs() {
    let server = TestServer::with_config(TOML).await;
    for origin in [LISTED, "http://localhost:3000"] {
        let (status, headers) = preflight(&server, origin).await;
        assert_eq!(status, 204);
        assert_eq!(headers["access-control-allow-origin"], origin);
        let sent = headers["access-control-allow-headers"].to_str().expect("text");
        for header in [
            "content-type",
            "authorization",
            "x-api-key",
            "a2a-version",
            "a2a-extensions",
            "last-event-id",
        ] {
            assert!(sent.split(", ").any(|name| name == header), "{header} in {sent}");
        }
        let verbs = headers["access-control-allow-methods"].to_str().expect("text");
        assert!(["GET", "POST", "DELETE"].iter().all(|verb| verbs.contains(verb)), "{verbs}");
        assert_eq!(headers["vary"], "Origin");
        assert!(!headers.contains_key("access-control-allow-credentials"));
        let body = request("message/send", &Message::new("x").params()).to_string();
        let json = [("content-type", "application/json"), ("origin", origin)];
        let reply = server.post(ECHO, &json, body).await;
        assert_eq!(reply.headers["access-control-allow-origin"], origin);
        let read = reply.headers["access-control-expose-headers"].to_str().expect("text");
        for header in ["www-authenticate", "retry-after", "a2a-extensions"] {
            assert!(read.contains(header), "{header} in {read}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_page_that_is_not_listed_gets_nothing() {
    let server = TestServer::with_config(TOML).await;
    for origin in ["https://evil.example", "null", "https://app.example.evil.example", ""] {
        let (status, headers) = preflight(&server, origin).await;
        assert_eq!((status, permissions(&headers)), (405, Vec::new()), "{origin}");
        let card = server.get("/.well-known/agent-card.json", &[("origin", origin)]).await;
        assert_eq!(permissions(&card.headers), [""; 0], "{origin}");
        // A cache must not hand this to a page that is listed.
        let vary: Vec<_> = card.headers.get_all("vary").iter().collect();
        assert_eq!(vary, ["A2A-Version", "Origin"], "{origin}");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_refusal_can_be_read_by_the_page_that_caused_it() {
    let folder = crate::support::Folder::new("pages");
    let keys = folder.join("keys.jsonl");
    let toml = format!("{TOML}[auth]\nkeys = \"{}\"\n", keys.display());
    let server = TestServer::with_config(&toml).await;
    let reply = server.post(ECHO, &[("origin", LISTED)], "{}").await;
    assert_eq!(reply.status, 401);
    assert_eq!(reply.headers["access-control-allow-origin"], LISTED);
    // Asking first needs no credentials: browsers send none with the question.
    assert_eq!(preflight(&server, LISTED).await.0, 204);
    server.finish().await;
}

#[tokio::test]
async fn every_page_may_call_where_that_is_said() {
    let server = TestServer::with_config("[server.cors]\norigins = [\"*\"]\n").await;
    let (status, headers) = preflight(&server, "https://any.example").await;
    assert_eq!(status, 204);
    assert_eq!(headers["access-control-allow-origin"], "https://any.example");
    server.finish().await;
}
