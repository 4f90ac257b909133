//! Cancel against everything else.

use super::{FOR_EVER, ROUNDS};
use crate::support::agents::{Burst, Counted, Gated, agent, soon};
use crate::support::caller::{Caller, Message, artifact, history, id, state, text};
use crate::support::{Event, TestServer};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use std::sync::Arc;

/// The statuses that end a task, among the events of a stream.
fn endings(frames: &[Event]) -> Vec<&Value> {
    let results = frames.iter().map(|frame| &frame.data["result"]);
    results.filter(|result| result["final"] == true).collect()
}

/// The events after the opening one have no gap, and the last one says what the store holds.
fn agrees(frames: &[Event], task: &Value) {
    let endings = endings(frames);
    assert_eq!(endings.len(), 1, "{frames:?}");
    assert_eq!(endings[0]["status"], task["status"]);
    assert_eq!(frames[frames.len() - 1].data["result"], *endings[0]);
    let ids: Vec<_> = frames.iter().map(|frame| frame.id.expect("an id")).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

async fn cancel(caller: &Caller<'_>, task: &str) -> Value {
    caller.call("tasks/cancel", json!({ "id": task })).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_and_an_end_at_once_have_one_winner() {
    let (gated, mut gates) = Gated::new();
    let server = TestServer::custom("", |builder| builder.with_agent(agent("gated", gated))).await;
    let caller = Caller::new(&server, "gated");
    for round in 0..ROUNDS {
        let end = ["plain", "fail", "reject"][round % 3];
        let stream = caller.stream(Message::new(format!("gate {end} words"))).await;
        let gate = gates.next().await;
        let task = gate.task.clone();
        let opens = async {
            // The run is a little ahead in some rounds and a little behind in others.
            for _ in 0..round % 7 {
                tokio::task::yield_now().await;
            }
            gate.open();
        };
        let (answer, ()) = join(cancel(&caller, &task), opens).await;
        let after = caller.rest(&task).await;
        if answer.get("result").is_some() {
            assert_eq!(answer["result"], after);
            assert_eq!(state(&after), "canceled");
        } else {
            assert_eq!(answer["error"]["code"], -32002);
            let ended = ["completed", "failed", "rejected"][round % 3];
            assert_eq!(state(&after), ended);
            // The reply of a completed task is there once; one that was canceled has none.
            assert_eq!(history(&after).len(), if ended == "completed" { 2 } else { 1 });
        }
        agrees(&soon("the end of the stream", stream.collect()).await, &after);
        assert_eq!(cancel(&caller, &task).await["error"]["code"], -32002);
        assert_eq!(caller.get(&task).await, after);
    }
    server.finish().await;
}

/// Many cancels at once of a task in some state.
async fn one_of_many(caller: &Caller<'_>, task: &str, many: usize) -> Value {
    let answers = join_all((0..many).map(|_| cancel(caller, task))).await;
    let (won, lost): (Vec<_>, Vec<_>) =
        answers.iter().partition(|answer| answer.get("result").is_some());
    assert_eq!(won.len(), 1, "{answers:?}");
    assert!(lost.iter().all(|answer| answer["error"]["code"] == -32002), "{answers:?}");
    let after = caller.get(task).await;
    assert_eq!(won[0]["result"], after);
    assert_eq!(state(&after), "canceled");
    after
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_cancels_at_once_one_is_taken() {
    let (gated, _gates) = Gated::new();
    let server = TestServer::custom("", |builder| builder.with_agent(agent("gated", gated))).await;
    let caller = Caller::new(&server, "gated");
    for round in 0..ROUNDS / 3 {
        let many = if round % 5 == 0 { 20 } else { 4 };
        let mut stream = caller.stream(Message::new("gate x")).await;
        let first = stream.next().await.expect("the task");
        let task = id(&first.data["result"]).to_owned();
        let after = one_of_many(&caller, &task, many).await;
        assert_eq!(history(&after), ["user: gate x"]);
        let mut frames = vec![first];
        frames.extend(soon("the end of the stream", stream.collect()).await);
        agrees(&frames, &after);
        let asked = caller.send(Message::new("ask which?")).await;
        let after = one_of_many(&caller, id(&asked), many).await;
        assert_eq!(history(&after), ["user: ask which?", "agent: which?"]);
    }
    server.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_in_the_middle_of_a_burst_leaves_a_beginning_of_it() {
    let burst = Arc::new(Burst { pieces: 400, length: 8 });
    let counted = Counted::new(burst.clone());
    let bursting = agent("burst", counted.clone());
    let server = TestServer::custom("", |builder| builder.with_agent(bursting)).await;
    let caller = Caller::new(&server, "burst");
    let whole = burst.whole();
    let (mut round, mut canceled) = (0, 0);
    // On a machine that is very busy it may take longer until a cancel is in time.
    while round < ROUNDS / 3 || canceled == 0 {
        assert!(round < FOR_EVER, "no cancel was ever in time");
        let mut stream = caller.stream(Message::new("go")).await;
        let mut frames = Vec::new();
        for _ in 0..=round % 40 {
            frames.push(stream.next().await.expect("an event"));
        }
        let task = id(&frames[0].data["result"]).to_owned();
        let (answer, rest) = join(cancel(&caller, &task), stream.collect()).await;
        frames.extend(rest);
        let after = caller.rest(&task).await;
        agrees(&frames, &after);
        let ids: Vec<_> = frames.iter().map(|frame| frame.id.expect("an id")).collect();
        assert!(ids.windows(2).all(|pair| pair[1] == pair[0] + 1), "an event is missing: {ids:?}");
        let pieces = frames.iter().filter_map(|frame| frame.data["result"].get("artifact"));
        assert_eq!(pieces.map(text).collect::<String>(), artifact(&after));
        assert!(whole.starts_with(&artifact(&after)));
        if answer.get("result").is_some() {
            canceled += 1;
            assert_eq!(answer["result"], after);
        } else {
            assert_eq!((state(&after), artifact(&after)), ("completed", whole.clone()));
        }
        round += 1;
    }
    // A cancel may even come before the run, which then never starts.
    assert!(counted.started() <= round);
    assert_eq!(counted.most_at_once(), 1);
    server.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_and_an_answer_at_once_have_an_order() {
    let (gated, _gates) = Gated::new();
    let server = TestServer::custom("", |builder| builder.with_agent(agent("gated", gated))).await;
    let caller = Caller::new(&server, "gated");
    for round in 0..ROUNDS {
        let asked = caller.send(Message::new("ask which?")).await;
        let task = id(&asked).to_owned();
        let answer = Message::new(["this", "gate x"][round % 2]).task(&task).blocking(false);
        let sends = caller.call("message/send", answer.params());
        let (canceled, sent) = join(cancel(&caller, &task), sends).await;
        let after = caller.rest(&task).await;
        match (canceled.get("result").is_some(), sent.get("result").is_some()) {
            // The answer came first and was worked on, or its work was canceled.
            (true, true) => assert!(history(&after).len() >= 3, "{after}"),
            (true, false) => {
                assert_eq!(sent["error"]["code"], -32004);
                assert_eq!(history(&after), ["user: ask which?", "agent: which?"]);
            }
            (false, true) => {
                assert_eq!(canceled["error"]["code"], -32002);
                assert_eq!(state(&after), "completed");
            }
            (false, false) => panic!("both were refused: {canceled} {sent}"),
        }
        if canceled.get("result").is_some() {
            assert_eq!(state(&after), "canceled");
        }
    }
    server.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancel_reaches_the_run_of_the_last_answer() {
    let (gated, mut gates) = Gated::new();
    let server = TestServer::custom("", |builder| builder.with_agent(agent("gated", gated))).await;
    let caller = Caller::new(&server, "gated");
    for _ in 0..ROUNDS / 3 {
        // The run that asked may still be on its way out when the next one begins.
        let asked = caller.send(Message::new("ask which?")).await;
        let again = caller.send(Message::new("ask again?").task(id(&asked))).await;
        caller.send_off(Message::new("gate x").task(id(&again))).await;
        let gate = gates.next().await;
        assert_eq!(state(&caller.cancel(&gate.task).await), "canceled");
        gate.open();
    }
    // A run that was missed would be left over.
    server.finish().await;
}
