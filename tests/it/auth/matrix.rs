//! Who may do what: every operation by every kind of caller, in both lines and over both bindings. What is to
//! be answered is the table in the document.

mod answer;
mod operation;
mod steps;

use crate::documents::{read, rows, section};
use crate::support::agents::Ledger;
use crate::support::binding::{BINDINGS, Binding};
use crate::support::receiver::HOOKS;
use crate::support::{Folder, TestServer};
use a2ad_domain::{AgentId, Timestamp};
use a2ad_http::{Key, KeyFile};
use answer::{Answer, NOBODY};
use operation::OPERATIONS;
use serde_json::Value;
use std::sync::Arc;

/// Who asks, by the columns of the table: with which key, at which agent.
struct Column {
    name: &'static str,
    key: Option<String>,
    agent: &'static str,
    /// The agent that the task is at.
    home: &'static str,
}

struct World {
    server: TestServer,
    ann: Key,
    columns: Vec<Column>,
    _folder: Folder,
}

impl World {
    async fn start() -> Self {
        Self::over(None).await
    }

    /// Over a store of the test's own.
    async fn over(store: Option<Arc<Ledger>>) -> Self {
        let folder = Folder::new("matrix");
        let path = folder.join("keys.jsonl");
        let agent = |id: &str, more: &str| {
            let card = "extended_card = { description = \"in full\" }";
            format!(
                "[[agent]]\nid = \"{id}\"\nexecutor = {{ kind = \"script\" }}\n{card}\n{more}\n"
            )
        };
        let agents = [("apart", ""), ("other", ""), ("team", "share_tasks = true")];
        let agents: String = agents.map(|(id, more)| agent(id, more)).concat();
        let toml = format!("{HOOKS}[auth]\nkeys = \"{}\"\n{agents}", path.display());
        let file = KeyFile::new(&path);
        let create = |owner: &str, agents: Option<Vec<AgentId>>| {
            file.create(owner, agents, Timestamp::from_millis(0)).expect("a key")
        };
        let (ann, bob) = (create("ann", None), create("bob", None));
        let elsewhere = vec![AgentId::new("other").expect("an id")];
        let narrow = create("ann", Some(elsewhere));
        let (anns, bobs) = (ann.reveal().to_owned(), bob.reveal().to_owned());
        let (start, last) = bobs.split_at(bobs.len() - 1);
        let bad = format!("{start}{}", if last == "0" { "1" } else { "0" });
        let column = |name, key, agent, home| Column { name, key, agent, home };
        let columns = vec![
            column("nobody", None, "apart", "apart"),
            column("bad credentials", Some(bad), "apart", "apart"),
            column("key for another agent", Some(narrow.reveal().to_owned()), "apart", "apart"),
            column("another owner", Some(bobs.clone()), "apart", "apart"),
            column("its owner at another agent", Some(anns.clone()), "other", "apart"),
            column("its owner", Some(anns), "apart", "apart"),
            column("who shares", Some(bobs), "team", "team"),
        ];
        let server = TestServer::custom(&toml, |builder| match store {
            Some(store) => builder.store(store.clone()).webhooks(store),
            None => builder,
        });
        Self { server: server.await, ann, columns, _folder: folder }
    }

    /// A task of ann's that waits for its client, with a webhook.
    async fn task(&self, agent: &str) -> String {
        let message = Binding::NewRest.operation("send a new message", agent, NOBODY);
        let answer = message.make(&self.server, Some(self.ann.reveal())).await;
        let task: Value = serde_json::from_slice(&answer.body).expect("JSON");
        let id = task["task"]["id"].as_str().expect("a task").to_owned();
        let hook = Binding::NewRpc.operation("set its webhook", agent, &id);
        let answer = hook.make(&self.server, Some(self.ann.reveal())).await;
        assert_eq!(answer.word(&id), "done", "{answer}");
        id
    }

