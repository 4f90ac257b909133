//! What receivers know the server's notices by when they know nothing but its published keys. The tokens and the
//! set of keys are read by a library that the server does not make them with.

use super::{call, full, message};
use crate::support::receiver::{EAGER, HOOKS, Reaction, Receiver, Told};
use crate::support::{Folder, TestServer};
use a2ad_domain::ports::Clock;
use a2ad_domain::testing::ManualClock;
use a2ad_http::{IssuerKeys, SigningAlgorithm, SigningKey, TokenSettings, Tokens};
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

pub(super) const JWT: &str = "a2a-notification-jwt";

/// Who a server with this says that it is.
const ISSUER: &str = "https://a2a.example";

pub(super) fn make(folder: &Folder, name: &str, algorithm: SigningAlgorithm) -> SigningKey {
    SigningKey::create(&folder.join(name), algorithm).expect("a key")
}

/// The list of files as the configuration has it.
pub(super) fn files(folder: &Folder, names: &[&str]) -> String {
    let paths = names.iter().map(|name| folder.join(name).display().to_string());
    format!("{:?}", paths.collect::<Vec<_>>())
}

/// A server with these keys that says who it is.
async fn start(folder: &Folder, names: &[&str]) -> TestServer {
    let keys = files(folder, names);
    let server = format!("[server]\npublic_url = \"{ISSUER}/\"\n");
    TestServer::with_config(&format!("{HOOKS}keys = {keys}\n{server}")).await
}

async fn published(server: &TestServer) -> JwkSet {
    let set = server.get("/.well-known/jwks.json", &[]).await;
    serde_json::from_slice(&set.body).expect("a set of keys")
}

/// What a receiver is told of a task that ends.
async fn told(server: &TestServer, receiver: &Receiver, path: &str) -> Vec<Told> {
    let mut config = full(false, &receiver.url(path));
    config.as_object_mut().expect("a webhook").remove("authentication");
    call(server, "script", "SendMessage", message(false, "plums", config)).await.result();
    receiver.until_ended(path).await
}

fn origin(receiver: &Receiver) -> String {
    receiver.url("")
}

/// What a token says of a body, to a receiver of this origin that trusts these keys; `None` when that is nothing.
fn verified(keys: &JwkSet, audience: &str, token: &str, body: &[u8]) -> Option<Value> {
    // The library's cryptography is set when something that reads tokens is made.
    let settings = TokenSettings {
        issuer: String::new(),
        audience: String::new(),
        keys: IssuerKeys::File("nowhere".into()),
        algorithms: Vec::new(),
        owner_claim: "sub".to_owned(),
        leeway: Duration::ZERO,
    };
    Tokens::new(settings, Arc::new(ManualClock::default())).expect("no file is none that is wrong");
    let key = keys.find(&decode_header(token).ok()?.kid?)?;
    let algorithm = key.common.key_algorithm.expect("an algorithm").to_string();
    let mut wanted = Validation::new(algorithm.parse::<Algorithm>().expect("one that is known"));
    wanted.set_required_spec_claims(&["exp", "iss", "aud"]);
    wanted.set_issuer(&[ISSUER]);
    wanted.set_audience(&[audience]);
    // Times are looked at by the tests, with the clock that the server has.
    wanted.validate_exp = false;
    let key = DecodingKey::from_jwk(key).expect("a key");
    let claims = decode::<Value>(token, &key, &wanted).ok()?.claims;
    let mut hex = String::new();
    for byte in digest(&SHA256, body).as_ref() {
        let _ = write!(hex, "{byte:02x}");
    }
    (claims["request_body_sha256"] == *hex).then_some(claims)
}

fn token(told: &Told) -> &str {
    told.header(JWT).expect("a token")
}

