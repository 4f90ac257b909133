//! Extended cards: what an agent says to callers who have shown who they are.

use crate::support::binding::{BINDINGS, Binding};
use crate::support::{Folder, HeaderOwner, Reply, TestServer};
use a2ad::{Agent, AgentId, AgentSettings, App, Card, Config};
use a2ad_domain::Timestamp;
use a2ad_executor::Echo;
use a2ad_http::KeyFile;
use serde_json::{Value, json};
use std::sync::Arc;

const AGENTS: &str = r#"
[[agent]]
id = "both"
description = "What everybody may know."
executor = { kind = "echo" }
skills = [
    { id = "a", name = "A", description = "For everybody." },
    { id = "b", name = "B", description = "For everybody, in short." },
]
[agent.extended_card]
description = "What our customers may know."
version = "0.1.0+inside"
skills = [
    { id = "b", name = "B", description = "In full.", tags = ["long"] },
    { id = "c", name = "C", description = "For customers.", examples = ["c?"] },
]
[[agent]]
id = "plain"
executor = { kind = "echo" }
"#;

/// A server whose callers show keys, and a key.
async fn guarded() -> (TestServer, String, Folder) {
    let folder = Folder::new("extended");
    let path = folder.join("keys.jsonl");
    let key = KeyFile::new(&path).create("ann", None, Timestamp::from_millis(0));
    let toml = format!("[auth]\nkeys = \"{}\"\n{AGENTS}", path.display());
    (TestServer::with_config(&toml).await, key.expect("a key").reveal().to_owned(), folder)
}

/// Asks for the extended card.
async fn ask(
    server: &TestServer,
    binding: Binding,
    agent: &str,
    headers: &[(&str, &str)],
) -> Reply {
    let base = format!("/api/v1/a2a/{agent}");
    let version = if binding.is_new() { "1.0" } else { "0.3" };
    let mut headers = headers.to_vec();
    headers.extend([("a2a-version", version), ("content-type", "application/json")]);
    let method = match binding {
        Binding::OldRest => return server.get(&format!("{base}/v1/card"), &headers).await,
        Binding::NewRest => {
            return server.get(&format!("{base}/extendedAgentCard"), &headers).await;
        }
        Binding::OldRpc => "agent/getAuthenticatedExtendedCard",
        Binding::NewRpc => "GetExtendedAgentCard",
    };
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method });
    server.post(&format!("{base}/jsonrpc"), &headers, body.to_string()).await
}

/// The card of an answer.
fn shown(binding: Binding, reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    let body = reply.json();
    if !binding.is_rpc() {
        return body;
    }
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(7)));
    body["result"].clone()
}

async fn public(server: &TestServer, agent: &str, version: &str) -> Value {
    let path = format!("/api/v1/a2a/{agent}/.well-known/agent-card.json");
    server.get(&path, &[("a2a-version", version)]).await.json()
}

#[tokio::test]
async fn an_extended_card_is_the_public_one_with_what_was_added_in_the_form_of_the_line() {
    let (server, key, _folder) = guarded().await;
    for binding in BINDINGS {
        let reply = ask(&server, binding, "both", &[("x-api-key", &key)]).await;
        assert_eq!(reply.headers["cache-control"], "private, no-store", "{binding:?}");
        assert_eq!(reply.headers["content-type"], "application/json", "{binding:?}");
        let version = if binding.is_new() { "1.0" } else { "0.3" };
        let mut wanted = public(&server, "both", version).await;
        wanted["description"] = "What our customers may know.".into();
        wanted["version"] = "0.1.0+inside".into();
        wanted["skills"] = json!([
            { "id": "a", "name": "A", "description": "For everybody.", "tags": [] },
            { "id": "b", "name": "B", "description": "In full.", "tags": ["long"] },
            { "id": "c", "name": "C", "description": "For customers.", "tags": [],
              "examples": ["c?"] },
        ]);
        assert_eq!(shown(binding, &reply), wanted, "{binding:?}");
    }
    // Its other names in the old line.
    for name in ["agent/authenticatedExtendedCard", "agent/getExtendedCard"] {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": name, "params": {} });
        let headers = [("x-api-key", &*key), ("content-type", "application/json")];
        let reply = server.post("/", &headers, body.to_string()).await;
        let card = shown(Binding::OldRpc, &reply);
        assert_eq!(card["description"], "What our customers may know.", "{name}");
    }
    server.finish().await;
}

