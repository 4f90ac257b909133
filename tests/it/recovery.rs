//! Tasks in a file: what a killed server had acknowledged is there when the next one starts, and nothing
//! stays at work with nobody working on it.

mod backups;
mod killed;
mod refused;
mod retries;

use crate::drain::process::Process;
use crate::support::Place;
use crate::support::agents::soon;
use crate::support::caller::{Message, artifact, id, state, status_text};
use serde_json::{Value, json};

pub(crate) fn config(place: &Place, durability: &str) -> String {
    let agent = "[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n";
    place.store(durability) + agent
}

pub(crate) async fn ok(process: &Process, method: &str, params: Value) -> Value {
    let (status, mut answer) = process.call(method, params).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].take()
}

async fn kill(mut process: Process) {
    process.kill();
    let (status, _) = process.ended().await;
    assert!(!status.success());
}

#[tokio::test]
async fn what_a_killed_server_had_acknowledged_is_there_when_the_next_one_starts() {
    for durability in ["process", "power"] {
        let place = Place::new(&format!("recovery-{durability}"));
        let config = config(&place, durability);
        let process = Process::start(&config, "error").await;
        let done = ok(&process, "message/send", Message::new("chunks 3 abc").params()).await;
        let asked = ok(&process, "message/send", Message::new("ask which?").params()).await;
        let mut stream = process.stream(Message::new("tick:1|x")).await;
        let mut seen = Vec::new();
        for _ in 0..5 {
            seen.push(soon("an event", stream.next()).await.expect("an event"));
        }
        let at_work = seen[0].data["result"]["id"].as_str().expect("an id").to_owned();
        kill(process).await;

        let process = Process::start(&config, "error").await;
        let get = async |task: &str| ok(&process, "tasks/get", json!({ "id": task })).await;
        assert_eq!(get(id(&done)).await, done);
        assert_eq!(get(id(&asked)).await, asked);
        let failed = get(&at_work).await;
        assert_eq!(state(&failed), "failed");
        assert_eq!(status_text(&failed), "The server ended before the agent had finished.");
        let all = ok(&process, "tasks/list", json!({})).await;
        assert_eq!(all["totalSize"], 3);

        // The stream goes on where it was: every change once, up to the end.
        let last = seen.last().and_then(|event| event.id).expect("a number");
        let rest = process.resume(&at_work, &last.to_string()).await.collect().await;
        let numbers: Vec<u64> = rest.iter().map(|event| event.id.expect("a number")).collect();
        assert_eq!(numbers, (last + 1..=last + numbers.len() as u64).collect::<Vec<_>>());
        assert_eq!(state(&rest.last().expect("an end").data["result"]), "failed");

        // What waited can be answered.
        let answer = Message::new("apples").task(id(&asked)).params();
        let answered = ok(&process, "message/send", answer).await;
        assert_eq!((state(&answered), artifact(&answered)), ("completed", "apples".to_owned()));
        kill(process).await;
        let process = Process::start(&config, "error").await;
        assert_eq!(ok(&process, "tasks/get", json!({ "id": id(&asked) })).await, answered);
        process.signal("TERM").await;
        assert_eq!(process.ended().await.0.code(), Some(0));
    }
}
