//! Bearer tokens: JWTs of one issuer, for one audience (RFC 7519, RFC 8725).

mod algorithm;
mod claims;
mod crypto;
mod fetch;
mod key_set;
mod published;

use super::watched::{Watched, load};
use super::{Caller, Method, Scheme, owner};
use a2ad_domain::ports::Clock;
use async_trait::async_trait;
use jsonwebtoken::{DecodingKey, Validation, decode, decode_header};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use algorithm::Algorithm;
pub use fetch::JwksUrl;
use key_set::KeySet;
use published::Published;

/// Longer tokens are refused before anything is made of them.
const MAX_BYTES: usize = 16 << 10;

/// Which tokens are taken.
#[derive(Clone, Debug)]
pub struct TokenSettings {
    /// Who issues them.
    pub issuer: String,
    /// Whom they are for: this server.
    pub audience: String,
    /// The issuer's public keys.
    pub keys: IssuerKeys,
    /// What they may be signed with.
    pub algorithms: Vec<Algorithm>,
    /// The claim that names the caller.
    pub owner_claim: String,
    /// How far the issuer's clock may be off.
    pub leeway: Duration,
}

/// Where an issuer's public keys are.
#[derive(Clone, Debug)]
pub enum IssuerKeys {
    /// In a file: one in PEM, or a set in JSON.
    File(PathBuf),
    /// At an address.
    Url {
        /// The address.
        url: JwksUrl,
        /// How old they may get.
        max_age: Duration,
        /// How long after a fetch there is no other.
        pause: Duration,
    },
}

/// Knows callers by their tokens.
pub struct Tokens {
    issuer: String,
    owner_claim: String,
    algorithms: Vec<Algorithm>,
    leeway: Duration,
    /// What the library checks; the algorithm is added for each token, and times are checked by our clock.
    validation: Validation,
    keys: Keys,
    clock: Arc<dyn Clock>,
}

enum Keys {
    File(Watched<KeySet>),
    Url(Published),
}

impl Tokens {
    /// Takes tokens as the settings say.
    ///
    /// # Errors
    /// When there is a key file and it makes no sense.
    pub fn new(settings: TokenSettings, clock: Arc<dyn Clock>) -> Result<Self, String> {
        crypto::install();
        let TokenSettings { issuer, audience, keys, algorithms, owner_claim, leeway } = settings;
        let keys = match keys {
            IssuerKeys::File(path) => match load(&path, KeySet::read) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.to_string()),
                Ok(_) | Err(_) => Keys::File(Watched::new(path, KeySet::read)),
            },
            IssuerKeys::Url { url, max_age, pause } => {
                Keys::Url(Published::new(url, max_age, pause, clock.clone())?)
            }
        };
        let mut validation = Validation::default();
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[&issuer]);
        validation.set_audience(&[audience]);
        validation.validate_exp = false;
        Ok(Self { issuer, owner_claim, algorithms, leeway, validation, keys, clock })
    }

    /// The caller, or why there is none: words of ours, which hold nothing of the token.
    async fn read(&self, token: &str) -> Result<Caller, &'static str> {
        if token.len() > MAX_BYTES {
            return Err("it is too long");
        }
        let head = decode_header(token).map_err(|_| "it is no token that can be read")?;
        let algorithm = Algorithm::of(head.alg);
        if !algorithm.is_some_and(|algorithm| self.algorithms.contains(&algorithm)) {
            return Err("its algorithm is not among auth.jwt.algorithms");
        }
        let key = self.key(head.kid.as_deref(), head.alg).await;
        let key = key.ok_or("no key of the issuer is the one that it names")?;
        let validation = Validation { algorithms: vec![head.alg], ..self.validation.clone() };
        let read = decode(token, &key, &validation);
        let claims: claims::Claims = read.map_err(|error| claims::problem(&error))?.claims;
        claims::check_times(&claims, self.clock.now(), self.leeway)?;
        let subject = claims.get(&self.owner_claim).and_then(|claim| claim.as_str());
        let owner = subject.and_then(|subject| owner::of_token(&self.issuer, subject));
        owner.map(Caller::new).ok_or("it does not name its owner in auth.jwt.owner_claim")
    }

    async fn key(
        &self,
        id: Option<&str>,
        algorithm: jsonwebtoken::Algorithm,
    ) -> Option<DecodingKey> {
        match &self.keys {
            Keys::File(file) => file.now()?.find(id, algorithm),
            Keys::Url(published) => published.find(id, algorithm).await,
        }
    }
}

#[async_trait]
impl Method for Tokens {
    fn scheme(&self) -> Scheme {
        Scheme::Jwt
    }

    async fn caller(&self, credential: &str) -> Option<Caller> {
        match self.read(credential).await {
            Ok(caller) => Some(caller),
            Err(reason) => {
                tracing::debug!(reason, "a token was refused");
                None
            }
        }
    }
}
