//! The keys that an issuer publishes change, and the place where they are may be down.

use super::issuer::{Pair, Site};
use super::tokens::Guarded;
use crate::support::agents::soon;
use axum::http::StatusCode;
use futures_util::future::{join, join_all};
use serde_json::json;
use std::time::Duration;

async fn guarded(site: &Site) -> Guarded {
    let keys =
        format!("jwks_url = \"{}\"\njwks_max_age = \"5m\"\njwks_pause = \"20s\"\n", site.url());
    Guarded::start(&keys).await
}

#[tokio::test]
async fn a_new_key_is_fetched_when_a_token_names_it_and_not_too_often() {
    let site = Site::new().await;
    let (first, second) = (Pair::ed(), Pair::ec());
    site.publish(&[first.jwk("1")]);
    let guarded = guarded(&site).await;
    let [old, new, unknown] = [
        first.token("1", &guarded.claims()),
        second.token("2", &guarded.claims()),
        second.token("3", &guarded.claims()),
    ];
    assert_eq!((guarded.status(&old).await, site.fetches()), (200, 1));
    site.publish(&[first.jwk("1"), second.jwk("2")]);
    assert_eq!((guarded.status(&new).await, site.fetches()), (401, 1), "it is too soon");
    guarded.clock.advance(Duration::from_secs(19));
    assert_eq!((guarded.status(&new).await, site.fetches()), (401, 1), "it is too soon");
    guarded.clock.advance(Duration::from_secs(1));
    assert_eq!((guarded.status(&new).await, site.fetches()), (200, 2));
    for _ in 0..5 {
        assert_eq!((guarded.status(&unknown).await, site.fetches()), (401, 2), "it is too soon");
    }
    assert_eq!((guarded.status(&old).await, guarded.status(&new).await), (200, 200));
    guarded.server.finish().await;
}

#[tokio::test]
async fn a_key_that_the_issuer_withdraws_is_refused_when_the_keys_are_old() {
    let site = Site::new().await;
    let pair = Pair::ed();
    site.publish(&[pair.jwk("1")]);
    let guarded = guarded(&site).await;
    let token = pair.token("1", &guarded.claims());
    assert_eq!(guarded.status(&token).await, 200);
    site.publish(&[]);
    guarded.clock.advance(Duration::from_secs(299));
    assert_eq!((guarded.status(&token).await, site.fetches()), (200, 1));
    guarded.clock.advance(Duration::from_secs(1));
    assert_eq!((guarded.status(&token).await, site.fetches()), (401, 2));
    guarded.server.finish().await;
}

#[tokio::test]
async fn known_keys_go_on_while_the_place_is_down_and_unknown_ones_are_refused() {
    let site = Site::new().await;
    let (pair, other) = (Pair::ed(), Pair::ed());
    let guarded = guarded(&site).await;
    let [known, unknown] =
        [pair.token("1", &guarded.claims()), other.token("2", &guarded.claims())];
    let good = json!({ "keys": [pair.jwk("1")] }).to_string();
    let evil = json!({ "keys": [pair.jwk("1"), other.jwk("2")] }).to_string();
    site.answer(StatusCode::SERVICE_UNAVAILABLE, good.clone());
    assert_eq!((guarded.status(&known).await, site.fetches()), (401, 1), "it never was up");
    guarded.clock.advance(Duration::from_secs(20));
    site.answer(StatusCode::OK, good);
    assert_eq!((guarded.status(&known).await, site.fetches()), (200, 2));
    let mut fetches = 2;
    for (status, body) in [
        (StatusCode::SERVICE_UNAVAILABLE, evil.clone()),
        (StatusCode::FOUND, evil.clone()),
        (StatusCode::OK, format!("{}{evil}", " ".repeat(2 << 20))),
        (StatusCode::OK, "<html>".to_owned()),
        (StatusCode::OK, "{}".to_owned()),
        (StatusCode::OK, "[]".to_owned()),
        (StatusCode::OK, String::new()),
    ] {
        site.answer(status, body);
        guarded.clock.advance(Duration::from_secs(20));
        fetches += 1;
        assert_eq!((guarded.status(&unknown).await, site.fetches()), (401, fetches));
        assert_eq!((guarded.status(&known).await, site.fetches()), (200, fetches));
    }
    guarded.server.finish().await;
}

#[tokio::test]
async fn however_many_wait_the_keys_are_fetched_once_and_whoever_leaves_takes_nothing_along() {
    let site = Site::new().await;
    let pair = Pair::ed();
    site.publish(&[pair.jwk("1")]);
    site.hold();
    let guarded = guarded(&site).await;
    let token = pair.token("1", &guarded.claims());
    {
        let mut leaves = Box::pin(guarded.status(&token));
        tokio::select! {
            _ = &mut leaves => panic!("an answer without keys"),
            () = site.asked(1) => {}
        }
    }
    let calls = join_all((0..20).map(|_| guarded.status(&token)));
    let lets_go = async {
        // While the server answers these it has taken the calls: whoever did not wait would be refused.
        for _ in 0..50 {
            assert_eq!(guarded.server.get("/healthz", &[]).await.status, 200);
        }
        site.let_go();
    };
    let (answers, ()) = soon("answers", join(calls, lets_go)).await;
    assert_eq!(answers, [200; 20]);
    assert_eq!(site.fetches(), 1);
    guarded.server.finish().await;
}
