//! Callers who show keys.

use crate::support::caller::{Message, request};
use crate::support::{Folder, Raw, Reply, TestServer};
use a2ad_domain::{AgentId, Timestamp};
use a2ad_http::{Key, KeyFile};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const RPC: &str = "/api/v1/a2a/echo/jsonrpc";

/// A server that asks for keys, and the file of keys.
struct Guarded {
    server: TestServer,
    folder: Folder,
}

impl Guarded {
    async fn start() -> Self {
        let folder = Folder::new("keys");
        let server = TestServer::with_config(&config(&folder)).await;
        Self { server, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("keys.jsonl")
    }

    fn create(&self, owner: &str, agents: Option<&str>) -> Key {
        let agents = agents.map(|id| vec![AgentId::new(id).expect("an id")]);
        let created = KeyFile::new(&self.path()).create(owner, agents, Timestamp::from_millis(0));
        created.expect("a new key")
    }

    fn revoke(&self, key: &Key) {
        let revoked = KeyFile::new(&self.path()).revoke(key.id(), Timestamp::from_millis(1));
        revoked.expect("a key that is revoked");
    }

    async fn call(&self, keys: &[&str]) -> Reply {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(keys.iter().map(|key| ("x-api-key", *key)));
        let body = request("message/send", &Message::new("x").params()).to_string();
        self.server.post(RPC, &headers, body).await
    }

    async fn status(&self, key: &str) -> u16 {
        self.call(&[key]).await.status
    }
}

fn config(folder: &Folder) -> String {
    format!("[auth]\nkeys = \"{}\"\n", folder.join("keys.jsonl").display())
}

#[tokio::test]
async fn a_key_lets_its_owner_in_and_nothing_else_does() {
    let guarded = Guarded::start().await;
    assert_eq!(guarded.call(&[]).await.status, 401, "there is no file yet");
    assert_eq!(guarded.status("a2ad_0123456789ab_x").await, 401, "there is no file yet");
    let (ann, bob) = (guarded.create("ann", None), guarded.create("bob", None));
    let good = ann.reveal();
    assert_eq!(guarded.status(good).await, 200);
    let secret = |key: &Key| key.reveal().rsplit_once(key.id()).expect("an id").1.to_owned();
    let swapped = format!("a2ad_{}{}", ann.id(), secret(&bob));
    let short = &good[..good.len() - 1];
    let (spaced, longer) = (good.replacen('_', " _", 1), format!("{good}A"));
    let (upper, other) = (good.to_uppercase(), format!("a2ad_{}", ann.id()));
    for bad in ["", " ", "x", "a2ad_", "a2ad__", short, &spaced, &longer, &upper, &other, &swapped]
    {
        let reply = guarded.call(&[bad]).await;
        assert_eq!(reply.status, 401, "{bad:?}");
        assert_eq!(reply.headers["www-authenticate"], "ApiKey header=\"x-api-key\"");
    }
    for several in [[good, good], [good, "x"], ["x", good]] {
        assert_eq!(guarded.call(&several).await.status, 401, "{several:?}");
    }
    // What a key is called tells nothing, not even whether there is such a key.
    let mut answers = Vec::new();
    for key in [&*swapped, "a2ad_0123456789ab_x", "x"] {
        let reply = guarded.call(&[key]).await;
        answers.push((reply.status, reply.headers.len(), reply.body));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    guarded.server.finish().await;
}

#[tokio::test]
async fn a_key_that_goes_on_on_another_line_is_no_key() {
    let guarded = Guarded::start().await;
    let key = guarded.create("ann", None);
    let (start, end) = key.reveal().split_at(20);
    for (between, statuses) in [("\r\n ", [400, 401]), ("\n", [400, 401]), ("\r", [400, 401])] {
        let mut raw = Raw::connect(guarded.server.address()).await;
        let head = format!(
            "POST {RPC} HTTP/1.1\r\nhost: test\r\nx-api-key: {start}{between}{end}\r\n\
             content-length: 2\r\n\r\n{{}}"
        );
        raw.send(head.as_bytes()).await;
        let answer = raw.answer().await.expect("an answer");
        assert!(statuses.contains(&answer.status), "{between:?}: {}", answer.status);
    }
    guarded.server.finish().await;
}

#[tokio::test]
async fn a_revoked_key_is_refused_from_the_next_request_on() {
    let guarded = Guarded::start().await;
    let (ann, other) = (guarded.create("ann", None), guarded.create("ann", None));
    for _ in 0..20 {
        let key = guarded.create("ann", None);
        assert_eq!(guarded.status(key.reveal()).await, 200);
        guarded.revoke(&key);
        assert_eq!(guarded.status(key.reveal()).await, 401);
    }
    assert_eq!(guarded.status(ann.reveal()).await, 200, "other keys are as they were");
    guarded.revoke(&ann);
    assert_eq!(guarded.status(ann.reveal()).await, 401);
    assert_eq!(guarded.status(other.reveal()).await, 200);
    guarded.server.finish().await;
}

#[tokio::test]
async fn the_keys_of_an_owner_see_the_same_tasks_and_those_of_another_do_not() {
    let guarded = Guarded::start().await;
    let keys = [("ann", None), ("ann", Some("echo")), ("bob", None)];
    let keys = keys.map(|(owner, agents)| guarded.create(owner, agents));
    assert_eq!(guarded.status(keys[0].reveal()).await, 200);
    for (key, count) in keys.iter().zip([1, 1, 0]) {
        let headers = [("x-api-key", key.reveal()), ("a2a-version", "1.0")];
        let list = guarded.server.get("/api/v1/a2a/echo/tasks", &headers).await;
        assert_eq!(list.json()["totalSize"], count);
    }
    guarded.server.finish().await;
}

#[tokio::test]
async fn a_key_for_one_agent_is_forbidden_at_others() {
    let guarded = Guarded::start().await;
    let key = guarded.create("ann", Some("script"));
    assert_eq!(guarded.status(key.reveal()).await, 403);
    let headers = [("x-api-key", key.reveal())];
    assert_eq!(guarded.server.get("/api/v1/a2a/script/tasks", &headers).await.status, 200);
    let catalog = guarded.server.get("/api/v1/a2a/agents", &headers).await.json();
    let agents: Vec<&Value> = catalog["agents"].as_array().expect("agents").iter().collect();
    assert_eq!((agents.len(), &agents[0]["id"]), (1, &"script".into()));
    guarded.server.finish().await;
}

#[tokio::test]
async fn nobody_is_let_in_by_a_file_that_makes_no_sense_or_that_others_can_write() {
    let guarded = Guarded::start().await;
    let key = guarded.create("ann", None);
    let whole = std::fs::read(guarded.path()).expect("the file");
    let mode = |mode| {
        std::fs::set_permissions(guarded.path(), std::fs::Permissions::from_mode(mode))
            .expect("ours");
    };
    for broken in ["{", "{}\n", "[]\n", "null"] {
        std::fs::write(guarded.path(), [&*whole, broken.as_bytes()].concat()).expect("ours");
        assert_eq!(guarded.status(key.reveal()).await, 401, "{broken}");
    }
    std::fs::write(guarded.path(), &whole).expect("ours");
    assert_eq!(guarded.status(key.reveal()).await, 200);
    for (other, status) in [(0o620, 401), (0o602, 401), (0o600, 200), (0o644, 200)] {
        mode(other);
        assert_eq!(guarded.status(key.reveal()).await, status, "{other:o}");
    }
    std::fs::remove_file(guarded.path()).expect("ours");
    assert_eq!(guarded.status(key.reveal()).await, 401);
    guarded.server.finish().await;
}
