//! The table of routes of a server whose agents come and go.

use crate::reply::Reply;
use arc_swap::ArcSwap;
use axum::Router;
use axum::extract::Request;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;

/// A table that never changes and is replaced as a whole. Each request takes the table of its moment without a
/// lock, so it meets the routes, cards and catalog of one set of agents, and a change keeps none waiting.
#[derive(Clone)]
pub struct Live(Arc<ArcSwap<Router>>);

impl Live {
    /// Begins with these routes.
    #[must_use]
    pub fn new(router: Router) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(router)))
    }

    /// From the next request on these are the routes.
    pub fn replace(&self, router: Router) {
        self.0.store(Arc::new(router));
    }

    /// The routes as they are now, for a server whose agents stay.
    pub fn current(&self) -> Router {
        Router::clone(&self.0.load())
    }

    pub(crate) async fn answer(&self, request: Request) -> Reply {
        match TowerToHyperService::new(self.current()).call(request).await {
            Ok(reply) => reply,
            Err(never) => match never {},
        }
    }
}
