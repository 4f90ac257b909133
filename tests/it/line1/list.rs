//! ListTasks: every filter, pages that neither lose nor repeat a task, and all four members each time.

use super::client::{Client, text};
use super::schema::field;
use crate::support::{HeaderOwner, TestServer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

fn ids(page: &Value) -> Vec<String> {
    let tasks = page["tasks"].as_array().expect("an array");
    tasks.iter().map(|task| task["id"].as_str().expect("an id").to_owned()).collect()
}

/// All pages of a list, one after the other.
async fn pages(client: &Client<'_>, mut params: Value) -> Vec<Value> {
    let mut pages = Vec::new();
    loop {
        let page = client.ok("ListTasks", params.clone()).await;
        params["pageToken"] = page["nextPageToken"].clone();
        pages.push(page);
        if params["pageToken"] == "" {
            return pages;
        }
    }
}

#[tokio::test]
async fn an_empty_list_has_all_four_members() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    let empty = json!({ "tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0 });
    assert_eq!(client.ok("ListTasks", json!({})).await, empty);
    assert_eq!(client.ok("ListTasks", json!({ "contextId": "none" })).await, empty);
    server.finish().await;
}

#[tokio::test]
async fn every_filter_leaves_out_what_does_not_fit() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "script");
    let mut times = Vec::new();
    for (said, context) in [("one", "a"), ("fail", "a"), ("ask which?", "a"), ("two", "b")] {
        let mut message = text(said);
        message["contextId"] = context.into();
        times.push(client.send(message).await["status"]["timestamp"].clone());
    }
    let count = async |params: Value| {
        let page = client.ok("ListTasks", params).await;
        assert_eq!(ids(&page).len() as u64, page["totalSize"].as_u64().expect("a number"));
        ids(&page).len()
    };
    assert_eq!(count(json!({})).await, 4);
    assert_eq!(count(json!({ "contextId": "a" })).await, 3);
    assert_eq!(count(json!({ "contextId": "c" })).await, 0);
    assert_eq!(count(json!({ "status": "TASK_STATE_COMPLETED" })).await, 2);
    assert_eq!(count(json!({ "status": "TASK_STATE_FAILED" })).await, 1);
    assert_eq!(count(json!({ "status": "TASK_STATE_INPUT_REQUIRED" })).await, 1);
    assert_eq!(count(json!({ "status": "TASK_STATE_CANCELED" })).await, 0);
    assert_eq!(count(json!({ "contextId": "a", "status": "TASK_STATE_COMPLETED" })).await, 1);
    // The time itself counts as after.
    assert!(count(json!({ "statusTimestampAfter": times[3] })).await >= 1);
    assert_eq!(count(json!({ "statusTimestampAfter": times[0] })).await, 4);
    assert_eq!(count(json!({ "statusTimestampAfter": "2000-01-01T02:00:00+02:00" })).await, 4);
    assert_eq!(count(json!({ "statusTimestampAfter": "2999-01-01T00:00:00Z" })).await, 0);
    server.finish().await;
}

