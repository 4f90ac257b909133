//! A secret that is kept elsewhere. It is read when it is used, so that a file can be replaced while the
//! server runs, and so that it is never part of what is printed.

use a2ad_domain::ports::AgentError;
use std::path::PathBuf;

/// Where a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secret {
    /// In a variable of the environment.
    Env(String),
    /// In a file, without the white space at its end.
    File(PathBuf),
}

/// A text that may be seen, or a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The text itself.
    Plain(String),
    /// A secret, and what stands before it.
    Secret {
        /// Where it is.
        secret: Secret,
        /// What stands before it, as `Bearer ` does in a header.
        prefix: String,
    },
}

impl Value {
    /// The value as it is now.
    ///
    /// # Errors
    /// When it is a secret that cannot be read.
    pub fn read(&self) -> Result<String, SecretError> {
        match self {
            Self::Plain(text) => Ok(text.clone()),
            Self::Secret { secret, prefix } => Ok(format!("{prefix}{}", secret.read()?)),
        }
    }
}

/// A secret that cannot be read. Says where it should be, never what it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The variable is not set, or not to text.
    #[error("the environment variable {0} is not set; set it to the secret")]
    Env(String),
    /// The file cannot be read.
    #[error("the file {path} cannot be read ({cause}); put the secret there", path = .0.display(), cause = .1)]
    File(PathBuf, String),
    /// There is nothing in it.
    #[error("{0} is empty; put the secret there")]
    Empty(String),
}

impl Secret {
    /// The secret as it is now.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(&self) -> Result<String, SecretError> {
        let (value, place) = match self {
            Self::Env(name) => {
                let value = std::env::var(name).map_err(|_| SecretError::Env(name.clone()))?;
                (value, format!("the environment variable {name}"))
            }
            Self::File(path) => {
                let value = std::fs::read_to_string(path)
                    .map_err(|error| SecretError::File(path.clone(), error.to_string()))?;
                (value, format!("the file {}", path.display()))
            }
        };
        let value = value.trim_end();
        if value.is_empty() { Err(SecretError::Empty(place)) } else { Ok(value.to_owned()) }
    }
}

/// A text of somebody who was told these values, without the secrets among them.
pub(crate) fn redacted<'v>(values: impl IntoIterator<Item = &'v Value>, text: &str) -> String {
    let mut text = text.to_owned();
    for value in values {
        if let Value::Secret { secret, .. } = value
            && let Ok(secret) = secret.read()
        {
            text = text.replace(&secret, "…");
        }
    }
    text
}

/// A failure that is the fault of how the agent is set up: the caller hears so, the log hears what is wrong.
pub(crate) fn misconfigured(
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> AgentError {
    AgentError::explained("The agent is not set up correctly", why)
}
