//! Wiring: from a configuration to a server that is ready to listen. Tests and programs that embed the
//! server put their own parts in.

use crate::config::{AdminConfig, ConfigError};
use crate::directory::{Directory, Entries};
use crate::gauges::Gauges;
use crate::guards::Guards;
use crate::kept::Kept;
use crate::post::Post;
use crate::server::Server;
use crate::{Config, RandomIds, SystemClock};
use a2ad_domain::ports::{AgentExecutor, Clock, EventBus, IdGenerator, PushStore, TaskStore};
use a2ad_domain::service::{Limits, Ports, Recovered, Service};
use a2ad_domain::{Agent, AgentId, AgentSettings, Card};
use a2ad_executor::{Drained, Runtime};
use a2ad_http::admin::Audit;
use a2ad_http::{Authenticator, CardSigner, PublicKeys, Tls};
use a2ad_store::LocalBus;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;

/// A server that does not listen yet.
pub struct App {
    pub(crate) config: Config,
    pub(crate) service: Service,
    pub(crate) directory: Arc<Directory>,
    pub(crate) audit: Option<Audit>,
    pub(crate) signer: Arc<CardSigner>,
    /// What everybody may see of what is signed with.
    pub(crate) keys: PublicKeys,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) tls: Option<Arc<Tls>>,
    pub(crate) post: Option<Post>,
    kept: Kept,
}

/// Puts parts in.
pub struct AppBuilder {
    config: Config,
    agents: Vec<Arc<Agent>>,
    authenticator: Option<Arc<dyn Authenticator>>,
    allow_anonymous: bool,
    store: Option<Arc<dyn TaskStore>>,
    webhooks: Option<Arc<dyn PushStore>>,
    bus: Option<Arc<dyn EventBus>>,
    clock: Arc<dyn Clock>,
    /// The first thing that made no sense, kept for `build` so that calls can be chained.
    problem: Option<ConfigError>,
}

impl App {
    /// A server of this configuration.
    #[must_use]
    pub fn builder(config: Config) -> AppBuilder {
        AppBuilder {
            config,
            agents: Vec::new(),
            authenticator: None,
            allow_anonymous: false,
            store: None,
            webhooks: None,
            bus: None,
            clock: Arc::new(SystemClock),
            problem: None,
        }
    }

    /// Opens the configured address, and ends or begins again what an earlier process has left at work:
    /// nothing is served before. A server that cannot listen touches no task.
    ///
    /// # Errors
    /// When the address cannot be listened on, or the store fails.
    pub async fn bind(self) -> std::io::Result<Server> {
        let listener = TcpListener::bind(self.config.server.listen).await.map_err(|error| {
            let problem = format!("the address cannot be listened on: {error}");
            std::io::Error::new(error.kind(), problem)
        })?;
        let unusable = |error| self.kept.unusable(&error);
        self.directory.restore().await.map_err(unusable)?;
        let left = self.kept.left().await.map_err(|error| self.kept.unusable(&error))?;
        let recovered = self.service.recover(left).await;
        let Recovered { ended, retried } = recovered.map_err(|error| self.kept.unusable(&error))?;
        if ended > 0 {
            tracing::warn!(ended, "tasks were at work when the server ended; they have ended");
        }
        if retried > 0 {
            tracing::warn!(retried, "tasks were at work when the server ended; they begin again");
        }
        self.warn_of_plain_text();
        let base_url = self.config.server.base_url(listener.local_addr()?);
        if let Some(post) = &self.post {
            post.start(&base_url).await.map_err(std::io::Error::other)?;
        }
        Box::pin(Server::new(self, listener, base_url)).await
    }
}

impl App {
    /// Says once that what callers send can be read on the way, unless a proxy seems to be in front.
    fn warn_of_plain_text(&self) {
        let server = &self.config.server;
        let proxied = server.public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
        if !server.listen.ip().is_loopback() && self.tls.is_none() && !proxied {
            tracing::warn!(
                address = %server.listen,
                "other machines can call and nothing is encrypted; set [server.tls], or put a proxy in \
                 front and set server.public_url to its https:// address"
            );
        }
    }
}

impl AppBuilder {
    /// Adds an agent of this id, with the settings that agents have by default.
    #[must_use]
    pub fn agent(self, id: &str, card: Card, executor: impl AgentExecutor + 'static) -> Self {
        self.agent_with(id, card, AgentSettings::default(), executor)
    }

    /// Adds an agent of this id with settings of its own.
    #[must_use]
    pub fn agent_with(
        mut self,
        id: &str,
        card: Card,
        settings: AgentSettings,
        executor: impl AgentExecutor + 'static,
    ) -> Self {
        match AgentId::new(id) {
            Ok(id) => self.with_agent(Agent::new(id, card, settings, Arc::new(executor))),
            Err(rule) => {
                let problem = ConfigError::new("agent", format!("{id:?} {rule}"));
                self.problem.get_or_insert(problem);
                self
            }
        }
    }

    /// Adds an agent; it takes the place of a configured one of the same id.
    #[must_use]
    pub fn with_agent(mut self, agent: Agent) -> Self {
        self.agents.push(Arc::new(agent));
        self
    }

    /// Takes everything but agents that are added here from a configuration.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Lets callers from other machines in although nothing tells them apart.
    #[must_use]
    pub fn allow_anonymous(mut self, allow: bool) -> Self {
        self.allow_anonymous = allow;
        self
    }

