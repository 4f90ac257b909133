//! The cryptography behind `jsonwebtoken`: that of `ring`, which is there already for TLS. Signatures are
//! verified and never made.

use super::Algorithm;
use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{DecodingKey, DecodingKeyKind};
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use std::sync::Once;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes this the cryptography of the process, once. A program that embeds the server may have set another
/// one before; then that one stays.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}

/// A key, and the one algorithm that it is used with.
struct Check {
    algorithm: Algorithm,
    key: DecodingKey,
}

fn verifier(named: &jsonwebtoken::Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    match Algorithm::of(*named).filter(|_| named.family() == key.family()) {
        Some(algorithm) => Ok(Box::new(Check { algorithm, key: key.clone() })),
        None => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

impl JwtVerifier for Check {
    fn algorithm(&self) -> jsonwebtoken::Algorithm {
        self.algorithm.named()
    }
}

impl Verifier<Vec<u8>> for Check {
    fn verify(&self, message: &[u8], signed: &Vec<u8>) -> std::result::Result<(), Error> {
        let verified = match (scheme(self.algorithm), self.key.kind()) {
            (Scheme::Rsa(rsa), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(rsa, message, signed)
            }
            (Scheme::Rsa(rsa), DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(rsa, key).verify(message, signed)
            }
            (Scheme::Curve(curve), DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(curve, key).verify(message, signed)
            }
            (Scheme::Curve(_), DecodingKeyKind::RsaModulusExponent { .. }) => {
                return Err(Error::new());
            }
        };
        verified.map_err(|_| Error::new())
    }
}

/// What `ring` calls an algorithm.
enum Scheme {
    Rsa(&'static RsaParameters),
    Curve(&'static dyn VerificationAlgorithm),
}

fn scheme(algorithm: Algorithm) -> Scheme {
    match algorithm {
        Algorithm::Rs256 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::Rs384 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::Rs512 => Scheme::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::Ps256 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::Ps384 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::Ps512 => Scheme::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
        Algorithm::Es256 => Scheme::Curve(&signature::ECDSA_P256_SHA256_FIXED),
        Algorithm::Es384 => Scheme::Curve(&signature::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDsa => Scheme::Curve(&signature::ED25519),
    }
}
