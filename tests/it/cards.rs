//! What agents say about themselves.

mod address;
mod caching;
mod extended;
mod members;
mod signatures;

use crate::support::TestServer;
use serde_json::Value;

/// The two names of a card.
const NAMES: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// All places of the card of the default agent, here `echo`.
fn places() -> Vec<String> {
    let mut places = Vec::new();
    for base in ["", "/api/v1/a2a/echo"] {
        for name in NAMES {
            places.push(format!("{base}{name}"));
            places.push(format!("{base}{name}/"));
            places.push(format!("{base}{name}?x=y"));
        }
    }
    places
}

async fn card(server: &TestServer, path: &str, headers: &[(&str, &str)]) -> Value {
    let reply = server.get(path, headers).await;
    assert_eq!(reply.status, 200, "{path}");
    assert_eq!(reply.headers["content-type"], "application/json", "{path}");
    reply.json()
}
