//! Signs cards in the 1.0 form (specification 1.0 §8.4): a detached JWS over the canonical form, for each key.

mod canonical;

use crate::json;
use crate::signing::{Jws, KEYS_PATH, SigningKey};
use bytes::Bytes;
use canonical::Forms;
use ring::rand::SystemRandom;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// How many signed cards are remembered. An agent has two, for each address that its callers use.
const REMEMBERED: usize = 1024;

/// Signs cards with every one of its keys, so that verifiers who know an older or a newer one find theirs.
/// Without keys it leaves cards as they are.
pub struct CardSigner {
    keys: Vec<SigningKey>,
    random: SystemRandom,
    /// What has been signed, by what it was: signatures of ES256 are never the same twice, and a card that
    /// has not changed has to keep its tag.
    signed: Mutex<HashMap<Bytes, Bytes>>,
}

impl CardSigner {
    /// A signer with these keys.
    #[must_use]
    pub fn new(keys: Vec<SigningKey>) -> Self {
        Self { keys, random: SystemRandom::new(), signed: Mutex::default() }
    }

    /// What it signs with.
    #[must_use]
    pub fn keys(&self) -> &[SigningKey] {
        &self.keys
    }

    /// A card of the 1.0 form of a server at `base`, with its signatures. What is signed is what is served:
    /// the rest of the card is in its canonical form.
    pub(crate) fn sign(&self, card: Vec<u8>, base: &str) -> Bytes {
        let card = Bytes::from(card);
        if self.keys.is_empty() {
            return card;
        }
        // Nothing panics while the lock is held.
        let known = || self.signed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(signed) = known().get(&card) {
            return signed.clone();
        }
        let signed = match self.signed(&card, base) {
            Ok(signed) => Bytes::from(signed),
            Err(problem) => {
                tracing::error!(problem, "a card could not be signed and is shown unsigned");
                return card;
            }
        };
        let mut known = known();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        // Of two that sign at once the first one counts, as whoever it answers knows its tag.
        known.entry(card).or_insert(signed).clone()
    }

    fn signed(&self, card: &[u8], base: &str) -> Result<Vec<u8>, String> {
        let Forms { whole, bare } = canonical::forms(card).map_err(|error| error.to_string())?;
        let mut signatures = Vec::with_capacity(2 * self.keys.len());
        for key in &self.keys {
            for form in [Some(&whole), bare.as_ref()].into_iter().flatten() {
                let signed = key.jws(&protected(key, base), form.as_bytes(), &self.random);
                signatures.push(signed.map_err(|_| "there is no randomness".to_owned())?);
            }
        }
        let mut out = whole.into_bytes();
        // In the place of the brace that closes the card.
        out.pop();
        out.extend_from_slice(b",\"signatures\":");
        json::array(&mut out, signatures, |out, Jws { header, signature, .. }| {
            json::object(out, |o| {
                o.string("protected", &header);
                o.string("signature", &signature);
            });
        });
        out.push(b'}');
        Ok(out)
    }
}

/// The protected header of a signature (specification 1.0 §8.4.2).
fn protected(key: &SigningKey, base: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    json::object(&mut out, |o| {
        o.string("alg", key.algorithm().name());
        o.string("typ", "JOSE");
        o.string("kid", key.id());
        o.string("jku", &format!("{base}{KEYS_PATH}"));
    });
    out
}

impl fmt::Debug for CardSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(SigningKey::id)).finish()
    }
}
