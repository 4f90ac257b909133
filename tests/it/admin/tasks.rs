//! Operators see where every task stands, and cancel.

use super::desk::{Desk, KEY};
use crate::support::HeaderOwner;
use crate::support::caller::{Caller, Message, id, state};
use crate::support::template::Names;
use crate::support::{Folder, TestServer};
use serde_json::{Value, json};
use std::sync::Arc;

fn ids(page: &Value) -> Vec<String> {
    let tasks = page["tasks"].as_array().expect("tasks").iter();
    tasks.map(|task| task["id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn tasks_of_all_owners_are_listed_without_what_was_said() {
    let folder = Folder::new("owners");
    let toml = super::desk::admin(&folder, "");
    let toml = format!("{toml}[[agent]]\nid = \"script\"\nexecutor = {{ kind = \"script\" }}\n");
    let server = TestServer::custom(&toml, |it| it.authenticator(Arc::new(HeaderOwner))).await;
    for owner in ["alice", "bob"] {
        let caller = Caller::new(&server, "script").owned_by(owner);
        caller.send(Message::new("ask for sentinel-of-a-message")).await;
    }
    let reply = server.get("/api/v1/admin/tasks", &[("x-api-key", KEY)]).await;
    let text = String::from_utf8(reply.body.clone()).expect("text");
    assert!(!text.contains("sentinel"), "{text}");
    let task = |owner: &str| {
        json!({
            "id": format!("${owner}"), "agent": "script", "owner": owner, "contextId": "$c",
            "state": "input-required", "statusAt": "$ts", "created": "$ts", "overdue": false,
            "running": false, "version": 3,
        })
    };
    let mut names = Names::default();
    let (mut bob, alice) = (task("bob"), task("alice"));
    bob["contextId"] = json!("$d");
    bob["version"] = reply.json()["tasks"][0]["version"].clone();
    let mut alice = alice;
    alice["version"] = bob["version"].clone();
    let mut page = reply.json();
    let tasks = page["tasks"].as_array_mut().expect("tasks");
    tasks.sort_by_key(|task| task["owner"].as_str().map(str::to_owned));
    names.check(&json!({ "tasks": [alice, bob], "nextPageToken": "" }), &page);
    server.finish().await;
}

#[tokio::test]
async fn a_list_is_narrowed_and_comes_in_pages() {
    let desk = Desk::open().await;
    let (echo, script) = (Caller::new(&desk.server, "echo"), Caller::new(&desk.server, "script"));
    let mut done = Vec::new();
    for text in ["a", "b", "c"] {
        done.push(id(&echo.send(Message::new(text)).await).to_owned());
    }
    // The newest first, and those of one millisecond as their ids come.
    done.sort_by(|one, other| other.cmp(one));
    let asking = id(&script.send(Message::new("ask why?")).await).to_owned();
    let list = async |query: &str| ids(&desk.done("GET", &format!("/tasks{query}"), None).await);
    assert_eq!(list("?agent=echo").await, done);
    assert_eq!(list("?state=input-required").await, [asking.as_str()]);
    assert_eq!(list("?state=completed&agent=script").await, [""; 0]);
    assert_eq!(list("?overdue=true").await, [""; 0]);
    assert_eq!(list("?agent=nobody").await, [""; 0]);
    let mut seen = Vec::new();
    let mut token = String::new();
    loop {
        let path = format!("/tasks?pageSize=2&state=completed&pageToken={token}");
        let page = desk.done("GET", &path, None).await;
        seen.extend(ids(&page));
        page["nextPageToken"].as_str().expect("a token").clone_into(&mut token);
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(seen, done);
    for (query, key) in [
        ("?pageSize=0", "pageSize:"),
        ("?pageSize=101", "pageSize:"),
        ("?state=done", "state:"),
        ("?agent=%20", "agent:"),
        ("?overdue=1", "overdue:"),
        ("?pageToken=x", "pageToken:"),
        ("?owner=x", "owner:"),
    ] {
        let why = desk.refused(400, "GET", &format!("/tasks{query}"), None).await;
        assert!(why.starts_with(key), "{query}: {why}");
    }
    desk.server.finish().await;
}

#[tokio::test]
async fn a_task_is_seen_and_canceled_by_its_id_alone() {
    let desk = Desk::open().await;
    let script = Caller::new(&desk.server, "script");
    let task = script.send_off(Message::new("hang")).await;
    let path = format!("/tasks/{}", id(&task));
    assert_eq!(desk.done("GET", &path, None).await["running"], true);
    let cancel = format!("{path}/cancel");
    assert_eq!(desk.done("POST", &cancel, None).await["state"], "canceled");
    assert_eq!(state(&script.get(id(&task)).await), "canceled");
    let why = desk.refused(409, "POST", &cancel, None).await;
    assert_eq!(why, "The task is canceled and cannot be canceled");
    let unknown = "/tasks/917f7b3c-c641-49c9-a776-1d5dd104301a";
    assert_eq!(desk.refused(404, "GET", unknown, None).await, "No such task");
    let cancel = format!("{unknown}/cancel");
    assert_eq!(desk.refused(404, "POST", &cancel, None).await, "No such task");
    desk.server.finish().await;
}
