//! The forms of cards: one document for both lines, or the pure form of one, by what the client asks and
//! what the agent is configured for.

use crate::support::{Reply, TestServer};
use serde_json::Value;
use std::collections::BTreeSet;

const AGENTS: &str = r#"
[server]
public_url = "https://a2a.example"
card_max_age = "1h"
[[agent]]
id = "both"
executor = { kind = "echo" }
[[agent]]
id = "new"
executor = { kind = "echo" }
card_mode = "v1"
[[agent]]
id = "old"
executor = { kind = "echo" }
card_mode = "v03"
"#;

const NAMES: [&str; 2] = ["agent-card.json", "agent.json"];

async fn card(server: &TestServer, agent: &str, headers: &[(&str, &str)]) -> Reply {
    let mut first: Option<Reply> = None;
    for name in NAMES {
        let path = format!("/api/v1/a2a/{agent}/.well-known/{name}");
        let reply = server.get(&path, headers).await;
        if let Some(first) = &first {
            assert_eq!(reply.body, first.body, "both names lead to the same: {agent}");
            assert_eq!(reply.headers["etag"], first.headers["etag"]);
        }
        first = Some(reply);
    }
    first.expect("a card")
}

fn members(card: &Value) -> BTreeSet<&str> {
    card.as_object().expect("an object").keys().map(String::as_str).collect()
}

const COMMON: [&str; 7] = [
    "name",
    "description",
    "version",
    "capabilities",
    "defaultInputModes",
    "defaultOutputModes",
    "skills",
];
const OLD: [&str; 4] = ["protocolVersion", "url", "preferredTransport", "additionalInterfaces"];
const NEW: [&str; 1] = ["supportedInterfaces"];

#[track_caller]
fn check(card: &Value, old: bool, new: bool) {
    let mut wanted: BTreeSet<&str> = COMMON.into();
    wanted.extend(OLD.iter().filter(|_| old));
    wanted.extend(NEW.iter().filter(|_| new));
    assert_eq!(members(card), wanted);
    let mut capabilities: BTreeSet<&str> = ["streaming", "pushNotifications"].into();
    capabilities.extend(["extendedAgentCard"].iter().filter(|_| new));
    assert_eq!(members(&card["capabilities"]), capabilities);
}

#[tokio::test]
async fn a_card_has_the_form_that_is_asked_for_unless_the_agent_has_only_one() {
    let server = TestServer::with_config(AGENTS).await;
    for (version, old, new) in [
        ("", true, true),
        ("1.0", false, true),
        ("1.0.2", false, true),
        ("0.3", true, false),
        ("0.3.0", true, false),
        ("7.0", true, true),
    ] {
        let headers = [("a2a-version", version)];
        check(&card(&server, "both", &headers).await.json(), old, new);
        check(&card(&server, "new", &headers).await.json(), false, true);
        check(&card(&server, "old", &headers).await.json(), true, false);
        let path = format!("/api/v1/a2a/both/.well-known/agent-card.json?A2A-Version={version}");
        check(&server.get(&path, &[]).await.json(), old, new);
    }
    server.finish().await;
}

#[tokio::test]
async fn every_interface_is_listed_with_what_it_speaks_the_newest_first() {
    let server = TestServer::with_config(AGENTS).await;
    let card = card(&server, "both", &[]).await.json();
    let listed = card["supportedInterfaces"].as_array().expect("an array").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let listed = listed.map(|it| {
        assert_eq!(members(it), ["protocolBinding", "protocolVersion", "url"].into());
        [&it["protocolBinding"], &it["protocolVersion"], &it["url"]].map(text)
    });
    let base = "https://a2a.example/api/v1/a2a/both";
    let rpc = format!("{base}/jsonrpc");
    let wanted = [
        ["JSONRPC", "1.0", &rpc],
        ["HTTP+JSON", "1.0", base],
        ["JSONRPC", "0.3", &rpc],
        ["HTTP+JSON", "0.3", base],
    ];
    assert_eq!(listed.collect::<Vec<_>>(), wanted.map(|it| it.map(str::to_owned)));
    // In the words of the old line: the preferred transport is that of the address, and no address
    // has two.
    assert_eq!(
        (&card["url"], &card["preferredTransport"]),
        (&rpc.clone().into(), &"JSONRPC".into())
    );
    let additional = card["additionalInterfaces"].as_array().expect("an array");
    let urls: BTreeSet<&str> =
        additional.iter().map(|it| it["url"].as_str().expect("a text")).collect();
    assert_eq!(urls.len(), additional.len());
    assert_eq!(urls, [base, &*rpc].into());
    server.finish().await;
}

