//! Plays a file of exchanges against a server of its own. A file is an array of steps:
//!
//! | member | meaning |
//! |---|---|
//! | `verb` | POST with a body and GET without one, if absent |
//! | `at` | the route, in which `$name` is filled in; the script agent's JSON-RPC if absent |
//! | `headers` | request headers; `application/json` and the version 1.0 are added unless they are set here |
//! | `send` or `raw` | the body as JSON, in which names are filled in, or as text |
//! | `status`, `type` | of the answer; 200 and `application/json` if absent |
//! | `answer` | a pattern of the body |
//! | `frames` | patterns of all frames of a stream, to its end |
//! | `open` | patterns of the first frames of a stream, which stays open |
//! | `rest` | of the open stream: all frames left, to its end |

use super::super::client::{JSON, LINE_1, http, http_stream, rpc};
use crate::support::agents::soon;
use crate::support::template::Names;
use crate::support::{Events, TestServer};
use serde_json::{Map, Value, json};

const MEMBERS: [&str; 11] =
    ["verb", "at", "headers", "send", "raw", "status", "type", "answer", "frames", "open", "rest"];

const AGENTS: &str = r#"
[push]
allow_private = true
[server]
public_url = "http://127.0.0.1:4010"
[[agent]]
id = "script"
name = "Parrot"
description = "Repeats text."
version = "0.1.0"
input_modes = ["text/plain"]
output_modes = ["text/plain"]
skills = [{ id = "repeat", name = "Repeat", description = "Says it again.", tags = ["demo"] }]
executor = { kind = "script" }
grace = "0s"
"#;

pub(super) async fn play(file: &str) {
    let steps: Vec<Value> = serde_json::from_str(file).expect("an array of steps");
    let server = TestServer::with_config(AGENTS).await;
    let mut player = Player { server: &server, names: Names::default(), open: None };
    for step in &steps {
        let step = step.as_object().expect("a step is an object");
        for member in step.keys() {
            assert!(MEMBERS.contains(&member.as_str()), "no such: {member}");
        }
        player.step(step).await;
    }
    assert!(player.open.is_none(), "a stream is read to its end");
    server.finish().await;
}

struct Player<'a> {
    server: &'a TestServer,
    names: Names,
    open: Option<Events>,
}

impl Player<'_> {
    async fn step(&mut self, step: &Map<String, Value>) {
        if let Some(patterns) = step.get("rest") {
            let stream = self.open.take().expect("an open stream");
            return self.read_to_the_end(stream, patterns).await;
        }
        let body = match (step.get("send"), step.get("raw").and_then(Value::as_str)) {
            (Some(body), None) => Some(self.names.fill(body).to_string()),
            (None, text) => text.map(str::to_owned),
            (Some(_), Some(_)) => panic!("a step has one body: {step:?}"),
        };
        let usual = if body.is_some() { "POST" } else { "GET" };
        let verb = step.get("verb").map_or(usual, |verb| verb.as_str().expect("a verb"));
        let (at, headers) = (self.route(step), headers(step));
        let at = at.as_str();
        if let Some(patterns) = step.get("frames") {
            let stream = http_stream(self.server, verb, at, &headers, body).await;
            return self.read_to_the_end(stream, patterns).await;
        }
        if let Some(patterns) = step.get("open") {
            let mut stream = http_stream(self.server, verb, at, &headers, body).await;
            for pattern in patterns.as_array().expect("an array of frames") {
                let event = soon("a frame", stream.next()).await.expect("one more frame");
                self.names.check(pattern, &event.data);
            }
            self.open = Some(stream);
            return;
        }
        let reply = http(self.server, verb, at, &headers, body).await;
        let status = step.get("status").map_or(200, |status| status.as_u64().expect("a status"));
        let shown = String::from_utf8_lossy(&reply.body);
        assert_eq!(u64::from(reply.status), status, "{step:?}\n{shown}");
        let json = json!("application/json");
        let kind = reply.headers["content-type"].to_str().expect("a text");
        assert_eq!(kind, step.get("type").unwrap_or(&json), "{step:?}");
        self.names.check(&step["answer"], &reply.json());
    }

    async fn read_to_the_end(&mut self, mut stream: Events, patterns: &Value) {
        let mut frames = Vec::new();
        while let Some(event) = soon("a frame or the end", stream.next()).await {
            frames.push(event.data);
        }
        self.names.check(patterns, &Value::Array(frames));
    }

    fn route(&self, step: &Map<String, Value>) -> String {
        let Some(at) = step.get("at") else { return rpc("script") };
        let fill = |piece: &str| match piece.strip_prefix('$') {
            Some(name) => self.names.get(name).to_owned(),
            None => piece.to_owned(),
        };
        let pieces = at.as_str().expect("a route").split('/').map(|segment| {
            // After an id comes what is to be done with it, or the query.
            let end = segment.find([':', '?']).unwrap_or(segment.len());
            format!("{}{}", fill(&segment[..end]), &segment[end..])
        });
        pieces.collect::<Vec<_>>().join("/")
    }
}

fn headers(step: &Map<String, Value>) -> Vec<(&str, &str)> {
    let given = step.get("headers").and_then(Value::as_object).into_iter().flatten();
    let given = given.map(|(name, value)| (name.as_str(), value.as_str().expect("a header")));
    let mut headers: Vec<(&str, &str)> = given.collect();
    for usual in [JSON, LINE_1] {
        if !headers.iter().any(|(name, _)| *name == usual.0) {
            headers.push(usual);
        }
    }
    headers
}
