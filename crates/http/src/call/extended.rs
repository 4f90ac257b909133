//! The card for callers who have shown who they are (specification 0.3 §7.10, 1.0 §3.1.11).

use super::{Door, Exchange, Fault};
use crate::auth::Refused;
use crate::card::{self, CardMode};
use crate::reply::{self, Reply};
use a2ad_domain::{Error, Owner, Scope};
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;

/// It is for the caller alone, so nobody on the way keeps it (specification 1.0 §13.3).
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-store");

/// Answers in the form of the line that the call is in, whatever the public card looks like.
pub(super) fn reply(exchange: &Exchange<'_>, door: &Door, scope: &Scope, head: &Parts) -> Reply {
    let (agent, access) = (&door.agent, &door.access);
    let form = if exchange.shape.is_line_03() { CardMode::V03 } else { CardMode::V1 };
    let Some(card) = card::extended(agent, access, exchange.shared, form, head) else {
        return exchange.fault(&Fault::Failed(Error::ExtendedCardNotConfigured));
    };
    // Whoever lets in callers that it does not know has not learned who they are.
    if *scope.owner() == Owner::anonymous() {
        return reply::refused(Refused::Unauthenticated, access.schemes());
    }
    let mut reply = exchange.success(exchange.around(&card));
    reply.headers_mut().insert(CACHE_CONTROL, PRIVATE);
    reply
}
