//! What is wrong with a description is told as `a2ad check` tells it: the key, and what to do.

use super::desk::{Desk, admin};
use crate::support::{Folder, TestServer};
use a2ad::{App, Config};
use serde_json::{Value, json};

#[tokio::test]
async fn a_description_that_makes_no_sense_is_refused_with_its_key_and_remedy() {
    let desk = Desk::open().await;
    let echo = json!({ "kind": "echo" });
    let mut vague = Vec::new();
    for (agent, told) in [
        (json!({ "executor": echo }), &["id:", "missing"][..]),
        (json!({ "id": 7, "executor": echo }), &["id:", "text"]),
        (json!({ "id": "É", "executor": echo }), &["id:", "a-z"]),
        (json!({ "id": "agents", "executor": echo }), &["id:", "catalog"]),
        (json!({ "id": "a" }), &["executor"]),
        (json!({ "id": "a", "executor": {} }), &["executor:", "kind"]),
        (json!({ "id": "a", "executor": { "kind": "ehco" } }), &["executor:", "`echo`"]),
        (json!({ "id": "a", "executor": echo, "descripton": "x" }), &["`description`?"]),
        (json!({ "id": "a", "executor": echo, "deadline": "soon" }), &["deadline:", "10m"]),
        (json!({ "id": "a", "executor": echo, "max_running": 0 }), &["max_running:", "at least 1"]),
        (json!({ "id": "a", "executor": echo, "max_running": "x" }), &["max_running:", "string"]),
        (json!({ "id": "a", "executor": echo, "name": null }), &["null", "leave it out"]),
        (json!({ "id": "a", "executor": echo, "auth": ["key"] }), &["auth:", "auth.keys"]),
        (
            json!({ "id": "a", "executor": echo, "published": "x" }),
            &["published:", "true or false"],
        ),
        (
            json!({ "id": "a", "executor": { "kind": "command", "program": "x" } }),
            &["executor:", "admin.allow_programs"],
        ),
        (
            json!({ "id": "a", "executor": { "kind": "openai", "model": "x", "api_key": "y" } }),
            &["executor:", "{ env = \"NAME\" }"],
        ),
    ] {
        let why = desk.refused(400, "POST", "/agents", Some(agent.clone())).await;
        if !told.iter().all(|told| why.contains(told)) {
            vague.push(format!("{agent}\n=> {why}, without one of {told:?}"));
        }
    }
    assert!(vague.is_empty(), "\n{}\n", vague.join("\n\n"));
    let exists = json!({ "id": "echo", "executor": echo });
    let why = desk.refused(409, "POST", "/agents", Some(exists)).await;
    assert_eq!(why, "id: there is an agent echo already");
    desk.add("added").await;
    let other = json!({ "id": "other", "executor": echo });
    let why = desk.refused(400, "PUT", "/agents/added", Some(other)).await;
    assert!(why.starts_with("id: must be \"added\""), "{why}");
    assert_eq!(desk.catalog().await, ["echo", "script", "added"], "nothing was done by the way");
    desk.server.finish().await;
}

#[tokio::test]
async fn a_mistake_is_told_in_the_words_of_the_file() {
    let desk = Desk::open().await;
    let agent = json!({ "id": "a", "executor": { "kind": "echo" }, "descripton": "x" });
    let why = desk.refused(400, "POST", "/agents", Some(agent)).await;
    let file = "[[agent]]\nid = \"a\"\nexecutor = { kind = \"echo\" }\ndescripton = \"x\"\n";
    let told = Config::parse(file, "test").expect_err("an unknown key").to_string();
    assert!(told.ends_with(&why), "{told}\n{why}");
    desk.server.finish().await;
}

#[tokio::test]
async fn a_body_that_is_no_description_is_refused() {
    let desk = Desk::open().await;
    let key = ("x-api-key", super::desk::KEY);
    let json = ("content-type", "application/json");
    for (headers, body, status) in [
        (&[key, json][..], "{", 400),
        (&[key, json], "[]", 400),
        (&[key, json], "", 400),
        (&[key, ("content-type", "text/plain")], "{}", 415),
    ] {
        let reply = desk.raw("POST", "/agents", headers, Some(body.to_owned())).await;
        assert_eq!(reply.status, status, "{body}");
    }
    for body in [json!({ "tasks": "stop" }), json!({ "task": "cancel" }), Value::from(1)] {
        desk.refused(400, "POST", "/agents/echo/unpublish", Some(body)).await;
    }
    assert_eq!(desk.catalog().await, ["echo", "script"]);
    desk.server.finish().await;
}

#[tokio::test]
async fn what_is_missing_on_the_machine_is_said_and_no_reason_to_refuse() {
    let desk = Desk::with("allow_programs = true", "").await;
    let agent = json!({
        "id": "a", "executor": { "kind": "command", "program": "/nowhere/program" },
    });
    let added = desk.done("POST", "/agents", Some(agent)).await;
    let missing = added["missing"][0].as_str().expect("what is missing");
    assert!(missing.contains("/nowhere/program"), "{missing}");
    desk.server.finish().await;
}

#[tokio::test]
async fn an_agent_that_everybody_may_call_is_not_added_to_a_server_for_other_machines() {
    let folder = Folder::new("open");
    let toml = admin(&folder, "");
    let keys = folder.join("keys.jsonl");
    let guard = format!("[auth]\nkeys = \"{}\"\n", keys.display());
    let agents = "[[agent]]\nid = \"echo\"\nexecutor = { kind = \"echo\" }\n";
    let address = "[server]\nlisten = \"0.0.0.0:0\"\npublic_url = \"http://a2a.example\"\n";
    let config = Config::parse(&format!("{address}{toml}{guard}{agents}"), "test").expect("good");
    let mut config = config;
    config.store.kind = a2ad::config::StoreKind::Memory;
    let server = App::builder(config).build().expect("good").bind().await.expect("a port");
    let url = format!("http://127.0.0.1:{}/api/v1/admin/agents", server.local_addr().port());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    let open = json!({ "id": "open", "auth": [], "executor": { "kind": "echo" } });
    let client = crate::support::client();
    let request = client.post(&url).header("content-type", "application/json");
    let request = request.header("x-api-key", super::desk::KEY).body(open.to_string());
    let response = request.send().await.expect("an answer");
    assert_eq!(response.status(), 400);
    let why = response.text().await.expect("text");
    assert!(why.contains("auth: the server can be reached from other machines"), "{why}");
    stop.send(()).expect("a server that runs");
    running.await.expect("no panic");
}

#[tokio::test]
async fn a_server_without_operators_has_no_routes_for_them() {
    let server = TestServer::start().await;
    let headers = [("x-api-key", super::desk::KEY)];
    for path in ["/api/v1/admin", "/api/v1/admin/agents", "/api/v1/admin/tasks"] {
        assert_eq!(server.get(path, &headers).await.status, 404, "{path}");
    }
    server.finish().await;
}
