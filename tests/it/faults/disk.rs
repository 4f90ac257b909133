//! A disk that is full for a while: the limit that a process has for its files, which can be set and lifted
//! while it runs, makes every further write fail.

use super::{config, failed, failure, integrity, ok};
use crate::admin::desk::{KEY, admin};
use crate::drain::process::Process;
use crate::support::agents::soon;
use crate::support::caller::{Message, id, state, status_text};
use crate::support::{Folder, Place};
use a2ad::exit;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::process::Command;

/// Becomes the server after it has said that the signal for files that are too large is of no interest.
const LAUNCHER: [&str; 4] = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];

/// From now on no file of the process can grow, or all can again.
async fn limit(process: &Process, bytes: &str) {
    let (id, size) = (process.id().to_string(), format!("--fsize={bytes}:"));
    let status = Command::new("prlimit").args(["--pid", &id, &size]).status().await;
    assert!(status.expect("prlimit, which is in util-linux").success());
}

#[tokio::test]
async fn a_disk_that_is_full_for_a_while_costs_calls_and_nothing_that_was_acknowledged() {
    let place = Place::new("disk-full");
    let process = Process::start_by(&LAUNCHER, &config(&place), "warn", &[]).await;
    let done = ok(&process, "message/send", Message::new("chunks 3 abc").params()).await;
    let asked = ok(&process, "message/send", Message::new("ask which?").params()).await;
    let hangs = Message::new("hang").blocking(false).params();
    let hanging = ok(&process, "message/send", hangs).await;
    let mut ticking = process.stream(Message::new("tick:1|x")).await;
    let opened = ticking.next().await.expect("the task").data["result"].clone();
    ticking.next().await.expect("the word that it is at work");

    limit(&process, "4096").await;
    let mut references = Vec::new();
    for (method, params) in [
        ("message/send", Message::new("lost").params()),
        ("message/send", Message::new("lost").blocking(false).params()),
        ("message/send", Message::new("lost").task(id(&asked)).params()),
        ("tasks/cancel", json!({ "id": id(&hanging) })),
    ] {
        references.push(failed(&process, method, params).await);
    }
    let together = (0..20).map(|_| process.call("message/send", Message::new("lost").params()));
    for (status, answer) in join_all(together).await {
        references.push(failure(status, &answer));
    }
    // What is there can be read, and is what was acknowledged.
    let get = async |task: &Value| ok(&process, "tasks/get", json!({ "id": id(task) })).await;
    assert_eq!(get(&done).await, done);
    assert_eq!(get(&asked).await, asked);
    assert_eq!(ok(&process, "tasks/list", json!({})).await["totalSize"], 4);
    assert_eq!(process.get("/readyz").await, Some(503));
    assert_eq!(process.get("/healthz").await, Some(200));
    // The run that could not write has come to its end, which is not stored, and its reader is told.
    let events = ticking.collect().await;
    let last = &events.last().expect("an end").data;
    assert_eq!(last["error"]["code"], -32603, "{last}");
    assert_eq!(state(&get(&opened).await), "working");

    limit(&process, "unlimited").await;
    soon("readiness", async { while process.get("/readyz").await != Some(200) {} }).await;
    let ended = soon("the end of the task", async {
        loop {
            let task = get(&opened).await;
            if state(&task) != "working" {
                return task;
            }
        }
    })
    .await;
    assert_eq!(state(&ended), "failed");
    let said = status_text(&ended);
    assert!(said.starts_with("What the agent did could not be stored (reference "), "{said}");
    references.push(said.trim_end_matches(").").rsplit(' ').next().expect("an id").to_owned());
    let canceled = ok(&process, "tasks/cancel", json!({ "id": id(&hanging) })).await;
    assert_eq!(state(&canceled), "canceled");
    let answer = Message::new("apples").task(id(&asked)).params();
    let answered = ok(&process, "message/send", answer).await;
    assert_eq!(state(&answered), "completed");
    assert_eq!(answered["history"].as_array().map(Vec::len), Some(4), "{answered}");

    process.signal("TERM").await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    for reference in references {
        assert!(log.contains(&reference), "{reference} is not in the log: {log}");
    }
    assert_eq!(integrity(&place.file()), "ok");
    let process = Process::start(&config(&place), "error").await;
    assert_eq!(ok(&process, "tasks/list", json!({})).await["totalSize"], 4);
    for task in [&done, &ended, &canceled, &answered] {
        assert_eq!(ok(&process, "tasks/get", json!({ "id": id(task) })).await, *task);
    }
    process.signal("TERM").await;
    process.ended().await;
}

#[tokio::test]
async fn a_server_that_ends_while_the_disk_is_full_leaves_the_rest_to_the_next_start() {
    let place = Place::new("disk-full-end");
    let toml = format!("[server]\ndrain = \"10ms\"\n{}", config(&place));
    let process = Process::start_by(&LAUNCHER, &toml, "error", &[]).await;
    let hangs = Message::new("hang").blocking(false).params();
    let hanging = ok(&process, "message/send", hangs).await;
    limit(&process, "4096").await;
    process.signal("TERM").await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(exit::IOERR.into()), "{log}");
    assert!(log.contains("a task is left at work"), "{log}");
    let told = log.lines().find(|line| line.starts_with("a2ad: the store fails")).expect("a line");
    assert!(told.ends_with("the next start on it ends them. tasks: 1"), "{told}");
    let process = Process::start(&config(&place), "error").await;
    let failed = ok(&process, "tasks/get", json!({ "id": id(&hanging) })).await;
    assert_eq!(state(&failed), "failed");
    assert_eq!(status_text(&failed), "The server ended before the agent had finished.");
    process.signal("TERM").await;
    process.ended().await;
}

#[tokio::test]
async fn a_line_of_the_audit_log_that_does_not_fit_costs_itself_alone() {
    let folder = Folder::new("audit-full");
    let file = folder.join("audit.jsonl");
    let toml = admin(&folder, &format!("audit_log = {:?}", file.display().to_string()));
    let process = Process::start_by(&LAUNCHER, &toml, "error", &[]).await;
    let ask = async || {
        let path = "/api/v1/admin/agents";
        process.exchange("GET", path, &[("x-api-key", KEY)], String::new()).await.0
    };
    let lines = || {
        let text = std::fs::read_to_string(&file).expect("the file");
        let line = |line| serde_json::from_str::<Value>(line).expect("a line of JSON");
        text.lines().map(line).collect::<Vec<_>>().len()
    };
    assert_eq!(ask().await, 200);
    let full = std::fs::metadata(&file).expect("the file").len() + 20;
    limit(&process, &full.to_string()).await;
    for _ in 0..3 {
        assert_eq!(ask().await, 200);
    }
    assert_eq!(lines(), 1);
    limit(&process, "unlimited").await;
    assert_eq!(ask().await, 200);
    assert_eq!(lines(), 2);
    process.signal("TERM").await;
    let (_, log) = process.ended().await;
    assert_eq!(log.matches("the audit log cannot be written").count(), 3, "{log}");
}
