//! The table of routes.

use crate::auth::Authenticator;
use crate::card;
use crate::dialect::profile::{PLAIN, PRAISON, Profile};
use crate::probes::{self, Vitals};
use crate::reply::{self, Reply};
use crate::rpc::{self, Door};
use a2ad_domain::{Agent, Owner, Scope, Service};
use axum::Router;
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{HeaderValue, StatusCode};
use axum::routing::{MethodRouter, get, post};
use std::sync::Arc;
use std::time::Duration;

/// What the wire needs to know of the configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where callers reach the server, without a slash at the end: what cards say.
    pub base_url: String,
    /// The longest body that is read, in bytes.
    pub max_body: usize,
    /// How long a stream may be silent before a comment is sent.
    pub keep_alive: Duration,
}

/// What every route has at hand.
pub(crate) struct Shared {
    pub(crate) service: Service,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) vitals: Arc<dyn Vitals>,
    pub(crate) settings: Arc<Settings>,
}

/// All routes of `service`. `default` is the agent behind `/`, `/a2a` and the card of the host.
pub fn router(
    service: Service,
    default: &Arc<Agent>,
    authenticator: Arc<dyn Authenticator>,
    vitals: Arc<dyn Vitals>,
    settings: Settings,
) -> Router {
    let shared = Arc::new(Shared { service, authenticator, vitals, settings: Arc::new(settings) });
    let mut routes = Routes { router: Router::new(), shared: shared.clone() };
    for agent in shared.service.agents() {
        let base = format!("/api/v1/a2a/{}", agent.id);
        routes.door(&format!("{base}/jsonrpc"), agent, &PLAIN);
        routes.cards(&base, agent);
    }
    routes.door("/", default, &PLAIN);
    routes.door("/a2a", default, &PRAISON);
    routes.cards("", default);
    routes.probe("/api/v1/a2a/agents", catalog);
    routes.probe("/healthz", |_| probes::health());
    routes.probe("/readyz", probes::readiness);
    routes.probe("/status", probes::status);
    routes.probe("/metrics", probes::metrics);
    routes.router.fallback(|| async { reply::not_found("No such route") })
}

struct Routes {
    router: Router,
    shared: Arc<Shared>,
}

impl Routes {
    /// A route that takes calls.
    fn door(&mut self, path: &str, agent: &Arc<Agent>, profile: &'static Profile) {
        let anonymous = Scope::new(agent.id.clone(), None, Owner::anonymous());
        let door = Arc::new(Door { agent: agent.clone(), profile, anonymous });
        let shared = self.shared.clone();
        let take = move |request: Request| rpc::take(shared.clone(), door.clone(), request);
        self.add(path, post(take).fallback(|| async { wrong_verb("POST") }));
    }

    /// The well-known places of an agent's card, the current one and the one before 0.3.
    fn cards(&mut self, base: &str, agent: &Arc<Agent>) {
        for name in ["agent-card.json", "agent.json"] {
            let agent = agent.clone();
            let answer = move |shared: &Shared| {
                if !agent.is_published() {
                    return reply::not_found("No such agent");
                }
                reply::json(StatusCode::OK, card::card(&agent, &shared.settings.base_url))
            };
            self.probe(&format!("{base}/.well-known/{name}"), answer);
        }
    }

    /// A route that is only read.
    fn probe(
        &mut self,
        path: &str,
        answer: impl Fn(&Shared) -> Reply + Clone + Send + Sync + 'static,
    ) {
        let shared = self.shared.clone();
        let answer = move || {
            let reply = answer(&shared);
            async move { reply }
        };
        self.add(path, get(answer).fallback(|| async { wrong_verb("GET, HEAD") }));
    }

    /// Adds a route with and without a slash at the end.
    fn add(&mut self, path: &str, methods: MethodRouter) {
        let router = std::mem::take(&mut self.router);
        self.router = match path {
            "/" => router.route(path, methods),
            _ => router.route(path, methods.clone()).route(&format!("{path}/"), methods),
        };
    }
}

fn catalog(shared: &Shared) -> Reply {
    let agents = shared.service.agents().filter(|agent| agent.is_published());
    let body = card::catalog(agents.map(|agent| &**agent), &shared.settings.base_url);
    reply::json(StatusCode::OK, body)
}

fn wrong_verb(allowed: &'static str) -> Reply {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let mut reply = reply::failure(status, "UNIMPLEMENTED", "The route does not take this verb");
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}
