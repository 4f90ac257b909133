//! Secrets in the configuration: where they are, never what they are.

use a2ad_executor::{Secret, Value};
use serde::Deserialize;
use std::path::PathBuf;

/// `{ env = "NAME" }` or `{ file = "PATH" }`; in a header or a variable with a `prefix` before it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretConfig {
    /// A variable of the environment.
    env: Option<String>,
    /// A file that holds nothing else.
    file: Option<PathBuf>,
    /// What stands before the secret.
    #[serde(default)]
    prefix: String,
}

/// A text that may be seen, or a secret.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a text, { env = \"NAME\" } or { file = \"PATH\" }")]
pub(super) enum ValueConfig {
    /// The text itself.
    Plain(String),
    /// Where the secret is.
    Secret(SecretConfig),
}

impl SecretConfig {
    /// Whether it says where the secret is, and only once.
    pub(crate) fn check(&self, key: &str) -> Result<(), String> {
        match (&self.env, &self.file) {
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err(format!(
                "{key}: say where the secret is, {{ env = \"NAME\" }} or {{ file = \"PATH\" }}"
            )),
        }
    }

    /// Where the secret is.
    pub(crate) fn secret(&self) -> Secret {
        match (&self.env, &self.file) {
            (_, Some(path)) => Secret::File(path.clone()),
            (name, None) => Secret::Env(name.clone().unwrap_or_default()),
        }
    }
}

impl ValueConfig {
    /// The value as a bearer token.
    pub(super) fn bearer(&self) -> Value {
        match self.value() {
            Value::Secret { secret, prefix } => {
                Value::Secret { secret, prefix: format!("Bearer {prefix}") }
            }
            plain @ Value::Plain(_) => plain,
        }
    }

    pub(super) fn check(&self, key: &str) -> Result<(), String> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Secret(secret) => secret.check(key),
        }
    }

    pub(super) fn value(&self) -> Value {
        match self {
            Self::Plain(text) => Value::Plain(text.clone()),
            Self::Secret(secret) => {
                Value::Secret { secret: secret.secret(), prefix: secret.prefix.clone() }
            }
        }
    }
}
