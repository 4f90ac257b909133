//! The history: every message once, in order, and as much of it as a call asks for.

use crate::support::TestServer;
use crate::support::agents::{Puppet, agent};
use crate::support::caller::{Caller, Message, history, id, state, status_text};
use serde_json::{Value, json};
use std::collections::HashSet;

/// A completed task with ten messages: five by the client, four questions and one reply.
async fn long_talk(caller: &Caller<'_>) -> Value {
    let mut task = caller.send(Message::new("ask a1").id("u1")).await;
    for turn in 2..=4 {
        let message = Message::new(format!("ask a{turn}")).id(&format!("u{turn}"));
        task = caller.send(message.task(id(&task))).await;
    }
    let task = caller.send(Message::new("done").id("u5").task(id(&task))).await;
    assert_eq!(state(&task), "completed");
    task
}

#[tokio::test]
async fn a_talk_of_many_turns_is_kept_whole_in_order_and_once() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let task = long_talk(&caller).await;
    let expected = [
        "user: ask a1",
        "agent: a1",
        "user: ask a2",
        "agent: a2",
        "user: ask a3",
        "agent: a3",
        "user: ask a4",
        "agent: a4",
        "user: done",
        "agent: done",
    ];
    assert_eq!(history(&task), expected);
    let messages = task["history"].as_array().expect("messages");
    let ids: HashSet<_> = messages.iter().map(|message| message["messageId"].as_str()).collect();
    assert_eq!(ids.len(), messages.len());
    for (turn, message) in messages.iter().step_by(2).enumerate() {
        assert_eq!(message["messageId"], format!("u{}", turn + 1));
    }
    for message in messages {
        assert_eq!((&message["taskId"], &message["contextId"]), (&task["id"], &task["contextId"]));
    }
    assert_eq!(caller.get(id(&task)).await, task);
    server.finish().await;
}

#[tokio::test]
async fn what_the_status_says_is_not_in_the_history_as_well() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let asked = caller.send(Message::new("ask which?")).await;
    assert_eq!(status_text(&asked), "which?");
    assert_eq!(history(&asked), ["user: ask which?"]);
    let question = asked["status"]["message"]["messageId"].clone();
    let task = caller.send(Message::new("this").task(id(&asked))).await;
    // The question has moved to its place in the talk, as the same message.
    assert_eq!(task["history"][1]["messageId"], question);
    assert!(task["status"].get("message").is_none());
    server.finish().await;
}

#[tokio::test]
async fn what_an_agent_says_while_it_works_joins_the_history() {
    let (puppet, mut stage) = Puppet::new();
    let server =
        TestServer::custom("", |builder| builder.with_agent(agent("puppet", puppet))).await;
    let caller = Caller::new(&server, "puppet");
    let works = async {
        let run = stage.next().await;
        run.progress("one third").await.expect("a live task");
        run.progress("two thirds").await.expect("a live task");
        run.complete_with("there you are").await;
    };
    let (task, ()) = tokio::join!(caller.send(Message::new("go")), works);
    let expected = ["user: go", "agent: one third", "agent: two thirds", "agent: there you are"];
    assert_eq!(history(&task), expected);
    server.finish().await;
}

#[tokio::test]
async fn a_call_shows_as_much_of_the_history_as_it_asks_for() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let task = long_talk(&caller).await;
    let all = history(&task);
    let get = async |limit: Value| {
        caller.ok("tasks/get", json!({ "id": id(&task), "historyLength": limit })).await
    };
    for (limit, shown) in [(json!(null), 10), (json!(3), 3), (json!(10), 10), (json!(11), 10)] {
        let got = history(&get(limit.clone()).await);
        assert_eq!(got, all[10 - shown..], "{limit}");
    }
    assert_eq!(history(&get(json!(2_147_483_647)).await), all);
    assert!(get(json!(0)).await.get("history").is_none());
    for wrong in [json!(-1), json!("3"), json!(1.5), json!([3]), json!(true)] {
        let params = json!({ "id": id(&task), "historyLength": wrong });
        assert_eq!(caller.code("tasks/get", params).await, -32602, "{wrong}");
    }
    server.finish().await;
}

#[tokio::test]
async fn sends_streams_and_lists_show_no_more_than_they_are_asked_for() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let asks = |text: &str, limit: Value| Message::new(text).configured("historyLength", limit);
    for (limit, shown) in [(json!(0), 0), (json!(1), 1), (json!(7), 2), (json!(null), 2)] {
        let task = caller.send(asks("x", limit.clone())).await;
        assert_eq!(history(&task), ["user: x", "agent: x"][2 - shown..], "{limit}");
        assert_eq!(task.get("history").is_some(), shown > 0);
        let frames = caller.stream(asks("x", limit.clone())).await.collect().await;
        let opened = &frames[0].data["result"];
        assert_eq!(history(opened).len(), shown.min(1), "{limit}");
        assert_eq!(opened.get("history").is_some(), shown > 0);
        let page = caller.ok("tasks/list", json!({ "historyLength": limit })).await;
        assert_eq!(history(&page["tasks"][0]).len(), shown, "{limit}");
    }
    for wrong in [json!(-1), json!("3"), json!(0.5)] {
        let params = asks("x", wrong.clone()).params();
        assert_eq!(caller.code("message/send", params.clone()).await, -32602, "{wrong}");
        assert_eq!(caller.code("message/stream", params).await, -32602, "{wrong}");
        let code = caller.code("tasks/list", json!({ "historyLength": wrong })).await;
        assert_eq!(code, -32602, "{wrong}");
    }
    assert_eq!(caller.list().await.len(), 8, "a refused message has left something");
    server.finish().await;
}

#[tokio::test]
async fn messages_of_the_same_id_are_messages_of_their_own() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    let same = || Message::new("x").id("d-1");
    let first = caller.send(same()).await;
    let second = caller.send(same()).await;
    assert_ne!(id(&first), id(&second));
    assert_eq!(caller.list().await.len(), 2);
    // Once an answer is taken, the same answer is one too many.
    let asked = caller.send(Message::new("ask which?").id("d-1")).await;
    let answered = caller.send(Message::new("this").id("d-2").task(id(&asked))).await;
    let again = Message::new("this").id("d-2").task(id(&asked));
    assert_eq!(caller.code("message/send", again.params()).await, -32004);
    assert_eq!(caller.get(id(&asked)).await, answered);
    server.finish().await;
}
