//! What a program, a service or a model says, read into a task: the task comes to rest, shows nothing of an
//! error, and can be written in every line.

use crate::checks;
use crate::conversation::{Answer, Seen};
use crate::json;
use crate::world::{self, CAPACITY, Stores, World, open};
use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Turn};
use a2ad_domain::service::TaskWriter;
use a2ad_executor::fuzzing::{Said, take};
use async_trait::async_trait;
use axum::http::Response;
use bytes::Bytes;
use futures_util::stream;
use http_body_util::StreamBody;
use hyper::body::Frame;
use std::io;
use std::sync::Mutex;

/// The media types that a service or a model may say.
const KINDS: [&str; 6] = [
    "text/event-stream",
    "application/x-ndjson",
    "application/json",
    "text/plain; charset=utf-8",
    "application/octet-stream",
    "",
];
/// How much may be said.
const MOST: usize = 4096;

const OPENING: &[u8] = br#"POST /

{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","messageId":"m",
"parts":[{"kind":"text","text":"x"}]}}}"#;
const READING: [&[u8]; 4] = [
    b"POST /\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":{\"id\":\"$t\"}}",
    b"POST /a2a\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":{\"id\":\"$t\"}}",
    b"GET /api/v1/a2a/said/v1/tasks/$t\n\n",
    b"GET /api/v1/a2a/said/tasks/$t\n\n",
];

/// Says one thing once.
struct Saying(Mutex<Option<Said>>);

#[async_trait]
impl AgentExecutor for Saying {
    async fn run(&self, _: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let said = self.0.lock().ok().and_then(|mut said| said.take());
        take(said.ok_or_else(|| AgentError::failed("nothing more"))?, MOST, out).await
    }
}

/// The first byte says who speaks and how, the second in what pieces.
pub(super) fn run(input: &[u8]) {
    let [choice, size, bytes @ ..] = input else { return };
    let said = said(*choice, usize::from(*size).max(1), bytes);
    world::run(async {
        let world = World::new(
            Stores::memory(CAPACITY),
            vec![open("said", Saying(Mutex::new(Some(said))))],
        );
        let mut seen = Seen::default();
        let opening = seen.request(OPENING).expect("a request");
        let answer = Answer::read(world.call(opening.request()).await).await;
        checks::answer(&opening, &answer);
        at_rest(&answer);
        seen.note(&answer);
        for text in READING {
            let asked = seen.request(text).expect("a request");
            let answer = Answer::read(world.call(asked.request()).await).await;
            checks::answer(&asked, &answer);
        }
        world.finish().await;
    });
}

fn said(choice: u8, size: usize, bytes: &[u8]) -> Said {
    let pieces: Vec<Bytes> = bytes.chunks(size).map(Bytes::copy_from_slice).collect();
    let way = choice % 16;
    if way < 2 {
        return Said::Program { events: way == 0, pieces };
    }
    let breaks_off = choice & 0x80 != 0;
    let frames = pieces.into_iter().map(|piece| Ok(Frame::data(piece)));
    let end = breaks_off.then(|| Err(io::Error::other("broken off")));
    let body = StreamBody::new(stream::iter(frames.chain(end).collect::<Vec<_>>()));
    let kind = KINDS[usize::from(way) % KINDS.len()];
    let response = Response::builder().header("content-type", kind);
    let response = response.body(reqwest::Body::wrap(body)).expect("a response");
    if way < 10 { Said::Service(response.into()) } else { Said::Model(response.into()) }
}

/// The run has ended or waits; a task that failed says so in words of ours or of the agent's.
fn at_rest(answer: &Answer) {
    let text = String::from_utf8_lossy(&answer.body);
    let said = |path: &[&str]| serde_json::from_str::<String>(&json::member(&text, path)?).ok();
    let state = said(&["result", "status", "state"]).unwrap_or_else(|| panic!("no task: {text}"));
    let rests = ["completed", "failed", "rejected", "input-required", "auth-required"];
    assert!(rests.contains(&&*state), "{text}");
    let status = json::member(&text, &["result", "status"]).unwrap_or_default();
    for words in [" at line 1 column", "broken off", "nothing more"] {
        assert!(state != "failed" || !status.contains(words), "words of a library: {status}");
    }
}
