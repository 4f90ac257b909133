//! The configuration: a TOML file, overridden by the environment, overridden by the command line.
//! Unknown keys are errors. `docs/configuration.md` lists every key with its default and the reason.

mod agent;
mod auth;
mod cards;
mod environment;
mod executor;
mod extended_card;
mod nearest;
mod units;

use a2ad_domain::service::Limits;
use a2ad_store::Capacity;
use ipnet::IpNet;
use serde::Deserialize;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use units::{Size, Span};

pub use agent::{AgentConfig, MethodConfig};
pub use auth::{AuthConfig, JwtConfig};
pub use cards::CardsConfig;
pub use executor::ExecutorConfig;
pub use extended_card::ExtendedCardConfig;

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
    /// What cards are signed with.
    pub cards: CardsConfig,
    /// The agents.
    pub agent: Vec<AgentConfig>,
}

/// The server as a whole.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Where callers reach the server, if that is not the address it listens on.
    pub public_url: Option<String>,
    /// The longest body that is read.
    pub max_body: Size,
    /// How long a send waits at most.
    pub wait_limit: Span,
    /// How long runs may go on after the server was told to stop.
    pub drain: Span,
    /// How long a stream may be silent before a comment is sent.
    pub keep_alive: Span,
    /// How many connections are open at once.
    pub max_connections: usize,
    /// How many runs go on at once, of all agents together.
    pub max_running: usize,
    /// What happens to a method of the 1.0 line in a request that names no version.
    pub version_policy: VersionPolicyConfig,
    /// The proxies whose word on where callers reach the server counts, unless `public_url` says it.
    pub trusted_proxies: Vec<IpNet>,
    /// How long cards may be kept by caches.
    pub card_max_age: Span,
}

/// See [`a2ad_http::VersionPolicy`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionPolicyConfig {
    /// It is refused.
    #[default]
    Strict,
    /// It is served.
    Lenient,
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
}

impl Default for Config {
    fn default() -> Self {
        Self {
            server: ServerConfig::default(),
            store: StoreConfig::default(),
            limits: LimitsConfig::default(),
            auth: AuthConfig::default(),
            cards: CardsConfig::default(),
            agent: agent::defaults(),
        }
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8000)),
            public_url: None,
            max_body: Size(16 << 20),
            wait_limit: Span(Limits::default().wait),
            drain: Span(Duration::from_secs(30)),
            keep_alive: Span(Duration::from_secs(15)),
            max_connections: 16_384,
            max_running: 4096,
            version_policy: VersionPolicyConfig::default(),
            trusted_proxies: Vec::new(),
            card_max_age: Span(Duration::from_secs(300)),
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
        Self { history, task_bytes: Size(task_bytes), log, idle: Span(idle) }
    }
}

impl Config {
    /// Whether an agent's work starts programs.
    #[must_use]
    pub fn starts_programs(&self) -> bool {
        self.agent.iter().any(|agent| agent.executor.kind().starts_programs())
    }

    /// What is missing on this machine for agents to do their work and for callers to be known, found without
    /// calling out; each says where. The server can start without: the runs that need it fail, and nobody
    /// is let in by what is not there. Only for a key that cards are signed with it does not start.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let keys = self.auth.missing().into_iter().map(|what| format!("auth: {what}"));
        let missing = |agent: &AgentConfig| {
            let missing = agent.executor.kind().missing();
            missing
                .into_iter()
                .map(|what| format!("agent {}: {what}", agent.id))
                .collect::<Vec<_>>()
        };
        let cards = self.cards.missing().into_iter().map(|what| format!("cards.keys: {what}"));
        keys.chain(cards).chain(self.agent.iter().flat_map(missing)).collect()
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
        if let Some(url) = &self.server.public_url
            && !(url.starts_with("http://") || url.starts_with("https://"))
        {
            let problem = format!("{url:?} must begin with https:// or http://");
            return wrong("[server]", 0, "public_url", problem);
        }
        for (header, key, value) in [
            ("[store]", "max_tasks", self.store.max_tasks),
            ("[server]", "max_body", self.server.max_body.0),
            ("[server]", "max_connections", self.server.max_connections),
            ("[server]", "max_running", self.server.max_running),
            ("[limits]", "history", self.limits.history),
            ("[limits]", "log", self.limits.log),
        ] {
            if value == 0 {
                return wrong(header, 0, key, "must be at least 1".to_owned());
            }
        }
        if self.server.keep_alive.0.is_zero() {
            return wrong("[server]", 0, "keep_alive", "must be longer than 0s".to_owned());
        }
        if let Some(Err((key, problem))) = self.auth.jwt.as_ref().map(JwtConfig::settings) {
            return wrong("[auth.jwt]", 0, key, problem);
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
