//! A key that the server signs with: a private half in a file, and a public one for everybody.

use crate::json;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64_URL;
use ring::digest::{SHA256, digest};
use ring::error::{KeyRejected, Unspecified};
use ring::rand::SecureRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};

/// What can be signed with: the algorithms that `ring` has and that have short signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SigningAlgorithm {
    /// ECDSA over P-256. Every verifier knows it.
    #[default]
    Es256,
    /// Ed25519.
    EdDsa,
}

impl SigningAlgorithm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Es256, Self::EdDsa];

    /// Its name in JOSE (RFC 7518 §3.1, RFC 8037 §3.1).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// A new private key, in PKCS #8.
    pub(super) fn generate(self, random: &dyn SecureRandom) -> Result<Vec<u8>, Unspecified> {
        let made = match self {
            Self::Es256 => EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, random)?,
            Self::EdDsa => Ed25519KeyPair::generate_pkcs8(random)?,
        };
        Ok(made.as_ref().to_vec())
    }
}

enum Pair {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

/// A key that the server signs with.
pub struct SigningKey {
    pair: Pair,
    id: String,
}

impl SigningKey {
    /// The key of a private key in PKCS #8.
    pub(super) fn from_pkcs8(key: &[u8], random: &dyn SecureRandom) -> Result<Self, KeyRejected> {
        let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = match EcdsaKeyPair::from_pkcs8(curve, key, random) {
            Ok(pair) => Pair::Es256(pair),
            // The public half may be missing, as in files that other programs have made.
            Err(_) => Pair::EdDsa(Ed25519KeyPair::from_pkcs8_maybe_unchecked(key)?),
        };
        let mut key = Self { pair, id: String::new() };
        let mut required = Vec::new();
        json::object(&mut required, |o| key.coordinates(o));
        key.id = BASE64_URL.encode(digest(&SHA256, &required));
        Ok(key)
    }

    /// What signatures call it: its thumbprint (RFC 7638), so that nobody has to think of a name and two
    /// keys never share one.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) const fn algorithm(&self) -> SigningAlgorithm {
        match self.pair {
            Pair::Es256(_) => SigningAlgorithm::Es256,
            Pair::EdDsa(_) => SigningAlgorithm::EdDsa,
        }
    }

    /// The public half as a JSON Web Key.
    #[must_use]
    pub fn public_jwk(&self) -> String {
        let mut out = Vec::with_capacity(256);
        json::object(&mut out, |o| {
            self.coordinates(o);
            o.string("kid", &self.id);
            o.string("alg", self.algorithm().name());
            o.string("use", "sig");
        });
        String::from_utf8(out).unwrap_or_default()
    }

    /// The members that make the key, in the order of its thumbprint.
    fn coordinates(&self, o: &mut json::Object<'_>) {
        match &self.pair {
            Pair::Es256(pair) => {
                // An uncompressed point: a byte that says so, and two coordinates.
                let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
                let (x, y) = point.split_at(point.len() / 2);
                o.string("crv", "P-256");
                o.string("kty", "EC");
                o.string("x", &BASE64_URL.encode(x));
                o.string("y", &BASE64_URL.encode(y));
            }
            Pair::EdDsa(pair) => {
                o.string("crv", "Ed25519");
                o.string("kty", "OKP");
                o.string("x", &BASE64_URL.encode(pair.public_key().as_ref()));
            }
        }
    }

    /// Signs a payload under a header.
    pub(crate) fn jws(
        &self,
        header: &[u8],
        payload: &[u8],
        random: &dyn SecureRandom,
    ) -> Result<Jws, Unspecified> {
        let (header, payload) = (BASE64_URL.encode(header), BASE64_URL.encode(payload));
        let message = format!("{header}.{payload}");
        let signed = match &self.pair {
            Pair::Es256(pair) => pair.sign(random, message.as_bytes())?,
            Pair::EdDsa(pair) => pair.sign(message.as_bytes()),
        };
        Ok(Jws { header, message, signature: BASE64_URL.encode(signed.as_ref()) })
    }
}

/// What was signed, and its signature (RFC 7515), each in base64url.
pub(crate) struct Jws {
    /// The protected header.
    pub(crate) header: String,
    /// What was signed: the header, a dot and the payload.
    message: String,
    pub(crate) signature: String,
}

impl Jws {
    /// All of it on one line (RFC 7515 §7.1).
    pub(crate) fn compact(&self) -> String {
        format!("{}.{}", self.message, self.signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::BASE64_STANDARD;
    use ring::rand::SystemRandom;

    /// RFC 8037 appendix A: the key, as `openssl` writes it without its public half, and its thumbprint.
    #[test]
    fn the_id_of_a_key_is_its_thumbprint() {
        let seed =
            BASE64_URL.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").expect("a seed");
        let head = BASE64_STANDARD.decode("MC4CAQAwBQYDK2VwBCIEIA==").expect("a head");
        let key = SigningKey::from_pkcs8(&[head, seed].concat(), &SystemRandom::new());
        let key = key.expect("a key");
        assert_eq!(key.id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        let jwk = "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\
                   \"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\",\
                   \"kid\":\"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k\",\
                   \"alg\":\"EdDSA\",\"use\":\"sig\"}";
        assert_eq!(key.public_jwk(), jwk);
        // The signature of appendix A.4.
        let head = b"{\"alg\":\"EdDSA\"}";
        let signed = key.jws(head, b"Example of Ed25519 signing", &SystemRandom::new());
        let wanted = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.\
                      hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
        assert_eq!(signed.expect("a signature").compact(), wanted);
    }
}
