//! Calls written the way a client would write them.

use super::Line;
use crate::dialect::{Answer, Artifacts, Call, View, encode};
use a2ad_domain::ContextId;
use a2ad_domain::service::{ListTasks, SendMessage};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A call about tasks, as the parameters of JSON-RPC and as a query.
pub(super) struct Written {
    pub(super) json: String,
    pub(super) query: String,
}

/// The parameters of a message that is sent.
pub(super) fn send(line: Line, send: &SendMessage, view: View) -> String {
    let nowhere = ContextId::new("c").expect("a context id");
    let context = send.context.as_ref().unwrap_or(&nowhere);
    let mut out = Vec::new();
    encode::answer(&Answer::Message(&send.message, context), line.shape, &mut out);
    let text = std::str::from_utf8(&out).expect("text");
    let text = if line.shape.wrapped { &text["{\"message\":".len()..text.len() - 1] } else { text };
    let mut message: Members = serde_json::from_str(text).expect("an object");
    if send.context.is_none() {
        // An answer always names one.
        message.remove("contextId");
    }
    if let Some(task) = &send.task {
        message.insert("taskId".to_owned(), raw(&json!(&**task).to_string()));
    }
    let mut configuration = Map::new();
    if !send.accepted_output_modes.is_empty() {
        let modes = json!(send.accepted_output_modes);
        configuration.insert("acceptedOutputModes".to_owned(), modes);
    }
    if let Some(wait) = send.wait {
        configuration.insert("returnImmediately".to_owned(), (!wait).into());
    }
    configuration.extend(length(view));
    let mut members = Members::new();
    members.insert("message".to_owned(), to_raw_value(&message).expect("JSON"));
    if !configuration.is_empty() {
        // One of the lines takes an empty one for something.
        let configuration = Value::from(configuration).to_string();
        members.insert("configuration".to_owned(), raw(&configuration));
    }
    if let Some(metadata) = &send.metadata {
        members.insert("metadata".to_owned(), raw(metadata.as_str()));
    }
    serde_json::to_string(&members).expect("JSON")
}

type Members = BTreeMap<String, Box<RawValue>>;

fn raw(json: &str) -> Box<RawValue> {
    serde_json::from_str(json).expect("JSON")
}

fn length(view: View) -> Option<(String, Value)> {
    view.history.map(|length| ("historyLength".to_owned(), length.into()))
}

/// The parameters of a call about tasks.
pub(super) fn written(line: Line, call: &Call) -> Written {
    let mut members = Map::new();
    match call {
        Call::Get(id, view) => {
            members.insert("id".to_owned(), id.as_str().into());
            members.extend(length(*view));
        }
        Call::Cancel(id) | Call::Attach(id) => {
            members.insert("id".to_owned(), id.as_str().into());
        }
        Call::List(list, token, view) => {
            self::list(line, list, token.as_deref(), *view, &mut members);
        }
        Call::Send(..)
        | Call::Stream(..)
        | Call::SetPush(..)
        | Call::GetPush(..)
        | Call::ListPush { .. }
        | Call::DeletePush(..)
        | Call::ExtendedCard => {}
    }
    let mut query = form(&members);
    // Several of a name may come; the first counts.
    query.push_str(&query.clone().replace('=', "=x"));
    Written { json: Value::from(members).to_string(), query }
}

fn form(members: &Map<String, Value>) -> String {
    let mut query = String::new();
    for (name, value) in members {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        query.extend(form_urlencoded::byte_serialize(name.as_bytes()));
        query.push('=');
        query.extend(form_urlencoded::byte_serialize(value.as_bytes()));
        query.push('&');
    }
    query
}

fn list(
    line: Line,
    list: &ListTasks,
    token: Option<&str>,
    view: View,
    members: &mut Map<String, Value>,
) {
    let text = |value: &str| Value::from(value);
    let mut put = |name: &str, value: Option<Value>| {
        members.extend(value.map(|value| (name.to_owned(), value)));
    };
    put("contextId", list.context.as_ref().map(|context| text(context.as_str())));
    put("status", list.state.map(|state| text(line.shape.state(state))));
    put("statusTimestampAfter", list.since.map(|since| text(&since.to_string())));
    put("pageSize", Some(list.limit.into()));
    put("pageToken", token.map(text));
    put("overdue", list.overdue.then_some(true.into()));
    put("includeArtifacts", Some((view.artifacts != Artifacts::Hidden).into()));
    members.extend(length(view));
}
