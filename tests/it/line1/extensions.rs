//! Extensions: agents say which they understand, callers say which they use, and what an agent requires
//! has to be said.

use super::client::{Client, JSON, LINE_1, http, request, rest, rpc, text};
use super::schema::{self, reason};
use crate::support::caller::Message;
use crate::support::rpc::Answered;
use crate::support::{Reply, TestServer};
use serde_json::{Value, json};

const REQUIRED: &str = "urn:example:required";
const OPTIONAL: &str = "https://example.org/ext/optional/v2";

const AGENTS: &str = r#"
[[agent]]
id = "free"
executor = { kind = "script" }
[[agent.extensions]]
uri = "https://example.org/ext/optional/v2"
description = "Says more."
params = '{"depth": 9007199254740993}'
[[agent]]
id = "strict"
executor = { kind = "script" }
[[agent.extensions]]
uri = "urn:example:required"
required = true
[[agent.extensions]]
uri = "https://example.org/ext/optional/v2"
"#;

/// One way to send a message, and the header that its answers name extensions in.
struct Way {
    path: String,
    version: &'static str,
    body: Value,
    header: &'static str,
    is_rpc: bool,
}

fn ways(agent: &str, said: &str) -> Vec<Way> {
    let old = Message::new(said).params();
    let new = json!({ "message": text(said) });
    let mut content = text(said);
    content["content"] =
        content.as_object_mut().expect("an object").remove("parts").expect("parts");
    let proto = json!({ "message": content });
    let way = |path, version, body, header, is_rpc| Way { path, version, body, header, is_rpc };
    let (a, x) = ("a2a-extensions", "x-a2a-extensions");
    vec![
        way(rpc(agent), "1.0", request("SendMessage", &new), a, true),
        way(rpc(agent), "1.0", request("SendStreamingMessage", &new), a, true),
        way(rpc(agent), "", request("message/send", &old), x, true),
        way(rpc(agent), "", request("message/stream", &old), x, true),
        way(rest(agent, "message:send"), "1.0", new.clone(), a, false),
        way(rest(agent, "message:stream"), "1.0", new, a, false),
        way(rest(agent, "v1/message:send"), "", proto.clone(), x, false),
        way(rest(agent, "v1/message:stream"), "", proto, x, false),
    ]
}

async fn send(server: &TestServer, way: &Way, extensions: &[(&str, &str)]) -> Reply {
    let version = ("a2a-version", way.version);
    let headers: Vec<_> = [JSON, version].into_iter().chain(extensions.iter().copied()).collect();
    server.post(&way.path, &headers, way.body.to_string()).await
}

/// The code of a refused message.
fn code(way: &Way, reply: &Reply) -> Option<i64> {
    if reply.headers["content-type"] == "text/event-stream" {
        return None;
    }
    let body = reply.json();
    if way.is_rpc {
        return Answered::of(reply).outcome.err().and_then(|error| error["code"].as_i64());
    }
    if reply.status == 200 {
        return None;
    }
    assert_eq!(reply.status, 400, "{body}");
    if way.version == "1.0" {
        schema::http_error(400, &body);
        assert_eq!(reason(&body), "EXTENSION_SUPPORT_REQUIRED");
        return Some(-32008);
    }
    body["code"].as_i64()
}

#[tokio::test]
async fn a_message_has_to_name_what_the_agent_requires() {
    let server = TestServer::with_config(AGENTS).await;
    for way in ways("strict", "x") {
        let others: [&[(&str, &str)]; 4] = [
            &[],
            &[("a2a-extensions", OPTIONAL)],
            &[("a2a-extensions", "urn:example:required/v2, urn:example")],
            &[("extensions", REQUIRED)],
        ];
        for extensions in others {
            let reply = send(&server, &way, extensions).await;
            assert_eq!(code(&way, &reply), Some(-32008), "{} {extensions:?}", way.path);
            assert!(!reply.headers.contains_key(way.header));
        }
        let both = format!("{OPTIONAL},{REQUIRED}");
        let named: [&[(&str, &str)]; 5] = [
            &[("a2a-extensions", REQUIRED)],
            &[("x-a2a-extensions", REQUIRED)],
            &[("A2A-Extensions", &both)],
            &[("a2a-extensions", OPTIONAL), ("a2a-extensions", REQUIRED)],
            &[("a2a-extensions", "urn:other"), ("x-a2a-extensions", REQUIRED)],
        ];
        for extensions in named {
            let reply = send(&server, &way, extensions).await;
            assert_eq!(code(&way, &reply), None, "{} {extensions:?}", way.path);
        }
    }
    let tasks = Client::new(&server, "strict").ok("ListTasks", json!({})).await;
    assert_eq!(tasks["totalSize"], 8 * 5, "a refused message opens no task");
    server.finish().await;
}

