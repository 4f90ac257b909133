//! A server with an operator, and what the operator asks for.

use crate::support::{Folder, Reply, TestServer};
use serde_json::{Value, json};

/// The key of the operator.
pub(crate) const KEY: &str = "an-operators-key-that-is-long-enough";
pub(super) const BASE: &str = "/api/v1/admin";

/// The two agents that a server has without a file.
const AGENTS: &str = "[[agent]]\nid = \"echo\"\nexecutor = { kind = \"echo\" }\n\
    [[agent]]\nid = \"script\"\nexecutor = { kind = \"script\" }\n";

/// A running server with an operator.
pub(super) struct Desk {
    pub(super) server: TestServer,
    folder: Folder,
}

/// The part of a configuration that lets the operator in, with more keys of the table.
pub(crate) fn admin(folder: &Folder, more: &str) -> String {
    let file = folder.join("operator.key");
    std::fs::write(&file, format!("{KEY}\n")).expect("a file");
    let file = file.display();
    format!("[admin]\n{more}\n[admin.keys]\nann = {{ file = \"{file}\" }}\n")
}

impl Desk {
    pub(super) async fn open() -> Self {
        Self::with("", "").await
    }

    /// With more keys of the table and more of the configuration.
    pub(super) async fn with(keys: &str, toml: &str) -> Self {
        let folder = Folder::new("admin");
        let toml = format!("{}{toml}{AGENTS}", admin(&folder, keys));
        Self { server: TestServer::with_config(&toml).await, folder }
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// What is answered to a request with these headers and this body.
    pub(super) async fn raw(
        &self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Reply {
        let path = format!("{BASE}{path}");
        Reply::read(self.server.open(verb, &path, headers, body).await).await
    }

    /// What the operator is answered.
    pub(super) async fn ask(&self, verb: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let headers = [("x-api-key", KEY), ("content-type", "application/json")];
        let reply = self.raw(verb, path, &headers, body.map(|body| body.to_string())).await;
        assert_eq!(reply.headers["content-type"], "application/json");
        (reply.status, reply.json())
    }

    /// What the operator is answered to what has to be done.
    pub(super) async fn done(&self, verb: &str, path: &str, body: Option<Value>) -> Value {
        let (status, answer) = self.ask(verb, path, body).await;
        assert!((200..300).contains(&status), "{verb} {path}: {status} {answer}");
        answer
    }

    /// Why something is refused.
    pub(super) async fn refused(
        &self,
        status: u16,
        verb: &str,
        path: &str,
        body: Option<Value>,
    ) -> String {
        let (answered, answer) = self.ask(verb, path, body).await;
        assert_eq!(answered, status, "{verb} {path}: {answer}");
        answer["error"]["message"].as_str().expect("a message").to_owned()
    }

    /// Adds an agent that does what its text says.
    pub(super) async fn add(&self, id: &str) {
        let agent = json!({ "id": id, "executor": { "kind": "script" } });
        self.done("POST", "/agents", Some(agent)).await;
    }

    /// The statuses of every route of an agent.
    pub(super) async fn routes(&self, agent: &str) -> Vec<u16> {
        let base = format!("/api/v1/a2a/{agent}");
        let mut statuses = Vec::new();
        for path in [".well-known/agent-card.json", ".well-known/agent.json", "tasks", "v1/tasks"] {
            let headers = [("a2a-version", if path == "tasks" { "1.0" } else { "0.3" })];
            statuses.push(self.server.get(&format!("{base}/{path}"), &headers).await.status);
        }
        let json = [("content-type", "application/json")];
        statuses.push(self.server.post(&format!("{base}/jsonrpc"), &json, "{}").await.status);
        statuses
    }

    /// The ids in the catalog.
    pub(super) async fn catalog(&self) -> Vec<String> {
        let catalog = self.server.get("/api/v1/a2a/agents", &[]).await.json();
        let agents = catalog["agents"].as_array().expect("agents").iter();
        agents.map(|agent| agent["id"].as_str().expect("an id").to_owned()).collect()
    }
}
