//! What stands between a connection and the routes: what a request may look like before anybody reads it,
//! and the headers that every answer carries.

mod address;
mod allowance;
mod cors;
mod limit;
mod pace;
mod requests;
mod streams;

use crate::auth::ClientSubject;
use crate::card::Peer;
use crate::reply::{self, Reply};
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use std::sync::Arc;

pub use allowance::Allowance;
pub(crate) use allowance::Who;
pub use cors::Cors;
pub use limit::{Limit, Tally};
pub(crate) use pace::Paced;
pub use requests::Rate;
pub(crate) use streams::Seat;

/// The longest path and query. The longest that a client needs holds a page token and some ids.
const MAX_TARGET: usize = 8192;

/// A year: the shortest time that lists of such hosts accept.
const ONLY_TLS: HeaderValue = HeaderValue::from_static("max-age=31536000");
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// What holds for one connection.
pub(crate) struct Threshold {
    /// Who is at the other end, where somebody needs to know.
    pub(crate) peer: Option<Peer>,
    /// Whom the client's certificate names.
    pub(crate) subject: Option<ClientSubject>,
    pub(crate) encrypted: bool,
    pub(crate) cors: Option<Arc<Cors>>,
    pub(crate) tally: Arc<Tally>,
}

/// What an answer needs to know of its request.
pub(crate) struct Entered {
    /// The listed origin that it came from.
    origin: Option<HeaderValue>,
}

impl Threshold {
    /// Looks at the head of a request; an error is its answer.
    pub(crate) fn enter<B>(&self, request: &mut Request<B>) -> Result<Entered, Box<Reply>> {
        let target = request.uri().path_and_query().map_or(0, |it| it.as_str().len());
        if target > MAX_TARGET {
            self.tally.count(Limit::Target);
            let message = "The path and query are too long";
            let refused = reply::failure(StatusCode::URI_TOO_LONG, "INVALID_ARGUMENT", message);
            return Err(Box::new(self.leave(&Entered { origin: None }, refused)));
        }
        let origin = self.cors.as_ref().and_then(|cors| cors.origin(request.headers()));
        let entered = Entered { origin };
        if entered.origin.is_some() && Cors::asks_first(request.method(), request.headers()) {
            return Err(Box::new(self.leave(&entered, Cors::permission())));
        }
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        if let Some(subject) = &self.subject {
            request.extensions_mut().insert(subject.clone());
        }
        Ok(entered)
    }

    /// Puts on an answer what every answer carries. What says nothing about being kept is not kept: it may
    /// be somebody's own.
    pub(crate) fn leave(&self, entered: &Entered, mut reply: Reply) -> Reply {
        let headers = reply.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
        headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
        if self.encrypted {
            headers.insert(STRICT_TRANSPORT_SECURITY, ONLY_TLS);
        }
        if self.cors.is_some() {
            Cors::mark(entered.origin.as_ref(), headers);
        }
        reply
    }
}
