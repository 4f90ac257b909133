//! An issuer of tokens: its keys, how it signs, and where it publishes. Written without the library that the
//! server reads tokens with.

use crate::support::agents::soon;
use a2ad_domain::ports::Clock;
use a2ad_domain::testing::ManualClock;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

pub(super) const ISSUER: &str = "https://login.example";
pub(super) const AUDIENCE: &str = "https://agents.example";

/// A pair of keys.
pub(super) enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

pub(super) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Pair {
    /// The one RSA pair of these tests: `ring` makes none. It signs nothing but these tokens.
    pub(super) fn rsa() -> Self {
        let text: String = include_str!("rsa_key.b64").split_whitespace().collect();
        let pair = RsaKeyPair::from_pkcs8(&STANDARD.decode(text).expect("base64"));
        Self::Rsa(pair.expect("a pair of keys"))
    }

    pub(super) fn ec() -> Self {
        let random = SystemRandom::new();
        let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::generate_pkcs8(curve, &random).expect("a pair of keys");
        Self::Ec(EcdsaKeyPair::from_pkcs8(curve, pair.as_ref(), &random).expect("a pair of keys"))
    }

    pub(super) fn ed() -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a pair of keys");
        Self::Ed(Ed25519KeyPair::from_pkcs8(pair.as_ref()).expect("a pair of keys"))
    }

    pub(super) fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RS256",
            Self::Ec(_) => "ES256",
            Self::Ed(_) => "EdDSA",
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let signed = pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
                signed.expect("a signature");
                signature
            }
            Self::Ec(pair) => pair.sign(&random, message).expect("a signature").as_ref().to_vec(),
            Self::Ed(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// A token with any head.
    pub(super) fn token_under(&self, head: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encode(head.to_string()), encode(claims.to_string()));
        let signature = encode(self.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }

    /// A token as it should be.
    pub(super) fn token(&self, kid: &str, claims: &Value) -> String {
        self.token_under(&json!({ "alg": self.algorithm(), "kid": kid }), claims)
    }

    /// The public key as an issuer publishes it.
    pub(super) fn jwk(&self, kid: &str) -> Value {
        match self {
            Self::Rsa(pair) => {
                let PublicKeyComponents::<Vec<u8>> { n, e } = pair.public().into();
                json!({ "kty": "RSA", "kid": kid, "n": encode(n), "e": encode(e) })
            }
            Self::Ec(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": kid, "x": encode(x), "y": encode(y) })
            }
            Self::Ed(pair) => {
                let x = encode(pair.public_key());
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": kid, "x": x })
            }
        }
    }

    /// The public key in bytes as its algorithm has them.
    pub(super) fn public(&self) -> &[u8] {
        match self {
            Self::Rsa(pair) => pair.public().as_ref(),
            Self::Ec(pair) => pair.public_key().as_ref(),
            Self::Ed(pair) => pair.public_key().as_ref(),
        }
    }

    /// The public key in PEM.
    pub(super) fn pem(&self) -> String {
        // What says in DER (RFC 5280 §4.1) which algorithm the bits that follow are for.
        let before: &[u8] = match self {
            Self::Rsa(_) => b"\x30\x82\x01\x22\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03\x82\x01\x0f\x00",
            Self::Ec(_) => b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00",
            Self::Ed(_) => b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00",
        };
        let text = STANDARD.encode([before, self.public()].concat());
        format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n")
    }
}

/// What a good token of this subject says.
pub(super) fn claims(clock: &ManualClock, subject: &str) -> Value {
    let now = clock.now().as_millis() / 1000;
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 600 })
}

/// The place where an issuer publishes its keys.
pub(super) struct Site {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    answer: Mutex<(StatusCode, String)>,
    fetches: AtomicUsize,
    /// One permit for each answer that may go out, when the site is held.
    gate: Semaphore,
}

impl Site {
    pub(super) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State {
            answer: Mutex::new((StatusCode::OK, "{\"keys\":[]}".to_owned())),
            fetches: AtomicUsize::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        });
        let shared = state.clone();
        let answer = get(move || {
            let state = shared.clone();
            async move {
                state.fetches.fetch_add(1, Ordering::SeqCst);
                state.gate.acquire().await.expect("a gate").forget();
                let (status, body) = state.answer.lock().expect("no panic").clone();
                (status, [("location", "/elsewhere")], body)
            }
        });
        let router = Router::new().route("/keys", answer.clone()).route("/elsewhere", answer);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, state }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/keys", self.address)
    }

    pub(super) fn publish(&self, keys: &[Value]) {
        self.answer(StatusCode::OK, json!({ "keys": keys }).to_string());
    }

    pub(super) fn answer(&self, status: StatusCode, body: String) {
        *self.state.answer.lock().expect("no panic") = (status, body);
    }

    pub(super) fn fetches(&self) -> usize {
        self.state.fetches.load(Ordering::SeqCst)
    }

    /// From now on nothing is answered, until it is let go.
    pub(super) fn hold(&self) {
        self.state.gate.forget_permits(usize::MAX);
    }

    pub(super) fn let_go(&self) {
        self.state.gate.add_permits(1000);
    }

    /// Waits until it has been asked this often.
    pub(super) async fn asked(&self, times: usize) {
        soon("a fetch", async {
            while self.fetches() < times {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}
