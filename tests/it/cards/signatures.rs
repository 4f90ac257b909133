//! Signed cards: what a verifier finds on them, and what it refuses.

use crate::support::{Folder, Reply, TestServer};
use a2ad_domain::Timestamp;
use a2ad_http::{KeyFile, SigningAlgorithm, SigningKey};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64_URL;
use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey, VerificationAlgorithm};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

const CARD: &str = "/.well-known/agent-card.json";
const KEYS: &str = "/.well-known/jwks.json";

/// An agent of whose card every part can be empty.
const BARE: &str = "[[agent]]\nid = \"bare\"\nexecutor = { kind = \"echo\" }\n";

/// One with something everywhere, beside what the protocol buffers take for nothing.
const FULL: &str = r#"[[agent]]
id = "full"
description = "Größe, 💚 and \"quotes\""
executor = { kind = "echo" }
skills = [{ id = "a", name = "A", description = "It does.", tags = ["t"], examples = ["e"] }]
extensions = [
    { uri = "https://x.example/1", params = '{"z": 1.0, "a": {"n": 10000000000000001, "e": 1e21}}' },
    { uri = "https://x.example/2", required = true, description = "Two." },
]
"#;

fn make(folder: &Folder, name: &str, algorithm: SigningAlgorithm) -> SigningKey {
    SigningKey::create(&folder.join(name), algorithm).expect("a key")
}

async fn start(folder: &Folder, names: &[&str], more: &str) -> TestServer {
    let mut files = String::new();
    for name in names {
        let _ = write!(files, "{:?},", folder.join(name).display().to_string());
    }
    TestServer::with_config(&format!("[cards]\nkeys = [{files}]\n{more}")).await
}

async fn card(server: &TestServer, version: &str) -> Reply {
    server.get(CARD, &[("a2a-version", version)]).await
}

fn member<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}

fn decoded(text: &str) -> Vec<u8> {
    BASE64_URL.decode(text).expect("base64url")
}

/// Canonical JSON of a card: it holds nothing but ASCII names, integers and texts here, and the library
/// sorts members.
fn canonical(card: &Value) -> String {
    card.to_string()
}

/// A card as the SDKs look at it: without anything empty, and without `false` where the protocol buffers
/// have no other way to say it.
fn bare(value: &Value) -> Option<Value> {
    match value {
        Value::Object(members) => {
            let left: Map<String, Value> =
                members.iter().filter_map(|(k, v)| Some((k.clone(), bare(v)?))).collect();
            (!left.is_empty()).then_some(Value::Object(left))
        }
        Value::Array(items) => {
            let left: Vec<Value> = items.iter().filter_map(bare).collect();
            (!left.is_empty()).then_some(Value::Array(left))
        }
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then(|| value.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.clone()),
    }
}

/// Whether a signature is one of this key over this text.
fn verifies(signature: &Value, text: &str, jwk: &Value) -> bool {
    let (algorithm, key): (&dyn VerificationAlgorithm, Vec<u8>) = match member(jwk, "alg") {
        "ES256" => {
            let point = [vec![4], decoded(member(jwk, "x")), decoded(member(jwk, "y"))];
            (&ECDSA_P256_SHA256_FIXED, point.concat())
        }
        "EdDSA" => (&ED25519, decoded(member(jwk, "x"))),
        other => panic!("{other}"),
    };
    let message = format!("{}.{}", member(signature, "protected"), BASE64_URL.encode(text));
    let signed = decoded(member(signature, "signature"));
    UnparsedPublicKey::new(algorithm, key).verify(message.as_bytes(), &signed).is_ok()
}

fn header(signature: &Value) -> Value {
    serde_json::from_slice(&decoded(member(signature, "protected"))).expect("JSON")
}

