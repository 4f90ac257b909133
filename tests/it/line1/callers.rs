//! Callers who are not let in, in every line and binding: before their call has been looked at.

use super::client::{JSON, LINE_1, http, request, rest, rpc, text};
use crate::support::TestServer;
use crate::support::agents::agent;
use crate::support::caller::Message;
use a2ad_domain::{AgentId, Owner};
use a2ad_http::Parts;
use a2ad_http::{Authenticator, Caller, Scheme, Unauthenticated};
use async_trait::async_trait;
use serde_json::json;
use std::sync::Arc;

/// Lets in whoever has the right token.
struct Token;

#[async_trait]
impl Authenticator for Token {
    fn schemes(&self) -> &[Scheme] {
        &[Scheme::Bearer]
    }

    async fn authenticate(&self, head: &Parts) -> Result<Caller, Unauthenticated> {
        let given = head.headers.get("authorization").and_then(|value| value.to_str().ok());
        let owner = given.and_then(|value| value.strip_prefix("Bearer good-"));
        owner.and_then(|owner| Owner::new(owner).ok()).map(Caller::new).ok_or(Unauthenticated)
    }
}

async fn guarded() -> TestServer {
    let hidden = agent("hidden", Arc::new(a2ad_executor::Script));
    hidden.set_published(false);
    TestServer::custom("", |builder| builder.authenticator(Arc::new(Token)).with_agent(hidden))
        .await
}

#[tokio::test]
async fn a_caller_without_good_credentials_gets_a_challenge_before_anything_is_read() {
    let server = guarded().await;
    let old = request("message/send", &Message::new("x").params()).to_string();
    let new = request("SendMessage", &json!({ "message": text("x") })).to_string();
    let id = "3b9f6f0e-0000-4000-8000-000000000001";
    let calls = [
        ("POST", rpc("echo"), Some(&*old)),
        ("POST", rpc("echo"), Some(&*new)),
        ("POST", rpc("echo"), Some("{")),
        ("POST", "/".to_owned(), Some(&*old)),
        ("POST", "/a2a".to_owned(), Some(&*old)),
        ("POST", rest("echo", "message:send"), Some("{")),
        ("POST", rest("echo", "message:stream"), Some("{}")),
        ("POST", rest("echo", "v1/message:send"), Some("{}")),
        ("GET", rest("echo", "tasks"), None),
        ("GET", rest("echo", "v1/tasks"), None),
        ("GET", rest("echo", &format!("tasks/{id}")), None),
        ("POST", rest("echo", &format!("tasks/{id}:cancel")), None),
        ("GET", rest("echo", &format!("tasks/{id}:subscribe")), None),
        ("GET", rest("echo", "extendedAgentCard"), None),
    ];
    for (verb, path, body) in calls {
        for credentials in [None, Some("Bearer bad"), Some("Basic Z29vZA=="), Some("")] {
            let mut headers = vec![JSON, LINE_1];
            headers.extend(credentials.map(|value| ("authorization", value)));
            let reply = http(&server, verb, &path, &headers, body.map(str::to_owned)).await;
            assert_eq!(reply.status, 401, "{verb} {path} {credentials:?}");
            assert_eq!(reply.headers["www-authenticate"], "Bearer", "{verb} {path}");
            let text = String::from_utf8(reply.body).expect("UTF-8");
            assert!(!text.contains(id), "nothing is told about tasks: {text}");
        }
    }
    let good = [JSON, LINE_1, ("authorization", "Bearer good-alice")];
    let reply = http(&server, "GET", &rest("echo", "tasks"), &good, None).await;
    assert_eq!((reply.status, &reply.json()["totalSize"]), (200, &json!(0)));
    server.finish().await;
}

#[tokio::test]
async fn cards_are_shown_to_everybody_and_hidden_agents_to_nobody() {
    let server = guarded().await;
    for path in ["/.well-known/agent-card.json", "/api/v1/a2a/echo/.well-known/agent-card.json"] {
        assert_eq!(server.get(path, &[]).await.status, 200, "{path}");
    }
    // Whoever is not let in cannot find out by the status which agents there are.
    for agent in ["hidden", "nobody"] {
        for path in [rpc(agent), rest(agent, "tasks"), rest(agent, "message:send")] {
            assert_eq!(http(&server, "POST", &path, &[JSON], None).await.status, 404, "{path}");
        }
    }
    server.finish().await;
}

/// Knows two callers, and one of them may call one agent only.
struct Two;

#[async_trait]
impl Authenticator for Two {
    fn schemes(&self) -> &[Scheme] {
        &[Scheme::Key, Scheme::Jwt]
    }