#[tokio::test]
async fn a_notice_verifies_with_the_published_keys_for_its_receiver_and_its_time_alone() {
    for algorithm in SigningAlgorithm::ALL {
        let (folder, receiver) = (Folder::new("verifies"), Receiver::start().await);
        let key = make(&folder, "key", algorithm);
        let clock = Arc::new(ManualClock::default());
        let now = clock.now().as_millis() / 1000;
        let keys = files(&folder, &["key"]);
        let config = format!("{HOOKS}keys = {keys}\n[server]\npublic_url = \"{ISSUER}\"\n");
        let server = TestServer::custom(&config, |parts| parts.clock(clock)).await;
        let keys = published(&server).await;
        for notice in told(&server, &receiver, "/a/secret-path").await {
            let header = decode_header(token(&notice)).expect("a header");
            assert_eq!(header.kid.as_deref(), Some(key.id()));
            assert_eq!(header.typ.as_deref(), Some("JWT"));
            let claims = verified(&keys, &origin(&receiver), token(&notice), &notice.body);
            let claims = claims.expect("a signature of this very body");
            let id = notice.header("a2a-notification-id").expect("an id");
            let wanted = json!({
                "iss": ISSUER, "aud": origin(&receiver), "iat": now, "exp": now + 300,
                "jti": claims["jti"], "notification_id": id,
                "request_body_sha256": claims["request_body_sha256"],
            });
            assert_eq!(claims, wanted);
            let elsewhere = verified(&keys, "https://b.example", token(&notice), &notice.body);
            assert_eq!(elsewhere, None, "another receiver takes it");
        }
        server.finish().await;
    }
}

#[tokio::test]
async fn a_notice_whose_body_or_token_was_changed_by_one_byte_does_not_verify() {
    let (folder, receiver) = (Folder::new("tampered"), Receiver::start().await);
    make(&folder, "key", SigningAlgorithm::Es256);
    let server = start(&folder, &["key"]).await;
    let keys = published(&server).await;
    let notices = told(&server, &receiver, "/a").await;
    let (notice, audience) = (&notices[0], origin(&receiver));
    for place in 0..notice.body.len() {
        let mut body = notice.body.clone();
        body[place] ^= 1;
        assert_eq!(verified(&keys, &audience, token(notice), &body), None, "{place}");
    }
    // Each letter is changed in its highest bit, so that none of the changes is lost in what pads the last one.
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for place in 0..token(notice).len() {
        let mut bytes = token(notice).as_bytes().to_vec();
        let Some(letter) = LETTERS.iter().position(|it| *it == bytes[place]) else { continue };
        bytes[place] = LETTERS[letter ^ 32];
        let changed = String::from_utf8(bytes).expect("text");
        assert_eq!(verified(&keys, &audience, &changed, &notice.body), None, "{place}");
    }
    assert!(verified(&keys, &audience, token(notice), &notice.body).is_some());
    server.finish().await;
}

/// A key is published before it signs, and for as long as what it has signed may be looked at.
#[tokio::test]
async fn what_an_earlier_key_has_signed_verifies_while_that_key_is_published() {
    let (folder, receiver) = (Folder::new("rotation"), Receiver::start().await);
    let old = make(&folder, "old", SigningAlgorithm::Es256);
    let new = make(&folder, "new", SigningAlgorithm::EdDsa);
    let audience = origin(&receiver);
    let mut sent: Vec<Told> = Vec::new();
    for (step, names, signs, good) in [
        ("one", &["old"][..], &old, 1),
        ("announced", &["old", "new"], &old, 2),
        ("changed", &["new", "old"], &new, 3),
        ("taken out", &["new"], &new, 2),
    ] {
        let server = start(&folder, names).await;
        let keys = published(&server).await;
        assert_eq!(keys.keys.len(), names.len(), "{step}");
        let notice =
            told(&server, &receiver, &format!("/{step}").replace(' ', "-")).await.remove(0);
        let kid = decode_header(token(&notice)).expect("a header").kid;
        assert_eq!(kid.as_deref(), Some(signs.id()), "{step}: the first one signs");
        sent.push(notice);
        let verify = |it: &&Told| verified(&keys, &audience, token(it), &it.body).is_some();
        assert_eq!(sent.iter().filter(verify).count(), good, "{step}");
        server.finish().await;
    }
}

#[tokio::test]
async fn a_notice_that_is_sent_again_has_a_new_token_and_the_same_id() {
    let (folder, receiver) = (Folder::new("again"), Receiver::start().await);
    make(&folder, "key", SigningAlgorithm::Es256);
    let keys = files(&folder, &["key"]);
    let server = format!("[server]\npublic_url = \"{ISSUER}\"\n");
    let server = TestServer::with_config(&format!("{EAGER}keys = {keys}\n{server}")).await;
    receiver.react("/a", [Reaction::Answer(503), Reaction::Break, Reaction::Answer(429)]);
    told(&server, &receiver, "/a").await;
    let (keys, sent) = (published(&server).await, receiver.all("/a"));
    let claims =
        |it: &Told| verified(&keys, &origin(&receiver), token(it), &it.body).expect("good");
    let claims: Vec<Value> = sent.iter().map(claims).collect();
    for (attempt, earlier) in claims[1..4].iter().zip(&claims) {
        assert_eq!(attempt["notification_id"], claims[0]["notification_id"]);
        assert_eq!(attempt["request_body_sha256"], claims[0]["request_body_sha256"]);
        assert!(attempt["iat"].as_i64() >= earlier["iat"].as_i64(), "{attempt} {earlier}");
    }
    assert_ne!(claims[4]["notification_id"], claims[0]["notification_id"], "another change");
    for (index, each) in claims.iter().enumerate() {
        assert!(claims[..index].iter().all(|other| other["jti"] != each["jti"]), "{each}");
    }
    server.finish().await;
}

