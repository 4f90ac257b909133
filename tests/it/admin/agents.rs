//! Agents come, change and go, and what they are holds from the next request on.

use super::desk::Desk;
use crate::support::caller::{Caller, Message, artifact, state};
use serde_json::{Value, json};

fn adder(name: &str) -> Value {
    json!({ "id": "added", "name": name, "executor": { "kind": "echo" } })
}

async fn host_card(desk: &Desk) -> String {
    let card = desk.server.get("/.well-known/agent-card.json", &[]).await;
    card.json()["name"].as_str().expect("a name").to_owned()
}

#[tokio::test]
async fn an_added_agent_is_there_at_once_and_a_removed_one_is_gone_at_once() {
    let desk = Desk::open().await;
    assert_eq!(desk.routes("added").await, [404; 5]);
    let added = desk.done("POST", "/agents", Some(adder("First"))).await;
    let expected = json!({
        "id": "added", "origin": "admin", "published": true, "default": false, "name": "First",
        "agent": { "id": "added", "name": "First", "executor": { "kind": "echo" } },
    });
    assert_eq!(added, expected);
    assert_eq!(desk.done("GET", "/agents/added", None).await, expected);
    assert_eq!(desk.routes("added").await, [200; 5]);
    assert_eq!(desk.catalog().await, ["echo", "script", "added"]);
    let caller = Caller::new(&desk.server, "added");
    let task = caller.send(Message::new("hello")).await;
    assert_eq!((state(&task), artifact(&task)), ("completed", "hello".to_owned()));
    let figures = desk.server.get("/status", &[]).await.json();
    assert_eq!(figures["published_agents"], 3);

    desk.done("DELETE", "/agents/added", None).await;
    assert_eq!(desk.routes("added").await, [404; 5]);
    assert_eq!(desk.catalog().await, ["echo", "script"]);
    assert_eq!(desk.refused(404, "GET", "/agents/added", None).await, "No such agent");
    desk.server.finish().await;
}

#[tokio::test]
async fn a_changed_agent_is_what_it_is_now_for_the_next_message() {
    let desk = Desk::open().await;
    desk.done("POST", "/agents", Some(adder("First"))).await;
    let caller = Caller::new(&desk.server, "added");
    let second = json!({ "name": "Second", "executor": { "kind": "script" } });
    let changed = desk.done("PUT", "/agents/added", Some(second)).await;
    assert_eq!((&changed["name"], &changed["published"]), (&json!("Second"), &json!(true)));
    let card = desk.server.get("/api/v1/a2a/added/.well-known/agent-card.json", &[]).await.json();
    assert_eq!(card["name"], "Second");
    let task = caller.send(Message::new("ask which?")).await;
    assert_eq!(state(&task), "input-required");

    desk.done("POST", "/agents/added/unpublish", None).await;
    let third = desk.done("PUT", "/agents/added", Some(adder("Third"))).await;
    assert_eq!(third["published"], false, "a change publishes nothing by the way");
    assert_eq!(desk.routes("added").await, [404; 5]);
    let mut fourth = adder("Fourth");
    fourth["published"] = json!(true);
    desk.done("PUT", "/agents/added", Some(fourth)).await;
    assert_eq!(desk.routes("added").await, [200; 5]);
    desk.server.finish().await;
}

#[tokio::test]
async fn an_agent_of_the_configuration_can_be_withdrawn_and_published_and_nothing_else() {
    let desk = Desk::open().await;
    let view = desk.done("POST", "/agents/script/unpublish", None).await;
    assert_eq!((&view["origin"], &view["published"]), (&json!("configuration"), &json!(false)));
    assert_eq!(desk.routes("script").await, [404; 5]);
    assert_eq!(desk.catalog().await, ["echo"]);
    desk.done("POST", "/agents/script/publish", None).await;
    assert_eq!(desk.routes("script").await, [200; 5]);
    let new = json!({ "executor": { "kind": "echo" } });
    for (verb, body) in [("PUT", Some(new)), ("DELETE", None)] {
        let why = desk.refused(409, verb, "/agents/script", body).await;
        assert!(why.contains("described in the configuration"), "{why}");
    }
    for (verb, path) in [
        ("GET", "/agents/nobody"),
        ("DELETE", "/agents/nobody"),
        ("POST", "/agents/nobody/publish"),
        ("POST", "/agents/nobody/unpublish"),
    ] {
        assert_eq!(desk.refused(404, verb, path, None).await, "No such agent");
    }
    desk.server.finish().await;
}

#[tokio::test]
async fn the_default_agent_is_the_one_that_says_so_now() {
    let desk = Desk::open().await;
    assert_eq!(host_card(&desk).await, "echo");
    let mut agent = adder("New");
    agent["default"] = json!(true);
    let added = desk.done("POST", "/agents", Some(agent)).await;
    assert_eq!((&added["default"], host_card(&desk).await), (&json!(true), "New".to_owned()));
    let second = json!({ "id": "b", "default": true, "executor": { "kind": "echo" } });
    let why = desk.refused(409, "POST", "/agents", Some(second)).await;
    assert!(why.starts_with("default: added is the default already"), "{why}");
    desk.done("POST", "/agents/added/unpublish", None).await;
    let json = [("content-type", "application/json")];
    for path in ["/", "/a2a"] {
        assert_eq!(desk.server.post(path, &json, "{}").await.status, 404, "{path}");
    }
    assert_eq!(desk.server.get("/.well-known/agent-card.json", &[]).await.status, 404);
    desk.done("DELETE", "/agents/added", None).await;
    assert_eq!(host_card(&desk).await, "echo");
    desk.server.finish().await;
}

#[tokio::test]
async fn whoever_changes_agents_at_the_same_time_takes_turns() {
    let desk = Desk::open().await;
    let add = |number: usize| {
        let agent = json!({ "id": format!("a{}", number % 4), "executor": { "kind": "echo" } });
        desk.ask("POST", "/agents", Some(agent))
    };
    let answers = futures_util::future::join_all((0..16).map(add)).await;
    let count = |wanted| answers.iter().filter(|(status, _)| *status == wanted).count();
    assert_eq!((count(201), count(409)), (4, 12));
    let mut ids = desk.catalog().await;
    ids.sort();
    assert_eq!(ids, ["a0", "a1", "a2", "a3", "echo", "script"]);
    desk.server.finish().await;
}