#[tokio::test]
async fn pages_hold_every_task_once_newest_first() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    let mut sent = BTreeSet::new();
    for index in 0..11 {
        let task = client.send(text(&index.to_string())).await;
        sent.insert(task["id"].as_str().expect("an id").to_owned());
    }
    for size in [1, 3, 10, 11, 12, 100] {
        let pages = pages(&client, json!({ "pageSize": size })).await;
        assert_eq!(pages.len(), 11_usize.div_ceil(size));
        for page in &pages {
            assert_eq!((&page["pageSize"], &page["totalSize"]), (&json!(size), &json!(11)));
        }
        let listed: Vec<String> = pages.iter().flat_map(ids).collect();
        assert_eq!(listed.len(), 11);
        assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), sent);
        let places = pages.iter().flat_map(|page| page["tasks"].as_array().expect("tasks"));
        let place =
            |task: &Value| (task["status"]["timestamp"].to_string(), task["id"].to_string());
        let places: Vec<(String, String)> = places.map(place).collect();
        assert!(places.is_sorted_by(|one, other| one > other), "{places:?}");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_token_is_good_for_its_own_list_only() {
    let server =
        TestServer::custom("", |builder| builder.authenticator(Arc::new(HeaderOwner))).await;
    let alice = Client::new(&server, "echo").owned_by("alice");
    for index in 0..3 {
        let mut message = text(&index.to_string());
        message["contextId"] = json!("c");
        alice.send(message).await;
    }
    let params = json!({ "contextId": "c", "pageSize": 1 });
    let token = alice.ok("ListTasks", params).await["nextPageToken"].clone();
    let good = json!({ "contextId": "c", "pageSize": 2, "historyLength": 0, "pageToken": token });
    assert_eq!(ids(&alice.ok("ListTasks", good.clone()).await).len(), 2);
    for params in [
        json!({ "pageToken": token }),
        json!({ "contextId": "d", "pageToken": token }),
        json!({ "contextId": "c", "status": "TASK_STATE_COMPLETED", "pageToken": token }),
        json!({ "contextId": "c", "pageToken": "nonsense" }),
        json!({ "contextId": "c", "pageToken": format!("{}x", token.as_str().expect("a text")) }),
    ] {
        assert_eq!(field(&alice.error("ListTasks", params).await), "pageToken");
    }
    let bob = Client::new(&server, "echo").owned_by("bob");
    assert_eq!(field(&bob.error("ListTasks", good).await), "pageToken");
    assert_eq!(bob.ok("ListTasks", json!({ "contextId": "c" })).await["totalSize"], 0);
    server.finish().await;
}

#[tokio::test]
async fn artifacts_and_history_are_shown_as_they_are_asked_for() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "script");
    client.send(text("done")).await;
    client.send(text("ask which?")).await;
    let first = async |params: Value| client.ok("ListTasks", params).await["tasks"].clone();
    for params in
        [json!({}), json!({ "includeArtifacts": false }), json!({ "includeArtifacts": null })]
    {
        let tasks = first(params).await;
        assert!(
            tasks.as_array().expect("tasks").iter().all(|task| task.get("artifacts").is_none())
        );
        assert!(tasks.as_array().expect("tasks").iter().all(|task| task.get("history").is_some()));
    }
    let tasks = first(json!({ "includeArtifacts": true, "historyLength": 0 })).await;
    let mut counts: Vec<usize> = tasks
        .as_array()
        .expect("tasks")
        .iter()
        .inspect(|task| assert!(task.get("history").is_none()))
        .map(|task| task["artifacts"].as_array().expect("an array, even an empty one").len())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, [0, 1]);
    let tasks = first(json!({ "historyLength": 1 })).await;
    for task in tasks.as_array().expect("tasks") {
        assert_eq!(task["history"].as_array().map(Vec::len), Some(1));
    }
    server.finish().await;
}

#[tokio::test]
async fn what_cannot_be_a_filter_is_refused_by_name() {
    let server = TestServer::start().await;
    let client = Client::new(&server, "echo");
    for (member, values) in [
        ("pageSize", vec![json!(0), json!(-1), json!(101), json!("x")]),
        ("historyLength", vec![json!(-1), json!(2_147_483_648_u64)]),
        ("status", vec![json!("done"), json!("TASK_STATE_"), json!({})]),
        ("statusTimestampAfter", vec![json!("yesterday"), json!("2026-01-01"), json!(0)]),
        ("includeArtifacts", vec![json!("true"), json!(1)]),
        ("contextId", vec![json!(7), json!("x".repeat(257))]),
        ("pageToken", vec![json!("x"), json!(1)]),
    ] {
        for value in values {
            let error = client.error("ListTasks", json!({ member: value })).await;
            assert_eq!((&error["code"], field(&error)), (&json!(-32602), member), "{value}");
        }
    }
    server.finish().await;
}
