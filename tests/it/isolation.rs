//! Callers and agents are apart: what is another's cannot be told from what does not exist.

use crate::support::agents::{Gated, agent, soon};
use crate::support::caller::{Caller, Message, context, history, id, state};
use crate::support::receiver::{HOOKS, NOWHERE};
use crate::support::{HeaderOwner, Reply, TestServer};
use a2ad_domain::ports::{AgentError, AgentExecutor, Outcome, Turn};
use a2ad_domain::service::TaskWriter;
use a2ad_domain::{Content, Parts};
use async_trait::async_trait;
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use std::sync::Arc;

/// An id of the right form that no task has.
const NOBODY: &str = "3b9f6f0e-0000-4000-8000-00000000000d";

/// Every call that names a task, for one id.
fn calls(task: &str) -> Vec<(&'static str, Value)> {
    let config = json!({ "url": NOWHERE });
    let set = json!({ "taskId": task, "pushNotificationConfig": config });
    let named = json!({ "id": task, "pushNotificationConfigId": "c1" });
    let follow_up = Message::new("mine now").id("m-1").task(task);
    vec![
        ("tasks/get", json!({ "id": task })),
        ("tasks/get", json!({ "id": task, "historyLength": 1 })),
        ("tasks/cancel", json!({ "id": task })),
        ("tasks/resubscribe", json!({ "id": task })),
        ("message/send", follow_up.clone().params()),
        ("message/send", follow_up.clone().context("talk").params()),
        ("message/send", follow_up.clone().blocking(false).params()),
        ("message/stream", follow_up.params()),
        ("tasks/pushNotificationConfig/set", set),
        ("tasks/pushNotificationConfig/get", named.clone()),
        ("tasks/pushNotificationConfig/list", json!({ "id": task })),
        ("tasks/pushNotificationConfig/delete", named),
    ]
}

/// A reply as far as it could give something away, with the id that was asked for masked.
fn visible(reply: &Reply, asked: &str) -> (u16, Vec<(String, String)>, String) {
    let headers = reply.headers.iter().filter(|(name, _)| name.as_str() != "date");
    let mut headers: Vec<_> = headers
        .map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned()))
        .collect();
    headers.sort();
    let body = String::from_utf8(reply.body.clone()).expect("UTF-8").replace(asked, "…");
    (reply.status, headers, body)
}

/// A stranger's calls get, byte for byte, what calls for a task get that nobody has.
async fn sees_nothing(stranger: &Caller<'_>, task: &str) {
    for ((method, params), (_, unknown)) in calls(task).into_iter().zip(calls(NOBODY)) {
        let foreign = stranger.reply(method, params.clone()).await;
        let unknown = stranger.reply(method, unknown).await;
        assert_eq!(visible(&foreign, task), visible(&unknown, NOBODY), "{method} {params}");
        let code = foreign.json()["error"]["code"].clone();
        assert_eq!(code, -32001, "{method} {params}");
    }
}

/// Two agents that do what the text says, and callers who are told apart by a header.
async fn two_agents() -> (TestServer, crate::support::agents::Gates) {
    let (gated, gates) = Gated::new();
    let agents = ["left", "right"].map(|id| agent(id, gated.clone()));
    let server = TestServer::custom(HOOKS, |builder| {
        let builder = builder.authenticator(Arc::new(HeaderOwner));
        agents.into_iter().fold(builder, |builder, agent| builder.with_agent(agent))
    });
    (server.await, gates)
}

/// Tasks in every phase: ended, waiting for the client, at work.
async fn one_of_each(caller: &Caller<'_>) -> Vec<Value> {
    vec![
        caller.send(Message::new("x").context("talk")).await,
        caller.send(Message::new("ask which?").context("talk")).await,
        caller.send_off(Message::new("gate x").context("talk")).await,
    ]
}

