//! Operators: a conversation of their requests. Nothing is a failure of the server, a refusal changes nothing, what is
//! done is there afterwards and over the next start, secrets are told nobody, and all of it is written down.

mod audit;
mod desk;

use crate::conversation::{Asked, Seen, split};
use crate::file::Folder;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use desk::{Desk, Reply};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// How many requests of an input are sent, and how many messages to agents.
const MOST_REQUESTS: usize = 12;
const MOST_MESSAGES: usize = 4;
/// What a message may say. None of it takes any time.
const TEXTS: [&str; 6] = ["ask", "hang", "reject", "fail", "say", "echo"];

/// Requests below the routes of operators, who have shown their key unless the headers say otherwise; and messages for
/// agents, with the verb `SEND`.
pub(super) fn run(input: &[u8]) {
    desk::run(converse(input));
}

async fn converse(input: &[u8]) {
    let folder = Folder::new();
    let desk = Desk::open(&folder).await;
    let mut seen = Seen::of(folder.path().display().to_string());
    let (mut messages, mut whole) = (0, true);
    for text in split(input).iter().take(MOST_REQUESTS) {
        let Some(asked) = seen.request(text) else { continue };
        if asked.method.as_str() != "SEND" {
            let answer = step(&desk, &asked).await;
            whole &= answer.is_some();
            if let Some(answer) = answer.filter(|_| whole) {
                seen.note(&answer);
                continue;
            }
            break;
        }
        messages += 1;
        if messages <= MOST_MESSAGES {
            let text = TEXTS[asked.body.first().map_or(0, |byte| usize::from(*byte) % TEXTS.len())];
            if let Some(answer) = send(&desk, asked.uri.path(), text).await {
                seen.note(&answer);
            }
        }
    }
    let before = if whole { State::of(&desk).await } else { None };
    let cards = served(&desk, before.as_ref()).await;
    desk.close().await;
    let Some(before) = before else { return };
    let desk = Desk::open(&folder).await;
    let after = State::of(&desk).await.expect("what could be read before");
    after_the_next_start(&before, &after);
    assert_eq!(served(&desk, Some(&after)).await, cards, "cards over the next start");
    desk.close().await;
}

/// Where everything stands.
#[derive(Clone, Debug, PartialEq)]
struct State {
    agents: Vec<Value>,
    tasks: Vec<Value>,
}

impl State {
    /// `None` where no tree of values can hold what operators have described.
    async fn of(desk: &Desk) -> Option<Self> {
        let agents = list(desk, "/agents", "agents").await?;
        let tasks = list(desk, "/tasks?pageSize=100", "tasks").await?;
        let defaults = agents.iter().filter(|agent| agent["default"] == true).count();
        assert_eq!(defaults, 1, "one agent answers where none is named: {agents:?}");
        Some(Self { agents, tasks })
    }

    fn find(&self, id: &str) -> Option<usize> {
        self.agents.iter().position(|agent| agent["id"] == id)
    }
}

async fn list(desk: &Desk, path: &str, name: &str) -> Option<Vec<Value>> {
    let reply = desk.ask(&desk::operator(Method::GET, path)).await;
    assert_eq!(reply.answer.status, StatusCode::OK);
    Some(reply.value?[name].as_array().expect("a list").clone())
}

/// One request, and what must have come of it.
async fn step(desk: &Desk, asked: &Asked) -> Option<crate::conversation::Answer> {
    let mut before = State::of(desk).await?;
    let reply = desk.ask(asked).await;
    let mut after = State::of(desk).await?;
    if reply.answer.status.is_success() {
        let path = asked.uri.path().trim_end_matches('/').to_owned();
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        apply(&mut before, &mut after, asked, &segments, &reply);
    }
    assert_eq!(before, after, "{} {} {}", asked.method, asked.uri, reply.text());
    Some(reply.answer)
}

/// Puts into the state before what was done, so that it is the state after.
fn apply(before: &mut State, after: &mut State, asked: &Asked, path: &[&str], reply: &Reply) {
    let value = reply.value.clone().expect("what the list can hold");
    let sent = || serde_json::from_slice::<Map<String, Value>>(&asked.body).unwrap_or_default();
    let verb = asked.method.as_str();
    match (verb, path) {
        ("GET", ["agents"]) => assert_eq!(value["agents"].as_array(), Some(&after.agents)),
        ("GET", ["agents", id]) => {
            assert_eq!(after.find(id).map(|place| &after.agents[place]), Some(&value));
        }
        ("GET", ["tasks"]) => {
            for task in value["tasks"].as_array().expect("tasks") {
                assert!(after.tasks.contains(task), "{task} of another list");
            }
        }
        ("GET", ["tasks", _]) => assert!(after.tasks.contains(&value), "{value}"),
        ("POST", ["agents"]) => {
            described(&value, sent(), true);
            assert_eq!(reply.answer.status, StatusCode::CREATED);
            before.agents.push(value);
            mask_defaults(before, after);
        }
        ("PUT", ["agents", id]) => {
            let place = before.find(id).expect("an agent that is changed");
            let mut sent = sent();
            sent.insert("id".to_owned(), (*id).into());
            described(&value, sent, before.agents[place]["published"] == true);
            before.agents[place] = value;
            mask_defaults(before, after);
        }
        ("POST", ["agents", id, word @ ("publish" | "unpublish")]) => {
            let place = before.find(id).expect("an agent");
            before.agents[place]["published"] = (*word == "publish").into();
            if *word == "unpublish" {
                canceled(before, after, id, &sent(), &value);
            }
            let mut shown = value;
            shown.as_object_mut().expect("an agent").remove("canceled");
            assert_eq!(before.agents[place], shown);
        }
        ("DELETE", ["agents", id]) => {
            before.agents.remove(before.find(id).expect("an agent that is removed"));
            canceled(before, after, id, &sent(), &value);
            mask_defaults(before, after);
        }
        ("POST", ["tasks", _, "cancel"]) => {
            assert_eq!(value["state"], "canceled");
            let same = |task: &&mut Value| task["id"] == value["id"];
            *before.tasks.iter_mut().find(same).expect("a task") = value.clone();
        }
        _ => panic!("done: {verb} {path:?} {value}"),
    }
}

