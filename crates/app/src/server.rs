//! The running server: serves, keeps house, and ends in order.

use crate::Config;
use crate::app::{App, AppBuilder};
use crate::config::{StoreConfig, StoreKind, VersionPolicyConfig};
use crate::gauges::Gauges;
use crate::signals::Signals;
use a2ad_domain::service::Service;
use a2ad_executor::{Drained, Runtime};
use a2ad_http::Router;
use a2ad_http::admin::{Admin, UnderWay, administered};
use a2ad_http::webhook::Courier;
use a2ad_http::{
    Access, Allowance, BodyLimits, Connections, Front, Proxies, Settings, Tally, VersionPolicy,
    router, serve,
};
use std::future::Future;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// How often ended and forgotten tasks are looked for.
const SWEEP: Duration = Duration::from_secs(60);

/// How long what operators have begun may take at the end. A store that fails has said so by then.
const OPERATIONS: Duration = Duration::from_secs(15);

/// A server that listens.
///
/// [`Server::builder`] is the way to one for a program with agents of its own.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    base_url: String,
    pub(crate) router: Router,
    /// Who may call the default agent.
    access: Access,
    service: Service,
    gauges: Arc<Gauges>,
    runtime: Runtime,
    drain: Duration,
    courier: Option<Courier>,
    /// How long a delivery may take.
    delivery: Duration,
    /// What operators have begun.
    under_way: UnderWay,
    connections: Connections,
    scheme: &'static str,
}

impl Server {
    pub(crate) async fn new(
        app: App,
        listener: TcpListener,
        base_url: String,
    ) -> std::io::Result<Self> {
        let App { config, service, directory, audit, signer, keys, gauges, tls, post, .. } = app;
        let address = listener.local_addr()?;
        let tally: Arc<Tally> = Arc::default();
        let settings = Settings {
            base_url: base_url.clone(),
            body: BodyLimits {
                bytes: config.server.max_body.0,
                pause: config.server.body_pause.0,
                whole: config.server.body_timeout.0,
            },
            keep_alive: config.server.keep_alive.0,
            version_policy: match config.server.version_policy {
                VersionPolicyConfig::Strict => VersionPolicy::Strict,
                VersionPolicyConfig::Lenient => VersionPolicy::Lenient,
            },
            // What is configured wins over what anybody says.
            proxies: match config.server.public_url {
                Some(_) => Proxies::Fixed,
                None => Proxies::Trusted(config.server.trusted_proxies.clone()),
            },
            card_max_age: config.server.card_max_age.0,
            message: config.limits.message(),
            allowance: Arc::new(Allowance::new(
                config.limits.rate.0,
                config.limits.owner_streams.0,
                config.server.trusted_proxies.clone(),
            )),
            tally: tally.clone(),
            webhooks: post.as_ref().map(|post| post.client.clone()),
            signer,
            keys,
        };
        let name_peers = settings.proxies.need_peers()
            || settings.allowance.limits_anything()
            || config.admin.is_some();
        let (body, allowance) = (settings.body.clone(), settings.allowance.clone());
        let (calls, vitals) = (service.clone(), gauges.clone());
        let routes = Box::new(move |fronts, default: &Front| {
            router(calls.clone(), fronts, default, vitals.clone(), settings.clone())
        });
        let under_way = UnderWay::default();
        let (live, default) = directory.serve(routes).await.map_err(std::io::Error::other)?;
        let router = match config.admin.as_ref().zip(audit) {
            // Nobody can change the agents, so nothing has to be looked up.
            None => live.current(),
            Some((admin, audit)) => {
                let (service, gate, tally) = (service.clone(), admin.gate(), tally.clone());
                let under_way = under_way.clone();
                let admin =
                    Admin { directory, service, gate, audit, allowance, body, tally, under_way };
                administered(live, admin)
            }
        };
        let connections = Connections { name_peers, tls, tally, ..connections(&config) };
        let (runtime, drain) = (gauges.runtime.clone(), config.server.drain.0);
        Ok(Self {
            listener,
            address,
            base_url,
            router,
            access: default.access,
            service,
            gauges,
            runtime,
            drain,
            courier: post.map(|post| post.courier),
            delivery: config.push.timeout.0,
            under_way,
            connections,
            scheme: config.server.scheme(),
        })
    }

    /// A server without agents, to be added one by one. It keeps its tasks in memory unless it is told
    /// otherwise: a program that embeds it should not leave files that it does not know of.
    #[must_use]
    pub fn builder() -> AppBuilder {
        let store = StoreConfig { kind: StoreKind::Memory, ..StoreConfig::default() };
        App::builder(Config { agent: Vec::new(), store, ..Config::default() })
    }

    /// The address that it listens on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Where callers reach it.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Figures of the running server.
    #[must_use]
    pub fn gauges(&self) -> Arc<Gauges> {
        self.gauges.clone()
    }

    /// The use cases, for programs that embed the server.
    #[must_use]
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Serves until the process is told to stop, with SIGTERM or SIGINT, and then as [`Server::run`] says;
    /// a second signal ends the process at once. The first line that it writes to the standard output says
    /// where it listens, the second is a request to try.
    ///
    /// # Errors
    /// When the signals cannot be listened for.
    pub async fn run_until_told(self) -> std::io::Result<Drained> {
        let signals = Signals::new()?;
        let base = format!("{}://{}", self.scheme, self.local_addr());
        let first = a2ad_http::first_call(&base, &self.access);
        // Whoever reads this may have gone; that is no reason not to serve.
        let _ = writeln!(std::io::stdout(), "listening on {base}\ntry: {first}");
        Ok(self.run(signals.stop()).await)
    }

    /// Serves until `stop`. Then no message is taken any more, runs may end within the drain limit,
    /// those that do not are ended as failed, and every stream gets its last frame.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Drained {
        let (closing, closed) = oneshot::channel::<()>();
        let stopped = async move {
            let _ = closed.await;
        };
        let serving = tokio::spawn(serve(self.listener, self.router, self.connections, stopped));
        let sweeping = tokio::spawn(sweep(self.service.clone(), self.courier.clone()));
        stop.await;
        tracing::info!("draining");
        self.service.drain();
        let drained = self.runtime.drain(self.drain).await;
        sweeping.abort();
        let _ = closing.send(());
        let _ = serving.await;
        if !self.under_way.end(OPERATIONS).await {
            tracing::error!("an operation of an operator is left half done");
        }
        if let Some(courier) = self.courier {
            courier.close(self.delivery.min(self.drain)).await;
        }
        tracing::info!(cut_off = drained.cut_off, left = drained.left, "stopped");
        drained
    }
}

/// What connections may take.
fn connections(config: &Config) -> Connections {
    Connections {
        max: config.server.max_connections,
        head_timeout: config.server.head_timeout.0,
        max_head: config.server.max_head.0,
        write_timeout: config.server.write_timeout.0,
        cors: config.server.cors().map(Arc::new),
        ..Connections::default()
    }
}

async fn sweep(service: Service, courier: Option<Courier>) {
    let mut pause = tokio::time::interval(SWEEP);
    loop {
        pause.tick().await;
        match service.sweep().await {
            Ok(swept) if swept.failed + swept.removed > 0 => {
                tracing::info!(failed = swept.failed, removed = swept.removed, "swept");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "housekeeping failed"),
        }
        if let Some(courier) = &courier
            && let Err(error) = courier.look_around().await
        {
            tracing::warn!(%error, "webhooks that are due cannot be found");
        }
    }
}
