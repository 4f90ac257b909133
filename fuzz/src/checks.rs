//! What must hold of every answer.

use crate::conversation::{Answer, Asked};
use crate::json::value;
use a2ad_domain::ErrorCode;
use axum::http::{Method, StatusCode};
use serde_json::Value;

/// The statuses that `docs/errors.md` and `docs/security.md` know. None says that the server has failed.
const STATUSES: [u16; 9] = [200, 304, 400, 401, 403, 404, 405, 413, 429];

/// Checks an answer to a request.
pub(crate) fn answer(asked: &Asked, answer: &Answer) {
    let status = answer.status.as_u16();
    let text = || String::from_utf8_lossy(&answer.body).into_owned();
    assert!(STATUSES.contains(&status), "status {status}: {}", text());
    let says = |name: &str| answer.headers.contains_key(name);
    assert_eq!(status == 405, says("allow"), "a route that does not take a verb names the others");
    assert_eq!(status == 401, says("www-authenticate"));
    assert_eq!(status == 429, says("retry-after"));
    if asked.method == Method::HEAD {
        return assert!(answer.body.is_empty(), "{}", text());
    }
    match answer.kind() {
        "application/json" | "application/a2a+json" => json(asked, answer),
        "text/event-stream" => events(asked, &text()),
        "text/plain; version=0.0.4; charset=utf-8" => {
            assert!(asked.uri.path().starts_with("/metrics"));
        }
        other => assert!(status == 304 && answer.body.is_empty(), "{other:?}: {}", text()),
    }
}

fn json(asked: &Asked, answer: &Answer) {
    let Some(value) = value(&answer.body) else { return };
    if answer.status == StatusCode::OK && is_rpc(asked) {
        return envelope(asked, &value);
    }
    if answer.status == StatusCode::OK || answer.status == StatusCode::NOT_MODIFIED {
        return;
    }
    // A busy server says so in the form of the call.
    let error = value.get("error").unwrap_or(&value);
    let code = error["code"].as_i64().expect("an error has a code");
    let known = ErrorCode::ALL.iter().any(|known| i64::from(known.number()) == code);
    assert!(known || code == i64::from(answer.status.as_u16()), "{value}");
    let message = error["message"].as_str().expect("an error has a message");
    assert!(!message.is_empty());
    not_internal(error);
}

/// Whether a request is one of JSON-RPC.
fn is_rpc(asked: &Asked) -> bool {
    let path = asked.uri.path();
    path == "/"
        || path.trim_end_matches('/') == "/a2a"
        || path.trim_end_matches('/').ends_with("/jsonrpc")
}

/// An answer of JSON-RPC: a result or an error, for the request that was sent.
fn envelope(asked: &Asked, value: &Value) {
    assert_eq!(value["jsonrpc"], "2.0", "{value}");
    assert!(value.get("result").is_some() != value.get("error").is_some(), "{value}");
    let id = value.get("id").expect("an answer has an id");
    if let Ok(request) = serde_json::from_slice::<Value>(&asked.body)
        && value.get("result").is_some()
    {
        assert_eq!(id, request.get("id").unwrap_or(&Value::Null), "another request's answer");
    }
    let Some(error) = value.get("error") else { return };
    let code = error["code"].as_i64().expect("an error has a code");
    let known = ErrorCode::ALL.iter().any(|known| i64::from(known.number()) == code);
    assert!(known, "{value}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{value}");
    not_internal(error);
}

/// Nothing that a caller sends is a failure of the server.
fn not_internal(error: &Value) {
    for code in [ErrorCode::Internal, ErrorCode::InvalidAgentResponse] {
        assert_ne!(error["code"].as_i64(), Some(code.number().into()), "{error}");
        assert!(!error.to_string().contains(code.reason()), "{error}");
    }
    assert_ne!(error["status"], "INTERNAL", "{error}");
}

/// The events of a stream: each is one JSON text, and their numbers grow.
fn events(asked: &Asked, text: &str) {
    assert!(text.is_empty() || text.ends_with("\n\n"), "half an event: {text:?}");
    let mut newest = 0;
    for event in text.split_terminator("\n\n") {
        let (id, data) = match event.split_once('\n') {
            Some((id, data)) => (id.strip_prefix("id: "), data),
            None => (None, event),
        };
        let data = data.strip_prefix("data: ").unwrap_or_else(|| panic!("no event: {event:?}"));
        if let Some(value) = value(data.as_bytes())
            && is_rpc(asked)
        {
            envelope(asked, &value);
        }
        if let Some(id) = id {
            let id: u64 = id.parse().expect("an event's id is a number");
            assert!(id > newest, "event {id} after {newest}");
            newest = id;
        }
    }
}