#[tokio::test]
async fn every_interface_of_a_card_answers_in_its_line() {
    let server = TestServer::start().await;
    let card = card(&server, "echo", &[]).await.json();
    let home = format!("http://{}", server.address());
    for interface in card["supportedInterfaces"].as_array().expect("an array") {
        let url = interface["url"].as_str().expect("a text");
        let path = url.strip_prefix(&home).unwrap_or_else(|| panic!("{url} is not at {home}"));
        let version = interface["protocolVersion"].as_str().expect("a text");
        let rpc = interface["protocolBinding"] == "JSONRPC";
        let headers = [("a2a-version", version), ("content-type", "application/json")];
        let reply = match (rpc, version) {
            (true, version) => {
                let method = if version == "1.0" { "ListTasks" } else { "tasks/list" };
                let body = super::client::request(method, &serde_json::json!({}));
                server.post(path, &headers, body.to_string()).await
            }
            (false, "1.0") => server.get(&format!("{path}/tasks"), &headers).await,
            (false, _) => server.get(&format!("{path}/v1/tasks"), &headers).await,
        };
        assert_eq!(reply.status, 200, "{interface}");
        let body = reply.json();
        let page = body.get("result").unwrap_or(&body);
        assert_eq!(page["totalSize"], 0, "{interface}: {body}");
    }
    server.finish().await;
}

#[tokio::test]
async fn each_form_is_kept_by_caches_for_itself() {
    let server = TestServer::with_config(AGENTS).await;
    let mut tags = BTreeSet::new();
    for version in ["", "1.0", "0.3"] {
        let reply = card(&server, "both", &[("a2a-version", version)]).await;
        assert_eq!(reply.headers["cache-control"], "public, max-age=3600");
        assert_eq!(reply.headers["vary"], "A2A-Version");
        assert_eq!(reply.headers["content-type"], "application/json");
        let tag = reply.headers["etag"].to_str().expect("a text").to_owned();
        let known = [("a2a-version", version), ("if-none-match", &*tag)];
        let again = card(&server, "both", &known).await;
        assert_eq!((again.status, again.body.len()), (304, 0));
        for name in ["etag", "cache-control", "vary"] {
            assert_eq!(again.headers[name], reply.headers[name], "{name}");
        }
        assert!(!again.headers.contains_key("content-type"));
        // The tag of one form is not that of another.
        for other in ["", "1.0", "0.3"].into_iter().filter(|other| *other != version) {
            let asked = [("a2a-version", other), ("if-none-match", &*tag)];
            assert_eq!(card(&server, "both", &asked).await.status, 200);
        }
        tags.insert(tag);
    }
    assert_eq!(tags.len(), 3);
    server.finish().await;
}

#[tokio::test]
async fn a_card_that_has_not_changed_since_a_date_is_not_sent_again() {
    let server = TestServer::with_config(AGENTS).await;
    let reply = card(&server, "both", &[]).await;
    let date = reply.headers["last-modified"].to_str().expect("a text").to_owned();
    let since = async |headers: &[(&str, &str)]| card(&server, "both", headers).await.status;
    assert_eq!(since(&[("if-modified-since", &date)]).await, 304);
    assert_eq!(since(&[("if-modified-since", "Tue, 01 Jan 2999 00:00:00 GMT")]).await, 304);
    assert_eq!(since(&[("if-modified-since", "Sat, 01 Jan 2000 00:00:00 GMT")]).await, 200);
    assert_eq!(since(&[("if-modified-since", "yesterday")]).await, 200);
    // A tag counts before a date.
    assert_eq!(since(&[("if-modified-since", &date), ("if-none-match", "\"x\"")]).await, 200);
    let tag = reply.headers["etag"].to_str().expect("a text");
    let old = ("if-modified-since", "Sat, 01 Jan 2000 00:00:00 GMT");
    assert_eq!(since(&[old, ("if-none-match", tag)]).await, 304);
    server.finish().await;
}

#[tokio::test]
async fn the_head_of_a_card_is_that_of_the_whole_one() {
    let server = TestServer::with_config(AGENTS).await;
    for agent in ["both", "new", "old"] {
        let path = format!("/api/v1/a2a/{agent}/.well-known/agent-card.json");
        let whole = server.get(&path, &[]).await;
        let head = server.request("HEAD", &path).await;
        assert_eq!((head.status, head.body.len()), (200, 0));
        for name in ["etag", "cache-control", "vary", "last-modified", "content-type"] {
            assert_eq!(head.headers[name], whole.headers[name], "{agent} {name}");
        }
        let length = head.headers["content-length"].to_str().expect("a text");
        assert_eq!(length, whole.body.len().to_string(), "{agent}");
    }
    server.finish().await;
}
