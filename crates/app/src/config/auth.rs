//! How callers show who they are.

use super::MethodConfig;
use super::units::Span;
use crate::SystemClock;
use a2ad_http::{Algorithm, IssuerKeys, JwksUrl, Keys, TokenSettings, Tokens};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How callers show who they are. What is described here is asked for by every agent that does not say
/// otherwise, so that nobody believes an agent guarded that is not.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthConfig {
    /// The file of keys.
    pub keys: Option<PathBuf>,
    /// The tokens that are taken.
    pub jwt: Option<JwtConfig>,
    /// The file of the roots of clients' certificates.
    pub client_ca: Option<PathBuf>,
}

/// The tokens that are taken.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JwtConfig {
    /// Who issues them.
    pub issuer: String,
    /// Whom they are for.
    pub audience: String,
    /// Where the issuer publishes its keys.
    pub jwks_url: Option<String>,
    /// A file with the issuer's key or keys.
    pub key_file: Option<PathBuf>,
    /// What they may be signed with.
    #[serde(default = "algorithms")]
    pub algorithms: Vec<Algorithm>,
    /// The claim that names the caller.
    #[serde(default = "subject")]
    pub owner_claim: String,
    /// How far the issuer's clock may be off.
    #[serde(default = "leeway")]
    pub leeway: Span,
    /// How old published keys may get.
    #[serde(default = "max_age")]
    pub jwks_max_age: Span,
    /// How long after a fetch there is no other.
    #[serde(default = "pause")]
    pub jwks_pause: Span,
}

fn algorithms() -> Vec<Algorithm> {
    vec![Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa]
}

fn subject() -> String {
    "sub".to_owned()
}

const fn leeway() -> Span {
    Span(Duration::from_secs(30))
}

const fn max_age() -> Span {
    Span(Duration::from_secs(3600))
}

const fn pause() -> Span {
    Span(Duration::from_secs(30))
}

impl AuthConfig {
    /// The methods that are described.
    pub(crate) fn methods(&self) -> Vec<MethodConfig> {
        let keys = self.keys.iter().map(|_| MethodConfig::Key);
        let jwt = self.jwt.iter().map(|_| MethodConfig::Jwt);
        keys.chain(jwt).chain(self.client_ca.iter().map(|_| MethodConfig::Mtls)).collect()
    }

    /// Whether all of these methods are described.
    pub(super) fn has_all(&self, methods: &[MethodConfig]) -> Result<(), String> {
        let described = self.methods();
        if (1..methods.len()).any(|index| methods[..index].contains(&methods[index])) {
            return Err("names something twice; remove one of them".to_owned());
        }
        match methods.iter().find(|method| !described.contains(method)) {
            None => Ok(()),
            Some(MethodConfig::Key) => {
                Err("\"key\" needs a file of keys: set auth.keys to its path".to_owned())
            }
            Some(MethodConfig::Jwt) => {
                Err("\"jwt\" needs an issuer of tokens: add [auth.jwt]".to_owned())
            }
            Some(MethodConfig::Mtls) => {
                Err("\"mtls\" needs the roots of clients' certificates: set auth.client_ca"
                    .to_owned())
            }
        }
    }

    /// Files that are not there or make no sense.
    pub(super) fn missing(&self) -> Vec<String> {
        let keys = self.keys.as_ref().map(|path| (path, "make the first key with a2ad key create"));
        let key_file = self.jwt.as_ref().and_then(|jwt| jwt.key_file.as_ref());
        let key_file = key_file.map(|path| (path, "put the issuer's public key there"));
        let files = keys.into_iter().chain(key_file).filter(|(path, _)| !path.exists());
        let missing =
            files.map(|(path, it)| format!("the file {} does not exist; {it}", path.display()));
        let keys = self.keys.clone().and_then(|path| Keys::open(path).err());
        let settings = self.jwt.as_ref().and_then(|jwt| jwt.settings().ok());
        let tokens = settings.and_then(|it| Tokens::new(it, Arc::new(SystemClock)).err());
        missing.chain(keys.map(|error| error.to_string())).chain(tokens).collect()
    }
}

impl JwtConfig {
    /// Which tokens are taken; or the key that makes no sense, and why.
    pub(crate) fn settings(&self) -> Result<TokenSettings, (&'static str, String)> {
        for (key, text) in [("issuer", &self.issuer), ("owner_claim", &self.owner_claim)] {
            if text.is_empty() || text.contains(char::is_whitespace) {
                return Err((key, format!("{text:?} must be a text without spaces")));
            }
        }
        if self.audience.is_empty() {
            return Err(("audience", "must not be empty: name this server".to_owned()));
        }
        if self.algorithms.is_empty() {
            return Err(("algorithms", "name at least one, such as \"RS256\"".to_owned()));
        }
        let keys = match (&self.jwks_url, &self.key_file) {
            (Some(url), None) => IssuerKeys::Url {
                url: JwksUrl::parse(url).map_err(|problem| ("jwks_url", problem))?,
                max_age: self.jwks_max_age.0,
                pause: self.jwks_pause.0,
            },
            (None, Some(path)) => IssuerKeys::File(path.clone()),
            (Some(_), Some(_)) | (None, None) => {
                let problem = "say where the issuer's keys are: jwks_url or key_file";
                return Err(("issuer", problem.to_owned()));
            }
        };
        Ok(TokenSettings {
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            keys,
            algorithms: self.algorithms.clone(),
            owner_claim: self.owner_claim.clone(),
            leeway: self.leeway.0,
        })
    }
}
