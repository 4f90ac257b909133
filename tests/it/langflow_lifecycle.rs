//! The published steps of a task's life after the send: read back, cancel, and tell nothing to strangers.

use crate::support::caller::{Caller, Message, answer, artifact, context, id, request, state};
use crate::support::{Events, TestServer};
use serde_json::{Value, json};

const NOT_FOUND: &str = r#"{"code":-32001,"message":"Task not found","data":null}"#;
const NOT_CANCELABLE: &str = r#"{"code":-32002,"message":"Task cannot be canceled","data":null}"#;
/// An id of the form that the server makes, of no task.
const UNKNOWN: &str = "6f1d4c1e-0b7a-4c7e-8a43-55d1f0c9b201";

/// Two agents that give back what they get, one that takes ten minutes for each MiB of it, and one that does
/// what its text says. The last two have no time to clean up, since they would not use it.
const AGENTS: &str = r#"
[[agent]]
id = "a"
executor = { kind = "echo" }
[[agent]]
id = "b"
executor = { kind = "echo" }
[[agent]]
id = "slow"
executor = { kind = "echo", pace = "10m" }
grace = "0s"
[[agent]]
id = "script"
executor = { kind = "script" }
grace = "0s"
"#;

/// Fails unless the call fails over HTTP 200 with exactly this error.
async fn refused(caller: &Caller<'_>, method: &str, params: Value, error: &str) {
    let reply = caller.reply(method, params).await;
    assert_eq!(reply.status, 200, "{method}");
    answer(&reply);
    let body = String::from_utf8(reply.body).expect("UTF-8");
    assert_eq!(body, format!(r#"{{"jsonrpc":"2.0","id":"c-1","error":{error}}}"#), "{method}");
}

/// Reads up to the first frame that says the task's id, which is the opening one.
async fn id_of(events: &mut Events) -> String {
    let first = events.next().await.expect("an opening frame").data;
    assert_eq!(first["result"]["status"]["state"], "submitted", "{first}");
    id(&first["result"]).to_owned()
}

/// About 2 MB in front of a text.
fn large(text: &str) -> String {
    format!("{}{text}", "filler ".repeat(300_000))
}

#[tokio::test]
async fn a_task_can_be_read_back_and_refuses_a_cancel_it_cannot_honour() {
    let server = TestServer::with_config(AGENTS).await;
    let caller = Caller::new(&server, "a");
    let sentinel = "a2a-life-0d4e7f";
    let sent = caller.send(Message::new(sentinel)).await;
    assert_eq!(state(&sent), "completed");

    let read = caller.get(id(&sent)).await;
    assert_eq!(read["id"], sent["id"]);
    assert_eq!(read["contextId"], sent["contextId"]);
    assert_eq!(read["artifacts"][0]["artifactId"], sent["artifacts"][0]["artifactId"]);
    assert!(read["artifacts"][0]["artifactId"].is_string());
    assert_eq!(read["status"]["timestamp"], sent["status"]["timestamp"]);
    assert!(read["status"]["timestamp"].is_string());
    assert_eq!(state(&read), "completed");
    assert_eq!(read["artifacts"][0]["parts"][0]["text"], sentinel);
    assert_eq!(read, sent);

    refused(&caller, "tasks/get", json!({ "id": UNKNOWN }), NOT_FOUND).await;

    refused(&caller, "tasks/cancel", json!({ "id": sent["id"] }), NOT_CANCELABLE).await;
    assert_eq!(caller.get(id(&sent)).await, sent);
    server.finish().await;
}

#[tokio::test]
async fn a_task_id_is_invisible_to_another_agent() {
    let server = TestServer::with_config(AGENTS).await;
    let (a, b) = (Caller::new(&server, "a"), Caller::new(&server, "b"));
    let task = a.send(Message::new("a2a-life-1b")).await;
    refused(&b, "tasks/cancel", json!({ "id": task["id"] }), NOT_FOUND).await;
    // An agent to whom every id is unknown would pass this far.
    assert_eq!(state(&a.get(id(&task)).await), "completed");
    server.finish().await;
}

/// Every call that names a task, through an agent that it does not belong to. In each state of the task
/// the answer is the one for an id that was never given.
#[tokio::test]
async fn another_agent_cannot_tell_a_foreign_task_from_no_task() {
    let server = TestServer::with_config(AGENTS).await;
    let (own, other) = (Caller::new(&server, "script"), Caller::new(&server, "b"));
    for text in ["done", "fail at it", "reject it", "ask me", "hang about"] {
        let task = if text.starts_with("hang") {
            own.send_off(Message::new(text)).await
        } else {
            own.send(Message::new(text)).await
        };
        let before = own.get(id(&task)).await;
        for known in [id(&task), UNKNOWN] {
            let named = json!({ "id": known });
            for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
                refused(&other, method, named.clone(), NOT_FOUND).await;
            }
            for method in ["message/send", "message/stream"] {
                let bare = Message::new("on with it").task(known);
                refused(&other, method, bare.clone().params(), NOT_FOUND).await;
                // Knowing the context as well does not help.
                let both = bare.context(context(&task)).params();
                refused(&other, method, both, NOT_FOUND).await;
            }
        }
        assert!(other.list().await.is_empty());
        let after = own.get(id(&task)).await;
        assert_eq!(after["history"], before["history"], "{text}");
        if text.starts_with("hang") {
            assert_eq!(state(&after), "working");
            assert_eq!(state(&own.cancel(id(&task)).await), "canceled");
            refused(&other, "tasks/cancel", json!({ "id": task["id"] }), NOT_FOUND).await;
        } else {
            assert_eq!(after, before, "{text}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn canceling_a_running_task_moves_it_to_canceled() {
    let server = TestServer::with_config(AGENTS).await;
    let caller = Caller::new(&server, "slow");
    let mut events = caller.stream(Message::new(large("a2a-life-2c"))).await;
    let task = id_of(&mut events).await;
    let canceled = caller.cancel(&task).await;
    assert_eq!(id(&canceled), task);
    assert_eq!(state(&canceled), "canceled");
    drop(events);
    assert_eq!(state(&caller.get(&task).await), "canceled");
    server.finish().await;
}

#[tokio::test]
async fn a_stream_that_is_still_read_ends_with_the_cancel() {
    let server = TestServer::with_config(AGENTS).await;
    let caller = Caller::new(&server, "slow");
    let mut events = caller.stream(Message::new(large("a2a-life-3d"))).await;
    let task = id_of(&mut events).await;
    let canceled = caller.cancel(&task).await;
    let last = events.collect().await.pop().expect("a last frame").data["result"].take();
    assert_eq!(last["status"], canceled["status"]);
    assert_eq!(last["final"], true);
    server.finish().await;
}

/// With an agent that ends at once the cancel may come too late. Both endings are right; a mixture is not.
#[tokio::test]
async fn a_cancel_of_a_short_run_wins_or_is_refused() {
    let server = TestServer::with_config(AGENTS).await;
    let caller = Caller::new(&server, "a");
    for round in 0..20 {
        let mut events = caller.stream(Message::new("x".repeat(1024))).await;
        let task = id_of(&mut events).await;
        let answer = caller.call("tasks/cancel", json!({ "id": task })).await;
        let read = caller.get(&task).await;
        if answer.get("result").is_some() {
            assert_eq!(state(&read), "canceled", "round {round}");
            assert_eq!(answer["result"]["status"], read["status"], "round {round}");
        } else {
            assert_eq!(answer["error"]["code"], -32002, "round {round}: {answer}");
            assert_eq!(state(&read), "completed", "round {round}");
        }
        let frames = events.collect().await;
        let last = &frames.last().expect("a last frame").data["result"];
        assert_eq!((&last["status"], &last["final"]), (&read["status"], &json!(true)));
    }
    server.finish().await;
}

/// A reader that leaves 2 MB in the socket holds up neither the run nor what others see of it.
#[tokio::test]
async fn a_stream_that_nobody_reads_does_not_park_its_task() {
    let server = TestServer::with_config(AGENTS).await;
    let caller = Caller::new(&server, "a");
    let text = large("a2a-life-4e");
    let mut events = caller.stream(Message::new(&text)).await;
    let task = id_of(&mut events).await;
    let done = caller.rest(&task).await;
    assert_eq!(state(&done), "completed");
    assert!(artifact(&done) == text, "the whole text comes back");
    refused(&caller, "tasks/cancel", json!({ "id": task }), NOT_CANCELABLE).await;
    assert_eq!(caller.get(&task).await["status"], done["status"]);
    drop(events);
    server.finish().await;
}

/// A finished task is read with `tasks/get`. Errors of calls that would stream carry the real code, too,
/// as JSON or as the only frame, whichever the caller asks for.
#[tokio::test]
async fn a_finished_task_cannot_be_attached_to() {
    let server = TestServer::with_config(AGENTS).await;
    let caller = Caller::new(&server, "a");
    let task = caller.send(Message::new("a2a-life-5f")).await;
    for (id, code) in [(id(&task), -32004), (UNKNOWN, -32001)] {
        let named = json!({ "id": id });
        assert_eq!(caller.code("tasks/resubscribe", named.clone()).await, code);
        let route = "/api/v1/a2a/a/jsonrpc";
        let events = server.stream_at(route, &[], request("tasks/resubscribe", &named)).await;
        let frames = events.collect().await;
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].data["error"]["code"], code, "{:?}", frames[0]);
        assert_eq!(frames[0].data["id"], "c-1");
        assert_eq!(frames[0].id, None);
    }
    server.finish().await;
}
