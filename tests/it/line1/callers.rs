//! Callers who are not let in, in every line and binding: before their call has been looked at.

use super::client::{JSON, LINE_1, http, request, rest, rpc, text};
use crate::support::TestServer;
use crate::support::agents::agent;
use crate::support::caller::Message;
use a2ad_domain::Owner;
use a2ad_http::{Authenticator, Challenge};
use axum::http::HeaderMap;
use serde_json::json;
use std::sync::Arc;

/// Lets in whoever has the right token.
struct Token;

impl Authenticator for Token {
    fn authenticate(&self, headers: &HeaderMap) -> Result<Owner, Challenge> {
        let given = headers.get("authorization").and_then(|value| value.to_str().ok());
        let owner = given.and_then(|value| value.strip_prefix("Bearer good-"));
        owner.and_then(|owner| Owner::new(owner).ok()).ok_or_else(Challenge::bearer)
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