    async fn authenticate(&self, head: &Parts) -> Result<Caller, Unauthenticated> {
        let caller = |name: &str| Caller::new(Owner::new(name).expect("a name"));
        let script = AgentId::new("script").expect("an id");
        match head.headers.get("x-api-key").map(|key| key.as_bytes()) {
            Some(b"wide") => Ok(caller("wide")),
            Some(b"narrow") => Ok(caller("narrow").only([script])),
            Some(_) | None => Err(Unauthenticated),
        }
    }
}

#[tokio::test]
async fn a_caller_who_may_not_call_the_agent_is_forbidden_before_anything_is_read() {
    let server = TestServer::custom("", |builder| builder.authenticator(Arc::new(Two))).await;
    let narrow = [JSON, LINE_1, ("x-api-key", "narrow")];
    for path in [rpc("echo"), "/".to_owned(), "/a2a".to_owned(), rest("echo", "message:send")] {
        let reply = http(&server, "POST", &path, &narrow, Some("{".to_owned())).await;
        assert_eq!(reply.status, 403, "{path}");
        assert!(!reply.headers.contains_key("www-authenticate"), "{path}");
        assert_eq!(reply.json()["error"]["status"], "PERMISSION_DENIED");
    }
    let reply = http(&server, "GET", &rest("script", "tasks"), &narrow, None).await;
    assert_eq!((reply.status, &reply.json()["totalSize"]), (200, &json!(0)));
    server.finish().await;
}

#[tokio::test]
async fn the_catalog_shows_the_agents_that_its_reader_may_call() {
    let server = TestServer::custom("", |builder| builder.authenticator(Arc::new(Two))).await;
    for (key, shown) in
        [("wide", &["echo", "script"][..]), ("narrow", &["script"]), ("bad", &[]), ("", &[])]
    {
        let reply = server.get("/api/v1/a2a/agents", &[("x-api-key", key)]).await;
        let agents = reply.json()["agents"].clone();
        let ids: Vec<_> = agents.as_array().expect("agents").iter().map(|it| &it["id"]).collect();
        assert_eq!(reply.status, 200);
        assert_eq!(ids, shown, "{key}");
        assert_eq!(reply.headers["cache-control"], "no-store");
    }
    server.finish().await;
}

#[tokio::test]
async fn the_card_and_the_refusal_say_the_same_of_how_to_be_let_in() {
    let server = TestServer::custom("", |builder| builder.authenticator(Arc::new(Two))).await;
    let card = async |version: &str| {
        let path = "/api/v1/a2a/echo/.well-known/agent-card.json";
        server.get(path, &[("a2a-version", version)]).await.json()
    };
    let old_key = json!({ "type": "apiKey", "in": "header", "name": "x-api-key" });
    let old_jwt = json!({ "type": "http", "scheme": "bearer", "bearerFormat": "JWT" });
    let new_key = json!({ "location": "header", "name": "x-api-key" });
    let new_jwt = json!({ "scheme": "bearer", "bearerFormat": "JWT" });
    let old = card("0.3").await;
    assert_eq!(old["securitySchemes"], json!({ "key": old_key, "jwt": old_jwt }));
    assert_eq!(old["security"], json!([{ "key": [] }, { "jwt": [] }]));
    assert_eq!(old.get("securityRequirements"), None);
    let new = card("1.0").await;
    let wrapped = json!({
        "key": { "apiKeySecurityScheme": new_key },
        "jwt": { "httpAuthSecurityScheme": new_jwt },
    });
    assert_eq!(new["securitySchemes"], wrapped);
    let needs = |name: &str| json!({ "schemes": { name: { "list": [] } } });
    assert_eq!(new["securityRequirements"], json!([needs("key"), needs("jwt")]));
    assert_eq!(new.get("security"), None);
    let both = card("").await;
    assert_eq!(both["security"], old["security"]);
    assert_eq!(both["securityRequirements"], new["securityRequirements"]);
    assert_eq!(both["securitySchemes"]["key"]["type"], "apiKey");
    assert_eq!(both["securitySchemes"]["key"]["apiKeySecurityScheme"], new_key);
    let refusal = server.post(&rpc("echo"), &[JSON], "{}").await;
    let challenges = refusal.headers.get_all("www-authenticate").iter();
    let challenges: Vec<&str> = challenges.map(|it| it.to_str().expect("text")).collect();
    assert_eq!(challenges, ["ApiKey header=\"x-api-key\"", "Bearer"]);
    server.finish().await;
    let open = TestServer::start().await;
    let card = open.get("/.well-known/agent-card.json", &[]).await.json();
    for member in ["security", "securitySchemes", "securityRequirements"] {
        assert_eq!(card.get(member), None, "an open agent needs nothing");
    }
    open.finish().await;
}
