//! Messages for one task at once: one run at a time, and no message twice or in vain.

use super::ROUNDS;
use crate::support::TestServer;
use crate::support::agents::{Counted, Gated, agent};
use crate::support::caller::{Caller, Message, history, id, state};
use a2ad_executor::Script;
use futures_util::future::join_all;
use serde_json::Value;
use std::sync::Arc;

/// Sends or streams a message; the task that came back, or the code of the refusal.
async fn deliver(caller: &Caller<'_>, message: Message, stream: bool) -> Result<Value, i64> {
    let answer = if stream {
        caller.stream(message).await.next().await.expect("an event").data
    } else {
        caller.call("message/send", message.params()).await
    };
    match answer["error"]["code"].as_i64() {
        Some(code) => Err(code),
        None => Ok(answer["result"].clone()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_ten_answers_to_one_question_one_is_taken() {
    let counted = Counted::new(Arc::new(Script));
    let counting = agent("counted", counted.clone());
    let server = TestServer::custom("", |builder| builder.with_agent(counting)).await;
    let caller = Caller::new(&server, "counted");
    for round in 0..ROUNDS / 3 {
        let asked = caller.send(Message::new("ask which?")).await;
        let before = counted.started();
        let answers = (0..10).map(|number| {
            let answer = Message::new(format!("answer {number}")).task(id(&asked));
            deliver(&caller, answer, (round + number) % 2 == 0)
        });
        let answers = join_all(answers).await;
        let taken: Vec<_> = (0..10).filter(|number| answers[*number].is_ok()).collect();
        assert_eq!(taken.len(), 1, "{answers:?}");
        assert!(answers.iter().all(|answer| !matches!(answer, Err(code) if *code != -32004)));
        // A stream shows the task before its run has begun.
        let task = caller.rest(id(&asked)).await;
        assert_eq!(counted.started(), before + 1);
        let said = format!("answer {}", taken[0]);
        let talk = [
            "user: ask which?",
            "agent: which?",
            &format!("user: {said}"),
            &format!("agent: {said}"),
        ];
        assert_eq!(history(&task), talk);
        assert_eq!(state(&task), "completed");
    }
    assert_eq!(counted.most_at_once(), 1);
    server.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn messages_for_a_task_at_work_start_no_second_run() {
    let (gated, mut gates) = Gated::new();
    let counted = Counted::new(gated);
    let counting = agent("counted", counted.clone());
    let server = TestServer::custom("", |builder| builder.with_agent(counting)).await;
    let caller = Caller::new(&server, "counted");
    for text in ["gate x", "auth-gate x"] {
        let task = caller.send_off(Message::new(text)).await;
        let gate = gates.next().await;
        let before = caller.get(id(&task)).await;
        let more = (0..10)
            .map(|number| deliver(&caller, Message::new("more").task(id(&task)), number % 2 == 0));
        assert_eq!(join_all(more).await, vec![Err(-32004); 10]);
        assert_eq!(caller.get(id(&task)).await, before);
        gate.open();
        let mut after = caller.rest(id(&task)).await;
        while state(&after) != "completed" {
            after = caller.rest(id(&task)).await;
        }
        assert!(!history(&after).contains(&"user: more".to_owned()));
    }
    assert_eq!((counted.started(), counted.most_at_once()), (2, 1));
    server.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_can_come_as_soon_as_the_question_is_seen() {
    let counted = Counted::new(Arc::new(Script));
    let counting = agent("counted", counted.clone());
    let server = TestServer::custom("", |builder| builder.with_agent(counting)).await;
    let caller = Caller::new(&server, "counted");
    let mut task = caller.send(Message::new("ask 0")).await;
    for turn in 1..=ROUNDS {
        task = caller.send(Message::new(format!("ask {turn}")).task(id(&task))).await;
        assert_eq!(state(&task), "input-required");
        assert_eq!(history(&task).len(), 2 * turn + 1);
    }
    assert_eq!((counted.started(), counted.most_at_once()), (ROUNDS + 1, 1));
    caller.cancel(id(&task)).await;
    server.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_callers_at_once_open_tasks_of_their_own() {
    let server = TestServer::start().await;
    let caller = Caller::new(&server, "script");
    // All of them reuse the same message id, as simple clients do.
    let sends = (0..64).map(|_| caller.send(Message::new("x").id("m-1").context("talk")));
    let tasks = join_all(sends).await;
    let mut ids: Vec<_> = tasks.iter().map(id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 64);
    assert!(tasks.iter().all(|task| history(task) == ["user: x", "agent: x"]));
    assert_eq!(caller.list().await.len(), 64);
    server.finish().await;
}
