//! The algorithms that a token may be signed with. All of them need the private half of a pair of keys to
//! sign: a token without a signature, or one that is signed with a secret which the server would have to
//! know, cannot be named here at all. So no token can have a public key taken for such a secret.

use serde::Deserialize;

/// An algorithm with a pair of keys (RFC 7518 §3.1, RFC 8037 §3.1).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    #[serde(rename = "RS384")]
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    #[serde(rename = "RS512")]
    Rs512,
    /// RSASSA-PSS with SHA-256.
    #[serde(rename = "PS256")]
    Ps256,
    /// RSASSA-PSS with SHA-384.
    #[serde(rename = "PS384")]
    Ps384,
    /// RSASSA-PSS with SHA-512.
    #[serde(rename = "PS512")]
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// ECDSA on P-384 with SHA-384.
    #[serde(rename = "ES384")]
    Es384,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl Algorithm {
    /// All of them.
    const ALL: [Self; 9] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];

    /// The algorithm that the library calls so; `None` for those with a shared secret.
    pub(super) fn of(named: jsonwebtoken::Algorithm) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.named() == named)
    }

    pub(super) const fn named(self) -> jsonwebtoken::Algorithm {
        match self {
            Self::Rs256 => jsonwebtoken::Algorithm::RS256,
            Self::Rs384 => jsonwebtoken::Algorithm::RS384,
            Self::Rs512 => jsonwebtoken::Algorithm::RS512,
            Self::Ps256 => jsonwebtoken::Algorithm::PS256,
            Self::Ps384 => jsonwebtoken::Algorithm::PS384,
            Self::Ps512 => jsonwebtoken::Algorithm::PS512,
            Self::Es256 => jsonwebtoken::Algorithm::ES256,
            Self::Es384 => jsonwebtoken::Algorithm::ES384,
            Self::EdDsa => jsonwebtoken::Algorithm::EdDSA,
        }
    }
}
