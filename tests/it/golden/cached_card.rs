//! A card may be kept by its reader, who asks whether it has changed.

use crate::support::TestServer;

const CARD: &str = "/.well-known/agent-card.json";

#[tokio::test]
async fn a_card_says_how_long_it_may_be_kept() {
    let server = TestServer::start().await;
    let reply = server.get(CARD, &[]).await;
    let header = |name: &str| {
        let value = reply.headers.get(name).unwrap_or_else(|| panic!("{name} is missing"));
        value.to_str().expect("ASCII").to_owned()
    };
    let cache = header("cache-control");
    assert!(cache.contains("public") && cache.contains("max-age="), "{cache}");
    assert!(header("etag").ends_with('"'));
    assert!(header("last-modified").ends_with(" GMT"));
    server.finish().await;
}

#[tokio::test]
async fn a_card_that_has_not_changed_is_not_sent_again() {
    let server = TestServer::start().await;
    let first = server.get(CARD, &[]).await;
    let tag = first.headers.get("etag").expect("a tag").to_str().expect("ASCII");
    let again = server.get(CARD, &[("if-none-match", tag)]).await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.headers["etag"], tag);
    let other = server.get(CARD, &[("if-none-match", "\"another\"")]).await;
    assert_eq!((other.status, other.body), (200, first.body));
    server.finish().await;
}
