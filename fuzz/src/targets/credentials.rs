//! Credentials: of all that headers can say, one key and one token let their caller in, and nothing that is like
//! them does. The files with what recognizes them are in `known`.

use a2ad_domain::Timestamp;
use a2ad_domain::ports::Clock;
use a2ad_domain::testing::ManualClock;
use a2ad_http::{Algorithm, AnyOf, Authenticator, IssuerKeys, Keys, Method, TokenSettings, Tokens};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The key that is known. It opens nothing else.
const KEY: &str =
    "a2ad_0123456789ab_5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
/// A token whose signature is good until the year 2100. Who could sign another one is gone.
const TOKEN: &str = concat!(
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImQifQ.",
    "eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJhdWQiOiJodHRwczovL2FnZW50cy5leGFtcGxlIiwic3ViIjoi",
    "YW5uIiwiZXhwIjo0MTAyNDQ0ODAwfQ.",
    "YA-nBqwjneFhdMbDBT-OUT5hBxNW3hTd6-Elg9WH1igEzd9CY1pKIz3JtdCso8zF7Z2ZQ8gKUAcmXDj7b7vmCA",
);

/// Whoever shows the known key or the known token.
pub(super) fn known() -> Arc<dyn Authenticator> {
    static KNOWN: LazyLock<Arc<dyn Authenticator>> = LazyLock::new(|| {
        let file = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("known").join(name);
        let keys = Keys::open(file("keys.jsonl")).expect("a file of keys");
        let settings = TokenSettings {
            issuer: "https://login.example".to_owned(),
            audience: "https://agents.example".to_owned(),
            keys: IssuerKeys::File(file("jwks.json")),
            algorithms: vec![Algorithm::EdDsa, Algorithm::Es256, Algorithm::Rs256],
            owner_claim: "sub".to_owned(),
            leeway: Duration::from_secs(30),
        };
        let clock = ManualClock::default();
        assert!(clock.now() < Timestamp::from_millis(4_102_444_800_000), "the token is good");
        let tokens = Tokens::new(settings, Arc::new(clock)).expect("a set of keys");
        let methods: Vec<Arc<dyn Method>> = vec![Arc::new(keys), Arc::new(tokens)];
        Arc::new(AnyOf::new(methods))
    });
    KNOWN.clone()
}

/// Lines of headers. `$k` and `$j` stand for the key and the token, so that changes can be made around them.
pub(super) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input).replace("$k", KEY).replace("$j", TOKEN);
    let mut headers = HeaderMap::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = HeaderValue::from_bytes(value.trim().as_bytes());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), value) {
            headers.append(name, value);
        }
    }
    let mut head = Request::new(()).into_parts().0;
    head.headers = headers.clone();
    let caller = crate::world::run(known().authenticate(&head));
    let shown = |name: &str| headers.get_all(name).iter().collect::<Vec<_>>();
    let good = match (&shown("x-api-key")[..], &shown("authorization")[..]) {
        ([key], []) => key.as_bytes() == KEY.as_bytes(),
        ([], [value]) => value.to_str().is_ok_and(is_bearer_of_token),
        _ => false,
    };
    assert_eq!(caller.is_ok(), good, "{headers:?}");
}

fn is_bearer_of_token(value: &str) -> bool {
    let Some((scheme, token)) = value.split_once(' ') else { return false };
    scheme.eq_ignore_ascii_case("bearer") && token.trim_start_matches(' ') == TOKEN
}
