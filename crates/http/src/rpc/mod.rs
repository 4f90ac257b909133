//! JSON-RPC: one way from the bytes of a request to the bytes of its answer, whatever the line.

pub(crate) mod envelope;
mod version;

use crate::body::{self, Unread};
use crate::call::{Binding, Door, Exchange, Fault, Guest, serve};
use crate::dialect::shape::LINE_1;
use crate::dialect::v1::V1;
use crate::dialect::v03::V03;
use crate::reply::{self, Reply};
use crate::routes::Shared;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use std::sync::Arc;

use envelope::{Envelope, Id};
pub(crate) use version::Asked;
pub use version::VersionPolicy;

/// Takes one HTTP request to a door.
pub(crate) async fn take(shared: Arc<Shared>, door: Arc<Door>, request: Request) -> Reply {
    if !door.agent.is_published() {
        return reply::not_found();
    }
    if request.method() != Method::POST {
        return reply::wrong_verb("POST");
    }
    let (head, body) = request.into_parts();
    let guest = match door.admit(&head, &shared.settings).await {
        Ok(guest) => guest,
        Err(refused) => return reply::refused(refused, door.access.schemes()),
    };
    let body = match body::read(&head, body, &shared.settings.body, &shared.settings.tally).await {
        Ok(body) => body,
        Err(Unread::TooLarge) => return early(&shared, &door, &head, &Fault::TooLarge),
        Err(Unread::TooSlow | Unread::Broken) => return reply::broken_off(),
    };
    // A body may take its time, and the agent may have been withdrawn meanwhile.
    if !door.agent.is_published() {
        return reply::not_found();
    }
    if !is_json(&head.headers) {
        return early(&shared, &door, &head, &Fault::ContentType);
    }
    let envelope = match Envelope::read(&body) {
        Ok(envelope) => envelope,
        Err((id, fault)) => return opening(&shared, &door, &head, id).fault(&fault),
    };
    answer(&shared, &door, &guest, &head, envelope).await
}

/// An error about a request that was not read far enough to know its id.
fn early(shared: &Shared, door: &Door, head: &Parts, fault: &Fault) -> Reply {
    opening(shared, door, head, Id::NULL).fault(fault)
}

/// How a request is answered whose method is not known: in the line that its version names, and without
/// one as the route does.
fn opening<'a>(shared: &'a Shared, door: &Door, head: &Parts, id: Id<'a>) -> Exchange<'a> {
    match Asked::by(head) {
        Asked::Nothing | Asked::Line03 => old(shared, door, id),
        Asked::Line1 | Asked::Other(_) => new(shared, id),
    }
}

fn old<'a>(shared: &'a Shared, door: &Door, id: Id<'a>) -> Exchange<'a> {
    let binding = Binding::Rpc { id: id.as_json() };
    Exchange { shared, dialect: &V03, shape: door.shape, binding }
}

fn new<'a>(shared: &'a Shared, id: Id<'a>) -> Exchange<'a> {
    let binding = Binding::Rpc { id: id.as_json() };
    Exchange { shared, dialect: &V1, shape: &LINE_1, binding }
}

/// JSON, or not said.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE) else { return true };
    let value = value.to_str().unwrap_or("");
    let bare = value.split(';').next().unwrap_or("").trim();
    let (main, sub) = bare.split_once('/').unwrap_or((bare, ""));
    let is = |text: &str, what: &str| text.eq_ignore_ascii_case(what);
    is(main, "application") && (is(sub, "json") || is(sub, "json-rpc"))
        || sub.len() > 5
            && sub.is_char_boundary(sub.len() - 5)
            && is(&sub[sub.len() - 5..], "+json")
}

async fn answer(
    shared: &Shared,
    door: &Door,
    guest: &Guest,
    head: &Parts,
    envelope: Envelope<'_>,
) -> Reply {
    let Envelope { id, method: name, params } = envelope;
    let asked = Asked::by(head);
    let chosen = version::choose(&asked, &name, shared.settings.version_policy);
    let (exchange, method) = match chosen {
        Ok((version::Line::Old, method)) => (old(shared, door, id), method),
        Ok((version::Line::New, method)) => {
            if asked == Asked::Nothing {
                tracing::info!(
                    method = &*name,
                    "served a call of the 1.0 line that names no version"
                );
            }
            (new(shared, id), method)
        }
        // An unknown version is a matter of the 1.0 line, whatever the method.
        Err(fault @ Fault::Version { .. }) => return new(shared, id).fault(&fault),
        Err(fault) => return opening(shared, door, head, id).fault(&fault),
    };
    serve(&exchange, door, guest, method, params, head).await
}
