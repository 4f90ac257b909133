//! Serves agent cards and the catalog (specification 0.3 §5.3, 1.0 §8).

mod document;
pub(crate) mod origin;
mod signing;

use crate::auth::{Access, callable};
use crate::reply::{self, Reply};
use crate::routes::{Front, Shared};
use crate::rpc::Asked;
use a2ad_domain::{Agent, Card};
use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use bytes::Bytes;
use httpdate::HttpDate;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;
use std::time::SystemTime;

pub(crate) use origin::base_url;
pub use origin::{Peer, Proxies};
pub use signing::CardSigner;

/// Which forms of its card an agent shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CardMode {
    /// One document for clients of both lines; the header `A2A-Version` asks for the pure form.
    #[default]
    Hybrid,
    /// The 1.0 form for everybody.
    V1,
    /// The 0.3 form for everybody.
    V03,
}

/// The card of an agent as a client gets it.
pub(crate) fn serve(front: &Front, shared: &Shared, request: &Request) -> Reply {
    let form = match (front.card_mode, asked(request)) {
        (CardMode::Hybrid, Asked::Line1) => CardMode::V1,
        (CardMode::Hybrid, Asked::Line03) => CardMode::V03,
        (mode, _) => mode,
    };
    let base = base_url(&shared.settings, request.headers(), request.extensions());
    let agent = &front.agent;
    let body = write(agent, &agent.card, &front.access, shared, form, &base);
    // The form follows the version, and behind a proxy the address follows what the proxy says.
    kept(shared, request, body, Some("A2A-Version"), front.since)
}

/// The public halves of the keys that the server signs with.
pub(crate) fn keys(shared: &Shared, request: &Request) -> Reply {
    kept(shared, request, shared.settings.keys.document(), None, *STARTED)
}

/// An answer that caches may keep, or that what they have kept is still good.
fn kept(
    shared: &Shared,
    request: &Request,
    body: Bytes,
    vary: Option<&str>,
    since: SystemTime,
) -> Reply {
    let tag = tag(&body);
    let mut reply = if is_known(request.headers(), &tag, since) {
        let mut reply = reply::json(StatusCode::NOT_MODIFIED, Bytes::new());
        reply.headers_mut().remove(axum::http::header::CONTENT_TYPE);
        reply
    } else {
        reply::json(StatusCode::OK, body)
    };
    let age = format!("public, max-age={}", shared.settings.card_max_age.as_secs());
    let changed = httpdate::fmt_http_date(since);
    let headers: [(HeaderName, Option<&str>); 4] = [
        (ETAG, Some(&tag)),
        (CACHE_CONTROL, Some(&age)),
        (VARY, vary),
        (LAST_MODIFIED, Some(&changed)),
    ];
    for (name, value) in headers {
        if let Some(Ok(value)) = value.map(str::parse) {
            reply.headers_mut().insert(name, value);
        }
    }
    reply
}

/// Writes a card, signed where it has the form that signatures are made for: a document for both lines holds
/// members that a verifier of either does not know.
fn write(
    agent: &Agent,
    card: &Card,
    access: &Access,
    shared: &Shared,
    form: CardMode,
    base: &str,
) -> Bytes {
    let notifies = shared.service.notifies();
    let written = document::card(agent, card, base, form, access.schemes(), notifies);
    match form {
        CardMode::V1 => shared.settings.signer.sign(written, base),
        CardMode::Hybrid | CardMode::V03 => written.into(),
    }
}

/// What the agent says to callers who have shown who they are (specification 1.0 §3.1.11), if that is more.
pub(crate) fn extended(
    agent: &Agent,
    access: &Access,
    shared: &Shared,
    form: CardMode,
    head: &Parts,
) -> Option<Bytes> {
    let card = agent.extended_card.as_ref()?;
    let base = base_url(&shared.settings, &head.headers, &head.extensions);
    Some(write(agent, card, access, shared, form, &base))
}

/// Keys change with the configuration, which is read when the process starts.
static STARTED: LazyLock<SystemTime> = LazyLock::new(SystemTime::now);

fn asked(request: &Request) -> Asked {
    Asked::of_headers(request.headers(), request.uri())
}

/// A tag that changes with the content.
fn tag(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

/// Whether the client has this version already. A date counts only where no tag is named
/// (RFC 9110 §13.1.3).
fn is_known(headers: &HeaderMap, tag: &str, changed: SystemTime) -> bool {
    if !headers.contains_key(IF_NONE_MATCH) {
        let since = headers.get(IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
        let since = since.and_then(|date| httpdate::parse_http_date(date).ok());
        // Dates have no fractions of a second.
        return since.is_some_and(|since| HttpDate::from(since) >= HttpDate::from(changed));
    }
    let values = headers.get_all(IF_NONE_MATCH).into_iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// The agents that whoever sends this request may call.
pub(crate) async fn catalog(fronts: &[Front], head: &Parts, base: &str) -> Reply {
    let callable = callable(fronts, head).await;
    let mut reply = reply::json(StatusCode::OK, document::catalog(callable.into_iter(), base));
    // What is in it depends on who asks.
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
