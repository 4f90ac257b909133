//! A store that fails: what a stream says last is what the store holds, and nobody waits for ever.

use super::frames::results;
use crate::support::TestServer;
use crate::support::agents::{Counted, FlakyStore, Puppet, Stage, Verdict, agent, soon, until};
use crate::support::caller::{Caller, Message, artifact, id, state, text};
use a2ad_domain::{Recorded, TaskState};
use serde_json::json;
use std::sync::Arc;

/// A server whose agent is a puppet and whose store fails on command.
async fn flaky() -> (TestServer, Arc<FlakyStore>, Stage) {
    let (puppet, stage) = Puppet::new();
    let (store, kept) = (FlakyStore::new(), agent("puppet", puppet));
    let stored = store.clone();
    let server = TestServer::custom("", |builder| builder.with_agent(kept).store(stored)).await;
    (server, store, stage)
}

fn ends(changes: &[Recorded]) -> bool {
    changes.iter().any(|change| change.state().is_some_and(TaskState::is_terminal))
}

#[tokio::test]
async fn a_stream_never_says_more_than_the_store_holds() {
    let (server, store, mut stage) = flaky().await;
    let caller = Caller::new(&server, "puppet");
    store.judge(|changes| if ends(changes) { Verdict::Fail } else { Verdict::Commit });
    let stream = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    run.chunk("stored", true).await.expect("a live task");
    run.complete().await;
    let frames = soon("the end of the stream", stream.collect()).await;
    assert!(frames.iter().all(|frame| frame.data["result"]["status"]["state"] != "completed"));
    let task = caller.get(id(&frames[0].data["result"])).await;
    assert_ne!(state(&task), "completed");
    let pieces = frames.iter().filter_map(|frame| frame.data["result"].get("artifact"));
    assert_eq!(pieces.map(text).collect::<String>(), artifact(&task));
    // The reader is told that something is wrong, and nothing of what the store said.
    let last = &frames[frames.len() - 1].data;
    assert_eq!(last["error"]["code"], -32603, "{last}");
    assert!(!last.to_string().contains("secrets"), "{last}");
    store.recover();
    assert_eq!(state(&caller.cancel(id(&task)).await), "canceled");
    server.finish().await;
}

#[tokio::test]
async fn a_store_that_fails_for_a_moment_delays_the_end_and_loses_nothing() {
    let (server, store, mut stage) = flaky().await;
    let caller = Caller::new(&server, "puppet");
    let mut left = 2;
    store.judge(move |changes| {
        if !ends(changes) || left == 0 {
            return Verdict::Commit;
        }
        left -= 1;
        Verdict::Fail
    });
    let stream = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    run.chunk("all", true).await.expect("a live task");
    run.complete_with("done").await;
    let frames = soon("the end of the stream", stream.collect()).await;
    assert_eq!(store.refused(), 2);
    let results = results(&frames);
    let last = results[results.len() - 1];
    let task = caller.get(id(results[0])).await;
    assert_eq!((state(last), &last["status"]), ("completed", &task["status"]));
    assert_eq!(artifact(&task), "all");
    server.finish().await;
}

#[tokio::test]
async fn a_run_whose_changes_cannot_be_stored_stops_and_its_task_fails() {
    let (server, store, mut stage) = flaky().await;
    let caller = Caller::new(&server, "puppet");
    let stream = caller.stream(Message::new("go")).await;
    let mut run = stage.next().await;
    run.chunk("a", false).await.expect("a live task");
    let pieces = |change: &Recorded| change.state().is_none();
    store.judge(
        move |changes| {
            if changes.iter().any(pieces) { Verdict::Fail } else { Verdict::Commit }
        },
    );
    assert!(run.chunk("b", false).await.is_err());
    run.gone().await;
    let frames = soon("the end of the stream", stream.collect()).await;
    let results = results(&frames);
    let task = caller.get(id(results[0])).await;
    assert_eq!((state(&task), artifact(&task)), ("failed", "a".to_owned()));
    assert_eq!(results[results.len() - 1]["status"], task["status"]);
    server.finish().await;
}

#[tokio::test]
async fn an_end_that_was_stored_although_the_store_said_no_reaches_everybody() {
    let (server, store, mut stage) = flaky().await;
    let caller = Caller::new(&server, "puppet");
    let verdict =
        |changes: &[_]| if ends(changes) { Verdict::CommitAndFail } else { Verdict::Commit };
    store.judge(verdict);
    let stream = caller.stream(Message::new("go")).await;
    let run = stage.next().await;
    run.chunk("a", true).await.expect("a live task");
    run.complete().await;
    let frames = soon("the end of the stream", stream.collect()).await;
    let results = results(&frames);
    let task = caller.get(id(results[0])).await;
    assert_eq!(state(&task), "completed");
    assert_eq!(results[results.len() - 1]["status"], task["status"]);
    let ends = async { stage.next().await.complete().await };
    let sends = async { soon("the answer", caller.send(Message::new("again"))).await };
    let (task, ()) = tokio::join!(sends, ends);
    assert_eq!(state(&task), "completed");
    server.finish().await;
}

