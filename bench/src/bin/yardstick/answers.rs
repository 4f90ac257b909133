//! The answers of the yardstick: the bytes of a real server, with ids that never change.

use crate::calls::{Message, Part};
use a2ad_bench::{KILOBYTE, PAGE, STORED, payload};
use axum::body::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::LazyLock;

const TASK: &str = "0f8c2a64-5b1e-4c7d-9a33-6e21d40b7f95";
const CONTEXT: &str = "b7d1e9f0-2c46-4a58-8e0b-93f5a1c6d274";
const REPLY: &str = "4e6a9b13-d7f2-4081-b5c9-0a2d8e71f3c6";
const TIMESTAMP: &str = "2026-01-31T08:15:30.250Z";

#[derive(Serialize)]
struct Reply<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: R,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Task<'a> {
    kind: &'static str,
    id: &'a str,
    context_id: &'static str,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifacts: Option<[Artifact<'a>; 1]>,
    history: &'a [Message],
}

#[derive(Serialize)]
struct Status {
    state: &'static str,
    timestamp: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact<'a> {
    artifact_id: &'static str,
    parts: [TextPart<'a>; 1],
}

#[derive(Serialize)]
struct TextPart<'a> {
    kind: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdate {
    kind: &'static str,
    task_id: &'static str,
    context_id: &'static str,
    status: Status,
    r#final: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdate<'a> {
    kind: &'static str,
    task_id: &'static str,
    context_id: &'static str,
    artifact: Artifact<'a>,
    append: bool,
    last_chunk: bool,
}

/// The answer to `message/send`: the text comes back as an artifact and as the agent's message.
pub(crate) fn completed(id: &RawValue, message: Message, asked: usize) -> Vec<u8> {
    let history = history(message, TASK);
    let artifact = artifact(&history[0].parts[0].text);
    let result = task(TASK, "completed", Some([artifact]), &history);
    encode(id, &result, asked * 3 + 512)
}

/// The frames of `message/stream`: the task, working, the chunks, completed.
pub(crate) fn frames(id: &RawValue, mut message: Message) -> Vec<Bytes> {
    own(&mut message, TASK);
    let asked = message.parts[0].text.clone();
    let (mode, text) = asked.split_once('|').unwrap_or(("", &asked));
    let count = mode.strip_prefix("chunks:").and_then(|count| count.parse().ok()).unwrap_or(1);
    let step = text.len().div_ceil(count).max(1);
    let pieces: Vec<&str> = (0..count)
        .map(|at| text.get(at * step..text.len().min((at + 1) * step)).unwrap_or(""))
        .collect();

    let history = [message];
    let mut frames = Frames { id, frames: Vec::with_capacity(count + 3) };
    frames.push(&task(TASK, "submitted", None, &history));
    frames.push(&status("working", false));
    for (at, piece) in pieces.into_iter().enumerate() {
        frames.push(&ArtifactUpdate {
            kind: "artifact-update",
            task_id: TASK,
            context_id: CONTEXT,
            artifact: artifact(piece),
            append: at > 0,
            last_chunk: at + 1 == count,
        });
    }
    frames.push(&status("completed", true));
    frames.frames
}

/// The answer to `tasks/get`: the stored task under the id that was asked for.
pub(crate) fn stored(id: &RawValue, asked: &str) -> Vec<u8> {
    static HISTORY: LazyLock<Vec<Message>> = LazyLock::new(|| history(sample(), TASK));
    let text = &HISTORY[0].parts[0].text;
    let result = task(asked, "completed", Some([artifact(text)]), &HISTORY);
    encode(id, &result, 4 * KILOBYTE)
}

/// The answer to `tasks/list`: a constant page, copied behind the id of the call.
pub(crate) fn page(id: &RawValue) -> Vec<u8> {
    static RESULT: LazyLock<String> = LazyLock::new(|| {
        let history = history(sample(), TASK);
        let tasks: Vec<_> = (0..PAGE).map(|_| task(TASK, "completed", None, &history)).collect();
        let tasks = serde_json::to_string(&tasks).expect("plain structs are serialisable");
        format!(
            r#"{{"tasks":{tasks},"nextPageToken":"{TASK}","pageSize":{PAGE},"totalSize":10000}}"#
        )
    });
    let mut body = Vec::with_capacity(RESULT.len() + 64);
    body.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    body.extend_from_slice(id.get().as_bytes());
    body.extend_from_slice(br#","result":"#);
    body.extend_from_slice(RESULT.as_bytes());
    body.push(b'}');
    body
}

/// An error, which every load generator stops at.
pub(crate) fn error(problem: &str) -> Vec<u8> {
    let problem = serde_json::Value::from(problem);
    format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":{problem}}}}}"#)
        .into_bytes()
}

/// The frames of a stream; each has its number as its event id.
struct Frames<'a> {
    id: &'a RawValue,
    frames: Vec<Bytes>,
}

impl Frames<'_> {
    fn push(&mut self, result: &impl Serialize) {
        let number = self.frames.len() + 1;
        let mut frame = Vec::with_capacity(512);
        frame.extend_from_slice(format!("id: {number}\ndata: ").as_bytes());
        write(&mut frame, self.id, result);
        frame.extend_from_slice(b"\n\n");
        self.frames.push(frame.into());
    }
}

fn encode(id: &RawValue, result: &impl Serialize, size: usize) -> Vec<u8> {
    let mut body = Vec::with_capacity(size);
    write(&mut body, id, result);
    body
}

fn write(out: &mut Vec<u8>, id: &RawValue, result: &impl Serialize) {
    let reply = Reply { jsonrpc: "2.0", id, result };
    serde_json::to_writer(out, &reply).expect("plain structs are serialisable");
}

fn task<'a>(
    id: &'a str,
    state: &'static str,
    artifacts: Option<[Artifact<'a>; 1]>,
    history: &'a [Message],
) -> Task<'a> {
    let status = Status { state, timestamp: TIMESTAMP };
    Task { kind: "task", id, context_id: CONTEXT, status, artifacts, history }
}

fn artifact(text: &str) -> Artifact<'_> {
    Artifact { artifact_id: "out-1", parts: [TextPart { kind: "text", text }] }
}

fn status(state: &'static str, last: bool) -> StatusUpdate {
    StatusUpdate {
        kind: "status-update",
        task_id: TASK,
        context_id: CONTEXT,
        status: Status { state, timestamp: TIMESTAMP },
        r#final: last,
    }
}

/// The history of a completed task: what the user said, and the same from the agent.
fn history(mut message: Message, task: &str) -> Vec<Message> {
    own(&mut message, task);
    let reply = Message { role: "agent".into(), message_id: REPLY.into(), ..message.clone() };
    vec![message, reply]
}

fn own(message: &mut Message, task: &str) {
    message.task_id = Some(task.to_owned());
    message.context_id = Some(CONTEXT.to_owned());
}

fn sample() -> Message {
    Message {
        kind: "message".into(),
        role: "user".into(),
        message_id: REPLY.into(),
        task_id: None,
        context_id: None,
        parts: vec![Part { kind: "text".into(), text: payload(STORED, KILOBYTE) }],
    }
}
