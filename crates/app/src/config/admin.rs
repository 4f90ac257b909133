//! What operators may do while the server runs, and who they are.

use super::executor::SecretConfig;
use a2ad_executor::Secret;
use a2ad_http::admin::{Gate, MIN_KEY, Operator};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Operators.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminConfig {
    /// Where the key of each is, by a name that is written down with what is done.
    pub keys: BTreeMap<String, SecretConfig>,
    /// Whether they may come from other machines.
    #[serde(default)]
    pub remote: bool,
    /// Whether they may add agents that start programs.
    #[serde(default)]
    pub allow_programs: bool,
    /// The file that it is written to.
    pub audit_log: Option<PathBuf>,
}

impl AdminConfig {
    /// What makes no sense: the key and what is wrong.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        if self.keys.is_empty() {
            let problem = "name at least one operator, such as ann = { env = \"ANN_KEY\" }";
            return Err(("keys", problem.to_owned()));
        }
        for (name, secret) in &self.keys {
            if name.is_empty() || name.len() > 64 || !name.bytes().all(|b| b.is_ascii_graphic()) {
                let problem = format!("{name:?} must be 1 to 64 visible ASCII characters");
                return Err(("keys", problem));
            }
            secret.check(name).map_err(|problem| ("keys", problem))?;
        }
        Ok(())
    }

    /// What is missing on this machine: whoever has no key is not let in.
    pub(super) fn missing(&self) -> Vec<String> {
        let missing = |(name, secret): (&String, &SecretConfig)| match secret.secret().read() {
            Err(error) => Some(format!("keys.{name}: {error}")),
            Ok(key) if key.chars().count() < MIN_KEY => {
                Some(format!("keys.{name}: must be at least {MIN_KEY} characters"))
            }
            Ok(_) => None,
        };
        self.keys.iter().filter_map(missing).collect()
    }

    pub(crate) fn gate(&self) -> Gate {
        let operator = |(name, secret): (&String, &SecretConfig)| {
            let secret: Secret = secret.secret();
            let key = Box::new(move || secret.read().ok());
            Operator { name: name.clone(), key }
        };
        Gate { operators: self.keys.iter().map(operator).collect(), remote: self.remote }
    }
}
