//! Tokens that are not what they should be: every one is refused, and every refusal is the same.

use super::issuer::{AUDIENCE, ISSUER, Pair, Site, encode};
use super::tokens::{Guarded, with};
use ring::hmac;
use serde_json::{Value, json};

/// A server, an issuer of three keys, and what a good token says.
struct Case {
    guarded: Guarded,
    rsa: Pair,
    ec: Pair,
    ed: Pair,
    good: Value,
}

impl Case {
    /// Tokens of RSA and Ed25519 are taken.
    async fn start() -> Self {
        let site = Site::new().await;
        let keys = format!("jwks_url = \"{}\"\nalgorithms = [\"RS256\", \"EdDSA\"]", site.url());
        let guarded = Guarded::start(&keys).await;
        let (rsa, ec, ed) = (Pair::rsa(), Pair::ec(), Pair::ed());
        let (mut encrypts, mut other) = (ed.jwk("enc"), rsa.jwk("ps"));
        encrypts["use"] = json!("enc");
        other["alg"] = json!("PS256");
        site.publish(&[rsa.jwk("r"), ec.jwk("c"), ed.jwk("d"), encrypts, other]);
        let good = guarded.claims();
        Self { guarded, rsa, ec, ed, good }
    }

    fn token(&self) -> String {
        self.rsa.token("r", &self.good)
    }

    /// A token with another claim.
    fn claim(&self, name: &str, value: Value) -> String {
        self.rsa.token("r", &with(&self.good, name, value))
    }

    /// A token with another head, signed by RSA.
    fn head(&self, head: Value) -> String {
        self.rsa.token_under(&head, &self.good)
    }

