//! Callers who show bearer tokens.

use super::issuer::{AUDIENCE, ISSUER, Pair, Site, claims};
use crate::support::{Folder, Reply, TestServer};
use a2ad_domain::testing::ManualClock;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A server that takes tokens of an issuer, at a time that stands still.
pub(super) struct Guarded {
    pub(super) server: TestServer,
    pub(super) clock: ManualClock,
}

impl Guarded {
    /// `keys` says where the issuer's keys are, and whatever else.
    pub(super) async fn start(keys: &str) -> Self {
        let clock = ManualClock::default();
        let toml =
            format!("[auth.jwt]\nissuer = \"{ISSUER}\"\naudience = \"{AUDIENCE}\"\n{keys}\n");
        let time = Arc::new(clock.clone());
        let server = TestServer::custom(&toml, |builder| builder.clock(time)).await;
        Self { server, clock }
    }

    /// A call with these values of `Authorization`.
    pub(super) async fn call(&self, shown: &[&str]) -> Reply {
        let mut headers = vec![("a2a-version", "1.0")];
        headers.extend(shown.iter().map(|value| ("authorization", *value)));
        self.server.get("/api/v1/a2a/echo/tasks", &headers).await
    }

    pub(super) async fn status(&self, token: &str) -> u16 {
        self.call(&[&format!("Bearer {token}")]).await.status
    }

    pub(super) fn claims(&self) -> Value {
        claims(&self.clock, "ann")
    }
}

/// The claims with one of them changed, or taken out.
pub(super) fn with(claims: &Value, name: &str, value: Value) -> Value {
    let mut claims = claims.clone();
    let members = claims.as_object_mut().expect("an object");
    if value.is_null() {
        members.remove(name);
    } else {
        members.insert(name.to_owned(), value);
    }
    claims
}

#[tokio::test]
async fn a_token_of_each_algorithm_lets_its_subject_in() {
    let site = Site::new().await;
    let guarded = Guarded::start(&format!("jwks_url = \"{}\"", site.url())).await;
    let pairs = [("r", Pair::rsa()), ("c", Pair::ec()), ("d", Pair::ed())];
    let mut keys: Vec<Value> = pairs.iter().map(|(kid, pair)| pair.jwk(kid)).collect();
    // Keys that are for something else, or that nobody understands, disturb nobody.
    keys.push(json!({ "kty": "oct", "kid": "o", "k": "c2VjcmV0" }));
    keys.push(json!({ "kty": "EC", "crv": "secp256k1", "kid": "k", "x": "AA", "y": "AA" }));
    keys.push(json!("no key"));
    site.publish(&keys);
    for (kid, pair) in &pairs {
        let token = pair.token(kid, &guarded.claims());
        for scheme in ["Bearer", "bearer", "BEARER", "Bearer "] {
            let reply = guarded.call(&[&format!("{scheme} {token}")]).await;
            assert_eq!(reply.status, 200, "{scheme} {kid}");
        }
        let several = with(&guarded.claims(), "aud", json!(["https://other.example", AUDIENCE]));
        assert_eq!(guarded.status(&pair.token(kid, &several)).await, 200);
    }
    assert_eq!(site.fetches(), 1, "the keys were kept");
    guarded.server.finish().await;
}

#[tokio::test]
async fn a_token_is_good_until_its_end_and_the_leeway_have_passed() {
    let site = Site::new().await;
    let guarded = Guarded::start(&format!("jwks_url = \"{}\"\nleeway = \"10s\"", site.url())).await;
    let pair = Pair::ed();
    site.publish(&[pair.jwk("d")]);
    let token = pair.token("d", &guarded.claims());
    let early = guarded.claims()["iat"].as_i64().expect("a time") + 100;
    let early = pair.token("d", &with(&guarded.claims(), "nbf", json!(early)));
    for (after, status, of_early) in [(0, 200, 401), (89, 200, 401), (1, 200, 200), (519, 200, 200)]
    {
        guarded.clock.advance(Duration::from_secs(after));
        assert_eq!(
            (guarded.status(&token).await, guarded.status(&early).await),
            (status, of_early)
        );
    }
    guarded.clock.advance(Duration::from_secs(1));
    assert_eq!(guarded.status(&token).await, 401);
    guarded.server.finish().await;
}

#[tokio::test]
async fn the_key_may_be_in_a_file_and_be_replaced() {
    let folder = Folder::new("issuer");
    let path = folder.join("issuer.pem");
    let pairs = [Pair::rsa(), Pair::ec(), Pair::ed()];
    let guarded = Guarded::start(&format!("key_file = \"{}\"", path.display())).await;
    let tokens = pairs.each_ref().map(|pair| pair.token("any", &guarded.claims()));
    assert_eq!(guarded.status(&tokens[0]).await, 401, "there is no file yet");
    for (index, pair) in pairs.iter().enumerate() {
        std::fs::write(&path, pair.pem()).expect("ours");
        for (other, token) in tokens.iter().enumerate() {
            let status = if other == index { 200 } else { 401 };
            assert_eq!(guarded.status(token).await, status, "{index} {other}");
        }
        let unnamed = json!({ "alg": pair.algorithm() });
        let unnamed = pair.token_under(&unnamed, &guarded.claims());
        assert_eq!(guarded.status(&unnamed).await, 200, "there is only one key");
    }
    let set = json!({ "keys": [pairs[0].jwk("a"), pairs[1].jwk("any")] });
    std::fs::write(&path, set.to_string()).expect("ours");
    assert_eq!(guarded.status(&tokens[1]).await, 200);
    assert_eq!(guarded.status(&tokens[0]).await, 401);
    std::fs::write(&path, "-----BEGIN NOTHING-----").expect("ours");
    assert_eq!(guarded.status(&tokens[1]).await, 401);
    guarded.server.finish().await;
}

#[tokio::test]
async fn a_subject_is_nobody_who_shows_a_key_and_two_credentials_are_none() {
    let folder = Folder::new("both");
    let keys = folder.join("keys.jsonl");
    let site = Site::new().await;
    let more = format!("jwks_url = \"{}\"\n[auth]\nkeys = \"{}\"", site.url(), keys.display());
    let guarded = Guarded::start(&more).await;
    let pair = Pair::ed();
    site.publish(&[pair.jwk("d")]);
    let made = a2ad_domain::Timestamp::from_millis(0);
    let key = a2ad_http::KeyFile::new(&keys).create("ann", None, made).expect("a key");
    let token = format!("Bearer {}", pair.token("d", &guarded.claims()));
    let by_key = ("x-api-key", key.reveal());
    let by_token = ("authorization", &*token);
    let call = async |headers: &[(&str, &str)]| {
        let headers =
            [&[("content-type", "application/json"), ("a2a-version", "1.0")], headers].concat();
        let message = json!({ "role": "ROLE_USER", "messageId": "m", "parts": [{ "text": "x" }] });
        let body = json!({ "message": message }).to_string();
        guarded.server.post("/api/v1/a2a/echo/message:send", &headers, body).await
    };
    let task = call(&[by_key]).await;
    assert_eq!(task.status, 200);
    let id = task.json()["task"]["id"].as_str().expect("an id").to_owned();
    let path = format!("/api/v1/a2a/echo/tasks/{id}");
    for (shown, status) in
        [(&[by_key][..], 200), (&[by_token], 404), (&[by_key, by_token], 401), (&[], 401)]
    {
        assert_eq!(guarded.server.get(&path, shown).await.status, status);
    }
    guarded.server.finish().await;
}