    /// What its owner sees of a task and its webhooks.
    async fn as_ann(&self, agent: &str, task: &str) -> [Answer; 2] {
        let key = Some(self.ann.reveal());
        let read = Binding::NewRest.operation("read it", agent, task);
        let hooks = Binding::NewRest.operation("list its webhooks", agent, task);
        [read.make(&self.server, key).await, hooks.make(&self.server, key).await]
    }
}

#[tokio::test]
async fn every_caller_gets_the_answer_of_the_table() {
    let document = read("docs/security.md");
    let table = rows(section(&document, "## Who may do what"));
    let world = World::start().await;
    let names: Vec<&str> = world.columns.iter().map(|column| column.name).collect();
    assert_eq!(table[0][1..], names, "the columns of the table");
    let written: Vec<&str> = table.iter().skip(2).map(|row| row[0].as_str()).collect();
    assert_eq!(written, OPERATIONS, "the rows of the table");
    let mut problems = Vec::new();
    for row in table.iter().skip(2) {
        for (column, expected) in world.columns.iter().zip(&row[1..]) {
            for binding in BINDINGS {
                let task = world.task(column.home).await;
                let before = world.as_ann(column.home, &task).await;
                let key = column.key.as_deref();
                let call = binding.operation(&row[0], column.agent, &task);
                let answer = call.make(&world.server, key).await;
                let is = answer.word(&task);
                let place = format!("{} by {} over {binding:?}", row[0], column.name);
                if is != expected {
                    problems.push(format!("{place}: {is} instead of {expected}: {answer}"));
                }
                if is == "done" {
                    continue;
                }
                let unknown = binding.operation(&row[0], column.agent, NOBODY);
                let unknown = unknown.make(&world.server, key).await;
                if answer.masked(&task) != unknown.masked(NOBODY) {
                    problems.push(format!("{place}: {answer} is told from {unknown}"));
                }
                if before != world.as_ann(column.home, &task).await {
                    problems.push(format!("{place}: the task has changed"));
                }
            }
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    world.server.finish().await;
}

#[tokio::test]
async fn whoever_calls_an_open_agent_is_anonymous_whatever_they_show() {
    let folder = Folder::new("open");
    let path = folder.join("keys.jsonl");
    let toml = format!(
        "[auth]\nkeys = \"{}\"\n[[agent]]\nid = \"open\"\nexecutor = {{ kind = \"script\" }}\nauth = []\n",
        path.display()
    );
    // What an owner is called makes nobody anonymous.
    let key = KeyFile::new(&path).create("anonymous", None, Timestamp::from_millis(0));
    let key = key.expect("a key");
    let server = TestServer::with_config(&toml).await;
    for (sender, reader) in
        [(None, Some(key.reveal())), (Some(key.reveal()), None), (Some("bad"), None)]
    {
        let send = Binding::NewRest.operation("send a new message", "open", NOBODY);
        let sent: Value =
            serde_json::from_slice(&send.make(&server, sender).await.body).expect("JSON");
        let id = sent["task"]["id"].as_str().expect("a task");
        let read = Binding::NewRest.operation("read it", "open", id).make(&server, reader).await;
        assert_eq!(read.word(id), "done", "{read}");
    }
    server.finish().await;
    // The same place with keys: what was sent by nobody in particular is not that of any key's owner.
    let store = folder.join("tasks.db");
    let store = format!("[store]\nkind = \"sqlite\"\npath = \"{}\"\n", store.display());
    let server = TestServer::with_config(&format!("{store}{toml}")).await;
    let send = Binding::NewRest.operation("send a new message", "open", NOBODY);
    let sent: Value = serde_json::from_slice(&send.make(&server, None).await.body).expect("JSON");
    let id = sent["task"]["id"].as_str().expect("a task").to_owned();
    server.finish().await;
    let guarded = toml.replace("auth = []", "");
    let server = TestServer::with_config(&format!("{store}{guarded}")).await;
    let read = Binding::NewRest.operation("read it", "open", &id);
    assert_eq!(read.make(&server, Some(key.reveal())).await.word(&id), "unknown");
    server.finish().await;
}
