//! Cards may be kept for a while and asked for again cheaply.

use super::{card, places};
use crate::support::TestServer;

#[tokio::test]
async fn a_card_says_how_long_it_is_good_and_by_what_it_is_known() {
    let server = TestServer::start().await;
    for path in places() {
        let reply = server.get(&path, &[]).await;
        let header = |name: &str| reply.headers[name].to_str().expect("a text").to_owned();
        assert!(header("cache-control").starts_with("public, max-age="), "{path}");
        assert!(header("etag").starts_with('"'), "{path}");
        assert!(header("last-modified").ends_with(" GMT"), "{path}");
        assert_eq!(header("vary"), "A2A-Version", "{path}");
        let known = server.get(&path, &[("if-none-match", &header("etag"))]).await;
        assert_eq!((known.status, known.body.len()), (304, 0), "{path}");
        assert_eq!(known.headers["etag"], reply.headers["etag"], "{path}");
        for known in
            [format!("W/{}", header("etag")), format!("\"x\", {}", header("etag")), "*".into()]
        {
            assert_eq!(
                server.get(&path, &[("if-none-match", &known)]).await.status,
                304,
                "{known}"
            );
        }
        for unknown in ["\"x\"", "", "nonsense"] {
            assert_eq!(
                server.get(&path, &[("if-none-match", unknown)]).await.status,
                200,
                "{unknown}"
            );
        }
        let head = server.request("HEAD", &path).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(head.headers["etag"], reply.headers["etag"], "{path}");
    }
    server.finish().await;
}

#[tokio::test]
async fn cards_that_differ_are_known_by_different_tags() {
    let server = TestServer::start().await;
    let tag = async |agent: &str, version: &str| {
        let path = format!("/api/v1/a2a/{agent}/.well-known/agent-card.json");
        let reply = server.get(&path, &[("a2a-version", version)]).await;
        (reply.body, reply.headers["etag"].clone())
    };
    let cards = [tag("echo", "").await, tag("script", "").await, tag("echo", "0.3").await];
    for (index, (body, tag)) in cards.iter().enumerate() {
        for (other_body, other_tag) in &cards[..index] {
            assert_eq!(body == other_body, tag == other_tag);
        }
    }
    assert_ne!(cards[0].1, cards[1].1);
    server.finish().await;
}

/// The catalog leads to the cards and says the same as they do.
#[tokio::test]
async fn the_catalog_agrees_with_the_cards() {
    let server = TestServer::start().await;
    let catalog = card(&server, "/api/v1/a2a/agents", &[]).await;
    let agents = catalog["agents"].as_array().expect("agents");
    assert_eq!(agents.len(), 2);
    for agent in agents {
        let url = agent["card"].as_str().expect("an address");
        let base = format!("http://{}", server.address());
        let path = url.strip_prefix(&base).unwrap_or_else(|| panic!("{url} is not at {base}"));
        let card = card(&server, path, &[]).await;
        for member in ["name", "description", "version", "url"] {
            assert_eq!(agent[member], card[member], "{member}");
        }
    }
    server.finish().await;
}