    /// Tells callers apart.
    #[must_use]
    pub fn authenticator(mut self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.authenticator = Some(authenticator);
        self
    }

    /// Keeps tasks in `store` instead of the configured one.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn TaskStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Keeps webhooks in `webhooks`, which must be the store of the program's own by its other port. Without a
    /// place for webhooks there are no push notifications.
    #[must_use]
    pub fn webhooks(mut self, webhooks: Arc<dyn PushStore>) -> Self {
        self.webhooks = Some(webhooks);
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

    /// Listens on `address` and serves until the process is told to stop with SIGTERM or SIGINT; then
    /// runs may end within the configured time. Port 0 lets the system choose one. What it writes to the
    /// standard output are the lines that `a2ad serve` writes: where it listens, and a request to try.
    ///
    /// # Errors
    /// What [`AppBuilder::build`] refuses, and an address that cannot be listened on.
    pub async fn serve(
        mut self,
        address: impl ToSocketAddrs,
    ) -> Result<Drained, Box<dyn std::error::Error + Send + Sync>> {
        let named = address.to_socket_addrs()?.next();
        self.config.server.listen = named.ok_or("the address names nothing")?;
        let server = self.build()?.bind().await?;
        Ok(server.run_until_told().await?)
    }

    /// Puts everything together.
    ///
    /// # Errors
    /// When there is no agent, no address that cards can name, or when other machines could call
    /// without anything that tells callers apart.
    pub fn build(self) -> Result<App, ConfigError> {
        let Self { config, agents, store, webhooks, bus, clock, .. } = self;
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let address = config.server.listen.ip();
        if address.is_unspecified() && config.server.public_url.is_none() {
            let problem = format!(
                "{address} is no address that a card can name; set server.public_url to the URL that \
                 callers use"
            );
            return Err(ConfigError::new("listen", problem));
        }
        let guards = Guards::new(self.authenticator, &config.auth, &clock)?;
        let may_be_open = address.is_loopback() || self.allow_anonymous;
        let entries = Entries::new(config.clone(), agents, guards, may_be_open)?;
        if let Some(open) = entries.open().filter(|_| !may_be_open) {
            let problem = format!(
                "{address} can be reached from other machines and callers of the agent {open} do not \
                 have to say who they are; listen on 127.0.0.1, or add --allow-anonymous"
            );
            return Err(ConfigError::new("listen", problem));
        }
        let tls = config.tls().transpose().map_err(|it| ConfigError::new("server.tls", it))?;
        let tls = tls.map(Arc::new);
        if let Some(agent) = entries.exposing() {
            let problem = format!(
                "the extended card of the agent {agent} is for callers who show who they are, and the \
                 agent asks nobody; give the server an authenticator, or the configuration an [auth]"
            );
            return Err(ConfigError::new("extended_card", problem));
        }
        let signer = config.cards.signer().map_err(|it| ConfigError::new("cards.keys", it))?;
        let signer = Arc::new(signer);
        let audit = config.admin.as_ref().map(|admin| audit(admin, &clock)).transpose()?;
        let runtime = Runtime::new(config.server.max_running);
        let kept = store.map_or_else(|| Kept::open(&config), |store| Ok(Kept::Own(store)))?;
        let local = Arc::new(LocalBus::new());
        let ids: Arc<dyn IdGenerator> = Arc::new(RandomIds);
        let webhooks = webhooks.or_else(|| kept.webhooks());
        let post = Post::new(&config, kept.port(), webhooks, clock.clone(), ids.clone())?;
        let keys = PublicKeys::of(signer.keys().iter().chain(post.iter().flat_map(Post::keys)));
        let gauges = Arc::new(Gauges {
            runtime: runtime.clone(),
            bus: bus.is_none().then(|| local.clone()),
            store: kept.clone(),
            courier: post.as_ref().map(|post| post.courier.clone()),
        });
        let bus = bus.unwrap_or(local);
        let ports = Ports {
            store: kept.port(),
            bus: post.as_ref().map_or_else(|| bus.clone(), |post| post.listening(bus.clone())),
            spawner: Arc::new(runtime),
            clock,
            ids,
            push: post.as_ref().map(Post::push),
        };
        let service = Service::new(ports, entries.agents(), limits(&config));
        let directory = Arc::new(Directory::new(service.clone(), kept.agents(), entries));
        Ok(App { config, service, directory, audit, signer, keys, gauges, tls, post, kept })
    }
}

/// What the use cases keep to.
fn limits(config: &Config) -> Limits {
    Limits {
        wait: config.server.wait_limit.0,
        history: config.limits.history,
        task_bytes: config.limits.task_bytes.0,
        idle: config.limits.idle.0,
        retention: config.store.retention.0,
        owner_tasks: config.limits.owner_tasks.0,
        webhooks: config.push.max_per_task,
    }
}

/// Where what operators do is written down.
fn audit(admin: &AdminConfig, clock: &Arc<dyn Clock>) -> Result<Audit, ConfigError> {
    let path = admin.audit_log.as_deref();
    Audit::open(path, clock.clone()).map_err(|error| {
        let path = path.unwrap_or(Path::new("")).display();
        let problem = format!("{path} cannot be written ({error}); name a file that can be");
        ConfigError::new("admin.audit_log", problem)
    })
}
