//! Calls written the way a client would write them.

use super::Line;
use crate::dialect::{Answer, Artifacts, Call, View, encode};
use a2ad_domain::ContextId;
use a2ad_domain::service::{ListTasks, SendMessage};
use serde_json::{Map, Value, json};

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
    // What a sender says of the place of a message; the answer always says one, and the last member of a
    // name would count if it were not refused.
    let mut message: Map<String, Value> = Map::new();
    let mut members: Vec<String> = Vec::new();
    let pairs: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(text).expect("an object");
    message.extend(send.task.as_deref().map(|task| ("taskId".to_owned(), task.into())));
    message.extend(
        send.context.as_ref().map(|context| ("contextId".to_owned(), context.as_str().into())),
    );
    for (name, value) in pairs.iter().filter(|(name, _)| *name != "contextId" && *name != "taskId")
    {
        members.push(format!("{}:{}", Value::from(&**name), value.get()));
    }
    for (name, value) in &message {
        members.push(format!("{}:{value}", Value::from(&**name)));
    }
    let mut configuration = Map::new();
    configuration.insert("acceptedOutputModes".to_owned(), json!(send.accepted_output_modes));
    if let Some(wait) = send.wait {
        configuration.insert("returnImmediately".to_owned(), (!wait).into());
    }
    configuration.extend(length(view));
    let metadata = send.metadata.as_ref();
    let metadata = metadata.map_or_else(|| "null".to_owned(), |it| it.as_str().to_owned());
    let configuration = match &send.accepted_output_modes[..] {
        // Some of the lines take what is not there for something.
        [] if send.wait.is_none() && view.history.is_none() => "null".to_owned(),
        _ => Value::from(configuration).to_string(),
    };
    let message = members.join(",");
    format!(
        "{{\"message\":{{{message}}},\"configuration\":{configuration},\"metadata\":{metadata}}}"
    )
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
            self::list(line, list, token.as_deref(), *view, &mut members)
        }
        Call::Send(..) | Call::Stream(..) | Call::PushConfig | Call::ExtendedCard => {}
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
