//! The configuration: a TOML file, overridden by the environment, overridden by the command line.
//! Unknown keys are errors. `docs/configuration.md` lists every key with its default and the reason.

mod admin;
mod agent;
mod auth;
mod cards;
mod environment;
mod executor;
mod extended_card;
mod nearest;
mod push;
mod server;
mod signing_keys;
mod units;

use a2ad_domain::service::Limits;
use a2ad_http::{MessageLimits, Tls, TlsFiles};
use a2ad_store::Capacity;
use serde::Deserialize;
use std::fmt;
use std::path::{Path, PathBuf};
use units::{MaybeCount, MaybeRate, Size, Span};

pub use admin::AdminConfig;
pub use agent::{AgentConfig, MethodConfig};
pub use auth::{AuthConfig, JwtConfig};
pub use cards::CardsConfig;
pub use executor::{ExecutorConfig, SecretConfig};
pub use extended_card::ExtendedCardConfig;
pub use push::PushConfig;
pub use server::{CorsConfig, ServerConfig, TlsConfig, VersionPolicyConfig};

/// A configuration that makes no sense: where, what and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    origin: String,
    line: Option<usize>,
    problem: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl ConfigError {
    pub(crate) fn new(origin: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { origin: origin.into(), line: None, problem: problem.into() }
    }
}

/// Everything that can be set.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The server as a whole.
    pub server: ServerConfig,
    /// Where tasks are kept.
    pub store: StoreConfig,
    /// Limits that hold for every agent.
    pub limits: LimitsConfig,
    /// How callers show who they are.
    pub auth: AuthConfig,
    /// Push notifications.
    pub push: PushConfig,
    /// What cards are signed with.
    pub cards: CardsConfig,
    /// Operators, where there are any.
    pub admin: Option<AdminConfig>,
    /// The agents.
    pub agent: Vec<AgentConfig>,
}

/// Where tasks are kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreConfig {
    /// Which kind of store.
    pub kind: StoreKind,
    /// The file of a store in a file.
    pub path: PathBuf,
    /// What a commit to it survives.
    pub durability: DurabilityConfig,
    /// How many tasks.
    pub max_tasks: usize,
    /// About how many bytes in all.
    pub max_bytes: Size,
    /// How long an ended task is kept.
    pub retention: Span,
}

/// Which kind of store.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// In memory, until the process ends.
    Memory,
    /// In a file.
    Sqlite,
}

/// See [`a2ad_store::Durability`].
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum DurabilityConfig {
    /// The end of the process.
    #[default]
    Process,
    /// A failure of power as well.
    Power,
}

/// Limits that hold for every agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// How many messages a task may hold.
    pub history: usize,
    /// About how many bytes a task may keep.
    pub task_bytes: Size,
    /// How many of a task's changes are kept for readers that catch up.
    pub log: usize,
    /// How long a task may wait for its client.
    pub idle: Span,
    /// How many parts a message may have.
    pub parts: usize,
    /// How deep data and metadata of a message may be nested.
    pub depth: usize,
    /// How long each metadata of a message may be.
    pub metadata: Size,
    /// How long ids and names in a message may be, in bytes.
    pub id: usize,
    /// How many tasks a message may refer to, and how many extensions it may name.
    pub references: usize,
    /// How often a caller may call.
    pub rate: MaybeRate,
    /// How many live tasks a caller may have.
    pub owner_tasks: MaybeCount,
    /// How many tasks a caller may follow at once.
    pub owner_streams: MaybeCount,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            server: ServerConfig::default(),
            store: StoreConfig::default(),
            limits: LimitsConfig::default(),
            auth: AuthConfig::default(),
            push: PushConfig::default(),
            cards: CardsConfig::default(),
            admin: None,
            agent: agent::defaults(),
        }
    }
}

impl Default for StoreConfig {
    fn default() -> Self {
        let Capacity { tasks, bytes, .. } = Capacity::default();
        Self {
            kind: StoreKind::Sqlite,
            path: PathBuf::from("a2ad-data/tasks.db"),
            durability: DurabilityConfig::default(),
            max_tasks: tasks,
            max_bytes: Size(bytes),
            retention: Span(Limits::default().retention),
        }
    }
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let Limits { history, task_bytes, idle, .. } = Limits::default();
        let log = Capacity::default().log;
        let MessageLimits { parts, depth, metadata, id, references } = MessageLimits::default();
        Self {
            history,
            task_bytes: Size(task_bytes),
            log,
            idle: Span(idle),
            parts,
            depth,
            metadata: Size(metadata),
            id,
            references,
            rate: MaybeRate(None),
            owner_tasks: MaybeCount(None),
            owner_streams: MaybeCount(None),
        }
    }
}

impl LimitsConfig {
    /// How much a message may hold.
    pub(crate) const fn message(&self) -> MessageLimits {
        let Self { parts, depth, metadata: Size(metadata), id, references, .. } = *self;
        MessageLimits { parts, depth, metadata, id, references }
    }
}

impl Config {
    /// Whether an agent's work starts programs, or that of one that operators add may.
    #[must_use]
    pub fn starts_programs(&self) -> bool {
        self.admin.as_ref().is_some_and(|admin| admin.allow_programs)
            || self.agent.iter().any(|agent| agent.executor.kind().starts_programs())
    }

