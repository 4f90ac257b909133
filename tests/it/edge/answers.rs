//! Headers that every answer carries.

use crate::support::caller::{Message, request};
use crate::support::rpc::ECHO;
use crate::support::{Reply, TestServer};

/// One answer of each kind: results, errors, streams, cards, probes and what does not exist.
async fn answers(server: &TestServer) -> Vec<(&'static str, Reply)> {
    let json = [("content-type", "application/json")];
    let send = request("message/send", &Message::new("x").params()).to_string();
    let stream = request("message/stream", &Message::new("x").params()).to_string();
    vec![
        ("a result", server.post(ECHO, &json, send).await),
        ("a stream", server.post(ECHO, &json, stream).await),
        ("an error", server.post(ECHO, &json, "{").await),
        ("a wrong verb", server.get(ECHO, &[]).await),
        ("a card", server.get("/.well-known/agent-card.json", &[]).await),
        ("a list", server.get("/api/v1/a2a/echo/v1/tasks", &[]).await),
        ("a probe", server.get("/healthz", &[]).await),
        ("figures", server.get("/metrics", &[]).await),
        ("nothing", server.get("/no/such/route", &[]).await),
    ]
}

#[tokio::test]
async fn every_answer_says_that_its_type_is_meant_and_whether_it_may_be_kept() {
    let server = TestServer::start().await;
    for (what, reply) in answers(&server).await {
        let headers = &reply.headers;
        assert_eq!(headers.get_all("x-content-type-options").iter().count(), 1, "{what}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{what}");
        let kept = match what {
            "a card" => "public, max-age=300",
            "a stream" => "no-cache",
            _ => "no-store",
        };
        assert_eq!(headers["cache-control"], kept, "{what}");
        // Nothing about what it was built with, nor about encryption where there is none.
        for absent in ["server", "x-powered-by", "strict-transport-security", "vary"] {
            let is_card = what == "a card" && absent == "vary";
            assert!(is_card || !headers.contains_key(absent), "{what}: {absent}");
        }
    }
    server.finish().await;
}