/// How many signatures of a card are good in a form, by the keys that the server publishes.
async fn good(server: &TestServer, card: &Value, form: fn(&Value) -> String) -> usize {
    let set = server.get(KEYS, &[]).await.json();
    let keys = set["keys"].as_array().expect("keys");
    let mut unsigned = card.clone();
    unsigned.as_object_mut().expect("a card").remove("signatures");
    let text = form(&unsigned);
    let signatures = card["signatures"].as_array().expect("signatures").iter();
    signatures
        .filter(|signature| {
            let kid = header(signature)["kid"].clone();
            let key = keys.iter().find(|key| key["kid"] == kid).expect("a published key");
            verifies(signature, &text, key)
        })
        .count()
}

fn as_served(card: &Value) -> String {
    canonical(card)
}

fn as_the_sdks_look(card: &Value) -> String {
    canonical(&bare(card).expect("something"))
}

#[tokio::test]
async fn a_signed_card_verifies_as_it_is_served_and_as_the_sdks_look_at_it() {
    let folder = Folder::new("signed");
    for (name, algorithm) in [("es", SigningAlgorithm::Es256), ("ed", SigningAlgorithm::EdDsa)] {
        let key = make(&folder, name, algorithm);
        for (agent, signatures) in [(FULL, 1), (BARE, 2)] {
            let server = start(&folder, &[name], agent).await;
            let reply = card(&server, "1.0").await;
            let shown = reply.json();
            let listed = shown["signatures"].as_array().expect("signatures");
            assert_eq!(listed.len(), signatures, "{shown}");
            let base = format!("http://{}", server.address());
            for signature in listed {
                let wanted = json!({ "alg": algorithm.name(), "typ": "JOSE", "kid": key.id(),
                                     "jku": format!("{base}{KEYS}") });
                assert_eq!(header(signature), wanted);
            }
            assert_eq!(good(&server, &shown, as_served).await, 1, "{shown}");
            assert_eq!(good(&server, &shown, as_the_sdks_look).await, 1, "{shown}");
            // Byte for byte: what is served is what was signed, with the signatures at its end.
            let text = String::from_utf8(reply.body).expect("text");
            let (signed, _) = text.split_once(",\"signatures\":").expect("signatures");
            let jwk = serde_json::from_str(&key.public_jwk()).expect("JSON");
            assert!(listed.iter().any(|it| verifies(it, &format!("{signed}}}"), &jwk)), "{text}");
            server.finish().await;
        }
    }
}

#[tokio::test]
async fn a_card_that_was_changed_does_not_verify() {
    let folder = Folder::new("changed");
    make(&folder, "key", SigningAlgorithm::Es256);
    let server = start(&folder, &["key"], FULL).await;
    let shown = card(&server, "1.0").await.json();
    for (place, value) in [
        ("/name", json!("fulL")),
        ("/supportedInterfaces/0/url", json!("https://evil.example")),
        ("/capabilities/streaming", json!(false)),
        ("/capabilities/extensions/0/params/z", json!(2)),
        ("/skills/0/tags/0", json!("T")),
    ] {
        let mut changed = shown.clone();
        *changed.pointer_mut(place).expect(place) = value;
        assert_eq!(good(&server, &changed, as_served).await, 0, "{place}");
        assert_eq!(good(&server, &changed, as_the_sdks_look).await, 0, "{place}");
    }
    let mut other = shown.clone();
    let protected = BASE64_URL.encode(
        json!({ "alg": "ES256", "typ": "JOSE", "kid": header(&shown["signatures"][0])["kid"] })
            .to_string(),
    );
    other["signatures"][0]["protected"] = protected.into();
    assert_eq!(good(&server, &other, as_served).await, 0, "another header");
    server.finish().await;
}

#[tokio::test]
async fn only_the_form_of_the_new_line_is_signed() {
    let folder = Folder::new("forms");
    make(&folder, "key", SigningAlgorithm::Es256);
    let server = start(&folder, &["key"], FULL).await;
    for (version, signed) in [("", false), ("0.3", false), ("1.0", true)] {
        let shown = card(&server, version).await.json();
        assert_eq!(shown.get("signatures").is_some(), signed, "{version}");
    }
    server.finish().await;
    let server =
        start(&folder, &["key"], &FULL.replace("skills", "card_mode = \"v1\"\nskills")).await;
    assert_eq!(good(&server, &card(&server, "").await.json(), as_served).await, 1);
    server.finish().await;
    let server = start(&folder, &[], FULL).await;
    assert!(card(&server, "1.0").await.json().get("signatures").is_none());
    assert_eq!(server.get(KEYS, &[]).await.json(), json!({ "keys": [] }));
    server.finish().await;
}

