//! What the server signs with, cards as well as notifications: keys of its own, their files, and the set of
//! public halves that everybody may read.

mod file;
mod key;

use crate::json;
use bytes::Bytes;

pub(crate) use key::Jws;
pub use key::{SigningAlgorithm, SigningKey};

/// Where the public halves of the keys are.
pub(crate) const KEYS_PATH: &str = "/.well-known/jwks.json";

/// The public halves of the keys that the server signs with, as it shows them (RFC 7517 §5).
#[derive(Clone, Debug)]
pub struct PublicKeys(Bytes);

impl PublicKeys {
    /// The set of these keys. One that is there for more than one purpose stands in it once.
    #[must_use]
    pub fn of<'k>(keys: impl IntoIterator<Item = &'k SigningKey>) -> Self {
        let mut different: Vec<&SigningKey> = Vec::new();
        for key in keys {
            if different.iter().all(|known| known.id() != key.id()) {
                different.push(key);
            }
        }
        let mut out = Vec::with_capacity(512);
        json::object(&mut out, |o| {
            o.array("keys", different, |out, key| {
                out.extend_from_slice(key.public_jwk().as_bytes());
            });
        });
        Self(out.into())
    }

    /// The document.
    pub(crate) fn document(&self) -> Bytes {
        self.0.clone()
    }
}

impl Default for PublicKeys {
    fn default() -> Self {
        Self::of([])
    }
}
