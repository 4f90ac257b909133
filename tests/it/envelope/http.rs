//! The HTTP request around a call: paths, verbs, media types and agents that are not there.

use crate::support::caller::{Message, request};
use crate::support::rpc::{Answered, ECHO, ROUTES, call, still_works};
use crate::support::{Raw, Reply, TestServer};
use serde_json::{Value, json};

fn send() -> String {
    request("message/send", &Message::new("x").params()).to_string()
}

#[tokio::test]
async fn json_is_taken_under_all_its_names_and_under_none() {
    let server = TestServer::start().await;
    let types = [
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8;profile=\"a b\"",
        "Application/JSON",
        "  application/json  ",
        "application/json;",
        "application/json-rpc",
        "application/a2a+json",
        "application/a2a+json; version=1",
        "application/vnd.some.thing+json",
        "application/problem+JSON",
    ];
    for route in ROUTES {
        for kind in types {
            let reply = server.post(route, &[("content-type", kind)], send()).await;
            assert!(Answered::of(&reply).outcome.is_ok(), "{kind}");
        }
        // A client that says nothing means JSON.
        assert!(Answered::of(&server.post(route, &[], send().into_bytes()).await).outcome.is_ok());
    }
    server.finish().await;
}

/// A page in a browser can send these types to any host without asking it first.
#[tokio::test]
async fn what_says_that_it_is_no_json_is_refused_before_it_is_read() {
    let server = TestServer::start().await;
    let types = [
        "text/plain",
        "text/plain;charset=UTF-8",
        "text/html",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/octet-stream",
        "application/xml",
        "application/jsonp",
        "application/json5",
        "application/ndjson",
        "application/x+jsonx",
        "json",
        "+json",
        "application",
        "text/plain, application/json",
        "application/jsön",
    ];
    for route in ROUTES {
        for kind in types {
            for body in [send(), "{'not': json}".to_owned(), String::new()] {
                let reply = server.post(route, &[("content-type", kind)], body.into_bytes()).await;
                let answer = Answered::of(&reply);
                assert_eq!((answer.code(), answer.id.as_str()), (-32005, "null"), "{kind}");
            }
        }
    }
    let list = call(&server, ECHO, request("tasks/list", &json!({})).to_string()).await;
    assert_eq!(list.result()["totalSize"], 0);
    server.finish().await;
}