#[tokio::test]
async fn a_cancel_that_was_stored_although_the_store_said_no_reaches_everybody() {
    let (server, store, mut stage) = flaky().await;
    let caller = Caller::new(&server, "puppet");
    let stream = caller.stream(Message::new("go")).await;
    let mut run = stage.next().await;
    run.working().await.expect("a live task");
    let mut lost = false;
    store.judge(move |changes| {
        if ends(changes) && !std::mem::replace(&mut lost, true) {
            Verdict::CommitAndFail
        } else {
            Verdict::Commit
        }
    });
    let answer = caller.call("tasks/cancel", json!({ "id": run.task })).await;
    assert!(!answer.to_string().contains("secrets"), "{answer}");
    assert_eq!(state(&caller.get(&run.task).await), "canceled");
    // Told that the server failed, the caller asks again; the task is canceled by then.
    if answer.get("error").is_some() {
        assert_eq!(caller.code("tasks/cancel", json!({ "id": run.task })).await, -32002);
    }
    run.gone().await;
    let frames = soon("the end of the stream", stream.collect()).await;
    assert_eq!(state(results(&frames)[frames.len() - 1]), "canceled");
    server.finish().await;
}

#[tokio::test]
async fn a_store_that_is_down_is_an_internal_error_that_says_nothing_about_the_store() {
    let (puppet, mut stage) = Puppet::new();
    let counted = Counted::new(puppet);
    let (store, counting) = (FlakyStore::new(), agent("puppet", counted.clone()));
    let stored = store.clone();
    let server = TestServer::custom("", |builder| builder.with_agent(counting).store(stored)).await;
    let caller = Caller::new(&server, "puppet");
    let asked = caller.send_off(Message::new("go")).await;
    stage.next().await.ask("which?").await;
    let asked = caller.rest(id(&asked)).await;
    store.break_down();
    let named = json!({ "id": id(&asked) });
    for (method, params) in [
        ("message/send", Message::new("x").params()),
        ("message/send", Message::new("x").blocking(false).params()),
        ("message/stream", Message::new("x").params()),
        ("message/send", Message::new("this").task(id(&asked)).params()),
        ("tasks/get", named.clone()),
        ("tasks/cancel", named.clone()),
        ("tasks/resubscribe", named),
        ("tasks/list", json!({})),
    ] {
        let answer = caller.call(method, params).await;
        assert_eq!(answer["error"]["code"], -32603, "{method}");
        assert_eq!(answer["error"]["message"], "Internal error");
        assert!(answer["error"]["data"]["reference"].is_string(), "{answer}");
        assert!(!answer.to_string().contains("secrets"), "{answer}");
    }
    assert_eq!(counted.started(), 1, "a message that was not stored reached the agent");
    store.recover();
    assert_eq!(caller.list().await.len(), 1);
    assert_eq!(caller.get(id(&asked)).await, asked);
    let completes = async { stage.next().await.complete().await };
    let answer = Message::new("this").task(id(&asked));
    let (task, ()) = tokio::join!(caller.send(answer), completes);
    assert_eq!(state(&task), "completed");
    server.finish().await;
}

#[tokio::test]
async fn what_happens_while_a_reader_attaches_is_not_missed() {
    let (server, store, mut stage) = flaky().await;
    let caller = Caller::new(&server, "puppet");
    caller.send_off(Message::new("go")).await;
    let run = stage.next().await;
    run.chunk("a", false).await.expect("a live task");
    let (task, stored, before) = (run.task.clone(), store.clone(), store.changes());
    store.meanwhile(async move {
        run.chunk("b", true).await.expect("a live task");
        run.complete().await;
        until("the end of the task", || stored.changes() == before + 2).await;
    });
    // The task is read, then it ends, and only then the reader is shown what was read.
    let frames = caller.attach(&task, None).await.collect();
    let frames = soon("the end of the stream", frames).await;
    let results = results(&frames);
    assert_eq!(artifact(results[0]), "a");
    assert_eq!(text(&results[1]["artifact"]), "b");
    assert_eq!((state(results[2]), results.len()), ("completed", 3));
    server.finish().await;
}

#[tokio::test]
async fn a_cancel_that_was_overtaken_by_the_end_of_the_run_is_refused() {
    let (server, store, mut stage) = flaky().await;
    let caller = Caller::new(&server, "puppet");
    caller.send_off(Message::new("go")).await;
    let run = stage.next().await;
    let (task, stored, before) = (run.task.clone(), store.clone(), store.changes());
    store.meanwhile(async move {
        run.complete_with("done").await;
        until("the end of the task", || stored.changes() == before + 2).await;
    });
    assert_eq!(caller.code("tasks/cancel", json!({ "id": task })).await, -32002);
    assert_eq!(state(&caller.get(&task).await), "completed");
    server.finish().await;
}

#[tokio::test]
async fn an_answer_that_was_overtaken_by_a_cancel_is_refused() {
    let (server, store, mut stage) = flaky().await;
    let caller = Caller::new(&server, "puppet");
    let asked = caller.send_off(Message::new("go")).await;
    stage.next().await.ask("which?").await;
    let asked = caller.rest(id(&asked)).await;
    let body = crate::support::caller::request("tasks/cancel", &json!({ "id": id(&asked) }));
    let path = format!("http://{}/api/v1/a2a/puppet/jsonrpc", server.address());
    store.meanwhile(async move {
        let request =
            crate::support::client().post(path).header("content-type", "application/json");
        request.body(body.to_string()).send().await.expect("an answer");
    });
    let answer = Message::new("this").task(id(&asked));
    assert_eq!(caller.code("message/send", answer.params()).await, -32004);
    let after = caller.get(id(&asked)).await;
    assert_eq!((state(&after), after["history"].as_array().map(Vec::len)), ("canceled", Some(2)));
    assert!(stage.try_next().is_none(), "the answer has started a run");
    server.finish().await;
}
