//! A client that comes back with the id of the last event it has seen: the stream goes on after it, without a
//! hole, whatever the header says.

use crate::agent::Walker;
use crate::checks;
use crate::conversation::{Answer, Asked, Seen};
use crate::world::{self, CAPACITY, Stores, World, open};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

/// The task waits for its client, so it can still be followed.
const OPENING: &[u8] = br#"POST /

{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"role":"user","messageId":"m",
"parts":[{"kind":"text","text":"wccwcmwai"}]}}}"#;

/// The first byte chooses the line and the binding; the rest is the value of the header.
pub(super) fn run(input: &[u8]) {
    let Some((choice, value)) = input.split_first() else { return };
    let Ok(value) = HeaderValue::from_bytes(value) else { return };
    world::over_both(CAPACITY, |stores| come_back(*choice, value.clone(), stores));
}

/// Everything that is answered.
async fn come_back(choice: u8, value: HeaderValue, stores: Stores) -> Vec<String> {
    let world = World::new(stores, vec![open("walk", Walker)]);
    let mut seen = Seen::default();
    let opening = seen.request(OPENING).expect("a request");
    let opened = ask(&world, &opening).await;
    seen.note(&opened);
    let task = seen.task().expect("a task");
    let shown = ask(&world, &coming_back(choice, task, None)).await;
    let newest = ids(&shown);
    let [newest] = newest[..] else { panic!("a task that waits is shown once: {newest:?}") };
    let asked = coming_back(choice, task, Some(value));
    let resumed = ask(&world, &asked).await;
    assert_eq!(ids(&resumed), expected(&asked, &ids(&opened), newest));
    world.finish().await;
    [opened, shown, resumed].iter().map(Answer::masked).collect()
}

async fn ask(world: &World, asked: &Asked) -> Answer {
    let answer = Answer::read(world.call(asked.request()).await).await;
    checks::answer(asked, &answer);
    assert_eq!(answer.kind(), "text/event-stream");
    answer
}

fn coming_back(choice: u8, task: &str, value: Option<HeaderValue>) -> Asked {
    let base = "/api/v1/a2a/walk";
    let rpc = |method: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"id":"{task}"}}}}"#)
    };
    let (path, version, body) = match choice % 4 {
        0 => (format!("{base}/jsonrpc"), "0.3", rpc("tasks/resubscribe")),
        1 => (format!("{base}/jsonrpc"), "1.0", rpc("SubscribeToTask")),
        2 => (format!("{base}/v1/tasks/{task}:subscribe"), "0.3", String::new()),
        _ => (format!("{base}/tasks/{task}:subscribe"), "1.0", String::new()),
    };
    let mut headers = HeaderMap::new();
    headers.extend(value.map(|value| (HeaderName::from_static("last-event-id"), value)));
    headers.insert("a2a-version", HeaderValue::from_static(version));
    let uri: Uri = path.parse().expect("an address");
    Asked { method: Method::POST, uri, headers, body: body.into_bytes() }
}

fn ids(answer: &Answer) -> Vec<u64> {
    let text = String::from_utf8_lossy(&answer.body);
    text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

/// The events that a client has to see. `all` are those that a client saw which was there all the time.
fn expected(asked: &Asked, all: &[u64], newest: u64) -> Vec<u64> {
    let said = asked.headers["last-event-id"].to_str().ok();
    let seen: Option<u64> = said.and_then(|said| said.trim().parse().ok());
    // The 1.0 line opens with the task. So does the other when a client says nothing, or what no client of
    // this task has seen, or what the log does not reach back to.
    let oldest = newest.saturating_sub(world::LOG).max(1);
    let known = seen.filter(|seen| (oldest..=newest).contains(seen));
    match known.filter(|_| asked.headers["a2a-version"] == "0.3") {
        Some(seen) => all.iter().copied().filter(|id| *id > seen).collect(),
        None => vec![newest],
    }
}
