//! Media types: both names are taken, and who names the protocol's own gets it.

use super::super::client::{LINE_1, http, rest};
use super::{message, ok, waiting};
use crate::support::TestServer;

const OWN: &str = "application/a2a+json";

#[tokio::test]
async fn the_protocols_own_type_is_answered_to_those_who_name_it() {
    let server = TestServer::start().await;
    let kind = async |verb: &str, path: &str, headers: &[(&str, &str)], body: Option<String>| {
        let headers: Vec<_> = headers.iter().copied().chain([LINE_1]).collect();
        let reply = http(&server, verb, &rest("script", path), &headers, body).await;
        reply.json();
        reply.headers["content-type"].to_str().expect("a text").to_owned()
    };
    let body = || Some(message("", "x").to_string());
    for (headers, wanted) in [
        (&[("content-type", "application/json")][..], "application/json"),
        (&[("content-type", OWN)], OWN),
        (&[("content-type", "application/a2a+json; charset=utf-8")], OWN),
        (&[("content-type", "application/json"), ("accept", OWN)], OWN),
        (
            &[
                ("content-type", "application/json"),
                ("accept", "text/html, application/a2a+json;q=0.9"),
            ],
            OWN,
        ),
        (&[("content-type", "application/json"), ("accept", "*/*")], "application/json"),
        (
            &[("content-type", "application/json"), ("accept", "application/json")],
            "application/json",
        ),
        (&[], "application/json"),
    ] {
        assert_eq!(kind("POST", "message:send", headers, body()).await, wanted, "{headers:?}");
    }
    // Errors are of the same type as results.
    assert_eq!(kind("GET", "tasks", &[("accept", OWN)], None).await, OWN);
    assert_eq!(kind("GET", "tasks/none", &[("accept", OWN)], None).await, OWN);
    assert_eq!(kind("GET", "tasks/none", &[], None).await, "application/json");
    server.finish().await;
}

#[tokio::test]
async fn a_stream_is_a_stream_whatever_is_accepted() {
    let server = TestServer::start().await;
    for accept in ["text/event-stream", OWN, "application/json", "*/*"] {
        for path in ["message:stream", "v1/message:stream"] {
            let headers = [("content-type", "application/json"), ("accept", accept)];
            let body = Some(message(path, "x").to_string());
            let reply = http(&server, "POST", &rest("script", path), &headers, body).await;
            assert_eq!(reply.headers["content-type"], "text/event-stream", "{path} {accept}");
            assert_eq!(reply.headers["cache-control"], "no-cache", "{path} {accept}");
            assert_eq!(reply.headers["x-accel-buffering"], "no", "{path} {accept}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn a_body_that_says_it_is_something_else_is_refused_before_it_is_read() {
    let server = TestServer::start().await;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "json",
    ] {
        for path in ["message:send", "message:stream", "v1/message:send"] {
            let body = Some(message(path, "x").to_string());
            let reply =
                http(&server, "POST", &rest("script", path), &[("content-type", kind)], body).await;
            assert_eq!(reply.status, 400, "{kind} {path}");
            let text = String::from_utf8(reply.body).expect("UTF-8");
            assert!(text.contains("Incompatible content types"), "{text}");
        }
    }
    assert_eq!(ok(&server, "GET", "tasks", None).await["totalSize"], 0);
    waiting(&server).await;
    server.finish().await;
}
