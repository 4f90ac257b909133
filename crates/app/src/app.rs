//! Wiring: from a configuration to a server that is ready to listen. Tests and programs that embed the
//! server put their own parts in.

use crate::config::ConfigError;
use crate::gauges::Gauges;
use crate::server::Server;
use crate::{Config, RandomIds, SystemClock};
use a2ad_domain::ports::{Clock, EventBus, TaskStore};
use a2ad_domain::service::{Limits, Ports, Service};
use a2ad_domain::{Agent, AgentId};
use a2ad_executor::Runtime;
use a2ad_http::{Anonymous, Authenticator};
use a2ad_store::{Capacity, LocalBus, MemoryStore};
use std::sync::Arc;
use tokio::net::TcpListener;

/// A server that does not listen yet.
pub struct App {
    pub(crate) config: Config,
    pub(crate) service: Service,
    pub(crate) default: Arc<Agent>,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) gauges: Arc<Gauges>,
}

/// Puts parts in.
pub struct AppBuilder {
    config: Config,
    agents: Vec<Arc<Agent>>,
    authenticator: Arc<dyn Authenticator>,
    store: Option<Arc<dyn TaskStore>>,
    bus: Option<Arc<dyn EventBus>>,
    clock: Arc<dyn Clock>,
}

impl App {
    /// A server of this configuration.
    #[must_use]
    pub fn builder(config: Config) -> AppBuilder {
        AppBuilder {
            config,
            agents: Vec::new(),
            authenticator: Arc::new(Anonymous),
            store: None,
            bus: None,
            clock: Arc::new(SystemClock),
        }
    }

    /// Opens the configured address.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn bind(self) -> std::io::Result<Server> {
        let listener = TcpListener::bind(self.config.server.listen).await?;
        Server::new(self, listener)
    }
}

impl AppBuilder {
    /// Adds an agent; it takes the place of a configured one of the same id.
    #[must_use]
    pub fn agent(mut self, agent: Agent) -> Self {
        self.agents.push(Arc::new(agent));
        self
    }

    /// Tells callers apart.
    #[must_use]
    pub fn authenticator(mut self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.authenticator = authenticator;
        self
    }

    /// Keeps tasks in `store` instead of the configured one.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn TaskStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Hands changes out over `bus`.
    #[must_use]
    pub fn bus(mut self, bus: Arc<dyn EventBus>) -> Self {
        self.bus = Some(bus);
        self
    }

    /// Reads the time from `clock`.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Puts everything together.
    ///
    /// # Errors
    /// When the configuration names no agent, or no address that cards can name.
    pub fn build(self) -> Result<App, ConfigError> {
        let Self { config, mut agents, authenticator, store, bus, clock } = self;
        let address = config.server.listen.ip();
        if address.is_unspecified() && config.server.public_url.is_none() {
            let problem = format!(
                "{address} is no address that a card can name; set server.public_url to the URL that \
                 callers use"
            );
            return Err(ConfigError::new("listen", problem));
        }
        for agent in &config.agent {
            if !agents.iter().any(|known| known.id.as_str() == agent.id) {
                let made = agent.agent().ok_or_else(|| {
                    ConfigError::new("agent", format!("{:?} is no agent id", agent.id))
                })?;
                agents.push(Arc::new(made));
            }
        }
        let default = default_agent(&config, &agents)?;
        let runtime = Runtime::new();
        let memory = Arc::new(MemoryStore::new(Capacity {
            tasks: config.store.max_tasks,
            bytes: config.store.max_bytes.0,
            log: config.limits.log,
        }));
        let local = Arc::new(LocalBus::new());
        let gauges = Arc::new(Gauges {
            runtime: runtime.clone(),
            bus: bus.is_none().then(|| local.clone()),
            store: store.is_none().then(|| memory.clone()),
        });
        let ports = Ports {
            store: store.unwrap_or(memory),
            bus: bus.unwrap_or(local),
            spawner: Arc::new(runtime),
            clock,
            ids: Arc::new(RandomIds),
        };
        let limits = Limits {
            wait: config.server.wait_limit.0,
            history: config.limits.history,
            task_bytes: config.limits.task_bytes.0,
            idle: config.limits.idle.0,
            retention: config.store.retention.0,
        };
        let service = Service::new(ports, agents, limits);
        Ok(App { config, service, default, authenticator, gauges })
    }
}

/// The agent that says so, otherwise the first of the file, otherwise the first that was added.
fn default_agent(config: &Config, agents: &[Arc<Agent>]) -> Result<Arc<Agent>, ConfigError> {
    let said = config.agent.iter().find(|agent| agent.default).or(config.agent.first());
    let id = said.and_then(|agent| AgentId::new(&*agent.id).ok());
    let found = agents.iter().find(|agent| id.as_ref() == Some(&agent.id)).or(agents.first());
    found.cloned().ok_or_else(|| ConfigError::new("agent", "add at least one [[agent]]"))
}
