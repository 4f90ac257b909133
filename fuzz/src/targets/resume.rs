//! A client that comes back with the id of the last event it has seen: the stream goes on after it, without a
//! hole, whatever the header says.

use crate::agent::Walker;
use crate::checks;
use crate::conversation::{Answer, Asked, Seen};
use crate::world::{self, World, open};
use axum::http::{HeaderMap, HeaderValue, Method, Uri};

/// The task waits for its client, so it can still be followed; its log holds its newest changes only.
const OPENING: &[u8] = br#"POST /

{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","messageId":"m",
"parts":[{"kind":"text","text":"wccwcmwai"}]}}}"#;

/// The first byte chooses the line and the binding; the rest is the value of the header.
pub(super) fn run(input: &[u8]) {
    let Some((choice, value)) = input.split_first() else { return };
    let Ok(value) = HeaderValue::from_bytes(value) else { return };
    world::run(async {
        let world = World::new(vec![open("walk", Walker)]);
        let mut seen = Seen::default();
        let opening = seen.request(OPENING).expect("a request");
        seen.note(&Answer::read(world.call(opening.request()).await).await);
        let task = seen.task().expect("a task");
        let asked = coming_back(*choice, task, &value);
        let answer = Answer::read(world.call(asked.request()).await).await;
        checks::answer(&asked, &answer);
        assert_eq!(answer.kind(), "text/event-stream");
        check(&asked, &String::from_utf8_lossy(&answer.body));
        world.finish().await;
    });
}

fn coming_back(choice: u8, task: &str, value: &HeaderValue) -> Asked {
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
    headers.insert("last-event-id", value.clone());
    headers.insert("a2a-version", HeaderValue::from_static(version));
    let uri: Uri = path.parse().expect("an address");
    Asked { method: Method::POST, uri, headers, body: body.into_bytes() }
}

fn check(asked: &Asked, text: &str) {
    let ids: Vec<u64> =
        text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect();
    let said = asked.headers["last-event-id"].to_str().ok();
    let seen: Option<u64> = said.and_then(|said| said.trim().parse().ok());
    let is_old = asked.headers["a2a-version"] == "0.3";
    match (seen, ids.first()) {
        // Nobody knows what the client has seen, so it sees the task.
        (None, first) => assert!(first.is_some(), "no task: {text}"),
        (Some(seen), Some(first)) if is_old && text.starts_with("id: ") => {
            // A snapshot, when the log does not reach back that far or the client is ahead of the task.
            let opens = text.lines().nth(1).is_some_and(|data| data.contains("\"history\""));
            assert!(opens || *first == seen + 1, "{first} after {seen}: {text}");
        }
        (Some(_), _) => {}
    }
    // What is shown has no hole: after the opening each change follows the one before.
    let steps = ids.windows(2).all(|pair| pair[1] > pair[0]);
    assert!(steps, "{ids:?}");
}
