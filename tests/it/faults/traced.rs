//! The real binary under `strace`, which sees what it asks of the system and can make that fail: what an
//! acknowledgement waits for, and a disk that says that it is full.

use super::{failure, integrity, ok};
use crate::drain::process::Process;
use crate::recovery::config;
use crate::support::Place;
use crate::support::agents::soon;
use crate::support::caller::{Message, id, state};
use serde_json::json;

/// A server that is traced with these options from its first call on.
async fn trace(place: &Place, durability: &str, options: &[&str]) -> Process {
    // The tracer is a child of its own (-D), so that the process is the server.
    let file = place.folder().join("trace");
    let output = ["-o", file.to_str().expect("UTF-8")];
    let launcher = [&["strace", "-D", "-f", "-y"], options, &output].concat();
    Process::start_by(&launcher, &config(place, durability), "error", &[]).await
}

async fn end(process: Process) {
    process.signal("TERM").await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
}

/// What went out, and what had happened by then.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    answers: usize,
    /// Syncs of the log between the first and the last answer.
    syncs: usize,
    /// Answers that went out when the log had been written and not been synced since.
    early: usize,
}

/// Reads what a server did whose calls came one after the other, so that at an answer nothing else is on its
/// way to the disk.
fn read(place: &Place) -> Seen {
    let trace = std::fs::read_to_string(place.folder().join("trace")).expect("a trace");
    let (mut seen, mut dirty, mut under_way) = (Seen::default(), false, None);
    let mut since_answer = 0;
    for line in trace.lines() {
        let thread = line.split(' ').next();
        let is_log = line.contains("tasks.db-wal>");
        if is_log && line.contains(" pwrite64(") {
            dirty = true;
        } else if is_log && (line.contains(" fsync(") || line.contains(" fdatasync(")) {
            if line.contains("<unfinished") {
                under_way = Some(thread);
            } else {
                (dirty, since_answer) = (false, since_answer + 1);
            }
        } else if line.contains("sync resumed>") && under_way == Some(thread) {
            (dirty, since_answer, under_way) = (false, since_answer + 1, None);
        } else if line.contains("\"HTTP/1.1 200 OK") {
            if seen.answers > 0 {
                seen.syncs += since_answer;
            }
            since_answer = 0;
            seen.answers += 1;
            seen.early += usize::from(dirty);
        }
    }
    seen
}

/// Makes calls that are acknowledged, one after the other, and gives how many.
async fn calls(process: &Process) -> usize {
    for text in ["x", "chunks 3 abc", "fail", "reject no"] {
        ok(process, "message/send", Message::new(text).params()).await;
    }
    let asked = ok(process, "message/send", Message::new("ask which?").params()).await;
    let again = Message::new("ask again?").task(id(&asked)).params();
    ok(process, "message/send", again).await;
    ok(process, "tasks/cancel", json!({ "id": id(&asked) })).await;
    7
}

const SYNCS: [&str; 2] = ["-e", "trace=fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg"];

#[tokio::test]
async fn with_power_every_answer_comes_after_a_sync_of_what_it_says() {
    let place = Place::new("power");
    let process = trace(&place, "power", &SYNCS).await;
    let made = calls(&process).await;
    end(process).await;
    let seen = read(&place);
    assert_eq!((seen.answers, seen.early), (made, 0), "{seen:?}");
    assert!(seen.syncs >= made - 1, "an answer without a sync of its own: {seen:?}");
}

#[tokio::test]
async fn with_process_no_answer_waits_for_the_disk() {
    let place = Place::new("no-power");
    let process = trace(&place, "process", &SYNCS).await;
    let made = calls(&process).await;
    end(process).await;
    let seen = read(&place);
    assert_eq!((seen.answers, seen.syncs), (made, 0), "{seen:?}");
    // That the log was seen to be written at all.
    assert_eq!(seen.early, made, "{seen:?}");
}

#[tokio::test]
async fn a_disk_that_says_that_it_is_full_is_believed_and_tried_again() {
    let place = Place::new("no-space");
    let log = format!("{}-wal", place.file().display());
    let full = "inject=pwrite64:error=ENOSPC:when=60..75";
    let options = ["-P", &log, "-e", "trace=pwrite64", "-e", full];
    let process = trace(&place, "process", &options).await;
    let mut done = Vec::new();
    let send = async || process.call("message/send", Message::new("x").params()).await;
    let (status, answer) = soon("a full disk", async {
        loop {
            let (status, mut answer) = send().await;
            if answer.get("error").is_some() || state(&answer["result"]) != "completed" {
                return (status, answer);
            }
            done.push(answer["result"].take());
        }
    })
    .await;
    // The disk may have been full for the task itself, or for what became of it.
    if answer.get("error").is_some() {
        failure(status, &answer);
    }
    soon("room on the disk", async { while send().await.1.get("error").is_some() {} }).await;
    soon("readiness", async { while process.get("/readyz").await != Some(200) {} }).await;
    let at_work = json!({ "status": "working" });
    soon("the end of all runs", async {
        while ok(&process, "tasks/list", at_work.clone()).await["totalSize"] != 0 {}
    })
    .await;
    for task in done {
        assert_eq!(ok(&process, "tasks/get", json!({ "id": id(&task) })).await, task);
    }
    end(process).await;
    assert_eq!(integrity(&place.file()), "ok");
}
