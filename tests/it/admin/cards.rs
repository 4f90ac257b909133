//! Caches hear of a card that has changed.

use super::desk::Desk;
use serde_json::json;

const CARD: &str = "/api/v1/a2a/added/.well-known/agent-card.json";

#[tokio::test]
async fn a_card_that_has_changed_has_another_tag() {
    let desk = Desk::open().await;
    desk.add("added").await;
    let first = desk.server.get(CARD, &[]).await;
    let tag = first.headers["etag"].to_str().expect("text");
    let known = [("if-none-match", tag)];
    assert_eq!(desk.server.get(CARD, &known).await.status, 304);
    let changed = json!({ "name": "Other", "executor": { "kind": "echo" } });
    desk.done("PUT", "/agents/added", Some(changed)).await;
    assert_eq!(desk.server.get(CARD, &known).await.status, 200);
    desk.server.finish().await;
}

#[tokio::test]
async fn a_card_is_as_old_as_its_agent_and_not_as_the_server() {
    let desk = Desk::open().await;
    desk.add("added").await;
    // Somebody who has asked long before the agent was there.
    let old = [("if-modified-since", "Thu, 01 Jan 2026 00:00:00 GMT")];
    assert_eq!(desk.server.get(CARD, &old).await.status, 200);
    let first = desk.server.get(CARD, &[]).await;
    let date = first.headers["last-modified"].to_str().expect("text").to_owned();
    let known = [("if-modified-since", &*date)];
    assert_eq!(desk.server.get(CARD, &known).await.status, 304);
    desk.server.finish().await;
}
