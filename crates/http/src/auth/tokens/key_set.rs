//! The public keys of an issuer: a set in JSON (RFC 7517) or one key in PEM.

use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// The keys that tokens are signed with.
pub(super) struct KeySet(Vec<IssuerKey>);

struct IssuerKey {
    id: Option<String>,
    /// The one algorithm that it is for, where it says so.
    algorithm: Option<Algorithm>,
    key: DecodingKey,
}

impl KeySet {
    pub(super) fn empty() -> Self {
        Self(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Reads a file: one key in PEM, or a set in JSON.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if !text.contains("-----BEGIN") {
            return Self::from_json(text.as_bytes());
        }
        let pem = text.as_bytes();
        let key = DecodingKey::from_rsa_pem(pem)
            .or_else(|_| DecodingKey::from_ec_pem(pem))
            .or_else(|_| DecodingKey::from_ed_pem(pem));
        let key = key.map_err(|_| "is no public key of RSA, EC or Ed25519 in PEM".to_owned())?;
        Ok(Self(vec![IssuerKey { id: None, algorithm: None, key }]))
    }

    /// Reads a set in JSON. Keys of kinds that are not understood are passed over, as RFC 7517 §5 asks.
    pub(super) fn from_json(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set = serde_json::from_slice::<Set>(json);
        let set = set.map_err(|_| "is no set of keys in JSON, {\"keys\": [..]}".to_owned())?;
        let keys = set.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok());
        Ok(Self(keys.filter_map(IssuerKey::of).collect()))
    }

    /// The key that a token names. A key without a name counts only where there is no other: otherwise it
    /// would have to be guessed.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let names = |key: &&IssuerKey| match &key.id {
            Some(own) => id == Some(own),
            None => self.0.len() == 1,
        };
        let fits = |key: &&IssuerKey| {
            key.key.family() == algorithm.family()
                && key.algorithm.is_none_or(|only| only == algorithm)
        };
        self.0.iter().filter(names).find(fits).map(|key| key.key.clone())
    }
}

impl IssuerKey {
    fn of(jwk: Jwk) -> Option<Self> {
        // A secret has no place among public keys, and no token is checked with one.
        if matches!(jwk.algorithm, AlgorithmParameters::OctetKey(_)) {
            return None;
        }
        let common = jwk.common.clone();
        let signs = common.public_key_use.is_none_or(|it| it == PublicKeyUse::Signature)
            && common.key_operations.is_none_or(|it| it.contains(&KeyOperations::Verify));
        let algorithm = common.key_algorithm.map(Algorithm::try_from);
        let algorithm = algorithm.transpose().ok()?;
        let key = DecodingKey::from_jwk(&jwk).ok().filter(|_| signs)?;
        Some(Self { id: common.key_id, algorithm, key })
    }
}
