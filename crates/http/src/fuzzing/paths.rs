//! The paths and queries of HTTP+JSON.

use super::Line;
use super::pairs::Pairs;
use super::params::{read, refused};
use crate::call::fault_of;
use crate::dialect::Method;
use crate::rest::route::{Params, find, new_webhook_object, object, webhook_object};
use crate::rest::tenant;
use axum::http::Method as Verb;
use bytes::Bytes;
use serde_json::value::RawValue;

const VERBS: [Verb; 5] = [Verb::GET, Verb::POST, Verb::DELETE, Verb::HEAD, Verb::PATCH];

/// The first byte chooses the verb, the first line is a path with a query, and the rest is a body.
pub fn paths(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else { return };
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (Ok(line), body) = (std::str::from_utf8(&rest[..end]), rest.get(end + 1..)) else { return };
    let (path, query) = line.split_once('?').unwrap_or((line, ""));
    let Some((old, routes)) = find(path) else { return };
    assert!(routes.verbs().parse::<axum::http::HeaderValue>().is_ok(), "a header names the verbs");
    let verb = &VERBS[usize::from(*choice) % VERBS.len()];
    let Some(route) = routes.verb(verb) else { return };
    let served = Line::of(if old { 2 } else { 3 });
    let tenant = tenant(&Bytes::copy_from_slice(body.unwrap_or_default()));
    let (id, tenant) = match (&route.params, tenant) {
        (Params::Body, _) => return,
        (Params::Webhook { task, config }, _) => {
            let params = webhook_object(old, task, config.as_deref(), query);
            return webhook(served, route.method, &params, input.len());
        }
        (Params::NewWebhook { task }, _) => {
            let Ok(body) = serde_json::from_slice(body.unwrap_or_default()) else { return };
            let params = new_webhook_object(task, body);
            return webhook(served, route.method, &params, input.len());
        }
        (Params::Query, _) => ("", None),
        (Params::Task(id), Ok(tenant)) => (&**id, tenant),
        (Params::Task(_), Err(fault)) => return refused(served, &fault, input.len()),
    };
    let params = object(id, query, tenant);
    let pairs = Pairs::of(params.get()).expect("parameters are an object");
    if !id.is_empty() {
        // Nothing in a query or a body turns a path to another task.
        let said: String = serde_json::from_str(pairs.get("id").expect("an id")).expect("a string");
        assert_eq!((said.as_str(), pairs.count("id")), (id, 1));
    }
    match served.decode(route.method, &params) {
        Ok(call) => read(served, route.method, call),
        Err(unreadable) => refused(served, &fault_of(unreadable, route.method, true), input.len()),
    }
    assert!(!matches!(route.method, Method::Send | Method::Stream), "a message without a body");
}

/// A call about webhooks is read or refused as any other.
fn webhook(served: Line, method: Method, params: &RawValue, size: usize) {
    match served.decode(method, params) {
        Ok(call) => read(served, method, call),
        Err(unreadable) => refused(served, &fault_of(unreadable, method, true), size),
    }
}
