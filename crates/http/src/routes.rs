//! The table of routes.

use crate::auth::Access;
use crate::body::BodyLimits;
use crate::call::{Door, MessageLimits};
use crate::card::{self, CardMode, CardSigner, Proxies};
use crate::dialect::shape::{PLAIN, PRAISON, Shape};
use crate::edge::{Allowance, Tally};
use crate::probes::{self, Vitals};
use crate::reply::{self, Reply};
use crate::rest;
use crate::rpc::{self, VersionPolicy};
use crate::signing::{KEYS_PATH, PublicKeys};
use crate::webhook;
use a2ad_domain::{Agent, Service};
use axum::Router;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::routing::any;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What the wire needs to know of the configuration.
#[derive(Clone)]
pub struct Settings {
    /// Where callers reach the server, without a slash at the end: what cards say.
    pub base_url: String,
    /// What a request body may cost.
    pub body: BodyLimits,
    /// How long a stream may be silent before a comment is sent.
    pub keep_alive: Duration,
    /// What happens to a method of the 1.0 line in a request that names no version.
    pub version_policy: VersionPolicy,
    /// Whose word counts on where callers reach the server.
    pub proxies: Proxies,
    /// How long cards may be kept by caches.
    pub card_max_age: Duration,
    /// How much a message may hold.
    pub message: MessageLimits,
    /// What one caller may take.
    pub allowance: Arc<Allowance>,
    /// Counts refusals.
    pub tally: Arc<Tally>,
    /// What says which webhooks may be called, where there are any.
    pub webhooks: Option<webhook::Client>,
    /// Signs cards.
    pub signer: Arc<CardSigner>,
    /// What everybody may see of the keys that cards and notifications are signed with.
    pub keys: PublicKeys,
}

/// What an agent shows to whom.
#[derive(Clone)]
pub struct Front {
    /// The agent.
    pub agent: Arc<Agent>,
    /// Who may call it.
    pub access: Access,
    /// Which forms of its card it shows.
    pub card_mode: CardMode,
    /// Since when it has been what it is.
    pub since: SystemTime,
}

impl Front {
    /// Whether an extended card would be there for callers of whom nothing is known.
    #[must_use]
    pub fn shows_extended_card_to_everybody(&self) -> bool {
        self.agent.extended_card.is_some() && matches!(self.access, Access::Open)
    }
}

/// What every route has at hand.
pub(crate) struct Shared {
    pub(crate) service: Service,
    pub(crate) vitals: Arc<dyn Vitals>,
    pub(crate) settings: Arc<Settings>,
}

/// All routes to the agents of `service`. `default` is the one behind `/`, `/a2a` and the card of the host.
pub fn router(
    service: Service,
    fronts: Vec<Front>,
    default: &Front,
    vitals: Arc<dyn Vitals>,
    settings: Settings,
) -> Router {
    let settings = Arc::new(settings);
    let shared = Arc::new(Shared { service, vitals, settings });
    let mut routes = Routes { router: Router::new(), shared };
    for front in &fronts {
        let base = format!("/api/v1/a2a/{}", front.agent.id);
        routes.rpc(&format!("{base}/jsonrpc"), front, &PLAIN);
        routes.below(&base, front);
    }
    routes.rpc("/", default, &PLAIN);
    routes.rpc("/a2a", default, &PRAISON);
    routes.card("/.well-known/agent-card.json", default);
    routes.card("/.well-known/agent.json", default);
    routes.read(KEYS_PATH, card::keys);
    routes.catalog("/api/v1/a2a/agents", fronts);
    routes.probe("/healthz", |_, _| probes::health());
    routes.readiness("/readyz");
    routes.probe("/status", |shared, _| probes::status(shared));
    routes.probe("/metrics", |shared, _| probes::metrics(shared));
    routes.router.fallback(|| async { reply::not_found() })
}

struct Routes {
    router: Router,
    shared: Arc<Shared>,
}

impl Routes {
    /// A route that takes JSON-RPC.
    fn rpc(&mut self, path: &str, front: &Front, shape: &'static Shape) {
        let door = Arc::new(Door::new(&front.agent, shape, front.access.clone()));
        let shared = self.shared.clone();
        let take = move |request: Request| rpc::take(shared.clone(), door.clone(), request);
        self.add(path, any(take));
    }

    /// Everything below an agent's base that is not JSON-RPC: its card, and HTTP+JSON.
    fn below(&mut self, base: &str, front: &Front) {
        for name in ["agent-card.json", "agent.json"] {
            self.card(&format!("{base}/.well-known/{name}"), front);
        }
        let door = Arc::new(Door::new(&front.agent, &PLAIN, front.access.clone()));
        let (shared, skip) = (self.shared.clone(), base.len() + 1);
        let take = move |request: Request| {
            let path = request.uri().path().get(skip..).unwrap_or("").to_owned();
            rest::take(shared.clone(), door.clone(), path, request)
        };
        let router = std::mem::take(&mut self.router);
        self.router = router.route(&format!("{base}/{{*rest}}"), any(take));
    }

    /// A place of an agent's card.
    fn card(&mut self, path: &str, front: &Front) {
        let front = front.clone();
        self.read(path, move |shared, request| {
            if front.agent.is_published() {
                card::serve(&front, shared, request)
            } else {
                reply::not_found()
            }
        });
    }

    /// The list of agents, for each caller the ones that the caller may call.
    fn catalog(&mut self, path: &str, fronts: Vec<Front>) {
        let (shared, fronts) = (self.shared.clone(), Arc::new(fronts));
        let answer = move |request: Request| {
            let (shared, fronts) = (shared.clone(), fronts.clone());
            async move {
                if !reads(&request) {
                    return only_read();
                }
                let (head, _) = request.into_parts();
                let base = card::base_url(&shared.settings, &head.headers, &head.extensions);
                card::catalog(&fronts, &head, &base).await
            }
        };
        self.add(path, any(answer));
    }

    /// A route that is only read.
    fn probe(&mut self, path: &str, answer: fn(&Shared, &Request) -> Reply) {
        self.read(path, answer);
    }

    /// The probe that asks the store.
    fn readiness(&mut self, path: &str) {
        let shared = self.shared.clone();
        let answer = move |request: Request| {
            let shared = shared.clone();
            async move {
                if reads(&request) {
                    probes::readiness(&shared).await
                } else {
                    reply::wrong_verb("GET, HEAD")
                }
            }
        };
        self.add(path, any(answer));
    }

    fn read(
        &mut self,
        path: &str,
        answer: impl Fn(&Shared, &Request) -> Reply + Clone + Send + Sync + 'static,
    ) {
        let shared = self.shared.clone();
        let answer = move |request: Request| {
            let reply = answer(&shared, &request);
            let found = reply.status() != StatusCode::NOT_FOUND;
            let reply = if reads(&request) || !found { reply } else { only_read() };
            async move { reply }
        };
        self.add(path, any(answer));
    }

    /// Adds a route with and without a slash at the end.
    fn add(&mut self, path: &str, methods: axum::routing::MethodRouter) {
        let router = std::mem::take(&mut self.router);
        self.router = match path {
            "/" => router.route(path, methods),
            _ => router.route(path, methods.clone()).route(&format!("{path}/"), methods),
        };
    }
}

fn reads(request: &Request) -> bool {
    [Method::GET, Method::HEAD].contains(request.method())
}

fn only_read() -> Reply {
    reply::wrong_verb("GET, HEAD")
}
