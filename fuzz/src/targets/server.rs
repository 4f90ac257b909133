//! The whole server: a conversation of requests to it. Each gets an answer that is written down, nothing is left
//! when all are through, every line and binding shows the same task, and a store in a file leads to the same answers
//! as one in memory.

use super::credentials;
use crate::agent::Walker;
use crate::checks;
use crate::conversation::{Answer, Asked, Seen, split};
use crate::json::member;
use crate::world::{self, CAPACITY, Stores, World, open, strict};
use a2ad_executor::Echo;
use axum::http::{HeaderMap, Method, Uri};
use serde_json::json;

/// How many requests of an input are sent.
const MOST_REQUESTS: usize = 12;

pub(super) fn run(input: &[u8]) {
    world::over_both(CAPACITY, |stores| converse(input, stores));
}

/// Everything that is answered.
async fn converse(input: &[u8], stores: Stores) -> Vec<String> {
    let fronts = vec![
        open("walk", Walker),
        open("echo", Echo::default()),
        strict("strict", Echo::default(), credentials::known()),
    ];
    let world = World::new(stores, fronts);
    let (mut seen, mut answers) = (Seen::default(), Vec::new());
    for text in split(input).iter().take(MOST_REQUESTS) {
        let Some(asked) = seen.request(text) else { continue };
        let answer = Answer::read(world.call(asked.request()).await).await;
        checks::answer(&asked, &answer);
        seen.note(&answer);
        answers.push(answer.masked());
    }
    if let Some(task) = seen.task() {
        alike(&world, task).await;
    }
    world.finish().await;
    answers
}

/// A task is the same over JSON-RPC and over HTTP+JSON, and has the same state in both lines.
async fn alike(world: &World, task: &str) {
    for agent in ["walk", "echo"] {
        let base = format!("/api/v1/a2a/{agent}");
        let mut tasks = Vec::new();
        for (method, version) in [("GetTask", "1.0"), ("tasks/get", "0.3")] {
            let params = json!({ "id": task });
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            let body = body.to_string().into_bytes();
            let answer = ask(world, Method::POST, &format!("{base}/jsonrpc"), version, body).await;
            tasks.push(member(&answer, &["result"]));
        }
        for (path, version) in [("tasks", "1.0"), ("v1/tasks", "0.3")] {
            let path = format!("{base}/{path}/{task}");
            let answer = ask(world, Method::GET, &path, version, Vec::new()).await;
            tasks.push(Some(answer).filter(|answer| member(answer, &["status"]).is_some()));
        }
        let [new, old, new_rest, old_rest] = &tasks[..] else { panic!("four answers") };
        // Byte for byte: both write the same shape.
        assert_eq!(new, new_rest);
        assert_eq!(old.is_some(), new.is_some());
        assert_eq!(old_rest.is_some(), new.is_some());
        let state = |task: &Option<String>| {
            let name = member(task.as_deref()?, &["status", "state"])?.to_lowercase();
            let name = name.replace("task_state_", "").replace('-', "_");
            Some(name.replace("cancelled", "canceled"))
        };
        assert_eq!(state(new), state(old));
        assert_eq!(state(new), state(old_rest));
    }
}

async fn ask(world: &World, method: Method, path: &str, version: &str, body: Vec<u8>) -> String {
    let mut headers = HeaderMap::new();
    headers.insert("a2a-version", version.parse().expect("a header"));
    let asked = Asked { method, uri: path.parse().unwrap_or(Uri::from_static("/")), headers, body };
    let answer = Answer::read(world.call(asked.request()).await).await;
    checks::answer(&asked, &answer);
    String::from_utf8(answer.body).expect("text")
}