#[tokio::test]
async fn a_task_of_another_caller_cannot_be_told_from_one_that_does_not_exist() {
    let (server, mut gates) = two_agents().await;
    let ann = Caller::new(&server, "left").owned_by("ann");
    let bob = Caller::new(&server, "left").owned_by("bob");
    let nobody = Caller::new(&server, "left");
    let tasks = one_of_each(&ann).await;
    let gate = gates.next().await;
    let before: Vec<Value> = join_all(tasks.iter().map(|task| ann.get(id(task)))).await;
    for task in &tasks {
        sees_nothing(&bob, id(task)).await;
        sees_nothing(&nobody, id(task)).await;
    }
    assert!(bob.list().await.is_empty());
    let in_talk = bob.ok("tasks/list", json!({ "contextId": "talk" })).await;
    assert_eq!((&in_talk["tasks"], &in_talk["totalSize"]), (&json!([]), &json!(0)));
    for (task, before) in tasks.iter().zip(before) {
        assert_eq!(ann.get(id(task)).await, before);
    }
    let answered = ann.send(Message::new("this").task(id(&tasks[1]))).await;
    assert_eq!(state(&answered), "completed");
    gate.open();
    assert_eq!(state(&ann.rest(id(&tasks[2])).await), "completed");
    assert_eq!(ann.list().await.len(), 3);
    server.finish().await;
}

#[tokio::test]
async fn a_task_of_another_agent_cannot_be_told_from_one_that_does_not_exist() {
    let (server, mut gates) = two_agents().await;
    let left = Caller::new(&server, "left");
    let right = Caller::new(&server, "right");
    let tasks = one_of_each(&left).await;
    let gate = gates.next().await;
    for task in &tasks {
        sees_nothing(&right, id(task)).await;
        for path in ["/", "/a2a"] {
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": { "id": id(task) } });
            let code = server.rpc_at(path, body).await["error"]["code"].clone();
            assert_eq!(code, if path == "/" { -32001 } else { -32000 });
        }
    }
    assert!(right.list().await.is_empty());
    assert_eq!(left.get(id(&tasks[0])).await, tasks[0]);
    assert_eq!(left.get(id(&tasks[1])).await, tasks[1]);
    gate.open();
    assert_eq!(state(&left.rest(id(&tasks[2])).await), "completed");
    left.cancel(id(&tasks[1])).await;
    server.finish().await;
}

#[tokio::test]
async fn a_page_token_of_another_caller_is_refused() {
    let (server, _gates) = two_agents().await;
    let ann = Caller::new(&server, "left").owned_by("ann");
    let bob = Caller::new(&server, "left").owned_by("bob");
    for caller in [&ann, &bob] {
        for _ in 0..3 {
            caller.send(Message::new("x")).await;
        }
    }
    let page = ann.ok("tasks/list", json!({ "pageSize": 1 })).await;
    let next = json!({ "pageSize": 1, "pageToken": page["nextPageToken"] });
    assert_eq!(bob.code("tasks/list", next.clone()).await, -32602);
    assert_eq!(ann.ok("tasks/list", next).await["tasks"].as_array().map(Vec::len), Some(1));
    server.finish().await;
}

#[tokio::test]
async fn message_ids_belong_to_their_sender() {
    let (server, _gates) = two_agents().await;
    let send = async |owner: &str, text: &str| {
        let caller = Caller::new(&server, "left").owned_by(owner);
        caller.send(Message::new(text).id("d-1").context("talk")).await
    };
    let tasks = [send("ann", "x").await, send("bob", "x").await, send("ann", "y").await];
    for (task, text) in tasks.iter().zip(["x", "x", "y"]) {
        assert_eq!(history(task), [format!("user: {text}"), format!("agent: {text}")]);
    }
    assert_ne!(id(&tasks[0]), id(&tasks[1]));
    let ann = Caller::new(&server, "left").owned_by("ann");
    assert_eq!(ann.list().await.len(), 2);
    server.finish().await;
}

/// Says again everything that was said in its conversation before, and what it is told.
struct Parrot;

