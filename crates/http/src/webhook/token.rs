//! The signed token of a notification (RFC 7519): that this server has sent this very body to this receiver
//! just now, by a key whose public half everybody can read. `docs/webhooks.md` says how it is checked.

use crate::json;
use crate::signing::SigningKey;
use a2ad_domain::Timestamp;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64_URL;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt::{self, Debug, Formatter, Write};
use std::sync::OnceLock;

/// The header that it stands in, whatever else does.
pub const JWT: &str = "a2a-notification-jwt";

/// How long it is good, in seconds: what receivers that follow the protocol's samples take for fresh.
const LIFE: i64 = 300;

/// Signs notifications with the first of its keys. The others are there to be known: those that are to come,
/// and those that have signed what may still be looked at.
pub struct NoticeSigner {
    keys: Vec<SigningKey>,
    random: SystemRandom,
    /// Where the server is reached, which is known when it listens and before anything is sent.
    issuer: OnceLock<String>,
}

/// What a token is about.
pub(super) struct Subject<'s> {
    /// The origin of the receiver: a receiver that passes a notification on has nothing that another takes.
    pub(super) audience: String,
    /// The id of the notification, so that it cannot be changed for another beside the same body.
    pub(super) id: &'s str,
    pub(super) body: &'s [u8],
}

impl NoticeSigner {
    /// Signs with these keys; `None` without any.
    #[must_use]
    pub fn new(keys: Vec<SigningKey>) -> Option<Self> {
        let signer = Self { keys, random: SystemRandom::new(), issuer: OnceLock::new() };
        (!signer.keys.is_empty()).then_some(signer)
    }

    /// All keys, the one that signs first.
    #[must_use]
    pub fn keys(&self) -> &[SigningKey] {
        &self.keys
    }

    /// Says from now on that what it signs is from a server at this address. It says so once.
    pub fn issue_from(&self, base_url: &str) {
        let _ = self.issuer.set(base_url.to_owned());
    }

    /// A token of this moment. `None` only where there is no randomness or no address yet, which passes.
    pub(super) fn token(&self, subject: &Subject<'_>, now: Timestamp) -> Option<String> {
        let (key, issuer) = (self.keys.first()?, self.issuer.get()?);
        let mut id = [0; 16];
        self.random.fill(&mut id).ok()?;
        let issued = now.as_millis().div_euclid(1000);
        let mut header = Vec::with_capacity(128);
        json::object(&mut header, |o| {
            o.string("alg", key.algorithm().name());
            // Cards are signed as something else, so that neither is ever taken for the other.
            o.string("typ", "JWT");
            o.string("kid", key.id());
        });
        let mut claims = Vec::with_capacity(512);
        json::object(&mut claims, |o| {
            o.string("iss", issuer);
            o.string("aud", &subject.audience);
            o.plain("iat", issued);
            o.plain("exp", issued + LIFE);
            o.string("jti", &BASE64_URL.encode(id));
            o.string("notification_id", subject.id);
            o.string("request_body_sha256", &hex(digest(&SHA256, subject.body).as_ref()));
        });
        let signed = key.jws(&header, &claims, &self.random).ok()?;
        Some(signed.compact())
    }
}

/// Bytes in lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

impl Debug for NoticeSigner {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.keys.iter().map(SigningKey::id)).finish()
    }
}
