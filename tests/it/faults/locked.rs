//! Somebody else who writes to the file, which nobody should.

use super::{config, failed, ok};
use crate::drain::process::Process;
use crate::support::Place;
use crate::support::agents::soon;
use crate::support::caller::{Message, artifact, state};
use rusqlite::Connection;
use serde_json::json;

#[tokio::test]
async fn a_file_that_somebody_keeps_locked_is_waited_for_and_then_told() {
    let place = Place::new("locked");
    let process = Process::start(&config(&place), "error").await;
    let other = Connection::open(place.file()).expect("a database");
    other.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    // The store waits for some seconds before it gives up.
    let reference = failed(&process, "message/send", Message::new("x").params()).await;
    assert_eq!(ok(&process, "tasks/list", json!({})).await["totalSize"], 0, "half done");
    assert_eq!(process.get("/readyz").await, Some(503));
    other.execute_batch("COMMIT").expect("the lock");
    soon("readiness", async { while process.get("/readyz").await != Some(200) {} }).await;
    // For a moment only: whoever calls waits and succeeds.
    other.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let sends = process.call("message/send", Message::new("y").params());
    let unlocks = async {
        assert_eq!(process.get("/healthz").await, Some(200));
        other.execute_batch("COMMIT").expect("the lock");
    };
    let ((_, answer), ()) = tokio::join!(sends, unlocks);
    assert_eq!(state(&answer["result"]), "completed", "{answer}");
    assert_eq!(artifact(&answer["result"]), "y");
    process.signal("TERM").await;
    let (status, log) = process.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains(&reference) && log.contains("locked"), "{log}");
}
