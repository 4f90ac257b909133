//! What operators may do while the server runs: agents come, change and go, and tasks of every scope can be
//! looked at and canceled. Open `operation.rs` for what there is.

mod audit;
mod body;
mod directory;
mod gate;
mod operation;
mod perform;
mod under_way;
mod view;

use crate::body::BodyLimits;
use crate::edge::{Allowance, Limit, Tally};
use crate::live::Live;
use crate::reply::{self, Reply};
use a2ad_domain::Service;
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::routing::any;
use std::sync::Arc;

pub use audit::Audit;
use audit::Entry;
pub use directory::{AgentView, Directory, Origin, Problem};
use gate::Barred;
pub use gate::{Gate, MIN_KEY, Operator};
use operation::{Found, find};
pub use under_way::UnderWay;

const BASE: &str = "/api/v1/admin";
const ENDING: &str = "The server is about to end";

/// Everything that operations need.
pub struct Admin {
    /// The agents.
    pub directory: Arc<dyn Directory>,
    /// The tasks.
    pub service: Service,
    /// Who is let in.
    pub gate: Gate,
    /// Where it is written down who did what.
    pub audit: Audit,
    /// What somebody may take who is not let in.
    pub allowance: Arc<Allowance>,
    /// What a request body may cost.
    pub body: BodyLimits,
    /// Counts refusals.
    pub tally: Arc<Tally>,
    /// What has begun.
    pub under_way: UnderWay,
}

/// The routes of operators in front of all others.
pub fn administered(live: Live, admin: Admin) -> Router {
    let admin = Arc::new(admin);
    let take = move |request: Request| {
        let admin = admin.clone();
        // In a task of its own, so that what was begun is done when whoever asked for it has gone.
        let done = tokio::spawn(async move { admin.take(request).await });
        // It fails by a panic only, which is in the log.
        async move { done.await.unwrap_or_else(|_| view::broken()) }
    };
    let router = Router::new().route(BASE, any(take.clone()));
    // The rest of a path is never empty.
    let router = router.route(&format!("{BASE}/"), any(take.clone()));
    let router = router.route(&format!("{BASE}/{{*rest}}"), any(take));
    router.fallback(move |request: Request| {
        let live = live.clone();
        async move { live.answer(request).await }
    })
}

impl Admin {
    /// Does what one request asks for, and writes down who asked for what and what became of it. Who it is
    /// comes first: nothing is said about what there is to anybody else.
    async fn take(&self, request: Request) -> Reply {
        let (head, body) = request.into_parts();
        let path = head.uri.path().strip_prefix(BASE).unwrap_or_default();
        let found = find(&head.method, path);
        let peer = gate::peer(&head);
        let mut entry = Entry { peer, ..Entry::of(&found) };
        // Until it is written down.
        let mut begun = None;
        let reply = match self.gate.admit(peer, &head.headers) {
            Err(barred) => gate::refuse(self.slowed(barred, &head)),
            Ok(operator) => {
                entry.operator = Some(operator);
                match found {
                    Found::Operation(operation) => match self.read(&head, body).await {
                        Err(unread) => unread,
                        Ok(body) => {
                            begun = self.under_way.begin().await;
                            if begun.is_some() {
                                Box::pin(self.perform(operation, &head, &body, &mut entry)).await
                            } else {
                                reply::failure(
                                    StatusCode::SERVICE_UNAVAILABLE,
                                    "UNAVAILABLE",
                                    ENDING,
                                )
                            }
                        }
                    },
                    Found::OtherVerbs(verbs) => reply::wrong_verb(verbs),
                    Found::Nothing => reply::not_found(),
                }
            }
        };
        entry.status = reply.status().as_u16();
        self.audit.write(&entry);
        drop(begun);
        reply
    }

    /// Why somebody is not let in who may have been refused too often already. They are counted by the address,
    /// with the callers who show nothing good either, so that guessing is slow; operators are not counted.
    fn slowed(&self, barred: Barred, head: &Parts) -> Barred {
        let who = self.allowance.who(None, head);
        match self.allowance.request(who.as_ref()) {
            Ok(()) => barred,
            Err(pause) => {
                self.tally.count(Limit::Rate);
                Barred::TooOften(pause)
            }
        }
    }
}
