//! What does an agent's work: one file for each kind of executor.

mod builtin;
mod call;
mod command;
mod http;
mod openai;
mod secret;

use a2ad_domain::ports::AgentExecutor;
use builtin::{EchoConfig, ScriptConfig};
use command::CommandConfig;
use http::HttpConfig;
use openai::OpenAiConfig;
pub use secret::SecretConfig;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error};
use std::sync::Arc;

/// One kind of executor, as it is configured.
pub(crate) trait Kind: std::fmt::Debug + Send + Sync {
    /// What makes no sense whatever the machine is like.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// What is missing on this machine, found without calling out: a program, a secret, a folder. The
    /// server starts all the same; runs that need it fail.
    fn missing(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it starts programs, which a guard has to look after.
    fn starts_programs(&self) -> bool {
        false
    }

    /// The executor.
    fn executor(&self) -> Arc<dyn AgentExecutor>;
}

/// What does an agent's work.
#[derive(Clone, Debug)]
pub struct ExecutorConfig(Arc<dyn Kind>);

impl ExecutorConfig {
    /// Gives back what it gets.
    pub(super) fn echo() -> Self {
        Self(Arc::new(EchoConfig::default()))
    }

    /// Does what the text says.
    pub(super) fn script() -> Self {
        Self(Arc::new(ScriptConfig::default()))
    }

    /// The kind with its settings.
    pub(crate) fn kind(&self) -> &dyn Kind {
        &*self.0
    }
}

/// Reads the settings of one kind.
type Read = fn(toml::Table) -> Result<Arc<dyn Kind>, toml::de::Error>;

/// The names of the kinds.
const NAMES: [&str; 5] = ["echo", "script", "command", "http", "openai"];

/// The kinds by name.
const KINDS: [(&str, Read); 5] = [
    (NAMES[0], read::<EchoConfig>),
    (NAMES[1], read::<ScriptConfig>),
    (NAMES[2], read::<CommandConfig>),
    (NAMES[3], read::<HttpConfig>),
    (NAMES[4], read::<OpenAiConfig>),
];

fn read<K: Kind + DeserializeOwned + 'static>(
    settings: toml::Table,
) -> Result<Arc<dyn Kind>, toml::de::Error> {
    Ok(Arc::new(settings.try_into::<K>()?))
}

impl<'de> Deserialize<'de> for ExecutorConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut settings = toml::Table::deserialize(deserializer)?;
        let kind = match settings.remove("kind") {
            Some(toml::Value::String(kind)) => kind,
            Some(_) => return Err(D::Error::custom("kind must be a text")),
            None => return Err(D::Error::missing_field("kind")),
        };
        let Some((_, read)) = KINDS.iter().find(|(name, _)| *name == kind) else {
            return Err(D::Error::unknown_variant(&kind, &NAMES));
        };
        read(settings).map(Self).map_err(|error| D::Error::custom(error.message()))
    }
}
