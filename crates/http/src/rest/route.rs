//! The paths of HTTP+JSON (specification 1.0 §11.3, 0.3 §3.5.6).

use crate::dialect::Method;
use axum::http::Method as Verb;
use percent_encoding::percent_decode_str;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What a path and a verb ask for.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) params: Params,
}

/// Where the parameters of a call are.
#[derive(Clone, Debug)]
pub(crate) enum Params {
    Body,
    /// In the path, and in the query what else there is.
    Task(String),
    /// The same for a webhook of a task, or for all of them.
    Webhook {
        task: String,
        config: Option<String>,
    },
    /// In the body, but for the task, which is in the path.
    NewWebhook {
        task: String,
    },
    Query,
}

/// What a path asks for, by verb.
pub(crate) struct Routes(Vec<(Verb, Route)>);

impl Routes {
    pub(crate) fn verb(&self, verb: &Verb) -> Option<Route> {
        // What can be read can be asked for without its body.
        let verb = if *verb == Verb::HEAD { &Verb::GET } else { verb };
        self.0.iter().find(|(known, _)| known == verb).map(|(_, route)| route.clone())
    }

    /// The verbs, for a client that used another one.
    pub(crate) fn verbs(&self) -> String {
        self.0.iter().map(|(verb, _)| verb.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// What a path below an agent's base asks for, and whether it is in the 0.3 line.
pub(crate) fn find(path: &str) -> Option<(bool, Routes)> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let (old, path) = match path.strip_prefix("v1/") {
        Some(path) => (true, path),
        None => (false, path),
    };
    let one = |verb, method, params| Some(vec![(verb, Route { method, params })]);
    let routes = match path.split('/').collect::<Vec<_>>()[..] {
        ["message:send"] => one(Verb::POST, Method::Send, Params::Body),
        ["message:stream"] => one(Verb::POST, Method::Stream, Params::Body),
        ["tasks"] => one(Verb::GET, Method::List, Params::Query),
        ["tasks", last] => task(last),
        ["tasks", id, "pushNotificationConfigs"] => webhooks(id),
        ["tasks", id, "pushNotificationConfigs", config] => webhook(id, config),
        ["card"] if old => one(Verb::GET, Method::ExtendedCard, Params::Query),
        ["extendedAgentCard"] if !old => one(Verb::GET, Method::ExtendedCard, Params::Query),
        _ => None,
    };
    routes.map(|routes| (old, Routes(routes)))
}

/// `{id}` and `{id}:verb`. Ids of tasks hold no colon, so the last one ends the id.
fn task(segment: &str) -> Option<Vec<(Verb, Route)>> {
    let (id, verb) = match segment.rsplit_once(':') {
        Some((id, verb)) => (id, Some(verb)),
        None => (segment, None),
    };
    let id = decoded(id)?;
    let route = |method| Route { method, params: Params::Task(id.clone()) };
    match verb {
        None => Some(vec![(Verb::GET, route(Method::Get))]),
        Some("cancel") => Some(vec![(Verb::POST, route(Method::Cancel))]),
        // The text of the specification says POST and its protocol buffers say GET.
        Some("subscribe") => {
            Some(vec![(Verb::POST, route(Method::Attach)), (Verb::GET, route(Method::Attach))])
        }
        Some(_) => None,
    }
}

fn decoded(segment: &str) -> Option<String> {
    percent_decode_str(segment).decode_utf8().ok().map(Cow::into_owned)
}

/// `{id}/pushNotificationConfigs`
fn webhooks(id: &str) -> Option<Vec<(Verb, Route)>> {
    let task = decoded(id)?;
    let all = Params::Webhook { task: task.clone(), config: None };
    let set = Route { method: Method::SetPush, params: Params::NewWebhook { task } };
    let list = Route { method: Method::ListPush, params: all };
    Some(vec![(Verb::POST, set), (Verb::GET, list)])
}

/// `{id}/pushNotificationConfigs/{config}`
fn webhook(id: &str, config: &str) -> Option<Vec<(Verb, Route)>> {
    let params = Params::Webhook { task: decoded(id)?, config: Some(decoded(config)?) };
    let get = Route { method: Method::GetPush, params: params.clone() };
    let delete = Route { method: Method::DeletePush, params };
    Some(vec![(Verb::GET, get), (Verb::DELETE, delete)])
}

/// The parameters of a call about webhooks, by the names of the line.
pub(crate) fn webhook_object(
    old: bool,
    task: &str,
    config: Option<&str>,
    query: &str,
) -> Box<RawValue> {
    let names = if old { ["id", "pushNotificationConfigId"] } else { ["taskId", "id"] };
    let config = config.map(|config| (names[1], config));
    raw(members([(names[0], task)].into_iter().chain(config), query))
}

/// The parameters of a call that makes a webhook: the body, and the task of the path, which wins.
pub(crate) fn new_webhook_object(task: &str, mut body: Map<String, Value>) -> Box<RawValue> {
    body.remove("task_id");
    body.insert("taskId".to_owned(), task.into());
    raw(body)
}

/// The members of queries that are no texts.
const NUMBERS: [&str; 2] = ["pageSize", "historyLength"];
const TRUTHS: [&str; 2] = ["includeArtifacts", "overdue"];

/// The parameters that a path and a query say, as the object that they are in a body. A tenant in the
/// body counts before one in the query.
pub(crate) fn object(id: &str, query: &str, tenant: Option<Value>) -> Box<RawValue> {
    let path = (!id.is_empty()).then_some(("id", id));
    let mut all = members(path, query);
    if let Some(tenant) = tenant {
        all.insert("tenant".to_owned(), tenant);
    }
    raw(all)
}

/// What a path and a query say. The path counts before the query.
fn members<'p>(
    path: impl IntoIterator<Item = (&'p str, &'p str)>,
    query: &str,
) -> Map<String, Value> {
    let mut members = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()).filter(|(_, v)| !v.is_empty()) {
        let text = || Value::from(&*value);
        let typed = match &*name {
            name if NUMBERS.contains(&name) => {
                value.parse::<i32>().map_or_else(|_| text(), Value::from)
            }
            name if TRUTHS.contains(&name) => {
                value.parse::<bool>().map_or_else(|_| text(), Value::from)
            }
            _ => text(),
        };
        // The first of several counts.
        members.entry(name.into_owned()).or_insert(typed);
    }
    members.extend(path.into_iter().map(|(name, value)| (name.to_owned(), value.into())));
    members
}

fn raw(members: Map<String, Value>) -> Box<RawValue> {
    // A map of values always is JSON.
    serde_json::value::to_raw_value(&members).unwrap_or_default()
}