/// A new key is named beside the old one, and takes its place when everybody knows it.
#[tokio::test]
async fn keys_are_changed_without_a_moment_in_which_somebody_cannot_verify() {
    let folder = Folder::new("rotation");
    let old = make(&folder, "old", SigningAlgorithm::Es256);
    let new = make(&folder, "new", SigningAlgorithm::EdDsa);
    let mut tags = Vec::new();
    for (names, keys) in
        [(&["old"][..], vec![&old]), (&["old", "new"], vec![&old, &new]), (&["new"], vec![&new])]
    {
        let server =
            start(&folder, names, &format!("[server]\npublic_url = \"https://a.example\"\n{FULL}"))
                .await;
        let reply = card(&server, "1.0").await;
        let shown = reply.json();
        let kids = shown["signatures"].as_array().expect("signatures").iter();
        let kids: Vec<Value> = kids.map(|signature| header(signature)["kid"].clone()).collect();
        assert_eq!(kids, keys.iter().map(|key| key.id()).collect::<Vec<_>>());
        assert_eq!(good(&server, &shown, as_served).await, keys.len());
        let set = server.get(KEYS, &[]).await;
        let halves: Vec<Value> =
            keys.iter().map(|it| serde_json::from_str(&it.public_jwk()).expect("JSON")).collect();
        assert_eq!(set.json()["keys"], json!(halves));
        assert!(!String::from_utf8_lossy(&set.body).contains("\"d\":"), "a private half");
        // While nothing changes, the card keeps its tag, although a new signature would be another.
        let tag = reply.headers["etag"].to_str().expect("text").to_owned();
        let again = [("a2a-version", "1.0"), ("if-none-match", &*tag)];
        assert_eq!(server.get(CARD, &again).await.status, 304);
        assert_eq!(card(&server, "1.0").await.body, reply.body);
        let tag_of_set = set.headers["etag"].to_str().expect("text").to_owned();
        assert_eq!(server.get(KEYS, &[("if-none-match", &*tag_of_set)]).await.status, 304);
        assert_eq!(server.request("POST", KEYS).await.status, 405);
        assert!(!tags.contains(&tag), "the tag of other signatures");
        tags.push(tag);
        server.finish().await;
    }
}

#[tokio::test]
async fn the_extended_card_is_signed_in_the_form_of_the_new_line() {
    let folder = Folder::new("both");
    make(&folder, "key", SigningAlgorithm::Es256);
    let keys = folder.join("keys.jsonl");
    let caller = KeyFile::new(&keys).create("ann", None, Timestamp::from_millis(0)).expect("a key");
    let extended = "id = \"full\"\nextended_card = { description = \"More.\" }\n";
    let agent = FULL.replace("id = \"full\"\n", extended);
    let auth = format!("[auth]\nkeys = {:?}\n", keys.display().to_string());
    let server = start(&folder, &["key"], &format!("{auth}{agent}")).await;
    let path = "/api/v1/a2a/full/extendedAgentCard";
    let headers = [("x-api-key", caller.reveal()), ("a2a-version", "1.0")];
    let shown = server.get(path, &headers).await.json();
    assert_eq!(shown["description"], "More.");
    assert_eq!(good(&server, &shown, as_served).await, 1, "{shown}");
    assert_eq!(good(&server, &shown, as_the_sdks_look).await, 1, "{shown}");
    let headers = [("x-api-key", caller.reveal())];
    let old = server.get("/api/v1/a2a/full/v1/card", &headers).await.json();
    assert!(old["description"] == "More." && old.get("signatures").is_none(), "{old}");
    server.finish().await;
}
