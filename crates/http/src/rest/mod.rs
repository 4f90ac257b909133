//! HTTP+JSON (specification 1.0 §11, 0.3 §3.2.3): the same calls under paths and verbs.

pub(crate) mod route;

use crate::body::{self, Unread};
use crate::call::{Binding, Door, Exchange, Fault, serve};
use crate::dialect::shape::{LINE_1, PROTO};
use crate::dialect::text::Object;
use crate::dialect::v1::V1;
use crate::dialect::v03::V03;
use crate::json;
use crate::reply::{self, Reply};
use crate::routes::Shared;
use crate::rpc::{Asked, is_json};
use a2ad_domain::Error;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use bytes::Bytes;
use route::{Params, Route};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::Arc;

const A2A_JSON: &str = "application/a2a+json";

/// Takes one request below an agent's base; `path` is what follows the base.
pub(crate) async fn take(
    shared: Arc<Shared>,
    door: Arc<Door>,
    path: String,
    request: Request,
) -> Reply {
    let Some((old, routes)) = route::find(&path).filter(|_| door.agent.is_published()) else {
        return reply::not_found();
    };
    let (head, body) = request.into_parts();
    let guest = match door.admit(&head, &shared.settings).await {
        Ok(guest) => guest,
        Err(refused) => return reply::refused(refused, door.access.schemes()),
    };
    let Some(route) = routes.verb(&head.method) else { return reply::wrong_verb(routes.verbs()) };
    let binding = Binding::Rest { a2a_json: names(&head.headers, A2A_JSON) };
    let exchange = if old {
        Exchange { shared: &shared, dialect: &V03, shape: &PROTO, binding }
    } else {
        Exchange { shared: &shared, dialect: &V1, shape: &LINE_1, binding }
    };
    let served = if old { Asked::Line03 } else { Asked::Line1 };
    let asked = Asked::by(&head);
    if asked != Asked::Nothing && asked != served {
        return exchange.fault(&Fault::Version { requested: asked.text() });
    }
    let body = match body::read(&head, body, &shared.settings.body, &shared.settings.tally).await {
        Ok(body) => body,
        Err(Unread::TooLarge) => return exchange.fault(&Fault::TooLarge),
        Err(Unread::TooSlow | Unread::Broken) => return reply::broken_off(),
    };
    // A body may take its time, and the agent may have been withdrawn meanwhile.
    if !door.agent.is_published() {
        return reply::not_found();
    }
    // Calls without a body come with all kinds of types.
    if !body.is_empty() && !is_json(&head.headers) {
        return exchange.fault(&Fault::ContentType);
    }
    let Route { method, params } = route;
    let query = head.uri.query().unwrap_or("");
    let params = match params {
        Params::Body => parsed(&body),
        // The body of a call about a task may be missing; the path says which task.
        Params::Task(id) => match tenant(&body) {
            Ok(tenant) => Some(route::object(&id, query, tenant)),
            Err(fault) => return exchange.fault(&fault),
        },
        Params::Webhook { task, config } => {
            Some(route::webhook_object(old, &task, config.as_deref(), query))
        }
        Params::NewWebhook { task } => match described(&body) {
            Ok(body) => Some(route::new_webhook_object(&task, body)),
            Err(fault) => return exchange.fault(&fault),
        },
        Params::Query => Some(route::object("", query, None)),
    };
    let Some(params) = params else { return exchange.fault(&Fault::Parse) };
    serve(&exchange, &door, &guest, method, Some(&params), &head).await
}

/// The body as JSON text; `None` when it is none.
fn parsed(body: &Bytes) -> Option<Box<RawValue>> {
    let text = json::text(body)?;
    serde_json::from_str::<&RawValue>(text).ok().map(ToOwned::to_owned)
}

/// The tenant that the body of a call about a task names; what else it says is not needed.
pub(crate) fn tenant(body: &Bytes) -> Result<Option<Value>, Fault> {
    #[derive(serde::Deserialize)]
    struct Body {
        tenant: Option<Value>,
    }
    if body.is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice::<Object<Body>>(body) {
        Ok(Object(body)) => Ok(body.tenant),
        Err(error) if error.is_data() => {
            Err(Fault::Failed(Error::invalid("", "must be an object")))
        }
        Err(_) => Err(Fault::Parse),
    }
}

/// The members of a body that describes a webhook; an empty body has none.
fn described(body: &Bytes) -> Result<Map<String, Value>, Fault> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(Fault::Failed(Error::invalid("", "must be an object"))),
        Err(_) => Err(Fault::Parse),
    }
}

/// Whether the client sends or takes a media type by name.
fn names(headers: &HeaderMap, kind: &str) -> bool {
    let values = [CONTENT_TYPE, ACCEPT].into_iter().flat_map(|name| headers.get_all(name));
    let mut ranges = values.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
    ranges.any(|range| range.split(';').next().is_some_and(|range| range.trim() == kind))
}
