//! What operators have decided holds over the end of the process.

use super::desk::{KEY, admin};
use crate::drain::process::Process;
use crate::support::caller::{Message, request, state};
use crate::support::{Folder, Place};
use serde_json::{Value, json};

/// A process, and what an operator asks it for.
struct Desk(Process);

const ECHO: &str = "[[agent]]\nid = \"echo\"\nexecutor = { kind = \"echo\" }\n";
const SCRIPT: &str = "[[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n";

impl Desk {
    async fn open(place: &Place, folder: &Folder, keys: &str, agents: &str) -> Self {
        let toml = format!("{}{}{agents}", place.store("process"), admin(folder, keys));
        Self(Process::start(&toml, "info").await)
    }

    async fn ask(&self, verb: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let headers = [("x-api-key", KEY), ("content-type", "application/json")];
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let path = format!("/api/v1/admin{path}");
        let (status, answer) = self.0.exchange(verb, &path, &headers, body).await;
        let start = answer.rfind("}{").map_or(0, |end| end + 1);
        (status, serde_json::from_str(&answer[start..]).expect("JSON"))
    }

    async fn done(&self, verb: &str, path: &str, body: Option<Value>) -> Value {
        let (status, answer) = self.ask(verb, path, body).await;
        assert!((200..300).contains(&status), "{verb} {path}: {status} {answer}");
        answer
    }

    /// Each agent: its id, its origin, and whether it is published.
    async fn agents(&self) -> Vec<(String, String, bool)> {
        let list = self.done("GET", "/agents", None).await;
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let one = |agent: &Value| {
            (text(&agent["id"]), text(&agent["origin"]), agent["published"] == true)
        };
        list["agents"].as_array().expect("agents").iter().map(one).collect()
    }

    async fn kill(mut self) -> String {
        self.0.kill();
        self.0.ended().await.1
    }
}

fn shown(agents: &[(&str, &str, bool)]) -> Vec<(String, String, bool)> {
    let own = |(id, origin, published): &(&str, &str, bool)| {
        ((*id).to_owned(), (*origin).to_owned(), *published)
    };
    agents.iter().map(own).collect()
}

#[tokio::test]
async fn what_operators_have_done_is_there_after_a_kill_and_a_restart() {
    let (place, folder) = (Place::new("admin"), Folder::new("admin"));
    let desk = Desk::open(&place, &folder, "", &format!("{ECHO}{SCRIPT}")).await;
    for id in ["gone", "hidden", "shown"] {
        let agent = json!({ "id": id, "name": id, "executor": { "kind": "script" } });
        desk.done("POST", "/agents", Some(agent)).await;
    }
    let changed = json!({ "name": "Changed", "executor": { "kind": "echo" } });
    desk.done("PUT", "/agents/shown", Some(changed)).await;
    desk.done("POST", "/agents/hidden/unpublish", None).await;
    desk.done("POST", "/agents/script/unpublish", None).await;
    desk.done("DELETE", "/agents/gone", None).await;
    let expected = shown(&[
        ("echo", "configuration", true),
        ("script", "configuration", false),
        ("hidden", "admin", false),
        ("shown", "admin", true),
    ]);
    assert_eq!(desk.agents().await, expected);
    desk.kill().await;

    let desk = Desk::open(&place, &folder, "", &format!("{ECHO}{SCRIPT}")).await;
    assert_eq!(desk.agents().await, expected);
    assert_eq!(desk.done("GET", "/agents/shown", None).await["name"], "Changed");
    let body = request("message/send", &Message::new("hello").params()).to_string();
    let (_, answer) = desk.0.raw("shown", body).await;
    assert_eq!(state(&answer["result"]), "completed", "{answer}");
    for path in ["/api/v1/a2a/hidden/tasks", "/api/v1/a2a/script/tasks", "/api/v1/a2a/gone/tasks"] {
        assert_eq!(desk.0.get_with(path, &[("a2a-version", "1.0")]).await, Some(404), "{path}");
    }
    desk.kill().await;
}

#[tokio::test]
async fn a_task_of_an_added_agent_that_was_at_work_is_brought_to_an_end_at_the_next_start() {
    let (place, folder) = (Place::new("admin"), Folder::new("admin"));
    let desk = Desk::open(&place, &folder, "", ECHO).await;
    for (id, on_crash) in [("fails", "fail"), ("retries", "retry")] {
        let agent = json!({ "id": id, "on_crash": on_crash, "executor": { "kind": "script" } });
        desk.done("POST", "/agents", Some(agent)).await;
        let params = Message::new("hang").blocking(false).params();
        desk.0.raw(id, request("message/send", &params).to_string()).await;
    }
    desk.kill().await;
    let desk = Desk::open(&place, &folder, "", ECHO).await;
    let list = async |agent: &str| {
        desk.done("GET", &format!("/tasks?agent={agent}"), None).await["tasks"][0].clone()
    };
    assert_eq!(list("fails").await["state"], "failed");
    let retried = list("retries").await;
    assert_eq!(retried["running"], true, "{retried}");
    desk.kill().await;
}

#[tokio::test]
async fn the_configuration_counts_over_what_was_added_and_what_cannot_be_served_is_shown() {
    let (place, folder) = (Place::new("admin"), Folder::new("admin"));
    let desk = Desk::open(&place, &folder, "allow_programs = true", ECHO).await;
    let program = json!({ "id": "program", "executor": { "kind": "command", "program": "cat" } });
    let script = json!({ "id": "script", "name": "Added", "executor": { "kind": "echo" } });
    for agent in [program, script] {
        desk.done("POST", "/agents", Some(agent)).await;
    }
    desk.kill().await;

    let desk = Desk::open(&place, &folder, "", &format!("{ECHO}{SCRIPT}")).await;
    let script = desk.done("GET", "/agents/script", None).await;
    assert_eq!((&script["origin"], &script["name"]), (&json!("configuration"), &json!("script")));
    let program = desk.done("GET", "/agents/program", None).await;
    let problem = program["problem"].as_str().expect("a problem");
    assert!(problem.contains("admin.allow_programs"), "{problem}");
    assert_eq!(program["published"], false);
    let path = "/api/v1/a2a/program/.well-known/agent-card.json";
    assert_eq!(desk.0.get(path).await, Some(404));
    let (status, answer) = desk.ask("POST", "/agents/program/publish", None).await;
    assert_eq!(status, 409, "{answer}");
    let changed = json!({ "executor": { "kind": "echo" } });
    let changed = desk.done("PUT", "/agents/program", Some(changed)).await;
    assert_eq!((&changed["problem"], &changed["published"]), (&Value::Null, &json!(true)));
    assert_eq!(desk.0.get(path).await, Some(200));
    let output = desk.kill().await;
    assert!(output.contains("the configuration counts"), "{output}");
    assert!(output.contains("an agent that operators have added is not served"), "{output}");
}

#[tokio::test]
async fn added_agents_are_served_by_a_server_without_operators_as_well() {
    let (place, folder) = (Place::new("admin"), Folder::new("admin"));
    let desk = Desk::open(&place, &folder, "", ECHO).await;
    let agent = json!({ "id": "added", "executor": { "kind": "echo" } });
    desk.done("POST", "/agents", Some(agent)).await;
    desk.kill().await;
    let process = Process::start(&format!("{}{ECHO}", place.store("process")), "info").await;
    let path = "/api/v1/a2a/added/.well-known/agent-card.json";
    assert_eq!(process.get(path).await, Some(200));
    let desk = Desk(process);
    desk.kill().await;
}