/// What stands in `Authorization` of a notice, and its token.
async fn authorization(
    server: &TestServer,
    receiver: &Receiver,
    (old, authentication): (bool, Option<Value>),
    path: &str,
) -> (Option<String>, Option<String>) {
    let mut config = json!({ "url": receiver.url(path) });
    authentication.into_iter().for_each(|it| config["authentication"] = it);
    let method = if old { "message/send" } else { "SendMessage" };
    call(server, "script", method, message(old, "plums", config)).await.result();
    let notice = receiver.until_ended(path).await.remove(0);
    let header = |name: &str| notice.header(name).map(str::to_owned);
    (header("authorization"), header(JWT))
}

#[tokio::test]
async fn neither_a_clients_credentials_nor_the_token_take_the_place_of_the_other() {
    let (folder, receiver) = (Folder::new("beside"), Receiver::start().await);
    make(&folder, "key", SigningAlgorithm::Es256);
    let signing = start(&folder, &["key"]).await;
    let plain = TestServer::with_config(HOOKS).await;
    let both = |scheme: &str, more: Option<&str>| {
        let mut old = json!({ "schemes": [scheme] });
        let mut new = json!({ "scheme": scheme });
        more.into_iter().for_each(|it| {
            old["credentials"] = it.into();
            new["credentials"] = it.into();
        });
        (Some(old), Some(new))
    };
    for (number, (given, left, shown)) in [
        ((None, None), true, None),
        (both("Bearer", None), true, Some("Bearer")),
        (both("bearer", None), true, Some("bearer")),
        (both("Bearer", Some("abc")), false, Some("Bearer abc")),
        (both("Basic", Some("YTpi")), false, Some("Basic YTpi")),
        (both("Negotiate", None), false, Some("Negotiate")),
    ]
    .into_iter()
    .enumerate()
    {
        for (old, given) in [(true, given.0), (false, given.1)] {
            let given = (old, given);
            let path = format!("/{number}/{old}");
            let (sent, jwt) = authorization(&signing, &receiver, given.clone(), &path).await;
            let jwt = jwt.expect("a token whatever else there is");
            let wanted =
                if left { Some(format!("Bearer {jwt}")) } else { shown.map(str::to_owned) };
            assert_eq!(sent, wanted, "{given:?}");
            let (sent, jwt) =
                authorization(&plain, &receiver, given.clone(), &format!("{path}/plain")).await;
            assert_eq!((sent.as_deref(), jwt), (shown, None), "{given:?} without keys");
        }
    }
    signing.finish().await;
    plain.finish().await;
}

#[tokio::test]
async fn keys_of_cards_and_of_notices_stand_in_one_set_once_each() {
    let folder = Folder::new("one-set");
    let cards = make(&folder, "cards", SigningAlgorithm::Es256);
    let shared = make(&folder, "shared", SigningAlgorithm::Es256);
    let hooks = make(&folder, "hooks", SigningAlgorithm::EdDsa);
    let for_cards = files(&folder, &["cards", "shared"]);
    let for_hooks = files(&folder, &["hooks", "shared"]);
    let published = async |more: &str| {
        let config = format!("{HOOKS}keys = {for_hooks}\n{more}[cards]\nkeys = {for_cards}\n");
        let server = TestServer::with_config(&config).await;
        let set = server.get("/.well-known/jwks.json", &[]).await.json();
        server.finish().await;
        set
    };
    let set = |keys: &[&SigningKey]| {
        let halves = keys.iter().map(|key| serde_json::from_str(&key.public_jwk()).expect("JSON"));
        json!({ "keys": halves.collect::<Vec<Value>>() })
    };
    assert_eq!(published("").await, set(&[&cards, &shared, &hooks]));
    // Where nobody is told anything there is nothing to verify.
    assert_eq!(published("enabled = false\n").await, set(&[&cards, &shared]));
}
