//! The members of a card: the required ones are there, and nothing is null.

use super::{card, places};
use crate::support::TestServer;
use serde_json::{Value, json};

const BARE: &str = r#"
[[agent]]
id = "echo"
executor = { kind = "echo" }
"#;

const RICH: &str = r#"
[[agent]]
id = "other"
executor = { kind = "echo" }
[[agent]]
id = "echo"
default = true
name = "Echo “the” agent"
description = "Says\nit <again> 😀."
version = "7.8.9-rc.1"
input_modes = ["text/plain", "application/json"]
output_modes = ["text/plain"]
skills = [
  { id = "a", name = "A", description = "Does a.", tags = ["x", "y"], examples = ["do a"] },
  { id = "b", name = "B", description = "Does b." },
]
executor = { kind = "echo" }
"#;

fn nowhere_null(value: &Value, path: &str) {
    match value {
        Value::Null => panic!("{path} is null"),
        Value::Array(items) => items.iter().for_each(|item| nowhere_null(item, path)),
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| nowhere_null(value, &format!("{path}.{name}")));
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn strings(value: &Value, path: &str) {
    let items = value.as_array().unwrap_or_else(|| panic!("{path} is no array: {value}"));
    assert!(items.iter().all(Value::is_string), "{path}: {value}");
}

/// What the 0.3 line's schema requires of a card.
fn check(card: &Value) {
    nowhere_null(card, "card");
    for member in ["name", "description", "version", "url", "protocolVersion", "preferredTransport"]
    {
        assert!(card[member].is_string(), "{member}: {card}");
    }
    assert_eq!(card["protocolVersion"], "0.3.0");
    assert_eq!(card["preferredTransport"], "JSONRPC");
    assert!(card["capabilities"].is_object(), "{card}");
    for flag in ["streaming", "pushNotifications", "stateTransitionHistory"] {
        let value = &card["capabilities"][flag];
        assert!(value.is_boolean() || value.is_null(), "{flag}: {card}");
    }
    assert_eq!(card["capabilities"]["streaming"], true);
    for modes in ["defaultInputModes", "defaultOutputModes"] {
        strings(&card[modes], modes);
        assert_ne!(card[modes], json!([]), "{modes}");
    }
    for skill in card["skills"].as_array().expect("skills are an array") {
        for member in ["id", "name", "description"] {
            assert!(skill[member].is_string(), "{member}: {skill}");
        }
        strings(&skill["tags"], "tags");
        if let Some(examples) = skill.get("examples") {
            strings(examples, "examples");
        }
    }
    let interfaces = card["additionalInterfaces"].as_array().cloned().unwrap_or_default();
    for interface in &interfaces {
        assert!(interface["url"].is_string() && interface["transport"].is_string(), "{interface}");
    }
    // Whoever looks at the list only finds the preferred interface there as well, and once.
    let preferred = json!({ "url": card["url"], "transport": card["preferredTransport"] });
    assert_eq!(interfaces.iter().filter(|other| **other == preferred).count(), 1, "{card}");
    // One address does not speak two transports.
    for one in &interfaces {
        let same = interfaces.iter().filter(|other| other["url"] == one["url"]);
        assert!(same.clone().all(|other| other["transport"] == one["transport"]), "{card}");
    }
    for absent in ["securitySchemes", "security", "signatures", "provider", "iconUrl"] {
        assert!(card.get(absent).is_none(), "{absent} is not configured: {card}");
    }
}

#[tokio::test]
async fn a_card_of_an_agent_of_which_little_is_configured_has_every_required_member() {
    for config in ["", BARE] {
        let server = TestServer::with_config(config).await;
        for path in places() {
            check(&card(&server, &path, &[]).await);
            check(&card(&server, &path, &[("a2a-version", "0.3")]).await);
        }
        server.finish().await;
    }
}

#[tokio::test]
async fn arrays_that_nothing_is_configured_for_are_empty_and_not_null() {
    let server = TestServer::with_config(BARE).await;
    let card = card(&server, "/.well-known/agent-card.json", &[]).await;
    assert_eq!(card["skills"], json!([]));
    // What takes and makes anything says so.
    for member in ["defaultInputModes", "defaultOutputModes"] {
        assert_eq!(card[member], json!(["*/*"]), "{member}");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_card_says_what_is_configured() {
    let server = TestServer::with_config(RICH).await;
    for path in places() {
        let card = card(&server, &path, &[]).await;
        check(&card);
        assert_eq!(card["name"], "Echo “the” agent");
        assert_eq!(card["description"], "Says\nit <again> 😀.");
        assert_eq!(card["version"], "7.8.9-rc.1");
        assert_eq!(card["defaultInputModes"], json!(["text/plain", "application/json"]));
        assert_eq!(card["defaultOutputModes"], json!(["text/plain"]));
        let skills = json!([
            { "id": "a", "name": "A", "description": "Does a.", "tags": ["x", "y"], "examples": ["do a"] },
            { "id": "b", "name": "B", "description": "Does b.", "tags": [] },
        ]);
        assert_eq!(card["skills"], skills);
    }
    server.finish().await;
}

#[tokio::test]
async fn the_card_of_the_host_is_that_of_the_default_agent_under_both_names() {
    for config in ["", RICH] {
        let server = TestServer::with_config(config).await;
        let own = card(&server, "/api/v1/a2a/echo/.well-known/agent-card.json", &[]).await;
        for path in places() {
            assert_eq!(card(&server, &path, &[]).await, own, "{path}");
        }
        let other = if config.is_empty() { "script" } else { "other" };
        for name in super::NAMES {
            let path = format!("/api/v1/a2a/{other}{name}");
            assert_ne!(card(&server, &path, &[]).await["url"], own["url"]);
        }
        server.finish().await;
    }
}

/// Nothing of the machine, the process or the configuration's inside.
#[tokio::test]
async fn a_card_tells_nothing_about_the_inside() {
    let server = TestServer::with_config(RICH).await;
    let text = card(&server, "/.well-known/agent-card.json", &[]).await.to_string();
    let pid = format!("{}", std::process::id());
    for inside in
        ["executor", "kind", "/home", "/root", "/tmp", "token", "max_", &format!(":{pid}")]
    {
        assert!(!text.contains(inside), "{inside}: {text}");
    }
    server.finish().await;
}