#[tokio::test]
async fn nobody_else_is_shown_anything_of_an_extended_card() {
    let (server, key, _folder) = guarded().await;
    for binding in BINDINGS {
        for headers in [&[][..], &[("x-api-key", "bad")], &[("x-api-key", &key), ("x-api-key", "")]]
        {
            let reply = ask(&server, binding, "both", headers).await;
            assert_eq!(reply.status, 401, "{binding:?} {headers:?}");
            assert!(reply.headers.contains_key("www-authenticate"), "{binding:?}");
        }
    }
    for version in ["", "1.0", "0.3"] {
        let card = public(&server, "both", version).await.to_string();
        for secret in ["customers", "inside", "In full"] {
            assert!(!card.contains(secret), "{version}: {card}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn the_public_card_says_whether_there_is_an_extended_one_and_an_agent_without_says_so() {
    let (server, key, _folder) = guarded().await;
    for (agent, there) in [("both", true), ("plain", false)] {
        for (version, old, new) in [("", true, true), ("1.0", false, true), ("0.3", true, false)] {
            let card = public(&server, agent, version).await;
            let says = &card["capabilities"]["extendedAgentCard"];
            assert_eq!(says, &if new { json!(there) } else { Value::Null }, "{agent} {version}");
            let says = card["supportsAuthenticatedExtendedCard"] == true;
            assert_eq!(says, old && there, "{agent} {version}");
        }
    }
    for binding in BINDINGS {
        let reply = ask(&server, binding, "plain", &[("x-api-key", &key)]).await;
        let code = if binding.is_new() { "UNSUPPORTED_OPERATION" } else { "-32007" };
        let text = String::from_utf8_lossy(&reply.body);
        assert!(text.contains(code), "{binding:?}: {text}");
        assert_eq!(reply.status, if binding.is_rpc() { 200 } else { 400 }, "{binding:?}");
    }
    server.finish().await;
}

fn with_extended(id: &str) -> Agent {
    let card = Card::new("Mine", "Public.");
    let (id, settings) = (AgentId::new(id).expect("an id"), AgentSettings::default());
    let more = card.clone().with_skill("more", "More", "Inside.");
    Agent::new(id, card, settings, Arc::new(Echo::default())).with_extended_card(more)
}

#[tokio::test]
async fn a_caller_who_is_let_in_without_being_known_gets_no_extended_card() {
    let server = TestServer::custom("", |builder| {
        builder.with_agent(with_extended("mine")).authenticator(Arc::new(HeaderOwner))
    })
    .await;
    for binding in BINDINGS {
        assert_eq!(ask(&server, binding, "mine", &[]).await.status, 401, "{binding:?}");
        let reply = ask(&server, binding, "mine", &[("x-test-owner", "ann")]).await;
        assert_eq!(shown(binding, &reply)["skills"][0]["id"], "more", "{binding:?}");
    }
    server.finish().await;
}

#[test]
fn an_agent_that_asks_nobody_has_no_extended_card() {
    let card = "[agent.extended_card]\ndescription = \"x\"\n";
    let agent = "[[agent]]\nid = \"x\"\nexecutor = { kind = \"echo\" }\n";
    let keys = "[auth]\nkeys = \"keys\"\n";
    for (toml, remedy) in [
        (format!("{agent}{card}"), "in [auth]"),
        (format!("{keys}{agent}auth = []\n{card}"), "name them in auth"),
        (format!("{keys}{agent}[agent.extended_card]\n"), "remove it"),
        (format!("{keys}{agent}extended_card = {{ skill = [] }}\n"), "`skills`"),
    ] {
        let error = Config::parse(&toml, "test").expect_err("no sense").to_string();
        assert!(error.contains(remedy), "{error}");
    }
    assert!(Config::parse(&format!("{keys}{agent}{card}"), "test").is_ok());
    let mut config = Config::parse(agent, "test").expect("good");
    config.store.kind = a2ad::config::StoreKind::Memory;
    let built = App::builder(config).with_agent(with_extended("mine")).build();
    let error = built.err().expect("everybody may call").to_string();
    assert!(error.contains("extended card of the agent mine"), "{error}");
}
