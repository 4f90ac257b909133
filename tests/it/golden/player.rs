//! Plays a file of exchanges against a server of its own. A file is an array of steps:
//!
//! | member | meaning |
//! |---|---|
//! | `at` | the route; the script agent's if absent |
//! | `headers` | request headers; a content type here replaces `application/json` |
//! | `send` or `raw` | the body as JSON, in which names are filled in, or as text; a GET without either |
//! | `answer` | a pattern of the body, over 200 as `application/json` |
//! | `bytes` | the body byte for byte |
//! | `frames` | patterns of all frames of a stream, to its end |
//! | `open` | patterns of the first frames of a stream, which stays open |
//! | `rest`, `last` | of the open stream: all frames left, to its end, or the last one |

use crate::support::template::Names;
use crate::support::{Event, Events, Reply, TestServer};
use serde_json::{Map, Value};

const ROUTE: &str = "/api/v1/a2a/script/jsonrpc";
const MEMBERS: [&str; 10] =
    ["at", "headers", "send", "raw", "answer", "bytes", "frames", "open", "rest", "last"];

/// The agent that does what its text says is the default one, so that every route leads to one like it.
const AGENTS: &str = r#"
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
[[agent]]
id = "other"
executor = { kind = "script" }
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
    open: Option<Stream>,
}

/// A stream, and the id of its last frame.
struct Stream {
    events: Events,
    seen: u64,
}

impl Player<'_> {
    async fn step(&mut self, step: &Map<String, Value>) {
        if let Some(patterns) = step.get("rest") {
            let stream = self.open.take().expect("an open stream");
            return self.read_to_the_end(stream, patterns).await;
        }
        if let Some(pattern) = step.get("last") {
            let mut stream = self.open.take().expect("an open stream");
            let mut last = None;
            while let Some(event) = stream.next().await {
                last = Some(event);
            }
            return self.names.check(pattern, &last.expect("a last frame").data);
        }
        if let Some(patterns) = step.get("frames") {
            let stream = self.stream(step).await;
            return self.read_to_the_end(stream, patterns).await;
        }
        if let Some(patterns) = step.get("open") {
            let mut stream = self.stream(step).await;
            for pattern in patterns.as_array().expect("an array of frames") {
                let event = stream.next().await.expect("one more frame");
                self.names.check(pattern, &event.data);
            }
            self.open = Some(stream);
            return;
        }
        let reply = self.reply(step).await;
        assert_eq!(reply.status, 200, "{step:?}");
        assert_eq!(reply.headers["content-type"], "application/json", "{step:?}");
        match (&step.get("answer"), step.get("bytes").and_then(Value::as_str)) {
            (Some(pattern), None) => self.names.check(pattern, &reply.json()),
            (None, Some(bytes)) => assert_eq!(String::from_utf8_lossy(&reply.body), bytes),
            _ => panic!("a step has one kind of answer: {step:?}"),
        }
    }

    async fn reply(&self, step: &Map<String, Value>) -> Reply {
        let body = match (step.get("send"), step.get("raw").and_then(Value::as_str)) {
            (Some(body), None) => self.names.fill(body).to_string(),
            (None, Some(text)) => text.to_owned(),
            (None, None) => return self.server.get(route(step), &headers(step)).await,
            (Some(_), Some(_)) => panic!("a step has one body: {step:?}"),
        };
        let mut headers = headers(step);
        if !headers.iter().any(|(name, _)| *name == "content-type") {
            headers.push(("content-type", "application/json"));
        }
        self.server.post(route(step), &headers, body).await
    }

    async fn stream(&self, step: &Map<String, Value>) -> Stream {
        let body = self.names.fill(&step["send"]);
        let events = self.server.stream_at(route(step), &headers(step), body).await;
        Stream { events, seen: 0 }
    }

    async fn read_to_the_end(&mut self, mut stream: Stream, patterns: &Value) {
        let mut frames = Vec::new();
        while let Some(event) = stream.next().await {
            frames.push(event.data);
        }
        self.names.check(patterns, &Value::Array(frames));
    }
}

impl Stream {
    /// The next frame, which has a higher id than the one before.
    async fn next(&mut self) -> Option<Event> {
        let event = self.events.next().await?;
        let id = event.id.expect("frames that are no errors have ids");
        assert!(id > self.seen, "{id} comes after {}", self.seen);
        self.seen = id;
        Some(event)
    }
}

fn route(step: &Map<String, Value>) -> &str {
    step.get("at").map_or(ROUTE, |route| route.as_str().expect("a route"))
}

fn headers(step: &Map<String, Value>) -> Vec<(&str, &str)> {
    let headers = step.get("headers").and_then(Value::as_object);
    let pairs = headers.into_iter().flatten();
    pairs.map(|(name, value)| (name.as_str(), value.as_str().expect("a header"))).collect()
}