/// Which agent is the default may have changed with the others; that there is one was looked at.
fn mask_defaults(before: &mut State, after: &mut State) {
    for agent in before.agents.iter_mut().chain(&mut after.agents) {
        agent["default"] = Value::Null;
    }
}

/// An agent is shown as it was described.
fn described(shown: &Value, mut sent: Map<String, Value>, published: bool) {
    let published = sent.remove("published").map_or(published, |it| it == true);
    assert_eq!(shown["published"], published);
    assert_eq!(shown["origin"], "admin");
    assert_eq!(shown["id"], sent["id"]);
    assert_eq!(shown["agent"], Value::Object(sent), "described and shown");
    assert_eq!(shown.get("problem"), None);
}

/// The tasks of an agent are canceled as was said.
fn canceled(
    before: &mut State,
    after: &State,
    agent: &str,
    sent: &Map<String, Value>,
    answer: &Value,
) {
    let all = sent.get("tasks").is_some_and(|tasks| tasks == "cancel");
    let mut count = 0;
    for task in &mut before.tasks {
        if all && task["agent"] == agent && !is_terminal(task) {
            count += 1;
            let now = after.tasks.iter().find(|now| now["id"] == task["id"]).expect("a task");
            assert_eq!(now["state"], "canceled", "{now}");
            *task = now.clone();
        }
    }
    assert_eq!(answer["canceled"], count, "{answer}");
}

fn is_terminal(task: &Value) -> bool {
    let state = task["state"].as_str().expect("a state");
    ["completed", "failed", "canceled", "rejected"].contains(&state)
}

/// The agents are as they were, and so is what had ended; what was at work has ended.
fn after_the_next_start(before: &State, after: &State) {
    let by_id = |state: &State| -> BTreeMap<String, Value> {
        state.agents.iter().map(|agent| (agent["id"].to_string(), agent.clone())).collect()
    };
    assert_eq!(by_id(before), by_id(after), "agents over the next start");
    assert_eq!(before.tasks.len(), after.tasks.len());
    for (before, after) in before.tasks.iter().zip(&after.tasks) {
        assert!(before == after || !is_terminal(before), "{before} became {after}");
        assert!(after["running"] == false, "{after} is at work");
    }
}

/// The cards of all agents: only those that are published show one.
async fn served(desk: &Desk, state: Option<&State>) -> Vec<String> {
    let mut cards = Vec::new();
    for agent in state.into_iter().flat_map(|state| &state.agents) {
        let id = agent["id"].as_str().expect("an id");
        for name in ["agent-card.json", "agent.json"] {
            let path = format!("/api/v1/a2a/{id}/.well-known/{name}");
            let uri = Uri::try_from(path).expect("a path");
            let (method, headers, body) = (Method::GET, HeaderMap::new(), Vec::new());
            let answer = desk.call(&Asked { method, uri, headers, body }).await;
            let is_shown = answer.status == StatusCode::OK;
            assert!(is_shown || answer.status == StatusCode::NOT_FOUND, "{}", answer.status);
            assert!(!is_shown || agent["published"] == true, "{id} is withdrawn and has a card");
            assert!(is_shown || agent["published"] == false || name == "agent.json", "{id}");
            cards.push(String::from_utf8_lossy(&answer.body).into_owned());
        }
    }
    cards.sort();
    cards
}

/// Sends a message to an agent that does nothing outside, and waits until its task stands still.
async fn send(desk: &Desk, path: &str, text: &str) -> Option<crate::conversation::Answer> {
    let id = path.trim_matches('/');
    let state = State::of(desk).await?;
    let agent = &state.agents[state.find(id)?];
    let kind =
        |agent: &Value| matches!(agent["executor"]["kind"].as_str(), Some("echo" | "script"));
    let is_known = |name: &String| ["id", "name", "executor", "default"].contains(&&**name);
    if let Some(agent) = agent.get("agent").and_then(Value::as_object)
        && !(agent.keys().all(is_known) && kind(&Value::Object(agent.clone())))
    {
        return None;
    }
    let message = json!({ "role": "ROLE_USER", "messageId": "m", "parts": [{ "text": text }] });
    let params = json!({ "message": message, "configuration": { "returnImmediately": true } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params });
    let uri = Uri::try_from(format!("/api/v1/a2a/{id}/jsonrpc")).ok()?;
    let asked = desk::json(Method::POST, uri, call.to_string());
    let answer = desk.call(&asked).await;
    assert_eq!(answer.status.is_success(), agent["published"] == true, "{id}");
    let value = serde_json::from_slice::<Value>(&answer.body).ok()?;
    if let Some(task) = value["result"]["task"]["id"].as_str() {
        desk.settle(task, text == "hang").await;
    }
    Some(answer)
}
