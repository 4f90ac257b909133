//! The signature of what a webhook is told: a keyed digest of the time and the body, by a secret that the
//! operator shares with the receivers. `docs/webhooks.md` says how it is checked.

use super::token::hex;
use a2ad_domain::Timestamp;
use axum::http::HeaderValue;
use ring::hmac::{HMAC_SHA256, Key, sign};
use std::fmt::{self, Debug, Formatter};

/// The header that it stands in.
pub const SIGNATURE: &str = "a2a-notification-signature";

/// Signs with a secret.
#[derive(Clone)]
pub struct Signer(Key);

impl Signer {
    /// Signs with this secret.
    #[must_use]
    pub fn new(secret: &str) -> Self {
        Self(Key::new(HMAC_SHA256, secret.as_bytes()))
    }

    /// `t=SECONDS,v1=HEX`: the digest of the seconds, a dot and the body.
    pub(super) fn header(&self, now: Timestamp, body: &[u8]) -> Option<HeaderValue> {
        let seconds = now.as_millis().div_euclid(1000);
        let signed = [seconds.to_string().as_bytes(), b".", body].concat();
        let digest = hex(sign(&self.0, &signed).as_ref());
        HeaderValue::try_from(format!("t={seconds},v1={digest}")).ok()
    }
}

impl Debug for Signer {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("Signer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_and_the_body_are_signed() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
        let wanted =
            "t=1700000000,v1=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686";
        let header =
            Signer::new("secret").header(Timestamp::from_millis(1_700_000_000_999), b"{\"a\":1}");
        assert_eq!(header.unwrap(), wanted);
    }
}