#[tokio::test]
async fn the_refusal_names_the_extension() {
    let server = TestServer::with_config(AGENTS).await;
    let client = Client::new(&server, "strict");
    let error = client.error("SendMessage", json!({ "message": text("x") })).await;
    assert_eq!(error["code"], -32008);
    assert_eq!(error["data"][0]["metadata"], json!({ "extension": REQUIRED }));
    server.finish().await;
}

#[tokio::test]
async fn extensions_that_are_in_force_are_named_in_the_header_of_the_line() {
    let server = TestServer::with_config(AGENTS).await;
    for way in ways("strict", "x") {
        let named = format!(" urn:unknown ,{OPTIONAL} , {REQUIRED}");
        let reply = send(&server, &way, &[("x-a2a-extensions", &named)]).await;
        let active = reply.headers[way.header].to_str().expect("a text");
        let mut active: Vec<&str> = active.split(", ").collect();
        active.sort_unstable();
        assert_eq!(active, [OPTIONAL, REQUIRED], "{}", way.path);
        let other = ["a2a-extensions", "x-a2a-extensions"].into_iter().find(|it| *it != way.header);
        assert!(!reply.headers.contains_key(other.expect("the other one")), "{}", way.path);
    }
    server.finish().await;
}

#[tokio::test]
async fn what_the_agent_does_not_know_is_passed_over() {
    let server = TestServer::with_config(AGENTS).await;
    for agent in ["free", "strict"] {
        for way in ways(agent, "x") {
            let mut extensions =
                vec![("a2a-extensions", "urn:a,, https://example.org/ext/optional/v1")];
            if agent == "strict" {
                extensions.push(("a2a-extensions", REQUIRED));
            }
            let reply = send(&server, &way, &extensions).await;
            assert_eq!(code(&way, &reply), None, "{}", way.path);
            let active = reply.headers.get(way.header).and_then(|value| value.to_str().ok());
            assert_eq!(
                active,
                (agent == "strict").then_some(REQUIRED),
                "no fall-back: {}",
                way.path
            );
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn calls_that_do_not_reach_the_agent_need_no_extension() {
    let server = TestServer::with_config(AGENTS).await;
    let client = Client::new(&server, "strict");
    assert_eq!(client.ok("ListTasks", json!({})).await["totalSize"], 0);
    assert_eq!(client.error("GetTask", json!({ "id": "none" })).await["code"], -32001);
    assert_eq!(client.error("CancelTask", json!({ "id": "none" })).await["code"], -32001);
    let reply = http(&server, "GET", &rest("strict", "tasks"), &[LINE_1], None).await;
    assert_eq!(reply.status, 200);
    server.finish().await;
}

#[tokio::test]
async fn parameters_are_checked_before_extensions() {
    let server = TestServer::with_config(AGENTS).await;
    let client = Client::new(&server, "strict");
    let error = client.error("SendMessage", json!({ "message": { "role": "ROLE_USER" } })).await;
    assert_eq!(error["code"], -32602);
    server.finish().await;
}

#[tokio::test]
async fn cards_list_the_extensions() {
    let server = TestServer::with_config(AGENTS).await;
    for version in ["", "1.0", "0.3"] {
        let card = async |agent: &str| {
            let path = format!("/api/v1/a2a/{agent}/.well-known/agent-card.json");
            let reply = server.get(&path, &[("a2a-version", version)]).await;
            // The numbers in the parameters come back digit for digit.
            let text = String::from_utf8(reply.body.clone()).expect("UTF-8");
            assert_eq!(text.contains("{\"depth\":9007199254740993}"), agent == "free", "{text}");
            reply.json()["capabilities"]["extensions"].clone()
        };
        let free = card("free").await;
        assert_eq!(free[0]["uri"], OPTIONAL);
        assert_eq!(
            (&free[0]["description"], &free[0]["required"]),
            (&json!("Says more."), &json!(false))
        );
        let strict = card("strict").await;
        assert_eq!(strict[0], json!({ "uri": REQUIRED, "required": true }));
        assert_eq!(strict[1], json!({ "uri": OPTIONAL, "required": false }));
    }
    server.finish().await;
}