#[tokio::test]
async fn what_a_client_says_that_it_accepts_does_not_decide_whether_it_is_answered() {
    let server = TestServer::start().await;
    for route in ROUTES {
        for accept in ["text/html", "image/png", "text/event-stream", "*/*", "", "nonsense;;;"] {
            let headers = [("content-type", "application/json"), ("accept", accept)];
            let answer = Answered::of(&server.post(route, &headers, send()).await);
            assert_eq!(answer.result()["status"]["state"], "completed", "{accept}");
        }
        let stream = request("message/stream", &Message::new("x").params()).to_string();
        let headers = [("content-type", "application/json"), ("accept", "application/json")];
        let reply = server.post(route, &headers, stream).await;
        assert_eq!(reply.headers["content-type"], "text/event-stream");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_slash_at_the_end_and_a_query_lead_to_the_same_route_without_a_redirect() {
    let server = TestServer::start().await;
    let paths = [
        "/api/v1/a2a/echo/jsonrpc",
        "/api/v1/a2a/echo/jsonrpc/",
        "/api/v1/a2a/echo/jsonrpc?x=1&y",
        "/api/v1/a2a/echo/jsonrpc/?",
        "/",
        "/?a=b",
        "/a2a",
        "/a2a/",
        "/a2a?next=http://elsewhere",
        "/a2a/?x#y",
    ];
    let mut connection = Raw::connect(server.address()).await;
    for path in paths {
        connection.post(path, send().as_bytes()).await;
        let answer = connection.answer().await.expect("an answer");
        assert_eq!((answer.status, answer.header("location")), (200, None), "{path}");
        assert!(Answered::read(&answer.body).outcome.is_ok(), "{path}");
    }
    for path in [
        "/.well-known/agent-card.json/",
        "/.well-known/agent.json?x",
        "/api/v1/a2a/echo/.well-known/agent-card.json/",
        "/api/v1/a2a/agents/",
        "/healthz/",
        "/readyz?verbose",
        "/status/",
        "/metrics/",
    ] {
        connection.send(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").as_bytes()).await;
        let answer = connection.answer().await.expect("an answer");
        assert_eq!((answer.status, answer.header("location")), (200, None), "{path}");
    }
    server.finish().await;
}

fn refused(reply: &Reply, status: u16) {
    assert_eq!(reply.status, status, "{}", String::from_utf8_lossy(&reply.body));
    assert_eq!(reply.headers["content-type"], "application/json");
}

#[tokio::test]
async fn a_wrong_verb_is_told_the_right_one() {
    let server = TestServer::start().await;
    let verbs = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"];
    for route in ROUTES.into_iter().chain(["/a2a/", "/api/v1/a2a/echo/jsonrpc/?x"]) {
        for verb in verbs {
            let reply = server.request(verb, route).await;
            refused(&reply, 405);
            assert_eq!(reply.headers["allow"], "POST", "{verb} {route}");
            assert!(verb == "HEAD" || reply.json()["error"].is_object(), "{verb} {route}");
        }
        still_works(&server, route.trim_end_matches("?x")).await;
    }
    let read = [
        "/.well-known/agent-card.json",
        "/.well-known/agent.json/",
        "/api/v1/a2a/echo/.well-known/agent-card.json",
        "/api/v1/a2a/agents",
        "/healthz",
        "/readyz",
        "/status",
        "/metrics",
    ];
    for path in read {
        for verb in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"] {
            let reply = server.request(verb, path).await;
            refused(&reply, 405);
            assert_eq!(reply.headers["allow"], "GET, HEAD", "{verb} {path}");
            assert!(reply.json()["error"].is_object(), "{verb} {path}");
        }
        let head = server.request("HEAD", path).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
    }
    server.finish().await;
}

const AGENTS: &str = r#"
[[agent]]
id = "echo"
executor = { kind = "echo" }
[[agent]]
id = "hidden"
published = false
executor = { kind = "echo" }
"#;

/// Nobody can tell by any request whether there is an agent that is not published.
#[tokio::test]
async fn an_agent_that_is_not_published_is_as_if_it_were_not_there() {
    let server = TestServer::with_config(AGENTS).await;
    let below =
        ["jsonrpc", "jsonrpc/", ".well-known/agent-card.json", ".well-known/agent.json", "", "x"];
    for below in below {
        for verb in ["GET", "POST", "HEAD", "DELETE", "OPTIONS"] {
            let [hidden, nobody] =
                ["hidden", "nobody"].map(|agent| (verb, format!("/api/v1/a2a/{agent}/{below}")));
            let hidden = server.request(hidden.0, &hidden.1).await;
            let nobody = server.request(nobody.0, &nobody.1).await;
            refused(&hidden, 404);
            assert_eq!(hidden.body, nobody.body, "{verb} {below}");
            let strip = |reply: &Reply| {
                let mut headers = reply.headers.clone();
                headers.remove("date");
                headers
            };
            assert_eq!(strip(&hidden), strip(&nobody), "{verb} {below}");
        }
    }
    for agent in ["hidden", "nobody"] {
        for body in [send(), "{".to_owned(), "x".repeat(20 << 20)] {
            let path = format!("/api/v1/a2a/{agent}/jsonrpc");
            let reply = server.post(&path, &[("content-type", "text/plain")], body).await;
            refused(&reply, 404);
        }
    }
    let catalog: Value = server.get("/api/v1/a2a/agents", &[]).await.json();
    let ids: Vec<&Value> =
        catalog["agents"].as_array().expect("agents").iter().map(|agent| &agent["id"]).collect();
    assert_eq!(ids, ["echo"]);
    assert!(!server.get("/metrics", &[]).await.body.windows(6).any(|text| text == b"hidden"));
    server.finish().await;
}

#[tokio::test]
async fn a_path_that_leads_nowhere_is_not_found_in_json() {
    let server = TestServer::start().await;
    let long = format!("/{}", "x".repeat(8_000));
    let paths = [
        "/nothing",
        "//",
        "/a2a/x",
        "/A2A",
        "/api",
        "/api/v1/a2a",
        "/api/v1/a2a/",
        "/api/v1/a2a//jsonrpc",
        "/api/v1/a2a/echo",
        "/api/v1/a2a/echo/",
        "/api/v1/a2a/ECHO/jsonrpc",
        "/api/v1/a2a/echo/jsonrpc/x",
        "/api/v1/a2a/echo%2fjsonrpc",
        "/api/v1/a2a/echo%00/jsonrpc",
        "/api/v1/a2a/{agent}/jsonrpc",
        "/api/v1/a2a/*/jsonrpc",
        "/api/v1/a2a/%2e%2e/jsonrpc",
        "/.well-known",
        "/.well-known/agent-card",
        "/.well-known/agent-card.json/x",
        "/.well-known/openid-configuration",
        "/favicon.ico",
        "/robots.txt",
        "/..%2f..%2fetc%2fpasswd",
        "/%ff%fe",
        "/%",
        &long,
    ];
    let mut connection = Raw::connect(server.address()).await;
    for path in paths {
        for verb in ["GET", "POST"] {
            let body = if verb == "POST" { send() } else { String::new() };
            let text = format!(
                "{verb} {path} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            connection.send(text.as_bytes()).await;
            let answer = connection.answer().await.expect("an answer");
            assert_eq!(answer.status, 404, "{verb} {path:.100}");
            assert_eq!(answer.header("content-type"), Some("application/json"), "{path:.100}");
            assert!(answer.json()["error"].is_object(), "{path:.100}");
        }
    }
    server.finish().await;
}