#[async_trait]
impl AgentExecutor for Parrot {
    async fn run(&self, turn: Turn, out: &mut TaskWriter) -> Result<Outcome, AgentError> {
        let mut said = out.conversation(100).await?;
        said.push(turn.request.message.clone());
        let texts =
            said.iter().flat_map(|message| message.parts.as_slice()).filter_map(|part| match &part
                .content
            {
                Content::Text(text) => Some(text.to_string()),
                Content::Bytes(_) | Content::Url(_) | Content::Data(_) => None,
            });
        Ok(Outcome::Completed(Some(Parts::text(texts.collect::<Vec<_>>().join("/")))))
    }
}

#[tokio::test]
async fn a_conversation_belongs_to_its_caller_whatever_it_is_called() {
    let server = TestServer::custom("", |builder| {
        let builder = builder.authenticator(Arc::new(HeaderOwner));
        builder
            .with_agent(agent("left", Arc::new(Parrot)))
            .with_agent(agent("right", Arc::new(Parrot)))
    })
    .await;
    let ann = Caller::new(&server, "left").owned_by("ann");
    let bob = Caller::new(&server, "left").owned_by("bob");
    let elsewhere = Caller::new(&server, "right").owned_by("ann");
    let says = |text: &str, talk: &str| Message::new(text).context(talk);
    ann.send(says("secret", "c1")).await;
    for stranger in [&bob, &elsewhere] {
        let task = stranger.send(says("hi", "c1")).await;
        assert_eq!(history(&task), ["user: hi", "agent: hi"]);
    }
    let task = ann.send(says("more", "c1")).await;
    assert_eq!(history(&task)[1], "agent: secret/secret/more");
    // The longest names that are taken are told apart to their last character.
    let long = |last: &str| format!("{}{last}", "é".repeat(255));
    ann.send(says("first", &long("a"))).await;
    let task = ann.send(says("second", &long("b"))).await;
    assert_eq!((context(&task), history(&task)[1].as_str()), (&*long("b"), "agent: second"));
    for longer in [long("ab"), "x".repeat(5000)] {
        assert_eq!(ann.code("message/send", says("x", &longer).params()).await, -32602);
    }
    let minted = [ann.send(Message::new("x")).await, ann.send(Message::new("x")).await];
    assert_ne!(context(&minted[0]), context(&minted[1]));
    assert_eq!(history(&minted[1])[1], "agent: x");
    server.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_stay_apart_while_everybody_is_busy() {
    let (server, _gates) = two_agents().await;
    let ann = Caller::new(&server, "left").owned_by("ann");
    let admin = Caller::new(&server, "left").owned_by("admin");
    let bob = Caller::new(&server, "left").owned_by("bob");
    let works = async |caller: &Caller<'_>, word: &str| {
        for round in 0..40 {
            let text = format!("{word} {round}");
            let task = caller.send(Message::new(&text).context("talk")).await;
            assert_eq!(history(&task), [format!("user: {text}"), format!("agent: {text}")]);
            let ticking = caller.send_off(Message::new(format!("tick:1|{text}"))).await;
            assert_eq!(state(&caller.cancel(id(&ticking)).await), "canceled");
            let list = caller.ok("tasks/list", json!({ "pageSize": 5 })).await;
            for task in list["tasks"].as_array().expect("tasks") {
                let said = history(task)[0].clone();
                assert!(said.contains(word), "{word} sees {said}");
            }
        }
    };
    let spies = async {
        let task = ann.send(Message::new("ann's own")).await;
        for _ in 0..100 {
            assert_eq!(bob.code("tasks/get", json!({ "id": id(&task) })).await, -32001);
            assert_eq!(bob.code("tasks/cancel", json!({ "id": id(&task) })).await, -32001);
            assert_eq!(state(&ann.get(id(&task)).await), "completed");
        }
    };
    let busy = join(works(&ann, "ann's"), works(&admin, "the admin's"));
    soon("what everybody does", join(busy, spies)).await;
    assert!(bob.list().await.is_empty());
    server.finish().await;
}