    /// Fails unless the good token is taken and all of these are refused alike.
    async fn refuses(self, bad: impl IntoIterator<Item = (&'static str, String)>) {
        assert_eq!(self.guarded.status(&self.token()).await, 200);
        let none = self.guarded.call(&[]).await;
        assert_eq!(
            (none.status, none.headers["www-authenticate"].as_bytes()),
            (401, &b"Bearer"[..])
        );
        for (what, token) in bad {
            let reply = self.guarded.call(&[&format!("Bearer {token}")]).await;
            assert_eq!(reply.status, 401, "{what}: {token}");
            assert_eq!((&reply.body, reply.headers.len()), (&none.body, none.headers.len()));
        }
        assert_eq!(self.guarded.status(&self.token()).await, 200);
        self.guarded.server.finish().await;
    }
}

#[tokio::test]
async fn a_token_whose_claims_are_not_for_this_server_and_this_time_is_refused() {
    let case = Case::start().await;
    let now = case.good["iat"].as_i64().expect("a time");
    let bad = [
        ("expired", "exp", json!(now - 31)),
        ("long expired", "exp", json!(1)),
        ("without an end", "exp", Value::Null),
        ("an end in words", "exp", json!("tomorrow")),
        ("not yet valid", "nbf", json!(now + 31)),
        ("issued in the future", "iat", json!(now + 31)),
        ("another audience", "aud", json!("https://other.example")),
        ("other audiences", "aud", json!(["https://other.example", "x"])),
        ("no audience", "aud", Value::Null),
        ("an audience that begins alike", "aud", json!(format!("{AUDIENCE}/x"))),
        ("another issuer", "iss", json!("https://evil.example")),
        ("no issuer", "iss", Value::Null),
        ("an issuer with a slash", "iss", json!(format!("{ISSUER}/"))),
        ("no subject", "sub", Value::Null),
        ("a number for a subject", "sub", json!(7)),
        ("an empty subject", "sub", json!("")),
        ("a subject of two lines", "sub", json!("ann\nbob")),
        ("a subject that is too long", "sub", json!("x".repeat(2000))),
        ("too much", "more", json!("x".repeat(20_000))),
    ];
    let bad = bad.map(|(what, name, value)| (what, case.claim(name, value)));
    case.refuses(bad).await;
}

#[tokio::test]
async fn a_token_that_the_key_it_names_has_not_signed_as_is_allowed_is_refused() {
    let case = Case::start().await;
    let stranger = Pair::ed();
    let jwk = stranger.jwk("d");
    let elsewhere = json!({ "alg": "EdDSA", "kid": "x", "jku": "https://evil.example/keys" });
    let bad = [
        ("no key id", case.head(json!({ "alg": "RS256" }))),
        ("an unknown key id", case.head(json!({ "alg": "RS256", "kid": "x" }))),
        ("a key id that is no text", case.head(json!({ "alg": "RS256", "kid": 7 }))),
        ("another key's id", case.head(json!({ "alg": "RS256", "kid": "d" }))),
        ("a key for another algorithm", case.head(json!({ "alg": "RS256", "kid": "ps" }))),
        ("a key that encrypts", case.ed.token("enc", &case.good)),
        ("an algorithm that is not allowed", case.ec.token("c", &case.good)),
        ("another algorithm of the key", case.head(json!({ "alg": "RS512", "kid": "r" }))),
        ("an algorithm of no name", case.head(json!({ "alg": "XX", "kid": "r" }))),
        ("no algorithm", case.head(json!({ "kid": "r" }))),
        (
            "something critical",
            case.head(json!({ "alg": "RS256", "kid": "r", "crit": ["x"], "x": 1 })),
        ),
        ("somebody else's signature", stranger.token("d", &case.good)),
        ("a key of its own", {
            stranger.token_under(&json!({ "alg": "EdDSA", "kid": "d", "jwk": jwk }), &case.good)
        }),
        ("a key of its own elsewhere", stranger.token_under(&elsewhere, &case.good)),
    ];
    case.refuses(bad).await;
}

#[tokio::test]
async fn a_token_that_is_unsigned_or_signed_with_the_public_key_as_a_secret_is_refused() {
    let case = Case::start().await;
    let token = case.token();
    let parts: Vec<&str> = token.split('.').collect();
    let head = |alg: &str| encode(json!({ "alg": alg, "kid": "r" }).to_string());
    let mut bad = vec![
        ("no signature", format!("{}.{}.", parts[0], parts[1])),
        ("half a signature", format!("{}.{}.{}", parts[0], parts[1], &parts[2][..100])),
    ];
    for alg in ["none", "None", "NONE", "nOnE", ""] {
        let message = format!("{}.{}", head(alg), parts[1]);
        bad.push(("unsigned", format!("{message}.")));
        bad.push(("unsigned with a signature", format!("{message}.{}", parts[2])));
    }
    let public = case.rsa.jwk("r");
    let modulus = public["n"].as_str().expect("a text").to_owned();
    for secret in [case.rsa.public().to_vec(), case.rsa.pem().into_bytes(), modulus.into_bytes()] {
        let message = format!("{}.{}", head("HS256"), parts[1]);
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), message.as_bytes());
        bad.push(("signed with a public key", format!("{message}.{}", encode(tag))));
    }
    case.refuses(bad).await;
}

#[tokio::test]
async fn what_is_no_token_is_refused() {
    let case = Case::start().await;
    let token = case.token();
    let parts: Vec<&str> = token.split('.').collect();
    let swapped = encode(with(&case.good, "sub", json!("bob")).to_string());
    let bad = [
        ("other claims", format!("{}.{swapped}.{}", parts[0], parts[2])),
        ("two parts", format!("{}.{}", parts[0], parts[1])),
        ("four parts", format!("{token}.{}", parts[2])),
        ("an encrypted token", format!("{token}.x.y")),
        ("a dot", ".".to_owned()),
        ("dots", "..".to_owned()),
        ("no base64", "a.b.c".to_owned()),
        ("no JSON", format!("{}.{}.{}", encode("{"), encode("{"), parts[2])),
    ];
    case.refuses(bad).await;
}

#[tokio::test]
async fn a_good_token_in_a_bad_place_is_refused() {
    let case = Case::start().await;
    let (guarded, token) = (&case.guarded, case.token());
    let shown = format!("Bearer {token}");
    for shown in [
        &[&*shown, &*shown][..],
        &["Basic eDp5", &shown],
        &[&format!("Basic {token}")],
        &[&token],
        &["Bearer"],
        &["Bearer "],
        &[""],
        &[&format!("{shown} x")],
        &[&format!("Bearer,{token}")],
    ] {
        assert_eq!(guarded.call(shown).await.status, 401, "{shown:?}");
    }
    case.refuses([]).await;
}
