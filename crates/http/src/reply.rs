//! Answers of the routes that are no calls, and the headers that answers share.

use crate::auth::{Refused, Scheme};
use crate::json;
use axum::body::Body;
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderValue, Response, StatusCode};

pub(crate) type Reply = Response<Body>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// A JSON body.
pub(crate) fn json(status: StatusCode, body: impl Into<Body>) -> Reply {
    let mut reply = Response::new(body.into());
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, JSON);
    reply
}

/// An answer that no call was behind: the shape of the 1.0 line's HTTP errors (specification 1.0 §11.6).
pub(crate) fn failure(status: StatusCode, name: &'static str, message: &str) -> Reply {
    let mut out = Vec::with_capacity(128);
    json::object(&mut out, |body| {
        body.object("error", |error| {
            error.plain("code", status.as_u16());
            error.string("status", name);
            error.string("message", message);
        });
    });
    let mut reply = json(status, out);
    reply.headers_mut().insert(CACHE_CONTROL, NO_STORE);
    reply
}

/// No such agent, or no such route: which of them is nobody's business.
pub(crate) fn not_found() -> Reply {
    failure(StatusCode::NOT_FOUND, "NOT_FOUND", "Not found")
}

/// The client stopped sending within a body.
pub(crate) fn broken_off() -> Reply {
    let status = StatusCode::REQUEST_TIMEOUT;
    failure(status, "DEADLINE_EXCEEDED", "The request did not arrive whole")
}

/// The route does not take the verb.
pub(crate) fn wrong_verb(allowed: impl AsRef<str>) -> Reply {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let mut reply = failure(status, "UNIMPLEMENTED", "The route does not take this verb");
    if let Ok(value) = allowed.as_ref().parse() {
        reply.headers_mut().insert(ALLOW, value);
    }
    reply
}

/// The caller is not let in. `schemes` is what callers can show.
pub(crate) fn refused(refused: Refused, schemes: &[Scheme]) -> Reply {
    match refused {
        Refused::Unauthenticated => {
            let message = "Valid credentials are needed for this request";
            let mut reply = failure(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED", message);
            for scheme in schemes {
                let value = HeaderValue::from_static(scheme.challenge());
                reply.headers_mut().append(WWW_AUTHENTICATE, value);
            }
            reply
        }
        Refused::Forbidden => {
            let message = "These credentials are not for this agent";
            failure(StatusCode::FORBIDDEN, "PERMISSION_DENIED", message)
        }
        Refused::TooOften(pause) => {
            let message = "Too many requests";
            let mut reply = failure(StatusCode::TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", message);
            // Rounded up, so that who comes again then is not too early.
            let seconds = pause.as_secs() + u64::from(pause.subsec_nanos() > 0);
            reply.headers_mut().insert(RETRY_AFTER, seconds.max(1).into());
            reply
        }
    }
}

/// The server cannot take the call now, and the client may repeat it.
pub(crate) fn busy(status: StatusCode, body: Vec<u8>) -> Reply {
    let mut reply = json(status, body);
    reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    reply
}

/// A stream of events (specification 1.0 §9.4.2): not cached, not buffered by proxies.
pub(crate) fn events(body: Body) -> Reply {
    const HEADERS: [(HeaderName, HeaderValue); 3] = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    let mut reply = Response::new(body);
    reply.headers_mut().extend(HEADERS.map(|(name, value)| (Some(name), value)));
    reply
}
