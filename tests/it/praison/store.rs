//! The store behind the tasks: how many it keeps, and which go first.

use super::{AGENT, cancel, error, get, running, send};
use crate::support::TestServer;
use a2ad::Config;
use serde_json::{Value, json};

#[test]
fn ten_thousand_tasks_are_kept() {
    let config = Config::parse("", "test").expect("a good configuration");
    assert_eq!(config.store.max_tasks, 10_000);
}

/// Room for three. The task at work came first and stays; the oldest that has ended goes.
#[tokio::test]
async fn the_oldest_ended_task_goes_first_and_a_live_one_never() {
    let server = TestServer::with_config(&format!("[store]\nmax_tasks = 3\n{AGENT}")).await;
    let live = running(&server).await;
    let one = send(&server, "one").await;
    let two = send(&server, "two").await;
    assert_eq!(get(&server, &one).await, one);
    let three = send(&server, "three").await;
    assert_gone(&server, &one).await;
    assert_eq!(get(&server, &two).await, two);
    assert_eq!(get(&server, &three).await, three);
    let four = send(&server, "four").await;
    assert_gone(&server, &two).await;
    assert_eq!(get(&server, &three).await, three);
    assert_eq!(get(&server, &four).await, four);
    let state = get(&server, &live).await["status"]["state"].take();
    assert!(state == "submitted" || state == "working", "{state}");
    cancel(&server, &live).await;
    server.finish().await;
}

/// A task that is gone reads as one that never was.
async fn assert_gone(server: &TestServer, task: &Value) {
    let id = task["id"].as_str().expect("an id");
    for method in ["tasks/get", "tasks/cancel"] {
        let message = format!("Task not found: {id}");
        let gone = json!({ "code": -32000, "message": message });
        assert_eq!(error(server, method, json!({ "id": id })).await, gone);
    }
}

/// Tasks belong to one server.
#[tokio::test]
async fn another_server_does_not_know_the_task() {
    let (one, other) = (TestServer::with_config(AGENT).await, TestServer::with_config(AGENT).await);
    let task = send(&one, "one").await;
    assert_gone(&other, &task).await;
    assert_eq!(get(&one, &task).await, task);
    one.finish().await;
    other.finish().await;
}