    /// What is missing on this machine for agents to do their work and for callers to be known, found without
    /// calling out; each says where. The server can start without: the runs that need it fail, and nobody
    /// is let in by what is not there. Only without what is to be signed with it does not start.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let tls = self.tls().and_then(Result::err).map(|what| format!("server.tls: {what}"));
        let keys = self.auth.missing().into_iter().map(|what| format!("auth: {what}"));
        let missing = |agent: &AgentConfig| {
            let missing = agent.executor.kind().missing();
            missing
                .into_iter()
                .map(|what| format!("agent {}: {what}", agent.id))
                .collect::<Vec<_>>()
        };
        let push = self.push.missing().into_iter();
        let push = push.map(|(key, what)| format!("push.{key}: {what}"));
        let cards = self.cards.missing().into_iter().map(|what| format!("cards.keys: {what}"));
        let agents = self.agent.iter().flat_map(missing);
        let admin = self.admin.iter().flat_map(AdminConfig::missing);
        let admin = admin.map(|what| format!("admin: {what}"));
        let callers = tls.into_iter().chain(keys).chain(push).chain(cards);
        callers.chain(admin).chain(agents).collect()
    }

    /// What encrypts connections, if they are to be encrypted.
    pub(crate) fn tls(&self) -> Option<Result<Tls, String>> {
        let TlsConfig { certificate, key, handshake_timeout } = self.server.tls.as_ref()?;
        let client_ca = self.auth.client_ca.clone();
        let files = TlsFiles { certificate: certificate.clone(), key: key.clone(), client_ca };
        Some(Tls::open(files, handshake_timeout.0))
    }

    /// Reads a file, if there is one, and then the environment.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the place and what to do.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let Some(path) = file else {
            return Self::with_environment("", "the environment", environment);
        };
        let origin = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            ConfigError::new(&origin, format!("cannot be read ({error}); name an existing file"))
        })?;
        Self::with_environment(&text, &origin, environment)
    }

    /// Reads `text`; `origin` says in errors where it is from.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the line and what to do.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ConfigError> {
        Self::with_environment(text, origin, [])
    }

    fn with_environment(
        text: &str,
        origin: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        // Read on its own first, so that errors name lines of the file.
        let mut config: Config = toml::from_str(text).map_err(|e| located(&e, text, origin))?;
        let mut table: toml::Table = text.parse().map_err(|e| located(&e, text, origin))?;
        if environment::apply(&mut table, environment)? {
            let read = table.try_into();
            config =
                read.map_err(|e| ConfigError::new("environment", nearest::with_hint(e.message())))?;
        }
        config.check(text, origin)?;
        Ok(config)
    }

    fn check(&self, text: &str, origin: &str) -> Result<(), ConfigError> {
        let wrong = |header: &str, index: usize, key: &str, problem: String| {
            let (origin, line) = (origin.to_owned(), line_of(text, header, index, key));
            Err(ConfigError { origin, line, problem: format!("{key}: {problem}") })
        };
        if let Err((header, key, problem)) = self.server.check() {
            return wrong(header, 0, key, problem);
        }
        for (header, key, value) in [
            ("[store]", "max_tasks", self.store.max_tasks),
            ("[limits]", "history", self.limits.history),
            ("[limits]", "log", self.limits.log),
            ("[limits]", "parts", self.limits.parts),
            ("[limits]", "depth", self.limits.depth),
            ("[limits]", "id", self.limits.id),
        ] {
            if value == 0 {
                return wrong(header, 0, key, "must be at least 1".to_owned());
            }
        }
        if self.auth.client_ca.is_some() && self.server.tls.is_none() {
            let problem = "clients show certificates over TLS only: add [server.tls]";
            return wrong("[auth]", 0, "client_ca", problem.to_owned());
        }
        if let Err((key, problem)) = self.push.check() {
            return wrong("[push]", 0, key, problem);
        }
        if let Some(Err((key, problem))) = self.auth.jwt.as_ref().map(JwtConfig::settings) {
            return wrong("[auth.jwt]", 0, key, problem);
        }
        if let Some(Err((key, problem))) = self.admin.as_ref().map(AdminConfig::check) {
            return wrong("[admin]", 0, key, problem);
        }
        if self.agent.is_empty() {
            return wrong("", 0, "agent", "add at least one [[agent]]".to_owned());
        }
        for (index, agent) in self.agent.iter().enumerate() {
            if let Err((key, problem)) = agent.check(&self.auth) {
                return wrong("[[agent]]", index, key, problem);
            }
            if self.agent[..index].iter().any(|other| other.id == agent.id) {
                let problem = format!("{:?} names two agents; rename one", agent.id);
                return wrong("[[agent]]", index, "id", problem);
            }
            if agent.default && self.agent[..index].iter().any(|other| other.default) {
                let problem = "only one agent can be the default".to_owned();
                return wrong("[[agent]]", index, "default", problem);
            }
        }
        Ok(())
    }
}

/// The line of a key below the header of this index, counted from 1.
fn line_of(text: &str, header: &str, index: usize, key: &str) -> Option<usize> {
    let mut lines = text.lines().enumerate();
    lines.by_ref().filter(|(_, line)| line.trim() == header).nth(index)?;
    let mut inside = lines.take_while(|(_, line)| !line.trim_start().starts_with('['));
    let sets = |line: &str| line.split_once('=').is_some_and(|(name, _)| name.trim() == key);
    inside.find(|(_, line)| sets(line)).map(|(number, _)| number + 1)
}

/// An error of the parser with its line.
fn located(error: &toml::de::Error, text: &str, origin: &str) -> ConfigError {
    let line = error.span().map(|span| text[..span.start.min(text.len())].lines().count().max(1));
    // A key at the start of a line is on the line that begins there.
    let at_start = error.span().is_some_and(|span| text[..span.start].ends_with('\n'));
    let line = line.map(|line| if at_start { line + 1 } else { line });
    ConfigError { origin: origin.to_owned(), line, problem: nearest::with_hint(error.message()) }
}
